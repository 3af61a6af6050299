package sandbox_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

func TestTwoProgramsTalkToEachOther(t *testing.T) {
	a := shared.get(t)
	python := func(code string) sandbox.Cmd {
		return sandbox.Cmd{Tool: "python3", Args: []string{"-uc", code}, Limits: sandbox.Limits{CPU: 5 * time.Second, Wall: 10 * time.Second}}
	}
	quick := func(c sandbox.Cmd) sandbox.Cmd {
		c.Limits.Wall = 500 * ms
		return c
	}
	const guess = `
lo, hi = 1, 1000
while True:
    m = (lo + hi) // 2
    print(m)
    r = input()
    if r == "=": break
    if r == "<": hi = m - 1
    else: lo = m + 1
`
	const answer = `
while True:
    m = int(input())
    print("=" if m == 777 else "<" if m > 777 else ">")
    if m == 777: break
`
	tests := map[string]struct {
		a, b         sandbox.Cmd
		wantA, wantB sandbox.Verdict
		check        func(sandbox.PairResult) string
	}{
		"they find a number": {a: python(guess), b: python(answer), wantA: sandbox.OK, wantB: sandbox.OK},
		"both wait for the other": {
			a: quick(python("input()")), b: quick(python("input()")), wantA: sandbox.TLE, wantB: sandbox.RE,
		},
		"who ends first is known": {
			a: python("input()"), b: python("print(1)\nprint(2)"), wantA: sandbox.OK, wantB: sandbox.OK,
		},
		"a broken pipe is no verdict": {
			a: python("pass"), b: python("import signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: print('x' * 1000)"),
			wantA: sandbox.OK, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) string {
				if p.B.Signal != int(unix.SIGPIPE) || !p.FirstA {
					return "the second must have died of SIGPIPE after the first"
				}
				return ""
			},
		},
		"a program that spins does not stop the other's end": {
			a: quick(python("while True: pass")), b: python("pass"), wantA: sandbox.TLE, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) string {
				if p.FirstA {
					return "the second ended first"
				}
				return ""
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			first, second := open(t, a, sandbox.BoxOptions{}), open(t, a, sandbox.BoxOptions{})
			p, err := sandbox.RunPair(t.Context(), first, tt.a, second, tt.b)
			if err != nil {
				t.Fatal(err)
			}
			if name == "both wait for the other" { // which clock is first is chance
				if p.A.Verdict == sandbox.RE {
					p.A, p.B = p.B, p.A
				}
				if p.B.Verdict == sandbox.TLE {
					p.B.Verdict = sandbox.RE
				}
			}
			if p.A.Verdict != tt.wantA || p.B.Verdict != tt.wantB {
				t.Errorf("they ended %+v and %+v, want %s and %s", p.A, p.B, tt.wantA, tt.wantB)
			}
			if tt.check != nil {
				if s := tt.check(p); s != "" {
					t.Errorf("%s: %+v", s, p)
				}
			}
		})
	}
	b := open(t, a, sandbox.BoxOptions{})
	if _, err := sandbox.RunPair(t.Context(), b, python("pass"), b, python("pass")); err == nil {
		t.Error("a pair ran in one box")
	}
}
