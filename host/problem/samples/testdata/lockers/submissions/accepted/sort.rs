use std::io::{self, Read};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut notes: Vec<u32> = text.split_ascii_whitespace().skip(1).map(|x| x.parse().unwrap()).collect();
    notes.sort_unstable();
    let (mut best, mut most, mut first) = (0, 0, 0);
    for i in 0..notes.len() {
        if notes[i] != notes[first] {
            first = i;
        }
        if i - first + 1 > most {
            most = i - first + 1;
            best = notes[i];
        }
    }
    println!("{} {}", best, most);
}
