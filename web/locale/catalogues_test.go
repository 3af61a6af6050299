package locale_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"deepoj/web/locale"
)

var (
	missing = flag.String("missing", "", "write the keys that catalogues lack to this `file`, as JSON to be filled in")
	among   = flag.String("among", "", "only those, and faults, of files whose paths match this `expression`")
)

const root = "../.."

// place is where something was found.
type place struct {
	file string // from the root of the repository
	line int    // 0 = not known
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line)
}

// findings are the sentences that were found, with where they are, and what is wrong where.
type findings struct {
	keys   map[string][]place
	faults map[string][]string // by file
}

// add notes a sentence that is filled with so many arguments; -1 = nobody knows.
func (f *findings) add(key string, at place, args int) {
	if rest := verb.ReplaceAllString(key, ""); !strings.ContainsFunc(rest, unicode.IsLetter) && !strings.ContainsAny(rest, signs) {
		return // a name alone, or nothing
	}
	f.keys[key] = append(f.keys[key], at)
	if uses := len(verbsOf(key)); args >= 0 && uses != args {
		f.fault(at, "%q has %d verbs and is filled with %d arguments", key, uses, args)
	}
	if strings.TrimSpace(key) != key {
		f.fault(at, "%q begins or ends with a blank: is it a part of a sentence?", key)
	}
}

// signs are what other languages write otherwise, also between names.
const signs = ",;:()"

func (f *findings) fault(at place, format string, args ...any) {
	f.faults[at.file] = append(f.faults[at.file], at.String()+": "+fmt.Sprintf(format, args...))
}

// TestCatalogues holds the catalogues against all that pages say: Go code, templates and scripts.
func TestCatalogues(t *testing.T) {
	found := &findings{map[string][]place{}, map[string][]string{}}
	findInGo(t, found)
	findInTemplates(t, found)
	findInScripts(t, found)
	t.Logf("%d sentences", len(found.keys))
	lacked := map[string]string{}
	for _, language := range locale.Languages() {
		entries, err := locale.Catalogue(language)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if found.keys[key] == nil {
				t.Errorf("%s.json: nobody says %q", language, key)
			}
			for _, wrong := range disagree(key, entries[key]) {
				t.Errorf("%s.json: %q %s", language, key, wrong)
			}
			for _, wrong := range halfWidth(entries[key]) {
				t.Errorf("%s.json: %q is said with signs of half the width: %q", language, key, wrong)
			}
			if language != "en" && entries[key].Text == key && !slices.Contains(same(t), key) {
				t.Errorf("%s.json: %q is as in English; if that is right, it belongs into testdata/same.txt", language, key)
			}
		}
		for key, places := range found.keys {
			if _, ok := entries[key]; ok {
				continue
			}
			switch {
			case language != "en":
				for _, at := range places {
					found.fault(at, "%s.json lacks %q", language, key)
				}
				if *among == "" || slices.ContainsFunc(places, func(p place) bool { return regexp.MustCompile(*among).MatchString(p.file) }) {
					lacked[key] = ""
				}
			case counts.MatchString(bounded.ReplaceAllString(key, "")):
				for _, at := range places {
					found.fault(at, "en.json lacks the forms of %q", key)
				}
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found.faults)) {
		if *among == "" || regexp.MustCompile(*among).MatchString(file) {
			for _, text := range found.faults[file] {
				t.Error(text)
			}
		}
	}
	if *missing != "" {
		writeMissing(t, lacked)
	}
}

// counts finds nouns that a number counts, and bounded those of which there are always several.
var (
	counts  = regexp.MustCompile(`%(\[\d\])?d (more |other |new |past |of )?[a-z]{3,}s\b`)
	bounded = regexp.MustCompile(`(at most|at least|up to) %d`)
)

// verb is a verb of package fmt.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*\d*(?:\.\d+)?([a-zA-Z%])`)

// verbsOf are the verbs of a sentence by the arguments that they write.
func verbsOf(text string) map[int]string {
	out, next := map[int]string{}, 1
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		out[next] = m[0][strings.LastIndexByte(m[0], ']')+1:]
		out[next] = strings.TrimPrefix(out[next], "%")
		next++
	}
	return out
}

var (
	tag = regexp.MustCompile(`</?[a-z][^>]*>`)
	act = regexp.MustCompile(`(?:^| )(:[a-z]+)`) // a parameter of an address
)

// disagree says in what a translation is not as its key.
func disagree(key string, e locale.Entry) (wrong []string) {
	texts := []string{e.Text}
	if e.Forms != nil {
		texts = slices.Collect(maps.Values(e.Forms))
	}
	for _, text := range texts {
		want, got := verbsOf(key), verbsOf(text)
		if _, whole := e.Forms["other"]; e.Forms != nil && whole && text != e.Forms["other"] {
			delete(want, e.Arg) // "one" may say the number in words
			if got[e.Arg] != "" {
				delete(got, e.Arg)
			}
		}
		if !maps.Equal(want, got) {
			wrong = append(wrong, fmt.Sprintf("has other verbs in %q", text))
		}
		if a, b := tag.FindAllString(key, -1), tag.FindAllString(text, -1); !slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
			wrong = append(wrong, fmt.Sprintf("has other tags in %q", text))
		}
		for _, m := range act.FindAllStringSubmatch(key, -1) {
			if !strings.Contains(text, m[1]) {
				wrong = append(wrong, fmt.Sprintf("names %s, which %q does not", m[1], text))
			}
		}
		if strings.TrimSpace(text) != text || text == "" {
			wrong = append(wrong, fmt.Sprintf("has blanks around %q, or nothing", text))
		}
	}
	return wrong
}

// narrow finds signs of half the width beside Chinese characters, which are written with signs of the full width.
var narrow = regexp.MustCompile(`\p{Han}[,;:!?(]|\p{Han}\.(?:\s|$)|[,;:!?)]\s?\p{Han}`)

// halfWidth returns the texts that have them.
func halfWidth(e locale.Entry) (wrong []string) {
	for _, text := range append(slices.Collect(maps.Values(e.Forms)), e.Text) {
		if narrow.MatchString(tag.ReplaceAllString(text, "")) {
			wrong = append(wrong, text)
		}
	}
	return wrong
}

// same are keys that a translation may have as they are.
func same(t *testing.T) []string {
	t.Helper()
	body, err := os.ReadFile("testdata/same.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(body)), "\n")
}

// writeMissing writes what is to be translated, one key a line.
func writeMissing(t *testing.T, keys map[string]string) {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(keys); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*missing, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sentences to be translated are in %s", len(keys), *missing)
}

func TestWhatNoCatalogueHasIsFound(t *testing.T) {
	for body, want := range map[string]string{
		`<p>{{t "All is well"}}</p>`:                                       "",
		`<p>All is well</p>`:                                               `the text "All is well" is said without t`,
		`<p>{{if .X}}a{{else}}{{t "b"}}{{end}}</p>`:                        `the text "a……" is said without t`,
		`<p><code>GET /api</code> {{.X}} KiB · Deep-OJ</p>`:                "",
		`<a title="Next" class="next">›</a>`:                               `the attribute title "Next" is said without t`,
		`<a title="{{t "Next"}}"{{if .X}} aria-current="page"{{end}}></a>`: "",
		`<input type="submit" value="Send"><input value="C++">`:            `the attribute value "Send" is said without t`,
		`<option value="all">all</option>`:                                 `the text "all" is said without t`,
		`{{t "%d of %d" .X}}`:                                              `"%d of %d" has 2 verbs and is filled with 1 arguments`,
		`{{tm "<b>%[2]s</b>: %[1]s" .X .Y}}`:                               "",
		`<p>{{.X}} ({{n .Y}})</p>`:                                         `the text "… (…)" has signs that other languages write otherwise`,
		`<p>{{range $i, $x := .X}}{{if $i}}, {{end}}{{$x}}{{end}}</p>`:     `the text ", ………" has signs that other languages write otherwise`,
		`{{t "%s, %s" .X .Y}}`:                                             "",
		`{{"All" | t}}`:                                                    `t takes its sentence as its first argument, and not from a pipe`,
		`{{template "part" dict "Title" "Many things"}}`:                   `"Many things" is given to dict without t`,
		`{{template "part" dict "Title" (t "Many things ")}}`:              `"Many things " begins or ends with a blank: is it a part of a sentence?`,
	} {
		found := &findings{map[string][]place{}, map[string][]string{}}
		findInTemplate(t, found, "x.html", body)
		var got string
		for _, text := range found.faults["x.html"] {
			_, text, _ = strings.Cut(text, ": ")
			got += text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	for _, tt := range []struct{ key, text, want string }{
		{"%s of %d", "%[2]d 中的 %[1]s", ""},
		{"%s of %d", "%d 中的 %s", "verbs"},
		{"%s of %d", "%s", "verbs"},
		{"<b>%s</b>", "%s", "tags"},
		{"delete :name", "删除", "names :name"},
		{"Save", "保存 ", "blanks"},
	} {
		if got := strings.Join(disagree(tt.key, locale.Entry{Text: tt.text}), "; "); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q as %q: %q, want %q", tt.key, tt.text, got, tt.want)
		}
	}
}
