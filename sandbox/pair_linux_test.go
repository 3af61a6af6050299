package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// dialogue is two programs of talk.c and how they must end.
type dialogue struct {
	a, b         []string
	limitA       sandbox.Limits
	wantA, wantB sandbox.Verdict
	check        func(p sandbox.PairResult) bool
}

// Limits of one side that it reaches soon.
var (
	hasty    = sandbox.Limits{CPU: time.Minute, Wall: 300 * ms}
	fewTicks = sandbox.Limits{CPU: 100 * ms, Wall: 4 * time.Minute}
)

var dialogues = map[string]dialogue{
	"they find a number": {a: []string{"guess"}, b: []string{"answer", "777"}, wantA: sandbox.OK, wantB: sandbox.OK},

	// Who is first. Ends are far enough apart for a busy machine to see them in
	// order.
	"the second ends first": {
		a: []string{"listen-and-stay", "400"}, b: []string{"end"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return !p.FirstA },
	},
	"the first ends first": {
		a: []string{"end"}, b: []string{"listen-and-stay", "400"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.FirstA },
	},
	"one that fails does not spoil the other's verdict": {
		a: []string{"end", "3"}, b: []string{"listen"}, wantA: sandbox.RE, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.A.ExitCode == 3 },
	},

	// Deadlock.
	"both wait for ever, and the clock ends the one with less time": {
		a: []string{"listen"}, b: []string{"listen-and-stay", "400"}, limitA: hasty, wantA: sandbox.TLE, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.A.OverWall && !p.B.OverWall && p.FirstA },
	},
	"one hangs, and the other one's end does not wake it": {
		a: []string{"hang"}, b: []string{"end"}, limitA: hasty, wantA: sandbox.TLE, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.A.OverWall && !p.FirstA },
	},

	// Broken pipes.
	"a program that dies of SIGPIPE after the other's end has no fault": {
		a: []string{"end"}, b: []string{"speak"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.B.Signal == int(unix.SIGPIPE) },
	},
	"a program that dies of SIGPIPE when the other only closed its input has no fault": {
		a: []string{"close-ears", "400"}, b: []string{"speak"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.B.Signal == int(unix.SIGPIPE) && !p.FirstA },
	},
	"a program that closes its output and lives is heard to be done": {
		a: []string{"close-mouth"}, b: []string{"listen"}, wantA: sandbox.OK, wantB: sandbox.OK,
	},
	"a program that ignores SIGPIPE ends as it likes": {
		a: []string{"end"}, b: []string{"speak-boldly"}, wantA: sandbox.OK, wantB: sandbox.RE,
		check: func(p sandbox.PairResult) bool { return p.B.ExitCode == 3 && p.B.Signal == 0 },
	},

	// Standard error is drained meanwhile.
	"one floods standard error while the other waits for it": {
		a: []string{"complain", "8"}, b: []string{"wait-and-complain", "8"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool {
			return p.A.StderrBytes == 8*mib && p.B.StderrBytes == 8*mib && p.A.StderrTruncated && p.B.StderrTruncated
		},
	},
	"both flood standard error": {
		a: []string{"complain", "8"}, b: []string{"complain", "8"}, wantA: sandbox.OK, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return p.A.StderrBytes == 8*mib && p.B.StderrBytes == 8*mib },
	},

	// Limits of one side.
	"one uses its CPU time up while the other waits": {
		a: []string{"spin"}, b: []string{"listen"}, limitA: fewTicks, wantA: sandbox.TLE, wantB: sandbox.OK,
		check: func(p sandbox.PairResult) bool { return !p.A.OverWall && p.B.CPU < 100*ms },
	},
	"one uses its memory up while the other waits": {
		a: []string{"eat"}, b: []string{"listen"}, wantA: sandbox.MLE, wantB: sandbox.OK,
	},
	"one talks without end and the other listens": {
		a: []string{"speak"}, b: []string{"listen"}, limitA: fewTicks, wantA: sandbox.TLE, wantB: sandbox.OK,
	},
}

func TestTwoProgramsTalkToEachOther(t *testing.T) { onEveryDriver(t, twoProgramsTalkToEachOther) }

func twoProgramsTalkToEachOther(t *testing.T, a *sandbox.Client) {
	first, second := newBench(t, a, "talk", sandbox.BoxOptions{}), newBench(t, a, "talk", sandbox.BoxOptions{})
	for name, tt := range dialogues {
		if tt.limitA == (sandbox.Limits{}) {
			tt.limitA = generous
		}
		t.Run(name, func(t *testing.T) {
			p, err := sandbox.RunPair(t.Context(),
				first.box, sandbox.Cmd{Program: "./talk", Args: tt.a, Limits: tt.limitA},
				second.box, sandbox.Cmd{Program: "./talk", Args: tt.b, Limits: generous})
			if err != nil {
				t.Fatal(err)
			}
			if p.A.Verdict != tt.wantA || p.B.Verdict != tt.wantB || tt.check != nil && !tt.check(p) {
				t.Errorf("they ended %+v, want %s and %s", p, tt.wantA, tt.wantB)
			}
			first.look(t)
			second.look(t)
		})
	}
	t.Run("both hang, and the clock ends both", func(t *testing.T) {
		hang := sandbox.Cmd{Program: "./talk", Args: []string{"hang"}, Limits: hasty}
		p, err := sandbox.RunPair(t.Context(), first.box, hang, second.box, hang)
		if err != nil || p.A.Verdict != sandbox.TLE || p.B.Verdict != sandbox.TLE || !p.A.OverWall || !p.B.OverWall {
			t.Errorf("they ended %+v, %v", p, err)
		}
	})
	t.Run("one that cannot be run does not stop the other", func(t *testing.T) {
		listen := sandbox.Cmd{Program: "./talk", Args: []string{"listen"}, Limits: generous}
		p, err := sandbox.RunPair(t.Context(), first.box, sandbox.Cmd{Program: "./missing"}, second.box, listen)
		if err != nil || p.A.Verdict != sandbox.SE || p.A.Error == "" || p.B.Verdict != sandbox.OK {
			t.Errorf("they ended %+v, %v", p, err)
		}
	})
	heard := map[string]dialogue{
		"they find a number": dialogues["they find a number"],
		"a program that closes its output and lives is heard to be done": dialogues["a program that closes its output and lives is heard to be done"],
		"nobody dies of SIGPIPE when the first has ended": {
			a: []string{"end"}, b: []string{"speak-boldly", "256"}, wantA: sandbox.OK, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return p.FirstA && p.B.Signal == 0 },
		},
		"nobody dies of SIGPIPE when the second has ended": {
			a: []string{"speak", "256"}, b: []string{"end"}, wantA: sandbox.OK, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return p.A.Signal == 0 },
		},
		"nobody dies of SIGPIPE when the other only closed its input": {
			a: []string{"close-ears", "400"}, b: []string{"speak", "256"}, wantA: sandbox.OK, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return p.B.Signal == 0 },
		},
		"one that fails is first when the other one heard of it": {
			a: []string{"end", "3"}, b: []string{"listen"}, wantA: sandbox.RE, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return p.FirstA },
		},
		"one that fails is first when the other one was silenced by it": {
			a: []string{"wait-and-end", "400"}, b: []string{"speak", "256"}, wantA: sandbox.RE, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return p.FirstA },
		},
		"one that fails with its last words is not first when they end the other one": {
			a: []string{"say-and-end", "3"}, b: []string{"hear"}, wantA: sandbox.RE, wantB: sandbox.OK,
			check: func(p sandbox.PairResult) bool { return !p.FirstA },
		},
	}
	for name, tt := range heard {
		t.Run(name+", and somebody hears them", func(t *testing.T) {
			if tt.limitA == (sandbox.Limits{}) {
				tt.limitA = generous
			}
			var said [2]strings.Builder
			p, err := sandbox.RunPairWith(t.Context(),
				first.box, sandbox.Cmd{Program: "./talk", Args: tt.a, Limits: tt.limitA},
				second.box, sandbox.Cmd{Program: "./talk", Args: tt.b, Limits: generous},
				sandbox.PairOptions{Hear: func(fromA bool, words []byte) {
					if fromA {
						said[0].Write(words)
					} else {
						said[1].Write(words)
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			if p.A.Verdict != tt.wantA || p.B.Verdict != tt.wantB || tt.check != nil && !tt.check(p) {
				t.Errorf("they ended %+v, want %s and %s", p, tt.wantA, tt.wantB)
			}
			if a, b := said[0].String(), said[1].String(); name == "they find a number" && (!strings.Contains(a, "777") || strings.Count(b, "\n") < 2) {
				t.Errorf("they said %q and %q", a, b)
			}
		})
	}
	t.Run("one goes on when the other has said enough", func(t *testing.T) {
		p, err := sandbox.RunPairWith(t.Context(),
			first.box, sandbox.Cmd{Program: "./talk", Args: []string{"hang"}, Limits: generous},
			second.box, sandbox.Cmd{Program: "./talk", Args: []string{"end", "3"}, Limits: generous},
			sandbox.PairOptions{Enough: func(b sandbox.Result) bool { return b.ExitCode == 3 }})
		if err != nil || p.A.Verdict != "" || p.B.ExitCode != 3 || p.FirstA {
			t.Errorf("they ended %+v, %v", p, err)
		}
		first.look(t)
	})
	t.Run("a pair needs two boxes and its own pipes", func(t *testing.T) {
		end := sandbox.Cmd{Program: "./talk", Args: []string{"end"}}
		if _, err := sandbox.RunPair(t.Context(), first.box, end, first.box, end); err == nil {
			t.Error("a pair ran in one box")
		}
		taken := end
		taken.Stdin = memory(nil)
		defer taken.Stdin.Close()
		if _, err := sandbox.RunPair(t.Context(), first.box, taken, second.box, end); err == nil {
			t.Error("a pair ran with an input from elsewhere")
		}
	})
}
