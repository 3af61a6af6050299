package judging_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
)

// counting is a grader: the verdict of the group is that of its last line, and the
// score the number of lines, times its first argument.
const counting = `import sys
lines = [line.split() for line in sys.stdin]
print(lines[-1][0] if lines else "AC", len(lines) * float((sys.argv + ["1"])[1]))
`

func TestAGraderOfThePackageGradesGroups(t *testing.T) {
	t.Parallel()
	custom := func(grader string, files map[string]string) map[string]string {
		all := map[string]string{
			"problem.yaml": "name: Echo\ntype: scoring\n", "graders/grade.py": grader,
			"data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\n",
			"data/secret/1.in":   "", "data/secret/1.ans": "",
			"data/secret/a/testdata.yaml": "grading: custom\ngrader_flags: 10\n",
			"data/secret/a/1.in":          "1\n", "data/secret/a/1.ans": "other\n", "data/secret/a/2.in": "2\n", "data/secret/a/2.ans": "2\n",
			"data/secret/b/testdata.yaml": "on_reject: break\n",
			"data/secret/b/1.in":          "3\n", "data/secret/b/1.ans": "3\n",
		}
		maps.Copy(all, files)
		return all
	}
	for name, tt := range map[string]struct {
		files   map[string]string
		verdict judge.Verdict
		score   float64
		says    string // a formula, or what staff read
	}{
		"one group":                     {custom(counting, nil), judge.AC, 21, "grader(0, 1)"},
		"the whole":                     {custom(counting, map[string]string{"data/testdata.yaml": "grading: custom\ngrader_flags: 3\non_reject: continue\n", "data/secret/testdata.yaml": "grading: default\non_reject: continue\n"}), judge.AC, 6, "grader(3, 21)"},
		"what it is told":               {custom("import sys\nsys.exit(3) if sys.stdin.read() != 'WA 0\\nAC 1\\n' or sys.argv[1:] != ['10'] else print('TLE 0.5')\n", nil), judge.TLE, 1.5, "grader(0, 1)"},
		"a grader in C":                 {custom("", map[string]string{"graders/grade.py": "", "graders/grade.c": "#include <stdio.h>\nint main(void) { puts(\"PE -1\"); }\n"}), judge.PE, 0, "grader(0, 1)"},
		"a grader in shell":             {custom("", map[string]string{"graders/grade.py": "", "graders/grade.sh": "read v s; echo \"TLE $(wc -l)\"\n"}), judge.TLE, 2, "grader(0, 1)"},
		"a grader with scripts":         {custom("", map[string]string{"graders/grade.py": "", "graders/g/build": "printf '#!/bin/sh\\necho PE 4\\n' > run; chmod +x run\n"}), judge.PE, 5, "grader(0, 1)"},
		"one that fails":                {custom("raise SystemExit(1)\n", nil), judge.JE, 0, "grade group secret/a: grader grade ended with exit status 1"},
		"one that says nothing":         {custom("", map[string]string{"graders/grade.py": "pass\n"}), judge.JE, 0, "and not one line"},
		"one that says too much":        {custom("print('AC 1')\nprint('AC 1')\n", nil), judge.JE, 0, "and not one line"},
		"one with a strange verdict":    {custom("print('OK 1')\n", nil), judge.JE, 0, `the verdict "OK"`},
		"one with a strange score":      {custom("print('AC nan')\n", nil), judge.JE, 0, `the score "nan"`},
		"one that is broken":            {custom("print(\n", nil), judge.JE, 0, "grader grade does not compile"},
		"one that never ends":           {custom("while True: pass\n", map[string]string{"problem.yaml": "name: Echo\ntype: scoring\nlimits: {validation_time: 0.5}\n"}), judge.JE, 0, "used more than 500ms"},
		"a checker that fails besides":  {custom(counting, map[string]string{"problem.yaml": "name: Echo\ntype: scoring\nvalidation: custom\n", "output_validators/c.c": "int main(void) { return 1; }"}), judge.JE, 0, "exit status 1"},
		"no score where there are none": {custom(counting, map[string]string{"problem.yaml": "name: Echo\n"}), judge.AC, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, judgingtest.Get(t).Judge, python(cat), echo(t, tt.files))
			said := r.JudgeNote
			for _, g := range r.Groups {
				said += " " + g.Formula
			}
			score := 0.0
			if r.Score != nil {
				score = *r.Score
			}
			if r.Verdict != tt.verdict || r.Verdict != judge.JE && score != tt.score || !strings.Contains(said, tt.says) {
				t.Errorf("%s with %g, want %s with %g and %q: %s", r.Verdict, score, tt.verdict, tt.score, tt.says, said)
			}
		})
	}
}

func TestAGraderThatDoesNotCompileIsFoundBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	r := judged(t, judgingtest.Get(t).Judge, python(cat), echo(t, map[string]string{
		"problem.yaml": "name: Echo\ntype: scoring\n", "graders/grade.c": "int main(void) { return missing; }\n",
		"data/testdata.yaml": "on_reject: continue\n", "data/secret/testdata.yaml": "grading: custom\n",
	}))
	if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, "grader grade does not compile") || !strings.Contains(r.JudgeNote, "missing") {
		t.Fatalf("%s: %s", r.Verdict, r.JudgeNote)
	}
	for _, test := range r.Tests {
		if test.Verdict != "" {
			t.Errorf("%s was judged: %s", test.Name, test.Verdict)
		}
	}
}

func TestAScoreThatDoesNotCountIsSaid(t *testing.T) {
	t.Parallel()
	const scores = "import sys\nopen(sys.argv[3] + '/score.txt', 'w').write('40')\nsys.exit(42)\n"
	for validation, want := range map[string]struct {
		score float64
		said  bool
	}{"custom": {1, true}, "custom score": {40, false}} {
		r := judged(t, judgingtest.Get(t).Judge, python(cat), echo(t, map[string]string{
			"problem.yaml": "name: Echo\ntype: scoring\nvalidation: " + validation + "\n", "output_validators/v.py": scores,
			"data/testdata.yaml": "grader_flags: ignore_sample\n",
		}))
		last := r.Tests[len(r.Tests)-1]
		if r.Score == nil || *r.Score != want.score || strings.Contains(last.JudgeNote, judging.ScoreIgnored) != want.said {
			t.Errorf("validation: %s gives %v, noted %q", validation, r.Score, last.JudgeNote)
		}
	}
}
