package statement

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"deepoj/host/problem/statement/safe"
)

// FuzzStatement: whatever a statement holds, the page has only what [safe.Check] allows, and
// a parser as browsers have one finds nothing in it that runs or looks like something
// else. Formulas are not rendered, since temml is slow while it is watched: what stands
// in them is believed to be its MathML. [FuzzFormula] renders them.
func FuzzStatement(f *testing.F) {
	for _, seed := range []string{
		"\\textbf{a} $x_1$ \\begin{itemize}\\item x\\end{itemize}", "\\begin{tabular}{l|r}a&b\\\\\\hline\\end{tabular}", "\\def\\a#1{#1\\a{#1}}\\a{x}$\\a x$",
		"\\href{javascript:x}{y}\\footnote{z}\\input{part}\\includegraphics[width=.5\\textwidth]{map}", "\\newenvironment{e}{\\item}{}\\begin{e}\\end{e}\\iffalse",
		"a $x$ `$` $$\ny\n$$ [a](javascript:b) ![c](map.png){width=1%} <b style='color:red' onclick=x>", "<math><style><img src=x></style></math><svg></p><p style=\"a\">",
		"<div class=header><p>$$$x$$$ $$$$$$y$$$$$$", "<table><td><li><a href=' java\nscript:x'><![CDATA[x]]>", "|a|b|\n|:-|-:|\n|$c|$d|\n\n[^1]\n\n[^1]: e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			return
		}
		for _, file := range []string{"a.md", "a.tex", "a.polygon", "a.page"} {
			sound(t, file, text, believing())
		}
	})
}

// FuzzFormula is FuzzStatement for formulas, which one temml renders one after the other.
func FuzzFormula(f *testing.F) {
	for _, seed := range []string{
		`\frac{a}{b}`, `\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `\begin{array}{l|r}a&b\\\hline c&d\end{array}`, `\href{javascript:x}{y}\url{z}`, `\class{a}{b}\style{color:red}{x}`,
		`\text{<script>}\textcolor{red}{x}\colorbox{#fff}{y}`, `\def\a#1{#1}\a{x}`, `\unknown{x}`, `x < y & z`, `\includegraphics{map}\rule{1em}{2em}\kern9pt`, `\sqrt[3]{x}\tag{1}\label{q}`,
	} {
		f.Add(seed)
	}
	math, err := newEngine()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 256 {
			return
		}
		math.left, math.made, math.kept = formulaTime, map[formula]rendered{}, 0
		sound(t, "a.tex", "\\["+text+"\\]", math)
	})
}

// sound fails if a statement becomes a page that is not.
func sound(t *testing.T, file, text string, math *engine) {
	t.Helper()
	page, _, err := renderWith(math, file, Text([]byte(text)))
	if err != nil {
		return
	}
	if err := safe.Check(page); err != nil {
		t.Fatalf("%s %q: %v in\n%s", file, text, err, page)
	}
	inspect(t, file+" "+text, page)
}

// believing returns an engine that takes formulas for MathML.
func believing() *engine {
	vm := goja.New()
	return &engine{vm: vm, left: formulaTime, made: map[formula]rendered{}, render: func(_ goja.Value, of ...goja.Value) (goja.Value, error) {
		return vm.ToValue([]string{"", "<math>" + of[0].String() + "</math>"}), nil
	}}
}

// inspect fails if a browser would run something on a page or load something.
func inspect(t *testing.T, what, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatalf("%q: %v", what, err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		name := strings.ToLower(n.Data)
		if name != "html" && name != "head" && name != "body" && name != "tbody" && !safe.Element(name) {
			t.Fatalf("%q holds <%s> in\n%s", what, name, page)
		}
		for _, a := range n.Attr {
			key, value := strings.ToLower(a.Key), strings.ToLower(norm.NFKC.String(a.Val))
			value = strings.Map(func(r rune) rune {
				if r <= ' ' {
					return -1
				}
				return r
			}, value)
			if key == "style" || strings.HasPrefix(key, "on") || key == "src" && !safe.PicturePlace.MatchString(a.Val) ||
				key == "href" && (strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "vbscript:")) {
				t.Fatalf("%q holds %s=%q in\n%s", what, a.Key, a.Val, page)
			}
		}
	}
}
