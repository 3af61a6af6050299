//! What a checker written in Rust imports: its three files as tokens, its
//! verdict as an exit code, its manifest as a section of the module.
//!
//! The protocol is `testlib/1`. A file is read once and in pieces, so that an
//! output of any size costs the same memory. What the output does wrong is
//! [`Verdict::Wrong`]; what the input or the answer does wrong is
//! [`Verdict::Failed`], the judges' side. Both come as the error of what was
//! read, so that `?` is all a checker needs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::str::FromStr;
use std::{env, process};

/// How a checker ends when it does not accept. Messages are for the contestant,
/// so they say what was read and where, never what the answer holds.
#[derive(Debug)]
pub enum Verdict {
    Wrong(String),
    /// The right words in the wrong form.
    Presentation(String),
    /// Partly right: a number that is not negative, and why.
    Points(f64, String),
    /// The judges' side is at fault.
    Failed(String),
}

/// What a checker is asked about.
pub struct Case {
    pub input: Tokens,
    pub output: Tokens,
    pub answer: Tokens,
    /// What follows the files on the command line.
    pub args: Vec<String>,
}

/// Runs a checker and ends the process: `Ok` accepts.
///
/// ```ignore
/// fn main() {
///     deepoj_sdk::check(|case| {
///         let n: i64 = case.input.number()?;
///         let m: i64 = case.output.number()?;
///         if m != n { return Err(Verdict::Wrong(format!("{m} is not it"))); }
///         case.output.end()
///     })
/// }
/// ```
pub fn check(judge: impl FnOnce(&mut Case) -> Result<(), Verdict>) -> ! {
    let (code, message) = match open().and_then(|mut case| judge(&mut case)) {
        Ok(()) => (0, String::new()),
        Err(Verdict::Wrong(why)) => (1, why),
        Err(Verdict::Presentation(why)) => (2, why),
        Err(Verdict::Failed(why)) => (3, why),
        Err(Verdict::Points(points, why)) => (7, format!("points {points} {why}")),
    };
    if !message.is_empty() {
        eprintln!("{message}");
    }
    process::exit(code)
}

fn open() -> Result<Case, Verdict> {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.len() < 3 {
        return Err(Verdict::Failed("usage: checker input output answer [args]".into()));
    }
    Ok(Case {
        input: Tokens::open(&args[0], Verdict::Failed)?,
        output: Tokens::open(&args[1], Verdict::Wrong)?,
        answer: Tokens::open(&args[2], Verdict::Failed)?,
        args: args[3..].to_vec(),
    })
}

/// The longest token that is kept, in bytes. The rest of a longer one is passed
/// over.
pub const TOKEN_MAX: usize = 1 << 20;

/// A file, cut at white space.
pub struct Tokens {
    file: BufReader<File>,
    blame: fn(String) -> Verdict,
    line: u64,
    count: u64,
}

impl Tokens {
    fn open(path: &str, blame: fn(String) -> Verdict) -> Result<Self, Verdict> {
        let file = File::open(path).map_err(|e| Verdict::Failed(format!("open {path}: {e}")))?;
        Ok(Tokens { file: BufReader::with_capacity(1 << 16, file), blame, line: 1, count: 0 })
    }

    /// Returns the next token, or `None` at the end.
    pub fn token(&mut self) -> Result<Option<Vec<u8>>, Verdict> {
        let mut token = Vec::new();
        loop {
            let piece = self.file.fill_buf().map_err(|e| Verdict::Failed(format!("read a file: {e}")))?;
            if piece.is_empty() {
                break;
            }
            let from = if token.is_empty() { piece.iter().position(|c| !space(*c)).unwrap_or(piece.len()) } else { 0 };
            self.line += piece[..from].iter().filter(|c| **c == b'\n').count() as u64;
            let rest = &piece[from..];
            let length = rest.iter().position(|c| space(*c)).unwrap_or(rest.len());
            token.extend_from_slice(&rest[..length.min(TOKEN_MAX.saturating_sub(token.len()))]);
            let ended = length < rest.len();
            self.file.consume(from + length);
            if ended {
                break;
            }
        }
        self.count += 1;
        Ok(if token.is_empty() { None } else { Some(token) })
    }

    /// Returns the next token, which must be there.
    pub fn word(&mut self) -> Result<Vec<u8>, Verdict> {
        match self.token()? {
            Some(word) => Ok(word),
            None => Err(self.fault("the file ends too early")),
        }
    }

    /// Returns the next token, which must be a number.
    pub fn number<N: FromStr>(&mut self) -> Result<N, Verdict> {
        let word = self.word()?;
        let text = String::from_utf8_lossy(&word);
        text.parse().map_err(|_| {
            let shown: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
            self.fault(&format!("expected a number, read {shown}"))
        })
    }

    /// Fails unless nothing follows.
    pub fn end(&mut self) -> Result<(), Verdict> {
        match self.token()? {
            None => Ok(()),
            Some(_) => Err(self.fault("something follows where the file should end")),
        }
    }

    /// Makes a verdict about this place of the file.
    pub fn fault(&self, why: &str) -> Verdict {
        (self.blame)(format!("token {} (line {}): {why}", self.count, self.line))
    }
}

/// White space as the standard checkers know it.
fn space(c: u8) -> bool {
    c == b' ' || (b'\t'..=b'\r').contains(&c)
}

/// Puts a manifest, given as `include_bytes!("manifest.json")`, into the module,
/// where hosts look for it. A native build has none.
#[macro_export]
macro_rules! manifest {
    ($bytes:expr) => {
        #[cfg(target_family = "wasm")]
        #[used]
        #[link_section = "judge.manifest"]
        static MANIFEST: [u8; $bytes.len()] = *$bytes;
    };
}
