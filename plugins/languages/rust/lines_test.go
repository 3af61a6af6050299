package rust

import (
	"regexp"
	"strings"
	"testing"

	"deepoj/plugins/languagestest"
	"deepoj/plugins/sdk/go"
)

func TestMessagesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^(error|warning)(\[E\d+\])?: (.*)$`)
	for text := range languagestest.Texts("error", "error", "warning", "[", "[E", "E", "12", "[E308]", "]", ":", ": ", ": ", " ", "é") {
		d, ok := what(text)
		m := pattern.FindStringSubmatch(text)
		if ok != (m != nil) || ok && (d.Severity != m[1] || d.Message != strings.TrimSuffix(m[3]+" "+m[2], " ") && d.Message != m[3]) {
			t.Fatalf("%q: %+v %t, the pattern finds %q", text, d, ok, m)
		}
		if ok && m[2] != "" && d.Message != m[3]+" "+m[2] {
			t.Fatalf("%q: %+v, the pattern finds %q", text, d, m)
		}
	}
}

func TestPlacesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^ *--> (.+):(\d+):(\d+)$`)
	for text := range languagestest.Texts(" ", " --> ", "--> ", "--> ", "a.rs", ":", ":", "1", "23", ":4", ":5", "é", "99999999999999999999") {
		file, line, column, ok := where(text)
		m := pattern.FindStringSubmatch(text)
		if ok != (m != nil) {
			t.Fatalf("%q: %t, the pattern finds %q", text, ok, m)
		}
		if !ok {
			continue
		}
		wantLine, _, _ := sdk.CutNumber(m[2])
		wantColumn, _, _ := sdk.CutNumber(m[3])
		if file != m[1] || line != wantLine || column != wantColumn {
			t.Fatalf("%q: %q %d %d, the pattern finds %q", text, file, line, column, m)
		}
	}
}
