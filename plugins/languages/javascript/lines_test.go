package javascript

import (
	"regexp"
	"testing"

	"deepoj/plugins/languagestest"
	"deepoj/plugins/sdk/go"
)

func TestPlacesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^(?:file://)?(/?[\w./-]+\.[mc]?js):(\d+)$`)
	for text := range languagestest.Texts("file://", "/", "a", "-", ".", "js", ".js", ".mjs", ".cjs", ":", ":1", ":23", "4", "é", " ", ".js:5", "99999999999999999999") {
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
	message, blanks := regexp.MustCompile(`^(SyntaxError|[A-Z]\w*Error)(?: \[\w+\])?: (.*)$`), regexp.MustCompile(`^[ \t]*\^`)
	for text := range languagestest.Texts("Syntax", "Error", "Error", "a", "_", "Error: ", " [", "]", "ERR_1", " [ERR]", ": ", ":", " ", "\t", "^", "é") {
		want := ""
		if m := message.FindStringSubmatch(text); m != nil {
			want = m[1] + ": " + m[2]
		}
		if got := what(text); got != want {
			t.Fatalf("%q says %q, the pattern finds %q", text, got, want)
		}
		if got, want := caret(text), len(blanks.FindString(text)); got != want {
			t.Fatalf("%q has its caret in column %d, the pattern says %d", text, got, want)
		}
	}
}

func TestModulesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(
		`(?m)^(import\s*(["'{*]|[\w$]+\s*(,|\s+from\b))|export\s+(default|const|let|var|function|class|async)\b|export\s*\{)`)
	modules := 0
	for text := range languagestest.Texts(
		"import", "import ", "export", "export ", "default", "const", "async", "from", "from", "$", "a", "_", ",", "{", "*", "'", `"`, " ", "\t", "\n", "\n", "\r", "\f", "\v", "é", "(",
	) {
		got, want := isModule(text), pattern.MatchString(text)
		if got != want {
			t.Fatalf("%q is a module: %t, the pattern says %t", text, got, want)
		}
		if got {
			modules++
		}
	}
	if modules < 100 {
		t.Errorf("%d texts are modules, want more to compare", modules)
	}
}
