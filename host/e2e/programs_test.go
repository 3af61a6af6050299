package e2e

import "deepoj/host/judge"

// program is a solution of the problem aplusb (read two numbers, print their
// sum) together with the verdict that it must get.
type program struct {
	name     string
	language string
	file     string
	text     string
	want     judge.Verdict
}

// verdictPrograms has one program per verdict, in C++.
var verdictPrograms = []program{
	{"a right answer", "cpp", "good.cpp", "#include <iostream>\nint main() { long long a, b; std::cin >> a >> b; std::cout << a + b << \"\\n\"; }\n", judge.AC},
	{"a wrong answer", "cpp", "wrong.cpp", "#include <iostream>\nint main() { long long a, b; std::cin >> a >> b; std::cout << a - b - 1 << \"\\n\"; }\n", judge.WA},
	{"an endless loop", "cpp", "loop.cpp", "int main() { for (volatile unsigned i = 0;; i++) {} }\n", judge.TLE},
	{"memory without end", "cpp", "memory.cpp", "#include <cstdlib>\n#include <cstring>\nint main() { for (;;) { void *p = std::malloc(1 << 24); if (p) std::memset(p, 1, 1 << 24); } }\n", judge.MLE},
	{"a null pointer", "cpp", "null.cpp", "int main() { volatile int *p = nullptr; return *p; }\n", judge.RE},
	{"a program that does not compile", "cpp", "broken.cpp", "int main() {\n  return undeclared;\n}\n", judge.CE},
	{"output without end", "cpp", "flood.cpp", "#include <cstdio>\nint main() { for (;;) std::puts(\"0123456789012345678901234567890123456789012345678901234567890123\"); }\n", judge.OLE},
}

// languagePrograms has a right answer and a broken program in each language.
var languagePrograms = []program{
	{"C", "c", "good.c", "#include <stdio.h>\nint main(void) { long long a, b; if (scanf(\"%lld %lld\", &a, &b) != 2) return 1; printf(\"%lld\\n\", a + b); return 0; }\n", judge.AC},
	{"C, broken", "c", "broken.c", "int main(void) {\n  return undeclared;\n}\n", judge.CE},
	{"C++", "cpp", "good.cpp", verdictPrograms[0].text, judge.AC},
	{"Python", "python", "good.py", "print(sum(map(int, input().split())))\n", judge.AC},
	{"Python, wrong", "python", "wrong.py", "print(-1 - sum(map(int, input().split())))\n", judge.WA},
	{"Python, broken", "python", "broken.py", "a = 1\nprint(a\n", judge.CE},
	{"Python, raising", "python", "raise.py", "raise SystemExit(3)\n", judge.RE},
	{"Go", "go", "good.go", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tvar a, b int64\n\tfmt.Scan(&a, &b)\n\tfmt.Println(a + b)\n}\n", judge.AC},
	{"Go, broken", "go", "broken.go", "package main\n\nfunc main() {\n\tundeclared()\n}\n", judge.CE},
	{"Java", "java", "Good.java", "import java.util.Scanner;\n\npublic class Good {\n  public static void main(String[] args) {\n    Scanner in = new Scanner(System.in);\n    System.out.println(in.nextLong() + in.nextLong());\n  }\n}\n", judge.AC},
	{"Java, broken", "java", "Broken.java", "public class Broken {\n  public static void main(String[] args) {\n    undeclared();\n  }\n}\n", judge.CE},
	{"JavaScript", "javascript", "good.js", "const [a, b] = require('fs').readFileSync(0, 'utf8').split(/\\s+/).map(BigInt);\nconsole.log((a + b).toString());\n", judge.AC},
	{"JavaScript, broken", "javascript", "broken.js", "const a = 1;\nconsole.log(a\n", judge.CE},
	{"Rust", "rust", "good.rs", "use std::io::Read;\n\nfn main() {\n    let mut s = String::new();\n    std::io::stdin().read_to_string(&mut s).unwrap();\n    let sum: i64 = s.split_whitespace().map(|x| x.parse::<i64>().unwrap()).sum();\n    println!(\"{}\", sum);\n}\n", judge.AC},
	{"Rust, broken", "rust", "broken.rs", "fn main() {\n    undeclared();\n}\n", judge.CE},
}
