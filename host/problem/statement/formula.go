package statement

import (
	"html"
	"regexp"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// formula returns a formula as MathML. What the library does not know is shown as it
// is written, and so is a formula that it cannot read at all; the setter is told.
func (p *page) formula(tex string, display bool) string {
	if p.err != nil {
		return ""
	}
	if p.math == nil {
		e, err := newEngine()
		if err != nil {
			p.fail(err)
			return ""
		}
		p.math = e
	}
	source := strings.TrimSpace(tex)
	tex, why := p.macros.Formula(source)
	if why == "" && strings.TrimSpace(tex) == "" { // it defines something
		return ""
	}
	var done rendered
	if why == "" {
		var err error
		if done, err = p.math.formula(readable(tex), display); err != nil {
			p.fail(err)
			return ""
		}
		why = done.why
	}
	if why != "" {
		p.note("holds formulas that are shown as they are written: %s", source+" ("+short(why)+")")
		if display {
			return `<pre class="source">` + html.EscapeString(source) + "</pre>"
		}
		return `<code class="source">` + html.EscapeString(source) + "</code>"
	}
	for _, m := range unknownMacro.FindAllStringSubmatch(done.html, -1) {
		p.note("uses macros that are unknown and shown as they are written: %s", html.UnescapeString(tags.ReplaceAllString(m[1], "")))
	}
	return done.html
}

// unknownMacro is what the library makes of a macro that it does not know.
var unknownMacro = regexp.MustCompile(`<(?:mstyle|mtext|mrow)[^>]* style="color:` + safe.UnknownInk + `;?"[^>]*>((?:<[^>]*>)*\\[^<]*)`)

var tags = regexp.MustCompile(`<[^>]*>`)

func short(why string) string {
	why = strings.Join(strings.Fields(html.UnescapeString(why)), " ")
	why = strings.TrimPrefix(why, "ParseError: ")
	for _, place := range []string{" at position", " at end of input"} {
		why, _, _ = strings.Cut(why, place)
	}
	return why[:min(len(why), 200)]
}

// readable turns what people write and the library does not read into what it reads.
func readable(tex string) string {
	if strings.Contains(tex, "eqnarray") {
		tex = eqnarray.ReplaceAllStringFunc(tex, func(s string) string {
			if strings.HasPrefix(s, `\begin`) {
				return `\begin{array}{rcl}`
			}
			return `\end{array}`
		})
	}
	if strings.Contains(tex, `\label`) {
		tex = label.ReplaceAllString(tex, "")
	}
	for from, to := range texAliases {
		if strings.Contains(tex, from) {
			tex = replaceCommand(tex, from, to)
		}
	}
	return tex
}

var (
	eqnarray = regexp.MustCompile(`\\(begin|end)\{eqnarray\*?\}`)
	label    = regexp.MustCompile(`\\label\{[^{}]*\}`)
)

// texAliases are commands for which the library has others, or which say nothing in a formula.
var texAliases = map[string]string{
	`\ensuremath`: "", `\xspace`: "", `\protect`: "", `\textsl`: `\textit`, `\nonumber`: "", `\dotsc`: `\ldots`, `\thinspace`: `\,`,
	`\leqslant`: `\leqslant`, `\lbrack`: `\lbrack`, `\sout`: `\cancel`, `\noindent`: "", `\displaylimits`: "", `\hfill`: `\quad`,
	`\t`: `\texttt`, `\textsuperscript`: `^`, `\linebreak`: `\\`, `\newline`: `\\`, `\centering`: "",
}

// replaceCommand replaces a command, which ends where its letters end.
func replaceCommand(tex, from, to string) string {
	var out strings.Builder
	for {
		at := strings.Index(tex, from)
		if at < 0 {
			return out.String() + tex
		}
		out.WriteString(tex[:at])
		tex = tex[at+len(from):]
		escaped := strings.HasSuffix(out.String()[max(0, out.Len()-1):], `\`)
		if escaped || tex != "" && macro.IsLetter(tex[0]) {
			out.WriteString(from)
			continue
		}
		if out.WriteString(to); to != "" && macro.IsLetter(to[len(to)-1]) && tex != "" && tex[0] != '{' {
			out.WriteByte(' ')
		}
	}
}
