package judging_test

import (
	"log/slog"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
)

// The shipped alert and the log are how staff hear of it before contestants do.
func TestEveryFaultOfAPackageIsLoggedAndCountedOnce(t *testing.T) {
	t.Parallel()
	const missing = "int main(void) { return missing; }\n"
	for name, files := range map[string]map[string]string{
		"a checker that does not compile":      {"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/check.c": missing},
		"a checker that was never uploaded":    {"deepoj.yaml": "checker: {name: org.example.missing}\n"},
		"an interactor that does not compile":  {"problem.yaml": "name: Echo\nvalidation: custom interactive\n", "output_validators/talk.c": missing},
		"a static validator that is no script": reviewed("", map[string]string{"static_validator/reviewer.py": "(\n"}),
		"a grader that does not compile": {
			"problem.yaml": "name: Echo\ntype: scoring\n", "graders/grade.c": missing,
			"data/testdata.yaml": "on_reject: continue\n", "data/secret/testdata.yaml": "grading: custom\n",
		},
		"a checker that fails on a test": {
			"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/check.c": "int main(void) { return 1; }\n",
			"data/sample/1.in": "", "data/sample/1.ans": "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := echo(t, files)
			var log strings.Builder
			j, figure := counted(t, func(c *judging.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			if r := judged(t, j, python(cat), pkg); r.Verdict != judge.JE || r.JudgeNote == "" {
				t.Fatalf("verdict %s, note %q", r.Verdict, r.JudgeNote)
			}
			if n := figure("judging_checker_faults_total"); n != 1 {
				t.Errorf("%g faults are counted, want 1", n)
			}
			said := log.String()
			if n := strings.Count(said, "level=ERROR"); n != 1 || !strings.Contains(said, "problem="+pkg.Slug) || !strings.Contains(said, string(pkg.Version)) {
				t.Errorf("the log has %d errors: %s", n, said)
			}
		})
	}
}
