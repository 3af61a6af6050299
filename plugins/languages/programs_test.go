package languages_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"deepoj/plugins/abi"
)

func TestSeveralFilesMakeOneProgram(t *testing.T) {
	t.Parallel()
	tests := map[string][]abi.Source{
		"c": {
			{Name: "twice.h", Text: "int twice(int n);\n"},
			{Name: "twice.c", Text: "#include \"twice.h\"\nint twice(int n) { return 2 * n; }\n"},
			{Name: "my main.c", Text: "#include <stdio.h>\n#include \"twice.h\"\nint main(void) { printf(\"%d\\n\", twice(21)); }\n"},
		},
		"cpp": {
			{Name: "lib/twice.hpp", Text: "#pragma once\nint twice(int n);\n"},
			{Name: "lib/twice.cc", Text: "#include \"twice.hpp\"\nint twice(int n) { return 2 * n; }\n"},
			{Name: "-o.cpp", Text: "#include <iostream>\n#include \"lib/twice.hpp\"\nint main() { std::cout << twice(21) << '\\n'; }\n"},
		},
		"go": {
			{Name: "twice.go", Text: "package main\n\nfunc twice(n int) int { return 2 * n }\n"},
			{Name: "prog.go", Text: "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(twice(21)) }\n"},
		},
		"java": {
			{Name: "Twice.java", Text: "package math;\npublic class Twice { public static int of(int n) { return 2 * n; } }\n"},
			{Name: "solution.java", Text: "import math.Twice;\npublic class Start { public static void main(String... args) { System.out.println(Twice.of(21)); } }\n"},
		},
		"javascript": {
			{Name: "twice.js", Text: "exports.twice = n => 2 * n;\n"},
			{Name: "main.js", Text: "const { twice } = require('./twice');\nconsole.log(twice(21));\n"},
		},
		"python": {
			{Name: "twice.py", Text: "def twice(n):\n    return 2 * n\n"},
			{Name: "main.py", Text: "from twice import twice\nprint(twice(21))\n"},
		},
		"kotlin": {
			{Name: "lib/twice.kt", Text: "package math\nfun twice(n: Int) = 2 * n\n"},
			{Name: "my solution.kt", Text: "package a.b\nimport math.twice\nfun main() { println(twice(21)) }\n"},
		},
		"csharp": {
			{Name: "-out.cs", Text: "namespace Math { static class Twice { public static int Of(int n) => 2 * n; } }\n"},
			{Name: "Start.cs", Text: "class Start { static void Main() { System.Console.WriteLine(Math.Twice.Of(21)); } }\n"},
		},
		"typescript": {
			{Name: "lib/twice.ts", Text: "import { Whole } from '../types';\nexport const twice = (n: Whole): Whole => 2 * n;\n"},
			{Name: "types.d.ts", Text: "export type Whole = number;\n"},
			{Name: "-start.ts", Text: "import { twice } from './lib/twice';\nconst n: number = 21;\nconsole.log(twice(n));\n"},
			{Name: "main.ts", Text: "import './start';\n"},
		},
		"rust": {
			{Name: "twice.rs", Text: "pub fn twice(n: i32) -> i32 { 2 * n }\n"},
			{Name: "main.rs", Text: "mod twice;\nfn main() { println!(\"{}\", twice::twice(21)); }\n"},
		},
	}
	for id, sources := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			if r := load(t, id).run(t, request(sources...)); r.code != 0 || r.stdout != "42\n" {
				t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
			}
		})
	}
}

func TestAFileNameHidesNoLibrary(t *testing.T) {
	t.Parallel()
	tests := map[string]abi.Source{
		"python":     {Name: "heapq.py", Text: "import heapq\nh = [2, 1]\nheapq.heapify(h)\nprint(h[0])\n"},
		"javascript": {Name: "fs.js", Text: "require('fs').writeSync(1, '1\\n');\n"},
		"c":          {Name: "stdio.h", Text: "#include <stdio.h>\nint main(void) { puts(\"1\"); }\n"},
		"typescript": {Name: "fs.ts", Text: "import { writeSync } from 'fs';\nconst name: string = '1\\n';\nwriteSync(1, name);\n"},
		"kotlin":     {Name: "String.kt", Text: "fun main() = println(\"1\".length)\n"},
		"csharp":     {Name: "@System.cs", Text: "static class P { static int Main() { System.Console.WriteLine(1); return 0; } }\n"},
		"java":       {Name: "a; rm -rf.java", Text: "interface I { static void main(String[] a) { System.out.println(1); } }\n"},
	}
	for id, source := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			if r := load(t, id).run(t, request(source)); r.stdout != "1\n" {
				t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
			}
		})
	}
}

func TestModulesRunAsModules(t *testing.T) {
	t.Parallel()
	source := abi.Source{Name: "a.js", Text: "import { writeSync } from 'node:fs';\nwriteSync(1, '1\\n');\nawait 0;\n"}
	a := load(t, "javascript")
	if r := a.run(t, request(source)); r.stdout != "1\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	several := request(
		abi.Source{Name: "main.js", Text: "import { twice } from './twice.js';\nconsole.log(twice(21));\n"},
		abi.Source{Name: "twice.js", Text: "export const twice = n => 2 * n;\n"},
	)
	if r := a.run(t, several); r.stdout != "42\n" {
		t.Errorf("several: exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	source.Text += "let x = ;\n"
	found := a.compileErrors(t, request(source))
	if len(found) != 1 || found[0].Line != 4 || found[0].File != "a.js" {
		t.Errorf("diagnostics are %+v", found)
	}
}

// A problem whose natural solution recurses must not be harder in one language
// than in another.
func TestRecursionMayBeAMillionDeep(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"c": `#include <stdio.h>
#include <stdlib.h>
static long depth(const int *next, long i, long a) { volatile char room[64]; room[0] = (char)a; return next[i] ? 1 + depth(next, i + 1, a + room[0]) : 0; }
int main(void) { int *next = calloc(1000001, sizeof *next); for (int i = 0; i < 1000000; i++) next[i] = 1; printf("%ld\n", depth(next, 0, 0)); }
`,
		"cpp": `#include <iostream>
#include <vector>
static long depth(const std::vector<int> &next, long i) { volatile char room[64]; room[0] = 1; return next[i] ? room[0] + depth(next, i + 1) : 0; }
int main() { std::vector<int> next(1000001, 1); next.back() = 0; std::cout << depth(next, 0) << '\n'; }
`,
		"go": `package main

import "fmt"

func depth(next []int, i int) int {
	if next[i] == 0 {
		return 0
	}
	return 1 + depth(next, i+1)
}

func main() {
	next := make([]int, 1000001)
	for i := range 1000000 {
		next[i] = 1
	}
	fmt.Println(depth(next, 0))
}
`,
		"java": `public class Deep {
    static long depth(int n, long a, long b) {
        if (n == 0) return 0;
        long below = depth(n - 1, b, a + b);
        return below + 1 + (a - a);
    }
    public static void main(String[] args) { System.out.println(depth(1000000, 1, 2)); }
}
`,
		"javascript": `function depth(n) { return n === 0 ? 0 : 1 + depth(n - 1); }
console.log(depth(1000000));
`,
		"typescript": `function depth(n: number): number { return n === 0 ? 0 : 1 + depth(n - 1); }
console.log(depth(1000000));
`,
		"kotlin": `fun depth(n: Int, a: Long, b: Long): Long {
    if (n == 0) return 0
    val below = depth(n - 1, b, a + b)
    return below + 1 + (a - a)
}
fun main() { println(depth(1000000, 1, 2)) }
`,
		"csharp": `class Deep {
    static long Depth(int n, long a, long b) {
        if (n == 0) return 0;
        long below = Depth(n - 1, b, a + b);
        return below + 1 + (a - a);
    }
    static void Main() { System.Console.WriteLine(Depth(1000000, 1, 2)); }
}
`,
		"python": `import sys
sys.setrecursionlimit(10**7)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
print(depth(1000000))
`,
		"rust": `fn depth(next: &[u8], i: usize) -> u64 { if next[i] == 0 { 0 } else { 1 + depth(next, i + 1) } }
fn main() { let mut next = vec![1u8; 1000001]; next[1000000] = 0; println!("{}", depth(&next, 0)); }
`,
	}
	for id, text := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			if r := load(t, id).run(t, request(abi.Source{Name: "deep", Text: text})); r.stdout != "1000000\n" {
				t.Errorf("exit %d, stdout %q, stderr %.300q", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// A runtime that ends the program itself says so in words that the plan knows.
func TestARuntimeThatRunsOutOfMemoryIsRecognized(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"java":       "import java.util.*;\nclass A { public static void main(String[] a) { List<int[]> l = new ArrayList<>(); while (true) l.add(new int[1 << 16]); } }\n",
		"javascript": "const all = []; for (;;) all.push(new Array(1000).fill(all.length));\n",
		"typescript": "const all: number[][] = []; for (;;) all.push(new Array<number>(1000).fill(all.length));\n",
		"kotlin":     "fun main() { val l = ArrayList<IntArray>(); while (true) l.add(IntArray(1 shl 16)) }\n",
		"csharp":     "class A { static void Main() { System.Console.WriteLine(new long[int.MaxValue, 1000].Length); } }\n",
		"python":     "bytearray(1 << 60)\n",
	}
	for id, text := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := load(t, id)
			q := request(abi.Source{Name: "a", Text: text})
			q.Limits.MemoryMiB = 32
			r := a.run(t, q)
			run := a.plan(t, q).Run
			if run.MemoryPolicy != "runtime+cgroup" || r.code == 0 || !regexp.MustCompile(run.MemoryExit).MatchString(r.stderr) {
				t.Errorf("exit %d, %q does not match %q", r.code, run.MemoryExit, r.stderr)
			}
		})
	}
}

// In a sandbox the shared cache is read-only.
func TestGoOnlyReadsAPreparedCache(t *testing.T) {
	t.Parallel()
	requireTool(t, "unshare")
	a := load(t, "go")
	q := request(a.manifest.Language.Hello...)
	p := a.plan(t, q)
	cache := p.Compile[0].Env["GOCACHE"]
	if entries, err := filepath.Glob(filepath.Join(cache, "*", "*-a")); err != nil || len(entries) < 50 {
		t.Fatalf("the prepared cache holds %d entries, error %v", len(entries), err)
	}
	// Nothing may be written, not even by root.
	step := p.Compile[0]
	script := `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
	step.Args = append([]string{"--user", "--map-root-user", "--mount", "sh", "-c", script, cache, step.Tool}, step.Args...)
	step.Tool = "unshare"
	p.Compile[0] = step
	dir, r := a.compile(t, q, p)
	if r.code != 0 {
		t.Fatalf("the compiler ends with %d: %s", r.code, r.stderr)
	}
	if r := execute(t, dir, p.Run); r.stdout != "hello\n" {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
}

func TestTheStandardIsAnOption(t *testing.T) {
	t.Parallel()
	a := load(t, "cpp")
	q := request(abi.Source{Name: "a.cpp", Text: "#include <iostream>\nint main() { std::cout << __cplusplus << '\\n'; }\n"})
	for std, want := range map[string]string{"gnu++20": "202002\n", "c++17": "201703\n"} {
		q.Options = map[string]string{"std": std}
		if r := a.run(t, q); r.stdout != want {
			t.Errorf("with std=%s __cplusplus is %q, want %q", std, r.stdout, want)
		}
	}
}
