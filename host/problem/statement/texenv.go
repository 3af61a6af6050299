package statement

import (
	"html"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// environment is one that is open.
type environment struct {
	name   string
	end    string // what ends its element
	was    place
	groups int    // how many were open before it
	marks  int    // and marks
	list   string // li or dd, if it is a list
	item   string // the element of the item that is open
	after  string // TeX that ends an environment of the statement
}

// frames of environments as elements. Some take arguments, which are about paper.
var environments = map[string]struct {
	begin, end string
	args       int
}{
	"document": {"", "", 0}, "center": {`<div class="center">`, "</div>", 0}, "centering": {`<div class="center">`, "</div>", 0}, "flushleft": {`<div class="left">`, "</div>", 0}, "flushright": {`<div class="right">`, "</div>", 0},
	"quote": {"<blockquote>", "</blockquote>", 0}, "quotation": {"<blockquote>", "</blockquote>", 0}, "verse": {"<blockquote>", "</blockquote>", 0}, "displayquote": {"<blockquote>", "</blockquote>", 0},
	"Input": {"<h2>Input</h2>\n<div>", "</div>", 0}, "Output": {"<h2>Output</h2>\n<div>", "</div>", 0}, "Interaction": {"<h2>Interaction</h2>\n<div>", "</div>", 0},
	"figure": {"<figure>", "</figure>", 0}, "table": {"<figure>", "</figure>", 0}, "wrapfigure": {`<figure class="illustration">`, "</figure>", 2}, "wraptable": {`<figure class="illustration">`, "</figure>", 2},
	"subfigure": {`<figure class="subfigure">`, "</figure>", 1}, "subtable": {`<figure class="subfigure">`, "</figure>", 1}, "SCfigure": {"<figure>", "</figure>", 0}, "floatingfigure": {`<figure class="illustration">`, "</figure>", 1},
	"minipage": {"<div>", "</div>", 1}, "multicols": {"<div>", "</div>", 1}, "small": {`<div class="small">`, "</div>", 0}, "footnotesize": {`<div class="small">`, "</div>", 0}, "scriptsize": {`<div class="small">`, "</div>", 0},
	"framed": {`<div class="box">`, "</div>", 0}, "mdframed": {`<div class="box">`, "</div>", 0}, "tcolorbox": {`<div class="box">`, "</div>", 0}, "abstract": {"<div>", "</div>", 0}, "adjustbox": {"<div>", "</div>", 1}, "singlespace": {"<div>", "</div>", 0},
	"problem": {"", "", 5}, "problem*": {"", "", 5}, "statement": {"", "", 1}, "samepage": {"<div>", "</div>", 0}, "raggedright": {"<div>", "</div>", 0}, "sloppypar": {"<div>", "</div>", 0}, "large": {`<div class="large">`, "</div>", 0}, "spacing": {"<div>", "</div>", 1},
	"ttfamily": {`<div class="mono">`, "</div>", 0}, "flalign@": {"", "", 0}, "em": {"<div>", "</div>", 0}, "it": {"<div>", "</div>", 0}, "bf": {"<div>", "</div>", 0}, "landscape": {"<div>", "</div>", 0}, "figwindow": {"<figure>", "</figure>", 1}, "frame": {"<div>", "</div>", 0}, "theorem": {"<div>", "</div>", 0},
}

// lists are environments of items, as the element of the list and that of an item.
var lists = map[string][2]string{
	"itemize": {"ul", "li"}, "enumerate": {"ol", "li"}, "description": {"dl", "dd"}, "compactitem": {"ul", "li"}, "compactenum": {"ol", "li"}, "inparaenum": {"ol", "li"}, "list": {"ul", "li"}, "trivlist": {"ul", "li"}, "itemize*": {"ul", "li"}, "enumerate*": {"ol", "li"}, "shortitems": {"ul", "li"}, "labeling": {"dl", "dd"},
}

// verbatims are environments whose text is shown as it is.
var verbatims = safe.Names("verbatim verbatim* Verbatim lstlisting minted alltt BVerbatim LVerbatim semiverbatim")

// formulas are environments of mathematics.
var formulaEnvironments = safe.Names(`equation equation* align align* gather gather* multline multline* alignat alignat* eqnarray eqnarray* displaymath math flalign flalign* dmath dmath* subequations`)

// drawings are environments that no page can draw.
var drawings = safe.Names("tikzpicture pspicture picture asy tikzcd pgfpicture algorithm algorithmic algorithm2e")

// leftOut are environments that the page shows elsewhere, or nobody wants to see.
var leftOut = safe.Names("example examplewide examplethree comment sample tutorial filecontents filecontents*")

func (t *tex) beginEnvironment() {
	name := strings.TrimSpace(t.Group())
	plain := strings.TrimSuffix(name, "*")
	list, isList := lists[name]
	env, known := environments[name]
	own, defined := t.macros.Known["environment "+name]
	switch {
	case defined:
		after := t.macros.Known["end of "+name].Body
		args := t.Arguments(own)
		t.beginEnv(environment{name: name, after: after, groups: len(t.groups), was: place{flow: t.flow}})
		t.expandBody(name, macro.Macro{Body: own.Body}, args)
	case verbatims[name]:
		t.verbatim(name)
	case formulaEnvironments[name]:
		body, _ := t.body(name)
		t.mathEnvironment(name, plain, body)
	case drawings[name] || drawings[plain]:
		body, _ := t.body(name)
		t.note("holds drawings and programs in TeX that the page shows as they are written: %s", name)
		t.block(`<pre class="source">` + html.EscapeString(strings.Trim(body, "\n")) + "</pre>\n")
	case tables[name]:
		t.table(name)
	case leftOut[name]:
		t.body(name)
	case isList:
		t.Option()
		if name == "list" {
			t.One()
			t.One()
		}
		t.beginList(name, list)
	case known || environments[plain].begin != "":
		if !known {
			env = environments[plain]
		}
		t.beginBlock(name, env.begin, env.end, env.args)
	default:
		t.note("uses environments that are unknown, of which the page shows the text: %s", name)
		t.Option()
		t.beginBlock(name, "<div>", "</div>", 0)
	}
}

func (t *tex) beginEnv(e environment) {
	if len(t.envs) >= maxNested {
		t.note("holds more things in each other than can be shown: %s", e.name)
		return
	}
	e.marks = len(t.marks)
	t.envs = append(t.envs, e)
}

// beginBlock begins an environment that is an element.
func (t *tex) beginBlock(name, begin, end string, args int) {
	t.Option()
	width := ""
	for range args {
		t.Spaces()
		t.Option()
		if t.More() && t.Peek() == '{' {
			if w := t.Group(); args <= 2 {
				width = w
			}
		}
	}
	t.Option()
	if percent, ok := safe.Share(width); ok && strings.HasPrefix(begin, "<figure class=") {
		begin = strings.TrimSuffix(begin, `">`) + " " + safe.WidthClass(percent) + `">`
	}
	if len(t.envs) >= maxNested {
		t.beginEnv(environment{name: name})
		return
	}
	if begin == "" { // it is nothing by itself
		t.endParagraph()
		t.beginEnv(environment{name: name, groups: len(t.groups), was: place{flow: t.flow}})
		return
	}
	e := environment{name: name, end: end + "\n", groups: len(t.groups)}
	e.was = t.enter(begin, true)
	t.beginEnv(e)
}

func (t *tex) beginList(name string, list [2]string) {
	if len(t.envs) >= maxNested {
		t.beginEnv(environment{name: name})
		return
	}
	e := environment{name: name, end: "</" + list[0] + ">\n", groups: len(t.groups), list: list[1]}
	e.was = t.enter("<"+list[0]+">\n", true)
	t.beginEnv(e)
}

// item begins an item of the list around this place.
func (t *tex) item() {
	label := t.Option()
	i := len(t.envs) - 1
	for i >= 0 && t.envs[i].list == "" {
		i--
	}
	if i < 0 { // no list: a line that begins with a point
		t.endParagraph()
		t.text("• ")
		return
	}
	for len(t.envs) > i+1 {
		t.endTop()
	}
	t.closeGroups(t.envs[i].groups)
	t.endItem()
	e := &t.envs[i]
	if e.list == "dd" {
		t.out.WriteString("<dt>" + strings.TrimSpace(t.inner(label, false)) + "</dt>")
	}
	t.enter("<"+e.list+">", true)
	e.item = e.list
	if e.list == "li" && label != "" {
		t.text(t.inner(label, false) + " ")
	}
	t.Spaces()
}

// endItem ends the item of the innermost environment, if one is open.
func (t *tex) endItem() {
	if e := &t.envs[len(t.envs)-1]; e.item != "" {
		t.leave("</"+e.item+">\n", place{flow: true, bare: true})
		e.item = ""
	}
}

// endEnvironment ends the innermost environment of a name, and those in it.
func (t *tex) endEnvironment(name string) {
	for i := len(t.envs) - 1; i >= 0; i-- {
		if t.envs[i].name != name {
			continue
		}
		for len(t.envs) > i+1 {
			t.endTop()
		}
		if after := t.envs[i].after; after != "" {
			t.envs[i].after, t.envs[i].name = "", "end of "+name
			if t.Push(after + `\end{end of ` + name + `}`) {
				return
			}
			t.Abandon()
		}
		t.endTop()
		return
	}
}

// endTop ends the innermost environment.
func (t *tex) endTop() {
	e := t.envs[len(t.envs)-1]
	t.closeGroups(e.groups)
	t.unmark(e.marks)
	t.endItem()
	t.envs = t.envs[:len(t.envs)-1]
	if e.end == "" {
		t.endParagraph()
		return
	}
	t.leave(e.end, e.was)
}

// within reports whether an environment of a name is open, or one of its kind.
func (t *tex) within(name string) bool {
	for _, e := range t.envs {
		if strings.Contains(e.name, name) || strings.Contains(e.end, "</"+name) {
			return true
		}
	}
	return false
}

// body reads an environment to its end.
func (t *tex) body(name string) (body string, ended bool) {
	rest := t.Rest()
	begin, end := `\begin{`+name+"}", `\end{`+name+"}"
	depth, at := 1, 0
	for depth > 0 {
		i := strings.Index(rest[at:], `\`)
		if i < 0 {
			break
		}
		at += i
		switch {
		case strings.HasPrefix(rest[at:], end):
			depth--
			at += len(end)
		case strings.HasPrefix(rest[at:], begin):
			depth++
			at += len(begin)
		default:
			at = min(at+2, len(rest))
		}
	}
	if rest == "" {
		return "", false
	}
	if depth > 0 {
		t.Skip(len(rest))
		t.note("has environments that nothing ends: %s", name)
		return rest, false
	}
	t.Skip(at)
	return rest[:at-len(end)], true
}

func (t *tex) verbatim(name string) {
	if name == "lstlisting" || name == "Verbatim" {
		t.Option()
	}
	if name == "minted" {
		t.Option()
		t.One()
	}
	rest := t.Rest()
	end := `\end{` + name + "}"
	body, _, ok := strings.Cut(rest, end)
	if !ok {
		t.note("has environments that nothing ends: %s", name)
		end = ""
	}
	if t.More() {
		t.Skip(len(body) + len(end))
	}
	if i := strings.IndexByte(body, '\n'); i >= 0 && strings.TrimSpace(body[:i]) == "" {
		body = body[i+1:]
	}
	t.block("<pre>" + html.EscapeString(strings.TrimRight(body, " \t\n")) + "</pre>\n")
}

// mathEnvironment writes an environment of mathematics.
func (t *tex) mathEnvironment(name, plain, body string) {
	switch plain {
	case "math":
		t.math(body, false)
		return
	case "displaymath", "equation", "dmath", "subequations":
	default:
		if name == plain { // no numbers, which no text could refer to
			name += "*"
		}
		body = `\begin{` + name + "}" + body + `\end{` + name + "}"
	}
	t.math(body, true)
}

// newEnvironment takes an environment that the statement defines.
func (t *tex) newEnvironment(string) {
	t.Star()
	name := strings.TrimSpace(t.One())
	d := macro.Macro{}
	t.Spaces()
	if n := macro.Digits.FindStringSubmatch(t.Option()); n != nil {
		d.Args = int(n[1][0] - '0')
		if t.More() && t.Peek() == '[' {
			first := t.Option()
			d.First = &first
		}
	}
	t.Spaces()
	d.Body = t.Group()
	t.Spaces()
	end := t.Group()
	if len(d.Body)+len(end) > macro.MaxBody || len(t.macros.Known) > macro.MaxMacros {
		t.note("defines macros in a way that is not understood: %s", name)
		return
	}
	t.macros.Known["environment "+name], t.macros.Known["end of "+name] = d, macro.Macro{Body: end}
}

// expandBody reads what an environment of the statement begins with.
func (t *tex) expandBody(name string, d macro.Macro, args []string) {
	text, ok := t.macros.Expand(d, args)
	if !ok || !t.Push(text) {
		t.note("has macros that become too much and are shown as they are written: %s", name)
		t.Abandon()
	}
}
