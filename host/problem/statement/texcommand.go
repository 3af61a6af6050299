package statement

import (
	"html"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// marks are commands with one argument, as elements; a class is behind a dot.
var argumentMarks = map[string]string{
	"textbf": "strong", "emph": "em", "textit": "em", "textsl": "em", "texttt": "code", "underline": "u", "uline": "u", "textsc": "span.caps",
	"textrm": "span", "textsf": "span", "textup": "span", "textmd": "span", "textnormal": "span", "text": "span", "mbox": "span", "hbox": "span",
	"makebox": "span", "fbox": "span.box", "framebox": "span.box", "t": "code", "bf": "strong", "it": "em", "tt": "code", "sout": "del", "st": "del",
	"textsuperscript": "sup", "textsubscript": "sub", "enquote": "q", "lstinline": "code", "code": "code", "file": "code", "path": "code", "bold": "strong",
	"textmath": "span", "ensuremath": "", "mintinline": "code", "highlight": "mark", "hl": "mark", "term": "em", "Input": "", "raisebox": "span", "centerline": "span.center",
}

// switches are commands that hold until their group ends.
var switches = map[string]string{
	"bf": "strong", "bfseries": "strong", "it": "em", "itshape": "em", "em": "em", "sl": "em", "slshape": "em", "tt": "code", "ttfamily": "code",
	"sc": "span.caps", "scshape": "span.caps", "rm": "", "rmfamily": "", "sf": "", "sffamily": "", "normalfont": "", "upshape": "", "mdseries": "",
	"tiny": "span.small", "scriptsize": "span.small", "footnotesize": "span.small", "small": "span.small", "normalsize": "", "large": "span.large",
	"Large": "span.large", "LARGE": "span.large", "huge": "span.large", "Huge": "span.large", "boldmath": "", "unboldmath": "",
}

// headings are commands whose argument is a heading.
var headings = map[string]string{
	"section": "h2", "chapter": "h2", "subsection": "h3", "subsubsection": "h4", "paragraph": "h4", "subparagraph": "h5", "markdownsection": "h2",
}

// symbols are commands that stand for characters.
var symbols = map[string]string{
	"ldots": "…", "dots": "…", "textellipsis": "…", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textunderscore": "_",
	"newline": "<br>", "linebreak": "<br>", "quad": "\u2003", "qquad": "\u2003\u2003", "enspace": "\u2002", "thinspace": "\u2009", "space": " ", "nobreakspace": "\u00a0",
	"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ",
	"dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ",
	"S": "§", "P": "¶", "dag": "†", "ddag": "‡", "copyright": "©", "textcopyright": "©", "pounds": "£", "textsterling": "£", "euro": "€", "texteuro": "€", "EUR": "€",
	"textdegree": "°", "degree": "°", "textregistered": "®", "texttrademark": "™", "textbar": "|", "textless": "&lt;", "textgreater": "&gt;",
	"textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’", "textquotedbl": "&#34;", "textquotesingle": "&#39;", "lq": "‘", "rq": "’",
	"guillemotleft": "«", "guillemotright": "»", "guillemetleft": "«", "guillemetright": "»", "quotedblbase": "„", "quotesinglbase": "‚", "glqq": "„", "grqq": "“", "textemdash": "—", "textendash": "–", "textbullet": "•",
	"textdollar": "$", "textpercent": "%", "lbrack": "[", "rbrack": "]", "slash": "/", "textyen": "¥", "textcent": "¢", "textsection": "§", "textmu": "µ", "textonehalf": "½", "textsuperscript2": "²",
	"TeX": "TeX", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e", "textvisiblespace": "␣", "textrightarrow": "→", "textleftarrow": "←", "textpm": "±", "texttimes": "×", "checkmark": "✓",
	"ordfeminine": "ª", "ordmasculine": "º", "textordfeminine": "ª", "textordmasculine": "º", "textexclamdown": "¡", "textquestiondown": "¿", "No": "№",
	"hfill": " ", "hfil": " ", "hss": " ", "dotfill": "…", "hrulefill": "", "cyrdash": "—", "textcompwordmark": "",
}

// dropped are commands about paper, with how many arguments they take along; a star
// after the number says that an option may come first, and after the first argument.
var dropped = map[string]int{
	"vspace": 1, "hspace": 1, "vskip": -1, "hskip": -1, "kern": -1, "noindent": 0, "indent": 0, "centering": 0, "raggedright": 0, "raggedleft": 0, "leavevmode": 0, "strut": 0,
	"medskip": 0, "bigskip": 0, "smallskip": 0, "usepackage": 1, "documentclass": 1, "RequirePackage": 1, "newpage": 0, "clearpage": 0, "pagebreak": 0, "nopagebreak": 0, "cleardoublepage": 0, "nolinebreak": 0,
	"setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "newcounter": 1, "newlength": 1, "thispagestyle": 1, "pagestyle": 1, "graphicspath": 1, "phantom": 1, "hphantom": 1, "vphantom": 1,
	"displaystyle": 0, "textstyle": 0, "limits": 0, "nextsample": 0, "remainingsamples": 0, "sampleinput": 1, "sampleoutput": 1, "displaysample": 1, "maketitle": 0, "tableofcontents": 0, "null": 0,
	"vfill": 0, "vfil": 0, "vss": 0, "protect": 0, "relax": 0, "xspace": 0, "sloppy": 0, "fussy": 0, "selectlanguage": 1, "par@": 0, "ignorespaces": 0, "unskip": 0, "allowbreak": 0, "xdef@": 0, "makeatletter": 0, "makeatother": 0, "noindentafter": 0,
	"bibliographystyle": 1, "needspace": 1, "Needspace": 1, "setlist": 1, "setitemize": 1, "captionsetup": 1, "lstset": 1, "tikzset": 1, "usetikzlibrary": 1, "definecolor": 3, "colorlet": 2, "hyphenation": 1, "babelprovide": 1, "parindent": -1, "parskip": -1, "itemsep": -1, "tabcolsep": -1,
	"parbox@": 0, "columnbreak": 0, "hypersetup": 1, "setmainfont": 1, "setstretch": 1, "linespread": 1, "title": 1, "author": 1, "date": 1, "version": 1, "FloatBarrier": 0, "global": 0, "long": 0, "expandafter": 0, "nocite": 1, "addcontentsline": 3, "markboth": 2, "index": 1, "arraybackslash": 0,
	"newcolumntype": 2, "theoremstyle": 1, "newtheorem": 2, "ProvidesPackage": 1, "hyphenchar": -1, "frenchspacing": 0, "nonfrenchspacing": 0, "tabularnewline@": 0, "problemname": 1, "plainproblemname": 1, "problemlabel": 1, "textheight@": 0, "clubpenalty": -1, "widowpenalty": -1, "looseness": -1, "flushbottom": 0, "raggedbottom": 0, "Examples": 0, "Example": 0, "exmp": 2, "exmpfile": 2, "createsection": 2, "timelimit": 1,
}

// command does what a command says. Its name has the backslash.
func (t *tex) command(full string) {
	name := strings.TrimRight(full[1:], " \t")
	if d, own := t.macros.Known[full]; own {
		t.expand(full, d)
		return
	}
	if macro.Defines(full) {
		if !t.macros.Define(t.Scanner, full) {
			t.note("defines macros in a way that is not understood: %s", full)
		}
		return
	}
	if len(full) < 2 || !macro.IsLetter(full[1]) {
		t.sign(name)
		return
	}
	if do := commands[name]; do != nil {
		do(t, name)
		return
	}
	if tag, ok := headings[name]; ok {
		t.heading(tag)
		return
	}
	if symbol, ok := symbols[name]; ok {
		t.text(symbol)
		t.emptyGroup()
		return
	}
	arg := t.More() && (t.Peek() == '{' || t.Peek() == '[')
	tag, marks := argumentMarks[name]
	held, switched := switches[name]
	n, drop := dropped[name]
	switch {
	case marks && (arg || !switched):
		t.Option()
		t.marked(tag)
	case switched:
		if held != "" {
			t.begunMark(held)
		}
	case drop:
		t.drop(n)
	case accents[name] != 0:
		t.accent(accents[name])
	default:
		t.unknown(full)
	}
}

// begunMark makes the rest of the group have a mark.
func (t *tex) begunMark(tag string) {
	if tag == "em" || tag == "strong" || tag == "code" || strings.HasPrefix(tag, "span") {
		t.mark(tag)
	}
}

// emptyGroup goes on behind the braces that keep a command from the next word.
func (t *tex) emptyGroup() {
	if strings.HasPrefix(t.Rest(), "{}") {
		t.Skip(2)
	}
}

// sign does what a command says that is no word.
func (t *tex) sign(name string) {
	switch name {
	case "\\":
		t.Star()
		t.Option()
		t.text("<br>")
	case "(", "[":
		rest := t.Rest()
		end := map[string]string{"(": `\)`, "[": `\]`}[name]
		body, _, ok := strings.Cut(rest[:min(len(rest), 2*macro.MaxFormula)], end)
		if !ok {
			t.note("holds formulas that nothing ends: %s", `\`+name)
			return
		}
		t.Skip(len(body) + len(end))
		t.math(body, name == "[")
	case ")", "]", "/", "!", "-", "@", "":
	case " ", "\n", "\t", "\r":
		t.blank(" ")
	case ",", ";", ":", ">":
		t.text("\u2009")
	case "'", "`", "^", "\"", "~", "=", ".":
		t.accent(signAccents[name])
	default:
		t.text(html.EscapeString(name))
	}
}

// heading begins a heading, which ends with its group.
func (t *tex) heading(tag string) {
	t.Star()
	t.Option()
	t.Spaces()
	title := t.inner(t.One(), false)
	if !t.flow { // in a line, such as a cell
		t.text("<strong>" + strings.TrimSpace(title) + "</strong>")
		return
	}
	t.block("<" + tag + ">" + strings.TrimSpace(title) + "</" + tag + ">\n")
}

// drop leaves out what a command says, with its arguments.
func (t *tex) drop(n int) {
	t.Star()
	if n < 0 { // a length without braces
		t.length()
		return
	}
	if n > 0 {
		t.Option()
	}
	for i := range n {
		t.Spaces()
		if i > 0 {
			t.Option()
		}
		if t.More() && t.Peek() == '{' {
			t.Group()
		} else if t.More() && t.Peek() == '\\' {
			t.Command()
		}
	}
}

// length goes on behind a length.
func (t *tex) length() {
	t.Spaces()
	rest := t.Rest()
	n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("=-+.0123456789", r) })
	if n < 0 {
		n = len(rest)
	}
	if n > 0 && n+2 <= len(rest) {
		n += 2
	}
	if n > 0 {
		t.Skip(min(n, len(rest)))
	} else if t.More() && t.Peek() == '\\' {
		t.Command()
	}
}

// expand reads what a macro of the statement becomes.
func (t *tex) expand(name string, d macro.Macro) {
	text, ok := t.macros.Expand(d, t.Arguments(d))
	if !ok || !t.Push(text) {
		t.note("has macros that become too much and are shown as they are written: %s", name)
		t.Abandon()
		t.text(`<code class="source">` + html.EscapeString(name) + "</code>")
	}
}

// unknown shows a command that is not known here: as a formula if it is one of those,
// which people forget to put into dollars, else as it is written.
func (t *tex) unknown(full string) {
	if t.mathematical(full) {
		t.math(full, false)
		return
	}
	t.note("uses macros that are unknown and shown as they are written: %s", full)
	t.text(`<code class="source">` + html.EscapeString(full) + "</code>")
}

// mathematical reports whether a command without arguments is one of formulas.
func (t *tex) mathematical(full string) bool {
	said := len(t.said)
	if t.page.math == nil {
		e, err := newEngine()
		if err != nil {
			return false
		}
		t.page.math = e
	}
	done, err := t.page.math.formula(full, false)
	t.said = t.said[:said]
	return err == nil && done.why == "" && !strings.Contains(done.html, safe.UnknownInk)
}
