package judging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// guessing is an interactive problem in either dialect. The interactor is the
// one of package plugin's tests.
func guessing(t *testing.T, protocol, checker string) *problem.Package {
	t.Helper()
	interactor, err := os.ReadFile(filepath.Join("..", "plugin", "testdata", "guess.c"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"problem.yaml":     "name: Guess\n",
		"deepoj.yaml":      "interactor: {file: guess.c, protocol: " + protocol + "}\n" + checker,
		"guess.c":          string(interactor),
		"data/sample/1.in": "777\n", "data/sample/1.ans": "9\n",
		"data/secret/1.in": "1\n", "data/secret/1.ans": "9\n",
	}
	if protocol == "icpc/1" {
		delete(files, "deepoj.yaml")
		delete(files, "guess.c")
		files["problem.yaml"] = "name: Guess\nvalidation: custom interactive\n"
		files["output_validators/guess.c"] = string(interactor)
	}
	return echo(t, files)
}

const bisecting = `low, high = 0, 1000
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    said = input()
    if said == "right":
        break
    if said == "more":
        low = guess + 1
    else:
        high = guess - 1
`

func TestAnInteractiveProblemIsJudgedByItsInteractor(t *testing.T) {
	t.Parallel()
	judgingtest.Get(t)
	tests := map[string]struct {
		program string
		want    judge.Verdict
		says    string // part of the message
	}{
		"right":                    {bisecting, judge.AC, ""},
		"wrong and well":           {"print(1)\nprint(2)\n", judge.WA, ""},
		"silent":                   {"", judge.WA, ""},
		"crashing in mid-sentence": {"print(1, flush=True)\ninput()\n1 // 0\n", judge.RE, ""},
		"wrong, and crashing when nobody listens":     {"for i in range(101):\n    print(5000, flush=True)\n    input()\n1 // 0\n", judge.WA, ""},
		"right, and crashing afterwards":              {bisecting + "1 // 0\n", judge.RE, ""},
		"deaf, and killed by the broken pipe":         {"import os\nfor i in range(200):\n    print(5000, flush=True)\nos.kill(os.getpid(), 13)\n", judge.WA, ""},
		"waiting for ever":                            {"input()\n", judge.TLE, "on the clock"},
		"spinning":                                    {"print(1, flush=True)\nwhile True: pass\n", judge.TLE, "CPU time"},
		"hungry in the middle":                        {"print(1, flush=True)\nx = bytearray(1 << 40)\n", judge.MLE, ""},
		"talking to stderr as well as to the other":   {"import sys\nsys.stderr.write('x' * 3000000)\n" + bisecting, judge.AC, ""},
		"ending with another status than 0 when done": {bisecting + "raise SystemExit(3)\n", judge.RE, "exit status 3"},
	}
	for _, protocol := range []string{"icpc/1", "testlib/1"} {
		pkg := guessing(t, protocol, "")
		for name, tt := range tests {
			t.Run(name+" in "+protocol, func(t *testing.T) {
				t.Parallel()
				r := judged(t, judgingtest.Get(t).Judge, python(tt.program), pkg)
				if r.Verdict != tt.want || !strings.Contains(r.Message+r.Tests[0].Message, tt.says) || r.Checker == "" {
					t.Errorf("verdict %s, want %s: %q, test %+v, %s", r.Verdict, tt.want, r.Message, r.Tests[0], r.JudgeNote)
				}
				if name == "right" && !strings.HasPrefix(r.Tests[0].Output, "> 500\n< more\n> 750\n") {
					t.Errorf("the sample shows %q", r.Tests[0].Output)
				}
			})
		}
	}
}

func TestACheckerDecidesOnWhatTheInteractorWrote(t *testing.T) {
	t.Parallel()
	judgingtest.Get(t)
	// The answer says nine guesses; bisecting needs nine for one of the tests
	// and another number for the other.
	pkg := guessing(t, "testlib/1", "checker: {name: tokens, protocol: testlib/1}\n")
	r := judged(t, judgingtest.Get(t).Judge, python(bisecting), pkg)
	if r.Verdict != judge.WA || strings.Count(r.Checker, "sha256:") != 2 {
		t.Errorf("verdict %s by %s: %+v", r.Verdict, r.Checker, r.Tests)
	}
}

func TestAnInteractorThatFailsIsAJudgingError(t *testing.T) {
	t.Parallel()
	judgingtest.Get(t)
	base := "name: Guess\nvalidation: custom interactive\nlimits: {validation_time: 1, validation_memory: 64}\n"
	for name, source := range map[string]string{
		"by a trap":        "int main(void) { __builtin_trap(); }",
		"by its status":    "int main(void) { return 7; }",
		"by its fuel":      "int main(void) { for (volatile int i = 0;; i++) {} }",
		"by its compiler":  "int main(void) { return undeclared; }",
		"by being a troll": "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := echo(t, map[string]string{"problem.yaml": base, "output_validators/i.c": source})
			if r := judged(t, judgingtest.Get(t).Judge, python("print(1, flush=True)\n"), pkg); r.Verdict != judge.JE || r.JudgeNote == "" {
				t.Errorf("verdict %s: %q", r.Verdict, r.JudgeNote)
			}
		})
	}
}
