package sandbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// A source is as hostile as a program: its compiler runs in a box too.
func TestCompilersAreBounded(t *testing.T) {
	a := shared.get(t)
	tests := map[string]struct {
		tool, file, source string
		args               []string
		want               []sandbox.Verdict
	}{
		"an endless header": {
			"gcc", "main.c", "#include \"/dev/zero\"\n", nil, []sandbox.Verdict{sandbox.MLE, sandbox.TLE, sandbox.RE},
		},
		"a header that waits": {
			"gcc", "main.c", "#include \"/dev/stdin\"\n", nil, []sandbox.Verdict{sandbox.RE},
		},
		"templates without end": {
			"g++", "main.cpp",
			"template<int N, int M> struct A { static const int v = A<N - 1, M>::v + A<N - 1, M + 1>::v; };\n" +
				"template<int M> struct A<0, M> { static const int v = 1; };\nint main() { return A<800, 0>::v; }\n",
			[]string{"-ftemplate-depth=2000"},
			[]sandbox.Verdict{sandbox.MLE, sandbox.TLE},
		},
		"computing at compile time": {
			"g++", "main.cpp",
			"constexpr long f() { long s = 0; for (long i = 0; i < 1000000000000; i++) s += i; return s; }\nstatic_assert(f() == 1);\nint main() {}\n",
			[]string{"-std=c++20", "-fconstexpr-ops-limit=9223372036854775807", "-fconstexpr-loop-limit=2147483647"},
			[]sandbox.Verdict{sandbox.TLE, sandbox.RE},
		},
		"a flood of errors": {
			"gcc", "main.c", "#define A(x) x x x x x x x x x x\nint main(void) { A(A(A(A(A(A(undeclared;)))))) }\n",
			[]string{"-fmax-errors=0", "-ftrack-macro-expansion=0"},
			[]sandbox.Verdict{sandbox.RE, sandbox.TLE, sandbox.MLE},
		},
		"an executable that is a flood": {
			"gcc", "main.c", "char a[3000000000] = {1};\nint main(void) { return a[0]; }\n",
			[]string{"-mcmodel=large"},
			[]sandbox.Verdict{sandbox.OLE, sandbox.RE, sandbox.MLE, sandbox.TLE},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := open(t, a, sandbox.BoxOptions{Writable: true})
			if err := b.Put(t.Context(), sandbox.File{Path: tt.file, Data: []byte(tt.source)}); err != nil {
				t.Fatal(err)
			}
			o := run(t, b, sandbox.Cmd{Tool: tt.tool, Args: append(tt.args, "-o", "main", tt.file), Limits: sandbox.Limits{
				CPU: 2 * time.Second, Wall: 30 * time.Second, MemoryBytes: 512 * mib, FileBytes: 64 * mib,
			}})
			ok := false
			for _, v := range tt.want {
				ok = ok || o.Verdict == v
			}
			if !ok {
				t.Errorf("the compiler ended %v, want one of %v", o, tt.want)
			}
			t.Logf("%s after %s of CPU time and %d MiB", o.Verdict, o.CPU, o.MemoryBytes>>20)
			if o := run(t, b, sandbox.Cmd{Program: "/bin/true"}); o.Verdict != sandbox.OK {
				t.Errorf("afterwards a run ended %v", o)
			}
		})
	}
}

func TestACompilerReadsNothingOfTheHost(t *testing.T) {
	a := shared.get(t)
	secret := folder(t, sandbox.File{Path: "answer", Mode: 0o644, Data: []byte("the answer is forty-two\n")})
	for _, path := range []string{secret + "/answer", "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/proc/1/root" + secret + "/answer"} {
		for _, source := range []string{"#include \"" + path + "\"\n", "__asm__(\".incbin \\\"" + path + "\\\"\");\nint main(void) { return 0; }\n"} {
			b, err := a.OpenBox(t.Context(), sandbox.BoxOptions{Writable: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Put(t.Context(), sandbox.File{Path: "main.c", Data: []byte(source)}); err != nil {
				t.Fatal(err)
			}
			o := run(t, b, sandbox.Cmd{Tool: "gcc", Args: []string{"-o", "main", "main.c"}, Limits: sandbox.Limits{CPU: 10 * time.Second}})
			if o.Verdict != sandbox.RE || strings.Contains(o.stderr, "forty-two") || strings.Contains(o.stderr, "root:") {
				t.Errorf("with %q it ended %v", source, o)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Run-time systems of languages meet the limits in their own ways.
func TestEveryLanguageIsBounded(t *testing.T) {
	a := shared.get(t)
	type program struct {
		tool, file string
		args       []string
		spin, hog  string
	}
	for name, p := range map[string]program{
		"Python": {"python3", "main.py", []string{"main.py"}, "while True: pass", "a = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): a[i] = 1"},
		"JavaScript": {
			"node", "main.js",
			[]string{"--max-old-space-size=4096", "main.js"},
			"for (;;) {}",
			"const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))",
		},
		"Java": {
			"java", "Main.java",
			[]string{"-XX:+UseSerialGC", "-Xmx2g", "Main.java"},
			"public class Main { public static void main(String[] a) { for (;;) {} } }",
			"public class Main { public static void main(String[] a) { var l = new java.util.ArrayList<byte[]>(); for (;;) { byte[] b = new byte[1 << 20]; java.util.Arrays.fill(b, (byte) 1); l.add(b); } } }",
		},
	} {
		if _, err := a.Tool(t.Context(), p.tool); errors.Is(err, sandbox.ErrNoTool) {
			missing(t, p.tool)
		}
		for source, want := range map[string]sandbox.Verdict{p.spin: sandbox.TLE, p.hog: sandbox.MLE} {
			t.Run(name+" is "+string(want), func(t *testing.T) {
				b := open(t, a, sandbox.BoxOptions{})
				if err := b.Put(t.Context(), sandbox.File{Path: p.file, Data: []byte(source)}); err != nil {
					t.Fatal(err)
				}
				limit := sandbox.Limits{CPU: 3 * time.Second, Wall: 40 * time.Second, MemoryBytes: 512 * mib}
				if want == sandbox.MLE {
					limit.CPU = 15 * time.Second
				}
				if o := run(t, b, sandbox.Cmd{Tool: p.tool, Args: p.args, Limits: limit}); o.Verdict != want {
					t.Errorf("ended %v", o)
				}
			})
		}
	}
}
