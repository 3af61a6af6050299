package problem_test

import (
	"testing"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
	"deepoj/plugins/languagestest"
)

func TestEveryLanguageIsKnownByItsExtensions(t *testing.T) {
	t.Parallel()
	for _, l := range languagestest.All(t) {
		for _, ext := range l.Extensions {
			if id := problem.LanguageOf("a." + ext); !source.IsHeader("a."+ext) && id != l.ID {
				t.Errorf("a validator, grader or generator %q is in %q, and the adapter of %s takes it", "a."+ext, id, l.ID)
			}
		}
	}
}
