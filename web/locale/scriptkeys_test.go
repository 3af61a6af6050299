package locale_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// saidInScripts finds what scripts say. There is no other quote for it: the server looks for the same.
var saidInScripts = regexp.MustCompile(`\bt\(("(?:[^"\\]|\\.)*")([,)])?`)

func findInScripts(t *testing.T, to *findings) {
	t.Helper()
	for _, folder := range []string{"web/static/js", "web/editor"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.js"))
		if err != nil || len(files) == 0 {
			t.Fatal("no scripts in ", folder, err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			findInScript(t, to, folder+"/"+filepath.Base(file), string(body))
		}
	}
}

func findInScript(t *testing.T, to *findings, file, body string) {
	t.Helper()
	for _, l := range literalsOf(body) {
		if l.forPeople() {
			to.fault(place{file, l.line}, "the text %q is said without t", l.text)
		}
	}
	for _, m := range saidInScripts.FindAllStringSubmatchIndex(body, -1) {
		key, err := strconv.Unquote(body[m[2]:m[3]])
		if err != nil {
			t.Fatal(file, err)
		}
		to.add(key, place{file, 1 + strings.Count(body[:m[0]], "\n")}, -1)
	}
}

// literal is a string of a script, without what a template fills in.
type literal struct {
	text   string
	before string // the code before it
	line   int
}

var (
	// phrase is two words with a blank between them, and codeLike what styles and selectors have and sentences do not.
	phrase   = regexp.MustCompile(`\pL[,.;:!?…]? \pL`)
	codeLike = regexp.MustCompile(`[{}\[\]#=<>|]|^[.&]|var\(`)

	// showing is code that shows the string behind it to people, saying what looks it up, picking what chooses elements,
	// and logging what only developers read.
	showing = regexp.MustCompile(`(?:\.(?:textContent|innerText|title|placeholder|alt|ariaLabel)\s*=|\bsay\(|\bbutton\(|\bError\(|createTextNode\(|` +
		`setAttribute\("(?:aria-label|title|placeholder|alt)",|\?|\?[^?;{}]*:|\|\|)\s*$`)
	saying  = regexp.MustCompile(`\bt\(\s*$`)
	picking = regexp.MustCompile(`\b(?:querySelector(?:All)?|closest|matches)\(\s*$`)
	logging = regexp.MustCompile(`\bconsole\.\w+\([^)]*$`)
)

// forPeople reports whether a string is for people and nothing looks it up in the catalogues: it has two words, or it is
// shown and begins like a sentence.
func (l literal) forPeople() bool {
	if saying.MatchString(l.before) || picking.MatchString(l.before) || logging.MatchString(l.before) || codeLike.MatchString(l.text) {
		return false
	}
	rest := ours.ReplaceAllString(l.text, "")
	return phrase.MatchString(rest) || showing.MatchString(l.before) && regexp.MustCompile(`^\p{Lu}\p{Ll}{2,}`).MatchString(rest)
}

// literalsOf returns the strings of a script. Comments, and what the names of members are in quotes, are none.
func literalsOf(body string) (found []literal) {
	var code strings.Builder // without comments and strings
	line := func(at int) int { return 1 + strings.Count(body[:at], "\n") }
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case strings.HasPrefix(body[i:], "//"):
			end := strings.IndexByte(body[i:], '\n')
			if end < 0 {
				return found
			}
			i += end
		case strings.HasPrefix(body[i:], "/*"):
			i += strings.Index(body[i:], "*/") + 2
		case c == '/' && regexp.MustCompile(`[(,=:\[!&|?{};\n]\s*$`).MatchString(last(code.String(), 20)): // an expression
			i = closing(body, i, '/')
			code.WriteString("/")
		case c == '"' || c == '\'' || c == '`':
			end := closing(body, i, c)
			text := body[i+1 : end-1]
			if c == '`' {
				text = regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(text, "…")
			}
			if !strings.HasPrefix(strings.TrimLeft(body[end:], " "), ":") || strings.Contains(last(code.String(), 40), "?") {
				found = append(found, literal{text, last(code.String(), 80), line(i)})
			}
			code.WriteString(`"` + text[:min(len(text), 12)] + `"`)
			i = end
		default:
			code.WriteByte(c)
			i++
		}
	}
	return found
}

// closing returns where what begins at a sign has ended.
func closing(body string, at int, sign byte) int {
	for i := at + 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case sign:
			return i + 1
		}
	}
	return len(body)
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }

func TestWhatScriptsSayWithoutTheCataloguesIsFound(t *testing.T) {
	for body, want := range map[string]string{
		`say(t("There is no program yet."));`:                                                   "",
		`say("There is no program yet.");`:                                                      "There is no program yet.",
		`label.textContent = "Copied";`:                                                         "Copied",
		`label.textContent = ok ? t("Copied") : "Not";`:                                         "Not",
		"size.textContent = `${n} bytes of it`;":                                                "… bytes of it",
		"size.textContent = `${n / 1024} KiB`;":                                                 "",
		`b.setAttribute("aria-label", "Close");`:                                                "Close",
		`console.warn("the editor did not load", err);`:                                         "",
		`if (event.key === "Enter") area.addEventListener("input", changed); // "not a string"`: "",
		`document.querySelector('form[action$="/cancel"] button');`:                             "",
		`const phrases = { "Fold line": t("Fold line"), to: t("to") };`:                         "",
		`x.replace(/"a b/g, ""); throw new Error("It failed");`:                                 "It failed",
		`el.style.border = "1px solid var(--line)";`:                                            "",
		`const words = 'all is well';`:                                                          "all is well",
	} {
		var got []string
		for _, l := range literalsOf(body) {
			if l.forPeople() {
				got = append(got, l.text)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: found %q, want %q", body, got, want)
		}
	}
}
