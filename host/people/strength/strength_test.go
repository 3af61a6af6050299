package strength_test

import (
	"strings"
	"testing"
	"time"

	"deepoj/host/people/strength"
)

func TestPasswordsThatEverybodyTriesAreWeak(t *testing.T) {
	t.Parallel()
	for _, weak := range []string{"password12", "qwertyuiop", "1234567890", "P@ssw0rd123", "iloveyou123", "aaaaaaaaaaaa", "abcabcabcabc", "deepoj2026", "annannann1"} {
		if got, err := strength.Of(weak, "ann", "deepoj"); err != nil || got > strength.Weak {
			t.Errorf("%s scores %d, %v", weak, got, err)
		}
	}
	for _, good := range []string{"battery staple", "correct horse", "kdj38sHq2z", "ann likes 3 cats", "три зелёных кота", "密码太短不好用啊真的"} {
		if got, err := strength.Of(good, "ann"); err != nil || got < strength.Fair {
			t.Errorf("%s scores %d, %v", good, got, err)
		}
	}
}

func TestAPasswordThatIsHardToReadTakesABoundedTime(t *testing.T) {
	t.Parallel()
	for _, hard := range []string{strings.Repeat("aA1!xZ", 200), strings.Repeat("4@8({[<3691!|7+%", 60), strings.Repeat("\u200d", 300), "\x00\xff\xfe", ""} {
		began := time.Now()
		if _, err := strength.Of(hard, strings.Repeat("w", 1<<20)); err != nil {
			t.Errorf("%.20q: %v", hard, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.20q took %s", hard, took)
		}
	}
}
