package python

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/plugins/languagestest"
	"deepoj/plugins/sdk/go"
)

func TestPlacesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`File "([^"]+)", line (\d+)`)
	for text := range languagestest.Texts("  ", `File "`, `File "`, "File ", `"`, "a.py", `", line `, `", line `, ", line ", "1", "23", "é", "99999999999999999999") {
		file, line, ok := where(text)
		m := pattern.FindStringSubmatch(text)
		if ok != (m != nil) {
			t.Fatalf("%q: %t, the pattern finds %q", text, ok, m)
		}
		if ok {
			if want, _, _ := sdk.CutNumber(m[2]); file != m[1] || line != want {
				t.Fatalf("%q: %q %d, the pattern finds %q", text, file, line, m)
			}
		}
	}
}

func TestMessagesAndCaretsAreThoseOfPatterns(t *testing.T) {
	t.Parallel()
	what, blanks := regexp.MustCompile(`^(\w+(?:Error|Exception)): (.*)$`), regexp.MustCompile(`^ +\^`)
	for text := range languagestest.Texts("Error", "Error: ", "Exception", "Exception: ", "Syntax", "_1", " ", " ", "^", ": ", ":", "é", "(") {
		if got, want := isWhat(text), what.MatchString(text); got != want {
			t.Fatalf("%q is what happened: %t, the pattern says %t", text, got, want)
		}
		if got, want := caret(text), len(blanks.FindString(text)); got != want {
			t.Fatalf("%q has its caret in column %d, the pattern says %d", text, got, want)
		}
	}
}

func TestSentencesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`Sorry: (\w+): (.*?) \(([^()]+), line (\d+)\)`)
	pieces := []string{
		"Sorry: ", "Sorry: ", "A", "é", ": ", ": ", "Sorry: E: ", " (", " (", "(", ")", "a.py", ", line ", ", line 2)", "3", ")", "1)", "Sorry: B: m (a.py, line 4)", "99999999999999999999",
	}
	for text := range languagestest.Texts(pieces...) {
		var got, want []sentence
		for rest := text; rest != ""; {
			var s sentence
			if s, rest = nextSentence(rest); s.message != "" {
				got = append(got, s)
			}
		}
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			line, _, _ := sdk.CutNumber(m[4])
			want = append(want, sentence{m[1] + ": " + m[2], m[3], line})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %+v, the pattern finds %+v", text, got, want)
		}
	}
}

// Python quotes the contestant's lines. Reading these by the square of their length would take minutes.
func TestLongLinesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"Sorry: ", "Sorry: a: ", "Sorry: a: (", "Sorry: a: b (c, line ", `File "`, `File "a", line `, " (", " "} {
		text := strings.Repeat(part, 1<<20/len(part))
		began := time.Now()
		for rest := text; rest != ""; {
			_, rest = nextSentence(rest)
		}
		where(text)
		isWhat(text)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q many times takes %s", part, took)
		}
	}
}
