use std::collections::HashMap;
use std::io::{self, Read};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut numbers = text.split_ascii_whitespace().map(|x| x.parse::<u64>().unwrap());
    let n = numbers.next().unwrap() as usize;
    let k = numbers.next().unwrap();
    let mut seen: HashMap<u64, u64> = HashMap::with_capacity(n);
    let mut pairs = 0;
    for x in numbers.take(n) {
        let rest = x % k;
        pairs += seen.get(&((k - rest) % k)).copied().unwrap_or(0);
        *seen.entry(rest).or_insert(0) += 1;
    }
    println!("{}", pairs);
}
