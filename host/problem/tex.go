package problem

import (
	"regexp"
	"slices"
	"strings"
)

// tex renders the part of TeX that statements are mostly made of. What it does
// not know is shown without its command, and the report names it.
func (r *reader) tex(file string) string {
	return r.texText(file, r.textOf(file, maxStatement, statementRemedy))
}

// texText renders a text that comes from a file.
func (r *reader) texText(file, text string) string {
	t := &texReader{in: uncomment(clean(text)), unknown: map[string]bool{}}
	out := t.document()
	if len(t.unknown) > 0 {
		names := make([]string, 0, len(t.unknown))
		for name := range t.unknown {
			names = append(names, name)
		}
		slices.Sort(names)
		r.warn(file, "", "uses TeX that the page shows plainly: %s", strings.Join(names, " "))
	}
	return out
}

// comment is a percent sign that is not escaped, to the end of its line.
var comment = regexp.MustCompile(`(?m)(^|[^\\])%.*$\n?`)

func uncomment(s string) string { return comment.ReplaceAllString(s, "$1") }

// texReader reads TeX once from left to right.
type texReader struct {
	in      string
	at      int
	out     strings.Builder
	open    bool     // in a paragraph
	ends    []string // closing tags of environments
	nested  int      // elements around this place
	unknown map[string]bool

	// What is known of the text ahead, so that it is looked at once.
	dense     int  // up to there is no empty line
	unbracket bool // there is no more closing bracket
}

// maxNested is how deep elements may be in each other. Deeper ones are shown
// plainly.
const maxNested = 32

// Commands with one argument, as HTML elements.
var texElements = map[string]string{
	"textbf": "strong", "bf": "strong", "emph": "em", "textit": "em", "it": "em", "texttt": "code", "t": "code", "underline": "u",
	"textsc": "span", "textrm": "span", "text": "span", "mbox": "span", "mathrm": "span", "mathit": "span", "mathbf": "strong",
}

var texHeadings = map[string]string{"section": "h2", "subsection": "h3", "subsubsection": "h4", "paragraph": "h4"}

// Environments, as opening and closing tags.
var texEnvironments = map[string][2]string{
	"itemize": {"<ul>", "</li></ul>"}, "enumerate": {"<ol>", "</li></ol>"}, "quote": {"<blockquote>", "</blockquote>"},
	"center": {"<div>", "</div>"}, "document": {"", ""},
	"Input": {"<h2>Input</h2><div>", "</div>"}, "Output": {"<h2>Output</h2><div>", "</div>"}, "Interaction": {"<h2>Interaction</h2><div>", "</div>"},
}

// Commands that stand for characters.
var texSymbols = map[string]string{
	"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "times": "×", "cdot": "·", "ldots": "…", "dots": "…",
	"cdots": "…", "to": "→", "rightarrow": "→", "leftarrow": "←", "infty": "∞", "in": "∈", "pm": "±", "approx": "≈", "sum": "∑",
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "lambda": "λ", "mu": "μ", "pi": "π",
	"sigma": "σ", "theta": "θ", "phi": "φ", "omega": "ω", "textbackslash": "\\", "textasciitilde": "~", "lfloor": "⌊", "rfloor": "⌋",
	"lceil": "⌈", "rceil": "⌉", "quad": " ", "qquad": " ", "newline": "<br>", "log": "log", "min": "min", "max": "max", "bmod": "mod",
	"sqrt": "√", "oplus": "⊕", "cup": "∪", "cap": "∩", "subseteq": "⊆", "emptyset": "∅", "degree": "°", "ss": "ß",
}

// Commands that leave nothing, with how many arguments they take along.
var texDropped = map[string]int{
	"problemname": 1, "label": 1, "includegraphics": 1, "illustration": 3, "vspace": 1, "hspace": 1, "noindent": 0, "centering": 0,
	"left": 0, "right": 0, "medskip": 0, "bigskip": 0, "smallskip": 0, "caption": 1, "ref": 1, "usepackage": 1, "documentclass": 1,
	"displaystyle": 0, "limits": 0, "newpage": 0, "nextsample": 0, "remainingsamples": 0,
}

func (t *texReader) document() string {
	for t.at < len(t.in) {
		t.step("")
	}
	t.closeParagraph()
	for len(t.ends) > 0 {
		t.endEnvironment()
	}
	return t.out.String()
}

// step reads one thing. Until says at which character an argument ends.
func (t *texReader) step(until string) {
	rest := t.in[t.at:]
	switch {
	case until == "" && t.blankLine():
		t.closeParagraph()
	case strings.HasPrefix(rest, "``"), strings.HasPrefix(rest, "''"):
		t.write(map[byte]string{'`': "“", '\'': "”"}[rest[0]], 2)
	case strings.HasPrefix(rest, "---"):
		t.write("—", 3)
	case strings.HasPrefix(rest, "--"):
		t.write("–", 2)
	case rest[0] == '\\':
		t.command(rest)
	case rest[0] == '~':
		t.write("\u00a0", 1)
	case rest[0] == '$', rest[0] == '{', rest[0] == '}':
		t.at++ // mathematics is shown as text
	case rest[0] == '^', rest[0] == '_':
		t.at++
		t.element(map[byte]string{'^': "sup", '_': "sub"}[rest[0]])
	default:
		n := strings.IndexAny(rest[1:], "\\`'-~${}^_\n")
		if n < 0 {
			n = len(rest) - 1
		}
		t.write(escape(rest[:n+1]), n+1)
	}
}

// blankLine goes on behind the white space at this place if there is an empty line in
// it.
func (t *texReader) blankLine() bool {
	if t.at < t.dense {
		return false
	}
	end, newlines := t.at, 0
	blank := false
	for ; end < len(t.in); end++ {
		switch t.in[end] {
		case '\n':
			newlines++
			blank = blank || newlines == 2
			continue
		case ' ', '\t':
			continue
		case '\r', '\f':
			newlines = 0
			continue
		default:
		}
		break
	}
	if !blank {
		t.dense = end
		return false
	}
	t.at = end
	return true
}

// write puts HTML out and goes on n bytes.
func (t *texReader) write(text string, n int) {
	t.at += n
	if !t.open && len(t.ends) == 0 && strings.TrimSpace(text) != "" {
		t.out.WriteString("<p>")
		t.open = true
		text = strings.TrimLeft(text, " \t\n")
	}
	t.out.WriteString(text)
}

func (t *texReader) closeParagraph() {
	if t.open {
		t.out.WriteString("</p>\n")
	} else if len(t.ends) > 0 {
		t.out.WriteString("\n")
	}
	t.open = false
}

var texCommand = regexp.MustCompile(`^\\([A-Za-z]+\*?|[^A-Za-z])[ \t]?`)

func (t *texReader) command(rest string) {
	m := texCommand.FindStringSubmatch(rest)
	if m == nil {
		t.at++
		return
	}
	name := strings.TrimSuffix(m[1], "*")
	element, heading := texElements[name], texHeadings[name]
	dropped, drop := texDropped[name]
	symbol, isSymbol := texSymbols[name]
	switch {
	case name == "\\":
		t.write("<br>", len(m[0]))
	case len(name) == 1 && !isLetter(name[0]):
		t.write(escape(strings.Trim(name, "()[]!,;: ")), 1+len(name))
	case isSymbol:
		t.write(symbol, len(m[0]))
	case element != "":
		t.at += len(m[0])
		t.element(element)
	case heading != "":
		t.at += len(m[0])
		t.closeParagraph()
		was := t.open
		t.open = true // a heading is no paragraph
		t.element(heading)
		t.open = was
		t.out.WriteString("\n")
	case drop:
		t.at += len(m[0])
		for range dropped {
			t.argument()
		}
	case name == "begin", name == "end":
		t.at += len(m[0])
		t.environment(name == "begin")
	case name == "item":
		t.at += len(m[0])
		if !strings.HasSuffix(strings.TrimRight(t.out.String(), " \t\r\n\f\u00a0"), "l>") {
			t.out.WriteString("</li>")
		}
		t.out.WriteString("<li>")
	case name == "url", name == "href":
		t.at += len(m[0])
		link := t.argument()
		if name == "href" {
			link = t.argument() + " (" + link + ")"
		}
		t.write(escape(link), 0)
	case name == "verb" && len(rest) > len(`\verb`):
		body, _, _ := strings.Cut(rest[len(`\verb`)+1:], rest[len(`\verb`):len(`\verb`)+1])
		t.write("<code>"+escape(body)+"</code>", min(len(rest), len(`\verb`)+2+len(body)))
	default:
		t.unknown["\\"+name] = true
		t.at += len(m[0])
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// element reads an argument into an HTML element.
func (t *texReader) element(name string) {
	if t.nested >= maxNested {
		return
	}
	t.nested++
	defer func() { t.nested-- }()
	t.write("<"+name+">", 0)
	if t.at < len(t.in) && t.in[t.at] == '{' {
		t.at++
		for depth := 1; t.at < len(t.in); {
			switch t.in[t.at] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 {
				t.at++
				break
			}
			t.step("}")
		}
	} else if t.at < len(t.in) {
		if t.in[t.at] == '\\' {
			t.step("}")
		} else {
			t.write(escape(firstRune(t.in[t.at:])), len(firstRune(t.in[t.at:])))
		}
	}
	t.out.WriteString("</" + name + ">")
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// argument skips options in brackets and returns the text of one argument.
func (t *texReader) argument() string {
	rest := t.in[t.at:]
	if strings.HasPrefix(rest, "[") && !t.unbracket {
		if end := strings.IndexByte(rest, ']'); end > 0 {
			t.at += end + 1
			rest = rest[end+1:]
		} else {
			t.unbracket = true
		}
	}
	if !strings.HasPrefix(rest, "{") {
		return ""
	}
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			t.at += i + 1
			return rest[1:i]
		}
	}
	t.at = len(t.in)
	return rest[1:]
}

// environment begins or ends one.
func (t *texReader) environment(begin bool) {
	name := strings.TrimSuffix(t.argument(), "*")
	if !begin {
		t.endEnvironment()
		return
	}
	t.closeParagraph()
	switch name {
	case "verbatim", "lstlisting", "tabular", "figure", "align", "equation":
		body, _, _ := strings.Cut(t.in[t.at:], `\end{`+name)
		t.at += len(body)
		if name == "figure" || name == "tabular" {
			t.unknown[name] = true
		}
		if name == "figure" {
			body = ""
		}
		t.ends = append(t.ends, "</pre>")
		t.out.WriteString("<pre>" + escape(strings.Trim(body, "\n")))
		return
	}
	tags, known := texEnvironments[name]
	if !known {
		t.unknown[name] = true
	}
	t.out.WriteString(tags[0])
	t.ends = append(t.ends, tags[1])
}

func (t *texReader) endEnvironment() {
	if n := len(t.ends); n > 0 {
		t.closeParagraph()
		t.out.WriteString(t.ends[n-1])
		t.ends = t.ends[:n-1]
	}
}
