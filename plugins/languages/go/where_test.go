package golang

import (
	"regexp"
	"testing"

	"deepoj/plugins/languagestest"
	"deepoj/plugins/sdk/go"
)

func TestPlacesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^(\S+\.go):(\d+)(?::(\d+))?: (.*)$`)
	for text := range languagestest.Texts("a", ".go", ".go", ":", ":", "1", "23", ":4", ": ", ": ", " ", "\t", "\r", "\f", "é", "./", "99999999999999999999") {
		file, line, column, message, ok := where(text)
		m := pattern.FindStringSubmatch(text)
		if ok != (m != nil) {
			t.Fatalf("%q: %t, the pattern finds %q", text, ok, m)
		}
		if !ok {
			continue
		}
		wantLine, _, _ := sdk.CutNumber(m[2])
		wantColumn, _, _ := sdk.CutNumber(m[3])
		if file != m[1] || line != wantLine || column != wantColumn || message != m[4] {
			t.Fatalf("%q: %q %d %d %q, the pattern finds %q", text, file, line, column, message, m)
		}
	}
}
