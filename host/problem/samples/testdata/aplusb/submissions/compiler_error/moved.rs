// @EXPECTED_RESULTS@: COMPILER-ERROR
fn main() {
    let line = String::new();
    let other = line;
    println!("{}{}", line, other);
}
