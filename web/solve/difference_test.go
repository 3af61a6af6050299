package solve

import (
	"html/template"
	"strings"
	"testing"

	"deepoj/web/site"
)

func TestWhatDiffersFromARightAnswerIsMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, first, marked, marks string }{
		{"1 2\n3\n", "1 2\n3\n\n", "", "", ""},
		{"1 2\n3\n", "1   2 \n3", "", "", ""},
		{"0.5\n", "0.50000001\n", "", "", ""},
		{"10\n", "10.0\n", "", "", ""},
		{"7\n", "07\n", "They first differ in line 1.", "<mark>7</mark>\n", "<mark>07</mark>\n"},
		{"0.5\n", "0.51\n", "They first differ in line 1.", "<mark>0.5</mark>\n", "<mark>0.51</mark>\n"},
		{"a b\nc\n", "a x\nc\n", "They first differ in line 1.", "a <mark>b</mark>\nc\n", "a <mark>x</mark>\nc\n"},
		{"a\nb\n", "a\n", "Your output ends after 1 line; the answer goes on.", "a\n<mark>b</mark>\n", "a\n"},
		{"a\n", "a\n<b> &\n", "The answer ends after 1 line; your output goes on.", "a\n", "a\n<mark>&lt;b&gt;</mark> <mark>&amp;</mark>\n"},
		{"", "x", "The answer ends after 0 lines; your output goes on.", "", "<mark>x</mark>\n"},
		{"nan", "nan", "", "", ""},
		{"1e999", "inf.", "They first differ in line 1.", "<mark>1e999</mark>\n", "<mark>inf.</mark>\n"},
	} {
		want, got := site.Listing{Text: c.want}, site.Listing{Text: c.got}
		if first := differ(&want, &got, site.Viewer{}); first != c.first || string(want.Marked) != c.marked || string(got.Marked) != c.marks {
			t.Errorf("%q against %q: %q, %q, %q", c.got, c.want, first, want.Marked, got.Marked)
		}
	}
}

// FuzzDiffer marks texts that programs write: whatever they are, a page shows their words and nothing of them is markup.
func FuzzDiffer(f *testing.F) {
	f.Add("1 2\n", "1 3\n")
	f.Add("<mark>", "</mark><script>")
	f.Fuzz(func(t *testing.T, want, got string) {
		a, b := site.Listing{Text: want}, site.Listing{Text: got}
		differs := differ(&a, &b, site.Viewer{}) != ""
		for _, l := range []site.Listing{a, b} {
			if !differs {
				continue
			}
			bare := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(string(l.Marked))
			if strings.ContainsAny(bare, `<>"'`) {
				t.Errorf("%q and %q: %s", want, got, l.Marked)
			}
			if words := template.HTMLEscapeString(strings.Join(strings.Fields(l.Text), " ")); strings.Join(strings.Fields(bare), " ") != words {
				t.Errorf("%q is shown as %q", l.Text, bare)
			}
		}
	})
}
