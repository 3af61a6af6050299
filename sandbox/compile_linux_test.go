package sandbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// bomb is a source that wants too much of its compiler.
type bomb struct {
	tool, source string
	args         []string
	want         []sandbox.Verdict // which limit is first depends on the compiler
	check        func(o outcome) bool
}

var bombs = map[string]bomb{
	"a header without end": {
		tool: "gcc", source: "#include \"/dev/zero\"\n", want: []sandbox.Verdict{sandbox.MLE, sandbox.TLE},
	},
	"a header that waits for input": {
		tool: "gcc", source: "#include \"/dev/stdin\"\nint main(void) { return undeclared; }\n", want: []sandbox.Verdict{sandbox.RE},
		check: func(o outcome) bool { return strings.Contains(o.stderr, "undeclared") },
	},
	"templates without end": {
		tool: "g++",
		source: "template<int N, int M> struct A { static const int v = A<N - 1, M>::v + A<N - 1, M + 1>::v; };\n" +
			"template<int M> struct A<0, M> { static const int v = 1; };\nint main() { return A<800, 0>::v; }\n",
		args: []string{"-ftemplate-depth=2000"}, want: []sandbox.Verdict{sandbox.MLE, sandbox.TLE},
	},
	"a constant that takes for ever": {
		tool: "g++",
		source: "constexpr long f() { long s = 0; for (long i = 0; i < 1000000000000; i++) s += i; return s; }\n" +
			"static_assert(f() == 1);\nint main() {}\n",
		args: []string{"-std=c++20", "-fconstexpr-ops-limit=9223372036854775807", "-fconstexpr-loop-limit=2147483647"},
		want: []sandbox.Verdict{sandbox.TLE, sandbox.RE},
	},
	"a flood of diagnostics": {
		tool: "gcc", source: "#warning flood\n#if __INCLUDE_LEVEL__ < 30\n#include __FILE__\n#include __FILE__\n#endif\n",
		want:  []sandbox.Verdict{sandbox.TLE, sandbox.OLE},
		check: func(o outcome) bool { return o.StderrTruncated && len(o.stderr) == 1<<20 },
	},
	"a program larger than a file may be": {
		tool: "gcc", source: "char a[200 << 20] = {1};\nint main(void) { return a[0]; }\n", want: []sandbox.Verdict{sandbox.RE, sandbox.OLE},
	},
	"an assembler that repeats itself": {
		tool: "gcc", source: "__asm__(\".data\\n.rept 100000000\\n.quad 1, 2, 3, 4\\n.endr\");\nint main(void) { return 0; }\n",
		want: []sandbox.Verdict{sandbox.MLE, sandbox.TLE},
	},
}

// A source is as hostile as a program: its compiler runs in a box too.
func TestCompilersAreBounded(t *testing.T) {
	a := shared.get(t)
	for name, tt := range bombs {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, a, "leftover", sandbox.BoxOptions{Writable: true})
			file := map[string]string{"gcc": "main.c", "g++": "main.cpp"}[tt.tool]
			if err := b.box.Put(t.Context(), sandbox.File{Path: file, Data: []byte(tt.source)}); err != nil {
				t.Fatal(err)
			}
			o := b.runCmd(t, sandbox.Cmd{Tool: tt.tool, Args: append(tt.args, "-o", "main", file), Limits: compilerLimits})
			if !slices.Contains(tt.want, o.Verdict) || o.OverWall || tt.check != nil && !tt.check(o) {
				t.Errorf("the compiler ended %.3000v, want one of %v", o, tt.want)
			}
			if made, err := b.box.Collect(t.Context(), []string{"main"}, compilerLimits.FileBytes); err != nil || len(made) != 0 && o.Verdict != sandbox.OK {
				t.Errorf("it made %d programs, %v", len(made), err)
			}
			t.Logf("%s after %s of CPU time and %d MiB", o.Verdict, o.CPU, o.MemoryBytes>>20)
		})
	}
}

// compilerLimits are those of a compiler that is attacked.
var compilerLimits = sandbox.Limits{CPU: time.Second, Wall: 4 * time.Minute, MemoryBytes: 512 * mib, FileBytes: 64 * mib}

func TestACompilerReadsNothingOfTheHost(t *testing.T) {
	w := newWitness(t)
	b := newBench(t, shared.get(t), "leftover", sandbox.BoxOptions{Writable: true})
	for name, path := range map[string]string{
		"an answer":                        w.answer,
		"an answer by way of proc":         "/proc/1/root" + w.answer,
		"an answer by way of the box":      "/box/../.." + w.answer,
		"the file of passwords":            "/etc/shadow",
		"a file of root's home":            "/root/.bashrc",
		"the environment of the host":      "/proc/1/environ",
		"the folder of the judge's memory": "/proc/1/fd/3",
	} {
		for way, format := range map[string]string{
			"is not included": "#include \"%s\"\n",
			"is not embedded": "__asm__(\".incbin \\\"%s\\\"\");\nint main(void) { return 0; }\n",
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				if err := b.box.Put(t.Context(), sandbox.File{Path: "main.c", Data: fmt.Appendf(nil, format, path)}); err != nil {
					t.Fatal(err)
				}
				o := b.runCmd(t, sandbox.Cmd{Tool: "gcc", Args: []string{"-o", "main", "main.c"}, Limits: generous})
				refused := strings.Contains(o.stderr, "No such file") || strings.Contains(o.stderr, "Permission denied") ||
					strings.Contains(o.stderr, "file not found")
				if o.Verdict != sandbox.RE || !refused || strings.Contains(o.stderr, "forty-two") || strings.Contains(o.stderr, "root:") {
					t.Errorf("ended %v", o)
				}
				w.check(t)
			})
		}
	}
}

// A macro of Rust runs in the compiler, and can do what a program can.
func TestCodeThatRunsAtCompileTimeIsContained(t *testing.T) {
	t.Setenv("DEEPOJ_SECRET", "of the host")
	w := newWitness(t)
	a := shared.get(t)
	if _, err := a.Tool(t.Context(), "rustc"); errors.Is(err, sandbox.ErrNoTool) {
		missing(t, "rustc")
	}
	b := newBench(t, a, "leftover", sandbox.BoxOptions{Writable: true})
	rustc := func(l sandbox.Limits, args ...string) outcome {
		l.Processes, l.OpenFiles = 64, 1024
		if l.MemoryBytes == 0 {
			l.MemoryBytes = 1 << 30
		}
		return b.runCmd(t, sandbox.Cmd{Tool: "rustc", Args: args, Limits: l})
	}
	if err := b.box.Put(t.Context(), source(t, "attack.rs")); err != nil {
		t.Fatal(err)
	}
	if o := rustc(generous, "--crate-type", "proc-macro", "-o", "libattack.so", "attack.rs"); o.Verdict != sandbox.OK {
		t.Fatalf("the macro cannot be compiled: %v", o)
	}
	for name, tt := range map[string]struct {
		attack string
		limits sandbox.Limits
		want   sandbox.Verdict
		failed int // attempts, which must all have failed
	}{
		"it reads and writes nothing of the host": {attack: fmt.Sprintf("look %q %q", w.answer, "/etc/shadow"), limits: generous, want: sandbox.OK, failed: 6},
		"it calls nobody":                         {attack: fmt.Sprintf("call %q", w.port), limits: generous, want: sandbox.OK, failed: 2},
		"it leaves no file and no process":        {attack: "leave", limits: generous, want: sandbox.OK},
		"CPU time without end is TLE":             {attack: "spin", limits: sandbox.Limits{CPU: 500 * ms, Wall: 4 * time.Minute}, want: sandbox.TLE},
		"a bomb of processes is TLE":              {attack: "bomb", limits: sandbox.Limits{CPU: time.Second, Wall: 4 * time.Minute}, want: sandbox.TLE},
		"memory without end is MLE":               {attack: "eat", limits: sandbox.Limits{CPU: time.Minute, Wall: 4 * time.Minute, MemoryBytes: 512 * mib}, want: sandbox.MLE},
	} {
		t.Run(name, func(t *testing.T) {
			main := sandbox.File{Path: "main.rs", Data: []byte("attack::attack!(" + tt.attack + ");\nfn main() {}\n")}
			if err := b.box.Put(t.Context(), main); err != nil {
				t.Fatal(err)
			}
			o := rustc(tt.limits, "--edition", "2021", "--extern", "attack=libattack.so", "main.rs")
			if o.Verdict != tt.want || o.OverWall || strings.Contains(o.stderr, "worked") || strings.Count(o.stderr, ": failed\n") != tt.failed {
				t.Errorf("ended %v, want %s and %d failures", o, tt.want, tt.failed)
			}
			w.check(t)
		})
	}
}
