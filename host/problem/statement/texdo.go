package statement

import (
	"html"
	"path"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// commands are those that need more than a table.
var commands map[string]func(t *tex, name string)

func init() { // a map that refers to what reads it
	commands = map[string]func(t *tex, name string){
		"begin": func(t *tex, _ string) { t.beginEnvironment() }, "end": func(t *tex, _ string) { t.endEnvironment(strings.TrimSpace(t.Group())) },
		"label": func(t *tex, _ string) { t.numbers.label(t.One()) }, "item": func(t *tex, _ string) { t.item() }, "verb": func(t *tex, _ string) { t.verb() }, "par": func(t *tex, _ string) { t.endParagraph() },
		"url": (*tex).url, "nolinkurl": (*tex).url, "href": (*tex).href, "hyperref": (*tex).href,
		"footnote": (*tex).footnote, "footnotetext": (*tex).footnote, "thanks": (*tex).footnote, "footnotemark": func(t *tex, _ string) { t.Option() },
		"includegraphics": (*tex).graphics, "includesvg": (*tex).graphics, "epsfbox": (*tex).graphics, "epsfig": (*tex).graphics, "illustration": (*tex).illustration,
		"caption": (*tex).caption, "captionof": (*tex).caption, "subcaption": (*tex).caption, "subfloat": (*tex).subfloat, "subfigure": (*tex).subfloat,
		"input": (*tex).input, "include": (*tex).input, "subfile": (*tex).input,
		"lstinputlisting": (*tex).listing, "verbatiminput": (*tex).listing, "VerbatimInput": (*tex).listing, "inputminted": (*tex).listing,
		"textcolor": (*tex).coloured, "color": (*tex).coloured, "colorbox": (*tex).coloured,
		"newenvironment": (*tex).newEnvironment, "renewenvironment": (*tex).newEnvironment,
		"InputFile": (*tex).part, "OutputFile": (*tex).part, "Interaction": (*tex).part, "Scoring": (*tex).part, "Note": (*tex).part, "Notes": (*tex).part,
		"Tutorial": (*tex).part, "Explanation": (*tex).part, "Explanations": (*tex).part, "SubtaskWithCost": (*tex).part, "Subtasks": (*tex).part, "Constraints": (*tex).part, "Specification": (*tex).part,
		"ensuremath": func(t *tex, _ string) { t.math(t.One(), false) },
		"num":        (*tex).quantity, "SI": (*tex).quantity, "qty": (*tex).quantity, "si": (*tex).quantity, "unit": (*tex).quantity, "numprint": (*tex).quantity,
		"resizebox": (*tex).box, "scalebox": (*tex).box, "rotatebox": (*tex).box, "adjustbox": (*tex).box, "parbox": (*tex).box, "MakeUppercase": (*tex).cased, "uppercase": (*tex).cased, "lowercase": (*tex).cased, "MakeLowercase": (*tex).cased,
		"ref": (*tex).reference, "autoref": (*tex).reference, "cref": (*tex).reference, "Cref": (*tex).reference, "eqref": (*tex).reference, "cite": (*tex).reference, "pageref": (*tex).reference,
		"char": (*tex).char, "symbol": (*tex).char, "unichar": (*tex).char,
		"iffalse": (*tex).condition, "iftrue": (*tex).condition, "ifplastex": (*tex).condition, "ifpdf": (*tex).condition, "else": (*tex).condition, "fi": func(*tex, string) {},
		"endinput":         func(t *tex, _ string) { t.Frames = t.Frames[:max(0, len(t.Frames)-1)] },
		"subsubsubsection": func(t *tex, _ string) { t.heading("h5") }, "epigraph": (*tex).epigraph, "tikz": (*tex).drawing, "lstinline": (*tex).inlineCode, "mintinline": (*tex).inlineCode, "bigskip": func(t *tex, _ string) { t.endParagraph() },
		"ldots": func(t *tex, _ string) { t.text("…"); t.emptyGroup() }, "multirow": func(t *tex, _ string) { t.One(); t.One(); t.marked("span") }, "today": func(*tex, string) {},
	}
}

// plainText returns an argument that is no text, such as an address.
func plainText(s string) string {
	s = strings.TrimSpace(s)
	for _, c := range `%#&_~$^{}` {
		s = strings.ReplaceAll(s, `\`+string(c), string(c))
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, `\textasciitilde`, "~"), `\string`, "")
}

func (t *tex) url(string) {
	address := plainText(t.One())
	t.text(`<a href="` + html.EscapeString(address) + `">` + html.EscapeString(address) + "</a>")
}

func (t *tex) href(string) {
	t.Option()
	address := plainText(t.One())
	t.Spaces()
	t.text(`<a href="` + html.EscapeString(address) + `">` + t.inner(t.One(), false) + "</a>")
}

func (t *tex) footnote(string) {
	t.Option()
	t.text(t.notes.footnote(strings.TrimSpace(t.inner(t.One(), true))))
}

// keys reads the options of a command: name=value, with commas between.
func keys(options string) map[string]string {
	m := map[string]string{}
	for field := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(field, "=")
		m[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), "{}")
	}
	return m
}

// image returns the element for a picture.
func (t *tex) image(name, alt string, options map[string]string) string {
	name = strings.Trim(plainText(name), `"`)
	class := ""
	if percent, ok := safe.Share(options["width"]); ok && safe.LengthForm.FindString(strings.ReplaceAll(options["width"], " ", "")) == "" {
		class = safe.WidthClass(percent)
	} else if n := safe.Number64(options["scale"]); n > 0 {
		class = safe.ZoomClass(n)
	}
	var out strings.Builder
	out.WriteString(`<img src="` + html.EscapeString(name) + `" alt="` + html.EscapeString(alt) + `"`)
	if class != "" {
		out.WriteString(` class="` + class + `"`)
	} else {
		for _, side := range []string{"width", "height"} {
			if m := safe.LengthForm.FindStringSubmatch(strings.ReplaceAll(options[side], " ", "")); m != nil && m[2] != "" && m[2] != "%" {
				out.WriteString(" " + side + `="` + safe.Pixels(m[1], m[2]) + `"`)
			}
		}
	}
	return out.String() + ">"
}

func (t *tex) graphics(string) {
	t.Star()
	options := keys(t.Option())
	if t.More() && t.Peek() == '[' { // the old way to cut a part out
		t.Option()
	}
	name := t.One()
	alt := options["alt"]
	if alt == "" && !t.within("figure") {
		alt = strings.TrimSuffix(path.Base(plainText(name)), path.Ext(plainText(name)))
	}
	t.text(t.image(name, alt, options))
}

// illustration is a picture beside the text: \illustration{width}{file}{caption}.
func (t *tex) illustration(string) {
	t.Option()
	width, name := t.One(), t.One()
	t.Spaces()
	caption := strings.TrimSpace(t.inner(t.One(), false))
	class := "w40"
	if percent, ok := safe.Share(width); ok {
		class = safe.WidthClass(percent)
	}
	figure := `<figure class="illustration ` + class + `">` + t.image(name, "", nil)
	if caption != "" {
		figure += "<figcaption>" + caption + "</figcaption>"
	}
	t.block(figure + "</figure>\n")
}

func (t *tex) caption(name string) {
	if name == "captionof" {
		t.One()
	}
	t.Star()
	t.Option()
	caption := strings.TrimSpace(t.inner(t.One(), false))
	tag := "p"
	if t.within("figure") {
		tag = "figcaption"
		caption = t.numbers.next(t.within("table")) + caption
	}
	t.block("<" + tag + ">" + caption + "</" + tag + ">\n")
}

func (t *tex) subfloat(string) {
	caption := t.Option()
	body := t.inner(t.One(), true)
	if caption != "" {
		body += "<figcaption>" + strings.TrimSpace(t.inner(caption, false)) + "</figcaption>"
	}
	t.block(`<figure class="subfigure">` + body + "</figure>\n")
}

// source returns a text file that the statement names.
func (t *tex) source(name string) (content, file string, ok bool) {
	name = plainText(name)
	for _, file := range []string{t.beside(name), t.beside(name + ".tex"), path.Clean(name), path.Clean(name + ".tex")} {
		if strings.HasPrefix(file, "/") || !t.pkg.Has(file) {
			continue
		}
		for _, f := range t.Frames {
			if f.File == file {
				t.note("puts files into themselves, which are left out: %s", file)
				return "", file, false
			}
		}
		b, err := t.pkg.Read(file, macro.MaxExpanded+1)
		t.included += len(b)
		if err != nil || t.included > macro.MaxExpanded {
			t.note("puts in files that cannot be read or are too much: %s", file)
			return "", file, false
		}
		return Text(b), file, true
	}
	t.note("puts in files that are not in the package: %s", name)
	return "", name, false
}

func (t *tex) input(string) {
	t.Spaces()
	name := ""
	if t.More() && t.Peek() != '{' { // \input name
		rest := t.Rest()
		if name = rest; strings.ContainsAny(rest, " \n\t\\") {
			name = rest[:strings.IndexAny(rest, " \n\t\\")]
		}
		t.Skip(len(name))
	} else {
		name = t.Group()
	}
	content, file, ok := t.source(name)
	if !ok {
		return
	}
	if !t.Push(content) {
		t.note("puts files into files too deeply: %s", name)
		t.Abandon()
		return
	}
	t.Top().File, t.Top().Made = file, false
}

func (t *tex) listing(name string) {
	t.Option()
	if name == "inputminted" {
		t.One()
	}
	if content, _, ok := t.source(t.One()); ok {
		t.block("<pre>" + html.EscapeString(content) + "</pre>\n")
	}
}

func (t *tex) coloured(name string) {
	model := t.Option()
	value := strings.TrimSpace(t.One())
	if strings.EqualFold(model, "html") {
		value = "#" + value
	}
	value, _, _ = strings.Cut(value, "!")
	property := "color"
	if name == "colorbox" {
		property = "background-color"
	}
	classes, ok := safe.Colours(property, strings.ToLower(value))
	if !ok {
		t.note("uses colours that the page does not know, so that it shows none: %s", value)
	}
	tag := "span"
	if len(classes) > 0 {
		tag += "." + classes[0]
	}
	if name == "color" {
		t.mark(tag)
		return
	}
	t.marked(tag)
}

// parts are the parts of a statement that commands of Polygon begin.
var parts = map[string]string{
	"InputFile": "Input", "OutputFile": "Output", "Interaction": "Interaction", "Scoring": "Scoring", "Note": "Note", "Notes": "Notes", "Tutorial": "Tutorial",
	"Explanation": "Explanation", "Explanations": "Explanations", "SubtaskWithCost": "Subtask", "Subtasks": "Subtasks", "Constraints": "Constraints", "Specification": "Specification",
}

func (t *tex) part(name string) {
	t.block("<h2>" + parts[name] + "</h2>\n")
}

// quantity writes a number with its unit, as siunitx has them.
func (t *tex) quantity(name string) {
	t.Option()
	if name != "si" && name != "unit" {
		t.text(html.EscapeString(grouped(t.One())))
	}
	if name == "num" || name == "numprint" {
		return
	}
	t.Spaces()
	unit := t.One()
	for from, to := range units {
		unit = strings.ReplaceAll(unit, from, to)
	}
	if name == "SI" || name == "qty" {
		t.text("\u00a0")
	}
	t.text(t.inner(unit, false))
}

// units are those of siunitx.
var units = map[string]string{
	`\meter`: "m", `\metre`: "m", `\kilo`: "k", `\second`: "s", `\milli`: "m", `\centi`: "c", `\gram`: "g", `\percent`: "%", `\hour`: "h", `\minute`: "min", `\per`: "/", `\byte`: "B",
	`\mega`: "M", `\giga`: "G", `\degree`: "°", `\celsius`: "°C", `\litre`: "l", `\liter`: "l", `\newton`: "N", `\micro`: "µ", `\nano`: "n", `\square`: "", `\squared`: "²", `\cubed`: "³", `\bit`: "bit", `\hertz`: "Hz",
}

// grouped returns a number with thin spaces between thousands.
func grouped(n string) string {
	n = strings.TrimSpace(n)
	whole, rest, point := strings.Cut(n, ".")
	if strings.Trim(whole, "-+0123456789") != "" || len(strings.TrimLeft(whole, "-+")) < 5 {
		return n
	}
	var out []byte
	for i := range len(whole) {
		if left := len(whole) - i; i > 0 && left%3 == 0 && whole[i-1] >= '0' {
			out = append(out, "\u2009"...)
		}
		out = append(out, whole[i])
	}
	if point {
		return string(out) + "." + rest
	}
	return string(out)
}

// box shows what is in a box.
func (t *tex) box(name string) {
	t.Star()
	t.Option()
	t.One()
	if t.Option(); name == "resizebox" {
		t.One()
	}
	t.Spaces()
	t.block(t.inner(t.One(), true))
}

func (t *tex) cased(name string) {
	body := t.One()
	if strings.HasSuffix(strings.ToLower(name), "uppercase") {
		body = strings.ToUpper(body)
	} else {
		body = strings.ToLower(body)
	}
	t.text(t.inner(body, false))
}

// reference stands for a number that only paper has, of figures, tables and books.
func (t *tex) reference(name string) {
	t.Star()
	t.Option()
	t.text(t.numbers.reference(name, strings.TrimSpace(t.One())))
}

func (t *tex) epigraph(string) {
	text := t.inner(t.One(), false)
	by := t.inner(t.One(), false)
	t.block(`<blockquote class="epigraph">` + text + "<br>— " + by + "</blockquote>\n")
}

// drawing shows the source of a drawing, which no page can draw.
func (t *tex) drawing(name string) {
	t.Option()
	t.note("holds drawings that the page shows as they are written: %s", name)
	t.block(`<pre class="source">` + html.EscapeString(t.One()) + "</pre>\n")
}

func (t *tex) inlineCode(name string) {
	t.Option()
	if name == "mintinline" {
		t.One()
	}
	if t.More() && t.Peek() == '{' {
		t.text("<code>" + html.EscapeString(t.Group()) + "</code>")
		return
	}
	t.verb()
}
