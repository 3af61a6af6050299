package grading

import (
	"testing"

	"deepoj/host/judge"
)

// A grader is asked about tests whose verdicts are about the program; what does not
// compile has none, and PA is no verdict of a test.
func TestAGraderIsToldOfEveryVerdictOfATest(t *testing.T) {
	t.Parallel()
	for _, v := range judge.Verdicts {
		if ofTest := v.Counts() && v != judge.CE && v != judge.PA; ofTest != (graderWords[v] != "") {
			t.Errorf("%s may be the verdict of a test: %t; a grader is told %q", v, ofTest, graderWords[v])
		}
	}
}
