// A macro is a program that the compiler runs. Usage: attack!(WAY ARGUMENT...),
// where every argument is a string.
extern crate proc_macro;

use proc_macro::TokenStream;
use std::{env, fs, net::TcpStream, process::Command};

fn tell<T, E: std::fmt::Debug>(what: &str, r: Result<T, E>) {
    match r {
        Ok(_) => eprintln!("{what}: worked"),
        Err(_) => eprintln!("{what}: failed"),
    }
}

#[proc_macro]
pub fn attack(tokens: TokenStream) -> TokenStream {
    let words: Vec<String> = tokens.into_iter().map(|t| t.to_string().trim_matches('"').to_string()).collect();
    match words[0].as_str() {
        "look" => {
            for path in &words[1..] {
                tell("read", fs::read(path));
                tell("write", fs::write(path, "spoiled"));
            }
            tell("plant", fs::write("/usr/planted", ""));
            tell("environment", env::var("DEEPOJ_SECRET"));
        }
        "call" => {
            tell("connect", TcpStream::connect(format!("127.0.0.1:{}", words[1])));
            tell("connect", TcpStream::connect("192.0.2.1:80"));
        }
        "leave" => {
            fs::write("/tmp/left", "").unwrap();
            Command::new("sleep").arg("100000").spawn().unwrap();
            Command::new("sleep").arg("100000").spawn().unwrap();
        }
        "spin" => loop {},
        "bomb" => loop {
            let _ = Command::new("sleep").arg("100000").spawn();
        },
        "eat" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1u8; 1 << 20]);
            }
        }
        _ => panic!(),
    }
    TokenStream::new()
}
