package verify_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

// proofOf proves a package.
func proofOf(t *testing.T, pkg *problem.Package) (r judge.Proof, text string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := verify.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func rowOf(t *testing.T, r judge.Proof, path string) judge.ProofRow {
	t.Helper()
	i := slices.IndexFunc(r.Rows, func(row judge.ProofRow) bool { return row.Path == path })
	if i < 0 {
		t.Fatalf("no row is about %s: %+v", path, r.Rows)
	}
	return r.Rows[i]
}

func TestAnAcceptedProgramWithoutAllPointsIsAWarningInTheLegacyFormat(t *testing.T) {
	r, text := proofOf(t, stored(t, map[string]string{
		"problem.yaml": "name: Best\ntype: scoring\nvalidation: custom score\n", ".timelimit": "2", "data/testdata.yaml": "range: 0 100\n",
		"output_validators/v.py": "import sys\nopen(sys.argv[3] + '/score.txt', 'w').write('40')\nsys.exit(42)\n",
		"data/secret/1.in":       "1\n", "data/secret/1.ans": "2\n", "submissions/accepted/right.py": right,
	}))
	if row := rowOf(t, r, "accepted/right.py"); !r.OK() || row.Problem != "" || row.Warning != "scored 40, must score all of 100" {
		t.Errorf("ok %t:\n%s", r.OK(), text)
	}
}

func TestAProofSaysOnceThatScoresHaveNoEffect(t *testing.T) {
	r, text := proofOf(t, stored(t, map[string]string{
		"problem.yaml": "name: Best\ntype: scoring\nvalidation: custom\n", ".timelimit": "2",
		"output_validators/v.py": "import sys\nopen(sys.argv[3] + '/score.txt', 'w').write('40')\nsys.exit(42)\n",
		"data/secret/1.in":       "1\n", "data/secret/1.ans": "2\n", "submissions/accepted/right.py": right, "submissions/accepted/again.py": right + "\n",
	}))
	if !slices.Equal(r.Warnings, []string{judging.ScoreIgnored}) || strings.Count(text, judging.ScoreIgnored) != 1 {
		t.Errorf("the warnings are %q:\n%s", r.Warnings, text)
	}
}

func TestWhatCannotBeCompiledIsFoundBeforeSubmissionsRun(t *testing.T) {
	const bad = "int main(void) { return missing; }\n"
	r, text := proofOf(t, double(t, map[string]string{
		"graders/grade.c": bad, "data/secret/testdata.yaml": "grading: custom\non_reject: continue\n",
		"input_validators/one.c": bad, "input_validators/two.c": bad, "input_validators/three.py": "import sys\nsys.exit(43)\n",
		"submissions/accepted/right.py": right,
	}))
	if row := rowOf(t, r, "accepted/right.py"); r.OK() || row.Verdict != "" || !strings.HasPrefix(row.Problem, "was not judged") {
		t.Errorf("the row is %+v", row)
	}
	for _, want := range []string{"validator one does not compile", "validator two does not compile", "validator three rejects it", "grader grade does not compile"} {
		if !strings.Contains(text, want) {
			t.Errorf("the proof does not say %q:\n%s", want, text)
		}
	}
}
