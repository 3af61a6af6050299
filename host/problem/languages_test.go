package problem

import (
	"testing"

	"deepoj/plugins/languagestest"
)

func TestEveryLanguageIsKnownToEveryFormat(t *testing.T) {
	t.Parallel()
	for _, l := range languagestest.All(t) {
		for _, ext := range l.Extensions {
			if !isHeader("a."+ext) && programLanguages["."+ext] != l.ID {
				t.Errorf("a validator, grader or generator %q is in %q, and the adapter of %s takes it", "a."+ext, programLanguages["."+ext], l.ID)
			}
		}
		for format, list := range map[string][]struct{ begins, id string }{"Polygon": sourceLanguages, "DMOJ": dmojLanguages} {
			known := false
			for _, has := range list {
				known = known || has.id == l.ID
			}
			if !known {
				t.Errorf("no language of %s is %s", format, l.ID)
			}
		}
	}
}
