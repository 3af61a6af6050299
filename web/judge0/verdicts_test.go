package judge0

import (
	"testing"

	"deepoj/host/judge"
	"deepoj/plugins/languagestest"
)

func TestEveryVerdictHasAStatusOfItsOwnAccount(t *testing.T) {
	t.Parallel()
	for _, v := range judge.Verdicts {
		got := statusOf(v, 0)
		if byDefault := got == status(runtimeNonZero); byDefault != (v == judge.RE) {
			t.Errorf("%s is told as %+v", v, got)
		}
		if ours := got == status(internalError); ours == v.Counts() {
			t.Errorf("%s is about the program: %t; it is told as %+v", v, v.Counts(), got)
		}
	}
}

func TestEveryLanguageHasItsWellKnownNumber(t *testing.T) {
	t.Parallel()
	for _, l := range languagestest.All(t) {
		if len(wellKnown[l.ID]) == 0 {
			t.Errorf("clients know %s by no number", l.ID)
		}
	}
}
