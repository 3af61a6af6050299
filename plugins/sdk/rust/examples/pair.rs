//! Accepts two positive numbers with a given sum.
use deepoj_sdk::{check, manifest, Verdict};

manifest!(include_bytes!("pair.json"));

fn main() {
    check(|case| {
        let n: i64 = case.input.number()?;
        let (a, b): (i64, i64) = (case.output.number()?, case.output.number()?);
        if a < 1 || b < 1 || a.checked_add(b) != Some(n) {
            return Err(Verdict::Wrong(format!("{a} and {b} are no such pair")));
        }
        case.output.end()
    })
}
