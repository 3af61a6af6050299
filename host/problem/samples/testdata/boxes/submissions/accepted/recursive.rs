use std::io;

const MODULUS: u64 = 1_000_000_007;

fn worth(text: &[u8], at: &mut usize) -> u64 {
    let mut total = 1;
    let mut place = 0;
    *at += 1;
    while text[*at] == b'(' {
        place += 1;
        total = (total + place * worth(text, at)) % MODULUS;
    }
    *at += 1;
    total
}

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    println!("{}", worth(line.trim().as_bytes(), &mut 0));
}
