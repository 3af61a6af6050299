package statement

import (
	"html"
	"strings"
	"unicode/utf8"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// maxNested is how deep environments, groups and arguments may be in each other.
const maxNested = 32

// TeX renders a statement in TeX: what statements are made of, not all of TeX. What it
// does not know is shown as it is written.
func (r *Renderer) TeX(file, text string) (string, error) {
	p := r.page(file)
	t := &tex{page: p, Scanner: macro.NewScanner(text, file), notes: &notes{}, numbers: newNumbers()}
	t.flow = true
	return p.finish(t.numbers.fill(p, t.document()+t.notes.html()), safe.Source{})
}

// tex reads TeX once from left to right and writes HTML, which is cleaned afterwards.
type tex struct {
	*page
	*macro.Scanner
	writer
	notes    *notes
	numbers  *numbers
	groups   []int // how many marks there were before each group that is open
	envs     []environment
	nested   int // readers around this one
	polygon  bool
	included int // bytes of files that were put in
}

func (t *tex) document() string {
	for t.err == nil && t.More() && t.out.Len() < safe.MaxPage {
		t.step()
	}
	if t.out.Len() >= safe.MaxPage {
		t.fail(safe.ErrTooLong)
	}
	for len(t.envs) > 0 {
		t.endTop()
	}
	t.closeGroups(0)
	t.endParagraph()
	return t.out.String()
}

// inner renders a text that stands in another one, such as the cell of a table.
func (t *tex) inner(text string, flow bool) string {
	if t.nested >= maxNested || t.err != nil {
		t.note("holds more things in each other than can be shown, so that they are shown as they are written: %s", "{…}")
		return html.EscapeString(text)
	}
	sub := &tex{page: t.page, Scanner: macro.NewScanner(text, ""), notes: t.notes, numbers: t.numbers, nested: t.nested + 1, polygon: t.polygon, included: t.included}
	sub.flow, sub.bare = flow, true
	out := sub.document()
	t.included = sub.included
	return out
}

// special are the bytes at which text ends.
const special = "\\{}$%~\n\t \"'`-<>&#^_\r\f"

// step reads one thing.
func (t *tex) step() {
	c := t.Peek()
	switch c {
	case '\\':
		t.command(t.Command())
	case '{':
		t.Skip(1)
		t.openGroup()
	case '}':
		t.Skip(1)
		t.closeGroup()
	case '$':
		t.dollar()
	case '%':
		t.comment()
	case '~':
		t.Skip(1)
		t.text("\u00a0")
	case ' ', '\n', '\t', '\r', '\f':
		t.space()
	case '&', '#':
		t.Skip(1)
		t.text(html.EscapeString(string(c)))
	case '"', '\'', '`', '-', '<', '>':
		t.punctuation()
	default:
		rest := t.Rest()
		n := strings.IndexAny(rest[1:], special) + 1
		if n == 0 {
			n = len(rest)
		}
		t.Skip(n)
		t.text(html.EscapeString(rest[:n]))
	}
}

// comment goes on behind a comment. An empty line behind it ends the paragraph.
func (t *tex) comment() {
	t.Until('\n')
	if t.More() && t.Peek() == '\n' {
		t.Skip(1)
		rest := t.Rest()
		blank := strings.TrimLeft(rest, " \t\r")
		if t.More() {
			t.Skip(len(rest) - len(blank))
		}
		if strings.HasPrefix(blank, "\n") {
			t.endParagraph()
		}
	}
}

// space reads white space. An empty line in it ends the paragraph.
func (t *tex) space() {
	lines := 0
	rest := t.Rest()
	n := 0
	for n < len(rest) && strings.IndexByte(" \n\t\r\f", rest[n]) >= 0 {
		if rest[n] == '\n' {
			lines++
		}
		n++
	}
	t.Skip(n)
	switch {
	case lines > 1:
		t.endParagraph()
	case lines == 1:
		t.blank("\n")
	default:
		t.blank(" ")
	}
}

// ligatures are what several characters become, the longest first.
var ligatures = []struct{ from, to string }{
	{"---", "—"}, {"--", "–"}, {"``", "“"}, {"''", "”"}, {"`", "‘"}, {"'", "’"},
}

// olympLigatures are those of Polygon's statements besides.
var olympLigatures = []struct{ from, to string }{
	{`"---`, "—"}, {`"--`, "–"}, {`"=`, "-"}, {"<<", "«"}, {">>", "»"},
}

func (t *tex) punctuation() {
	rest := t.Rest()
	if t.polygon {
		for _, l := range olympLigatures {
			if strings.HasPrefix(rest, l.from) {
				t.Skip(len(l.from))
				t.text(l.to)
				return
			}
		}
	}
	for _, l := range ligatures {
		if strings.HasPrefix(rest, l.from) && !t.mono() {
			t.Skip(len(l.from))
			t.text(l.to)
			return
		}
	}
	t.Skip(1)
	t.text(html.EscapeString(rest[:1]))
}

// openGroup begins a group.
func (t *tex) openGroup() { t.groups = append(t.groups, len(t.marks)) }

// closeGroup ends a group, if there is one in this environment.
func (t *tex) closeGroup() {
	least := 0
	if n := len(t.envs); n > 0 {
		least = t.envs[n-1].groups
	}
	if len(t.groups) > least {
		t.closeGroups(len(t.groups) - 1)
	}
}

// closeGroups ends groups until n are open.
func (t *tex) closeGroups(n int) {
	for len(t.groups) > n {
		t.unmark(t.groups[len(t.groups)-1])
		t.groups = t.groups[:len(t.groups)-1]
	}
}

// marked reads an argument that is shown in an element.
func (t *tex) marked(tag string) {
	if t.Spaces(); !t.More() {
		return
	}
	if t.Peek() == '{' {
		t.Skip(1)
		t.openGroup()
		t.mark(tag)
		return
	}
	before := len(t.marks)
	t.mark(tag)
	arg := t.One()
	t.marksText(arg)
	t.unmark(before)
}

// marksText writes a short argument.
func (t *tex) marksText(arg string) {
	if strings.HasPrefix(arg, `\`) {
		t.text(t.inner(arg, false))
		return
	}
	t.text(html.EscapeString(arg))
}

// dollar reads a formula.
func (t *tex) dollar() {
	rest := t.Rest()
	for _, o := range []struct {
		mark    string
		display bool
	}{{"$$$$$$", true}, {"$$$", false}, {"$$", true}, {"$", false}} {
		if !strings.HasPrefix(rest, o.mark) || len(o.mark) > 2 && !t.polygon {
			continue
		}
		if n := formulaEnd(rest[len(o.mark):], o.mark); n >= 0 {
			t.Skip(n + 2*len(o.mark))
			t.math(rest[len(o.mark):len(o.mark)+n], o.display)
			return
		}
	}
	t.Skip(1)
	t.note("holds formulas that nothing ends: %s", short(rest[:min(len(rest), 30)]))
	t.text("$")
}

// formulaEnd returns where a formula ends that begins a text, or -1. In braces there
// are formulas of other texts, as in \text{if $x$}.
func formulaEnd(text, mark string) int {
	text = text[:min(len(text), macro.MaxFormula+len(mark))]
	depth, first := 0, -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case '%':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return first
			}
			i += end - 1
		case '\n':
			if strings.HasPrefix(text[i:], "\n\n") {
				return first
			}
		case '$':
			if !strings.HasPrefix(text[i:], mark) {
				continue
			}
			if depth <= 0 {
				return i
			}
			if first < 0 {
				first = i
			}
		}
	}
	return first
}

// math writes a formula.
func (t *tex) math(source string, display bool) {
	if strings.TrimSpace(source) == "" {
		return
	}
	t.text(t.formula(source, display))
}

// verb reads \verb.
func (t *tex) verb() {
	t.Star()
	rest := t.Rest()
	if rest == "" {
		return
	}
	_, size := utf8.DecodeRuneInString(rest)
	body, _, ok := strings.Cut(rest[size:min(len(rest), 2000)], rest[:size])
	if line, _, cut := strings.Cut(body, "\n"); cut || !ok {
		body = line
		t.Skip(size + len(body))
	} else {
		t.Skip(2*size + len(body))
	}
	t.text("<code>" + html.EscapeString(body) + "</code>")
}
