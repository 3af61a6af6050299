package verify_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

const (
	right   = "print(int(input()) * 2)\n"
	wrong   = "print(int(input()) * 3)\n"
	broken  = "print(\n"
	forever = "while True: pass\n"
)

// double is a scoring package; files go over it.
func double(t *testing.T, files map[string]string) *problem.Package {
	t.Helper()
	all := map[string]string{
		"problem.yaml": "name: Double\ntype: scoring\n", ".timelimit": "1",
		"data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\n",
		"data/sample/1.in":   "1\n", "data/sample/1.ans": "2\n",
		"data/secret/testdata.yaml":   "on_reject: continue\ngrader_flags: first_error accept_if_any_accepted\n",
		"data/secret/a/testdata.yaml": "accept_score: 40\ngrader_flags: min\n", "data/secret/a/1.in": "0\n", "data/secret/a/1.ans": "0\n",
		"data/secret/b/testdata.yaml": "accept_score: 60\ngrader_flags: min\n", "data/secret/b/1.in": "7\n", "data/secret/b/1.ans": "14\n",
	}
	maps.Copy(all, files)
	return stored(t, all)
}

func TestAPackageWhoseSubmissionsKeepTheirPromiseIsProved(t *testing.T) {
	m := judgingtest.Get(t)
	pkg := double(t, map[string]string{
		"submissions/accepted/right.py":             right,
		"submissions/accepted/two/main.py":          "from other import double\nprint(double(int(input())))\n",
		"submissions/accepted/two/other.py":         "def double(n): return n + n\n",
		"submissions/partially_accepted/wrong.py":   "# @EXPECTED_SCORE@: 40\n" + wrong,
		"submissions/wrong_answer/minus.py":         "print(-1)\n",
		"submissions/time_limit_exceeded/for.py":    forever,
		"submissions/compiler_error/parenthesis.py": broken,
	})
	done := 0
	r, err := verify.Run(t.Context(), verify.Config{Judge: m.Judge, Done: func(judge.ProofRow) { done++ }}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := verify.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Rows) != 6 || done != 6 {
		t.Errorf("ok %t, %d rows, %d told:\n%s", r.OK(), len(r.Rows), done, out.String())
	}
	if r.SlowestMillis == 0 || r.SuggestedMillis != 1000 || r.LimitMillis != 1000 || r.LimitFrom != ".timelimit" {
		t.Errorf("the limits are %+v", r)
	}
	for _, want := range []string{"accepted/two", "python", "40", "WA PA AC WA", "slowest accepted"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not show %q:\n%s", want, out.String())
		}
	}
}

// The limit of sources is for contestants: what the package brings is judged however
// long it is, and a setter learns of it.
func TestTheCodeLimitIsNotForThePackagesOwnPrograms(t *testing.T) {
	t.Parallel()
	long := "#" + strings.Repeat("x", 2000) + "\n"
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, double(t, map[string]string{
		"problem.yaml":                  "name: Double\ntype: scoring\nlimits: {code: 1}\n",
		"submissions/accepted/right.py": long + right, "submissions/wrong_answer/wrong.py": long + "print(-1)\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		warned := strings.Contains(row.Warning, "contestants may hand in 1024 at most")
		if row.Problem != "" || warned != (row.Path == "accepted/right.py") {
			t.Errorf("%+v", row)
		}
	}
	if !r.OK() || len(r.Rows) != 2 {
		t.Errorf("ok %t, %d rows", r.OK(), len(r.Rows))
	}
}

func TestAProofKnowsTheFactorsOfLanguages(t *testing.T) {
	m := judgingtest.Get(t)
	j, err := m.Open(func(c *judging.Config) { c.Factors = map[string]float64{"python": 4} })
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), verify.Config{Judge: j, Only: "accepted/*"}, double(t, map[string]string{"submissions/accepted/right.py": right}))
	if err != nil || len(r.Rows) != 1 || r.Rows[0].Usage.CPUMicros == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	used, limit := r.Rows[0].Usage.CPU(), time.Duration(r.LimitMillis)*time.Millisecond
	const quarter = 4 * time.Millisecond // of CPU time for each millisecond without the factor
	if r.Rows[0].Slack != 4*float64(limit)/float64(used) || r.SlowestMillis != int64((used+quarter-1)/quarter) {
		t.Errorf("a program that used %s of %d ms: slack %g, slowest %d ms", used, r.LimitMillis, r.Rows[0].Slack, r.SlowestMillis)
	}
}

func TestABrokenPromiseIsNamed(t *testing.T) {
	m := judgingtest.Get(t)
	pkg := double(t, map[string]string{
		"submissions/accepted/wrong.py":           wrong,
		"submissions/wrong_answer/right.py":       right,
		"submissions/partially_accepted/right.py": right,
		"submissions/partial/half.py":             "# @EXPECTED_SCORE@: 60\n" + wrong,
		"submissions/run_time_error/slow.py":      forever,
	})
	r, err := verify.Run(t.Context(), verify.Config{Judge: m.Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"accepted/wrong.py":           "", // a warning
		"wrong_answer/right.py":       "got AC, may get WA",
		"partially_accepted/right.py": "scored 100, must score less than 100",
		"partial/half.py":             "scored 40, must score 60",
		"run_time_error/slow.py":      "got TLE, may get RE or MLE",
	}
	if r.OK() || len(r.Rows) != len(want) {
		t.Errorf("ok %t with %d rows", r.OK(), len(r.Rows))
	}
	for _, row := range r.Rows {
		if row.Problem != want[row.Path] {
			t.Errorf("%s: %q, want %q", row.Path, row.Problem, want[row.Path])
		}
	}
}

func TestOnlyTheChosenAreJudged(t *testing.T) {
	m := judgingtest.Get(t)
	pkg := double(t, map[string]string{"submissions/accepted/right.py": right, "submissions/wrong_answer/right.py": right})
	r, err := verify.Run(t.Context(), verify.Config{Judge: m.Judge, Only: "accepted/*"}, pkg)
	if err != nil || !r.OK() || len(r.Rows) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = verify.Run(t.Context(), verify.Config{Judge: m.Judge, Only: "nothing"}, pkg); err != nil || r.OK() {
		t.Errorf("a proof of nothing: %+v, %v", r, err)
	}
	if _, err = verify.Run(t.Context(), verify.Config{Judge: m.Judge, Only: "["}, pkg); err == nil {
		t.Error("a broken pattern was taken")
	}
}

func TestAFailureOfThePlatformIsAnError(t *testing.T) {
	m := judgingtest.Get(t)
	pkg := double(t, map[string]string{"submissions/accepted/for.py": forever, "submissions/accepted/right.py": right})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := verify.Run(ctx, verify.Config{Judge: m.Judge}, pkg); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
