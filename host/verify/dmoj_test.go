package verify_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

// scored is what a submission must get: its verdict and score, or "" and why.
type scored struct {
	verdict string
	score   float64
}

// provesAs reads, finishes and judges a package and compares what its submissions get.
func provesAs(t *testing.T, files map[string]string, most float64, want map[string]scored) *problem.Package {
	t.Helper()
	cfg := verify.Config{Judge: judgingtest.Get(t).Judge}
	pkg, err := verify.Finish(t.Context(), cfg, stored(t, files))
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), cfg, pkg)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		name := row.Path[strings.LastIndexByte(row.Path, '/')+1:]
		w, known := want[name]
		switch {
		case !known || string(row.Verdict) != w.verdict:
			t.Errorf("%s gets %s (%s, %s), want %+v", row.Path, row.Verdict, row.Message, row.Problem, w)
		case most > 0 && (row.Score == nil || *row.Score != w.score || row.MaxScore == nil || *row.MaxScore != most):
			t.Errorf("%s gets %v of %v, want %g of %g", row.Path, row.Score, row.MaxScore, w.score, most)
		}
	}
	if len(r.Rows) != len(want) || len(r.Faults) > 0 {
		t.Errorf("%d rows, faults %q", len(r.Rows), r.Faults)
	}
	return pkg
}

// A generator of DMOJ writes the input to standard output and the answer to standard
// error.
func TestAProblemOfDMOJIsMadeAndProved(t *testing.T) {
	t.Parallel()
	pkg := provesAs(t, map[string]string{
		"init.yml": `generator: gen.py
test_cases:
- {generator_args: [1], points: 0}
- {generator_args: [2], points: 10}
- points: 20
  batched:
  - {generator_args: [-3]}
  - {generator_args: [4]}
- points: 30
  dependencies: [1]
  batched:
  - {in: five.in, out: five.out}
- {generator_args: [2000], points: 40}
`,
		"gen.py":  "import sys\nn = int(sys.argv[1])\nprint(n)\nprint(2 * n, file=sys.stderr)\n",
		"five.in": "5\r\n", "five.out": "10",
		"submissions/accepted/right.py":               right,
		"submissions/partially_accepted/positive.py":  "print(2 * abs(int(input())))\n",
		"submissions/partially_accepted/small.py":     "n = int(input())\nprint(2 * n if n < 1000 else 0)\n",
		"submissions/wrong_answer/never.py":           "print(7)\n",
		"submissions/wrong_answer/not-the-pretest.py": "n = int(input())\nprint(2 * n if n > 1 else 0)\n",
	}, 100, map[string]scored{
		"right.py": {"AC", 100}, "positive.py": {"WA", 50}, "small.py": {"WA", 60}, "never.py": {"WA", 0}, "not-the-pretest.py": {"WA", 0},
	})
	last := pkg.Tests()[5]
	for f, want := range map[problem.File]string{last.Input: "2000\n", last.Answer: "4000\n"} {
		if got := content(t, pkg, f); got != want {
			t.Errorf("%s holds %q, want %q", f.Path, got, want)
		}
	}
	if again := reimported(t, pkg); again.Version != pkg.Version {
		t.Errorf("exported and imported, the version is %s, want %s", again.Version, pkg.Version)
	}
}

// A generator must write the same each time, to both places.
func TestAGeneratorOfDMOJMustWriteTheSameAnswer(t *testing.T) {
	t.Parallel()
	_, err := made(t, map[string]string{
		"init.yml": "generator: gen.py\ntest_cases:\n- {generator_args: [1]}\n",
		"gen.py":   "import os, sys\nprint(1)\nprint(os.urandom(8).hex(), file=sys.stderr)\n",
	})
	if err == nil || !strings.Contains(err.Error(), "it prints something else each time") {
		t.Errorf("the error is %v", err)
	}
}

// The answers of the checkers are those that DMOJ's give.
func TestCheckersOfDMOJDecideAsTheirs(t *testing.T) {
	t.Parallel()
	base := map[string]string{"1.in": "1\n", "2.in": "2\n"}
	for name, tt := range map[string]struct {
		files map[string]string
		most  float64
		want  map[string]scored
	}{
		"standard: lines matter": {map[string]string{
			"init.yml": "points: 50\ntest_cases:\n- {in: 1.in, out: 1.out}\n- {in: 2.in, out: 1.out}\n", "1.out": "a b\nc\n",
			"submissions/accepted/same.py": "print(' a  b \\n\\n c')\n", "submissions/wrong_answer/rows.py": "print('a\\nb c')\n",
		}, 100, map[string]scored{"same.py": {"AC", 100}, "rows.py": {"WA", 0}}},
		"linecount: a part for each line": {map[string]string{
			"init.yml": "checker: linecount\ntest_cases:\n- {in: 1.in, out: 1.out, points: 30}\n- {in: 2.in, out: 1.out, points: 70}\n", "1.out": "a\nb\nc\n",
			"submissions/accepted/all.py": "print('a\\nb\\nc')\n", "submissions/partially_accepted/two.py": "print('a\\nx\\nc' if input() == '1' else 'a\\nb\\nc')\n",
			"submissions/wrong_answer/more.py": "print('a\\nb\\nc\\nd')\n",
		}, 100, map[string]scored{"all.py": {"AC", 100}, "two.py": {"PA", 90}, "more.py": {"WA", 0}}},
		"bridged: a checker of testlib's kind, with points, in a batch": {map[string]string{
			"init.yml":                    "checker: {name: bridged, args: {files: check.c, lang: C11, type: testlib}}\ntest_cases:\n- {points: 60, batched: [{in: 1.in}, {in: 2.in}]}\n- {points: 40, dependencies: [1], batched: [{in: 1.in}]}\n",
			"check.c":                     "#include <stdio.h>\nint main(int argc, char **argv)\n{\n\tint n;\n\tif (fscanf(fopen(argv[2], \"r\"), \"%d\", &n) != 1)\n\t\treturn 2;\n\tif (n < 0)\n\t\treturn 1;\n\tif (n == 0)\n\t\treturn 0;\n\tfprintf(stderr, \"points %d\", n);\n\treturn 7;\n}\n",
			"submissions/accepted/all.py": "print(0)\n",
			"submissions/partially_accepted/parts.py": "print(10 * int(input()))\n",
			"submissions/partially_accepted/some.py":  "print(20 if input() == '2' else 0)\n",
			"submissions/wrong_answer/none.py":        "print(-1)\n",
			"submissions/wrong_answer/nothing.py":     "pass\n",
		}, 100, map[string]scored{"all.py": {"AC", 100}, "parts.py": {"PA", 20}, "some.py": {"PA", 60}, "none.py": {"WA", 0}, "nothing.py": {"WA", 0}}},
		"interactive: an interactor decides": {map[string]string{
			"init.yml":                               "unbuffered: true\ninteractive: {files: talk.c, lang: C11, type: testlib}\ntest_cases:\n- {in: 1.in, points: 50}\n- {in: 2.in, points: 50}\n",
			"talk.c":                                 "#include <stdio.h>\nint main(int argc, char **argv)\n{\n\tint secret, guess;\n\tif (fscanf(fopen(argv[1], \"r\"), \"%d\", &secret) != 1)\n\t\treturn 3;\n\tfor (int i = 0; i < 3 && scanf(\"%d\", &guess) == 1; i++) {\n\t\tif (guess == secret)\n\t\t\treturn puts(\"yes\") < 0;\n\t\tputs(\"no\");\n\t\tfflush(stdout);\n\t}\n\treturn 1;\n}\n",
			"submissions/accepted/counts.py":         "n = 0\nanswer = 'no'\nwhile answer == 'no':\n    n += 1\n    print(n, flush=True)\n    answer = input()\n",
			"submissions/partially_accepted/once.py": "print(1, flush=True)\n",
		}, 100, map[string]scored{"counts.py": {"AC", 100}, "once.py": {"WA", 50}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(base)
			maps.Copy(files, tt.files)
			provesAs(t, files, tt.most, tt.want)
		})
	}
}

func TestAFolderOfTestsIsProved(t *testing.T) {
	t.Parallel()
	provesAs(t, map[string]string{
		"input/1.txt": "1\r\n", "output/1.txt": "2\r\n", "input/10.txt": "-5\n", "output/10.txt": "-10\n", "input/2.txt": "3\n", "output/2.txt": "6\n",
		"deepoj.yaml": "title: Double\nlimits: {time_limit: 1, memory: 128}\n", "statement.md": "Double it.\n",
		"submissions/accepted/right.py":            right,
		"submissions/wrong_answer/positive.py":     "print(2 * abs(int(input())))\n",
		"submissions/time_limit_exceeded/loops.py": forever,
	}, 0, map[string]scored{"right.py": {"AC", 0}, "positive.py": {"WA", 0}, "loops.py": {"TLE", 0}})
}
