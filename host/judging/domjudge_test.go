package judging_test

import (
	"maps"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

func TestDOMjudgesScoresAddUpAsThere(t *testing.T) {
	t.Parallel()
	// A checker that gives the number in the answer as the score, if there is one, and
	// rejects where that is odd.
	const scores = `import sys
n = open(sys.argv[2]).read().strip()
if n != "none":
    open(sys.argv[3] + "/score.txt", "w").write(n)
sys.exit(43 if n != "none" and float(n) % 2 else 42)
`
	scoring := func(files map[string]string) map[string]string {
		all := map[string]string{
			"problem.yaml": "name: Echo\ntype: scoring\n", "deepoj.yaml": "scoring: domjudge\n", "data/testdata.yaml": "on_reject: continue\n", "data/secret/testdata.yaml": "on_reject: continue\n",
			"data/secret/1.in": "", "data/secret/1.ans": "", "data/secret/a/1.in": "1\n", "data/secret/a/1.ans": "1\n", "data/secret/a/2.in": "2\n", "data/secret/a/2.ans": "2\n",
			"data/secret/b/1.in": "3\n", "data/secret/b/1.ans": "3\n", "data/secret/b/2.in": "4\n", "data/secret/b/2.ans": "4\n",
			"data/secret/a/testdata.yaml": "accept_score: 30\n", "data/secret/b/testdata.yaml": "accept_score: 50\n",
		}
		maps.Copy(all, files)
		return all
	}
	checked := func(files map[string]string) map[string]string {
		files["problem.yaml"], files["output_validators/v.py"] = "name: Echo\ntype: scoring\nvalidation: custom\n", scores
		return scoring(files)
	}
	const crash = "n = input()\nassert n != '4'\nprint(n)\n"
	highest := 80.0
	for name, tt := range map[string]struct {
		files   map[string]string
		program string
		verdict judge.Verdict
		score   float64
		of      *float64 // nil = there is no highest score
	}{
		"a group counts once":           {scoring(nil), cat, judge.AC, 80, &highest},
		"a group counts in full or not": {scoring(nil), "n = input()\nprint(n if n != '2' else 0)\n", judge.WA, 50, &highest},
		"the least of the groups":       {scoring(map[string]string{"data/secret/testdata.yaml": "on_reject: continue\ngrader_flags: min\n"}), cat, judge.AC, 30, new(30.0)},
		"the rest is left out":          {scoring(map[string]string{"data/secret/testdata.yaml": "on_reject: break\n"}), "n = input()\nprint(n if n != '2' else 0)\n", judge.WA, 0, &highest},
		"samples count for nothing":     {scoring(nil), "n = input()\nprint(n if n != '0' else 1)\n", judge.AC, 80, &highest},
		"samples that are a group do": {
			scoring(map[string]string{"data/sample/testdata.yaml": "accept_score: 7\n"}), cat, judge.AC, 87, new(87.0),
		},
		"the checker's scores count": {
			checked(map[string]string{"data/secret/a/1.ans": "10", "data/secret/a/2.ans": "4", "data/secret/b/1.ans": "2", "data/secret/b/2.ans": "6"}), cat, judge.AC, 22, nil,
		},
		"also of a wrong answer": {
			checked(map[string]string{"data/secret/a/testdata.yaml": "on_reject: continue\n", "data/secret/a/1.ans": "9", "data/secret/a/2.ans": "4", "data/secret/b/1.ans": "2", "data/secret/b/2.ans": "6"}), cat, judge.WA, 21, nil,
		},
		"a crash has none to be averaged": {
			checked(map[string]string{"data/secret/b/testdata.yaml": "on_reject: continue\ngrader_flags: avg\n", "data/secret/a/1.ans": "none", "data/secret/a/2.ans": "none", "data/secret/b/1.ans": "8", "data/secret/b/2.ans": "6"}),
			crash, judge.RE, 38, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, judgingtest.Get(t).Judge, python(tt.program), echo(t, tt.files))
			if r.Verdict != tt.verdict || r.Score == nil || *r.Score != tt.score {
				t.Errorf("%s with %v, want %s with %g: %s %+v", r.Verdict, points(r.Score), tt.verdict, tt.score, r.JudgeNote, r.Groups)
			}
			if points(r.MaxScore) != points(tt.of) {
				t.Errorf("the highest score is %v, want %v", points(r.MaxScore), points(tt.of))
			}
		})
	}
}

func points(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}
