package dmoj

import (
	"testing"

	"deepoj/plugins/languagestest"
)

func TestEveryLanguageIsKnownToDMOJ(t *testing.T) {
	t.Parallel()
	for _, l := range languagestest.All(t) {
		known := false
		for _, has := range languages {
			known = known || has.id == l.ID
		}
		if !known {
			t.Errorf("no language of DMOJ is %s", l.ID)
		}
	}
}
