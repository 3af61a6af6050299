package statement

import (
	"regexp"
	"strconv"
	"strings"
)

// What macros of a statement may do. A macro may call others, so that without bounds
// ten lines become more than any machine holds.
const (
	maxMacros     = 500
	maxExpansions = 10_000  // in one statement
	maxExpanded   = 1 << 20 // bytes that they become
	maxBody       = 8 << 10 // bytes of one macro
)

// macro is what a statement defines by \newcommand, \def or \let.
type macro struct {
	args  int
	first *string // what the first argument is if it is left out; nil = it must be there
	body  string
}

// macros are those of one statement, for its text and its formulas.
type macros struct {
	known map[string]macro // by name, with the backslash
	count int
	bytes int
}

func newMacros() *macros { return &macros{known: map[string]macro{}} }

// tooMuch is why a macro is not expanded.
const tooMuch = "its macros become too much"

// expand returns what a macro becomes with its arguments. It is false if the macros of
// the statement have become too much.
func (m *macros) expand(d macro, args []string) (string, bool) {
	if m.count++; m.count > maxExpansions {
		return "", false
	}
	var out strings.Builder
	body := d.body
	for {
		at := strings.IndexByte(body, '#')
		if at < 0 || at+1 >= len(body) {
			break
		}
		out.WriteString(body[:at])
		n := int(body[at+1] - '0')
		switch {
		case n >= 1 && n <= len(args):
			out.WriteString(args[n-1])
		case body[at+1] == '#':
			out.WriteByte('#')
		}
		if out.Len()+m.bytes > maxExpanded {
			return "", false
		}
		body = body[at+2:]
	}
	out.WriteString(body)
	m.bytes += out.Len()
	return out.String(), m.bytes <= maxExpanded
}

// definers are the commands that define macros.
var definers = set(`\newcommand \renewcommand \providecommand \def \gdef \edef \xdef \let \DeclareMathOperator \DeclareRobustCommand`)

// formula returns a formula in which the macros of the statement are expanded, or why
// that cannot be. Definitions in it hold from there on.
func (m *macros) formula(tex string) (expanded, why string) {
	if len(m.known) == 0 && !mayDefine(tex) {
		return uncomment(tex), ""
	}
	s := &scanner{frames: []frame{{text: uncomment(tex)}}}
	var out strings.Builder
	for s.more() {
		if s.peek() != '\\' {
			out.WriteString(s.plain())
			continue
		}
		name := s.command()
		switch d, known := m.known[name]; {
		case definers[name]:
			if !m.define(s, name) {
				return "", "a definition in it cannot be read"
			}
		case known:
			text, ok := m.expand(d, s.arguments(d))
			if !ok || !s.push(text) {
				return "", tooMuch
			}
		default:
			out.WriteString(name)
			if isLetter(name[len(name)-1]) && s.more() && isLetter(s.peek()) {
				out.WriteByte(' ')
			}
		}
		if out.Len() > maxFormula {
			return "", tooMuch
		}
	}
	return out.String(), ""
}

// mayDefine reports whether there may be a definition in a formula.
func mayDefine(tex string) bool {
	for name := range definers {
		if strings.Contains(tex, name) {
			return true
		}
	}
	return false
}

var digits = regexp.MustCompile(`^\s*([0-9])\s*$`)

// define reads a definition after the command that begins it.
func (m *macros) define(s *scanner, by string) bool {
	s.star()
	s.spaces()
	name, ok := s.defined()
	if !ok || len(m.known) >= maxMacros {
		return false
	}
	d := macro{}
	switch by {
	case `\let`:
		s.spaces()
		if s.more() && s.peek() == '=' {
			s.skip(1)
			s.spaces()
		}
		if !s.more() {
			return false
		}
		if d.body = s.one(); m.known[d.body].body != "" {
			d = m.known[d.body]
		}
		if d.body == name {
			return true
		}
	case `\def`, `\gdef`, `\edef`, `\xdef`:
		parameters := s.until('{')
		d.args = strings.Count(parameters, "#")
		if d.args > 9 || strings.Trim(parameters, "#123456789 \t\r\n") != "" {
			return false
		}
		d.body = s.group()
	case `\DeclareMathOperator`:
		s.spaces()
		d.body = `\operatorname{` + s.group() + `}`
	default:
		s.spaces()
		if n := digits.FindStringSubmatch(s.option()); n != nil {
			d.args, _ = strconv.Atoi(n[1])
			if s.spaces(); s.more() && s.peek() == '[' {
				first := s.option()
				d.first = &first
			}
		}
		s.spaces()
		d.body = s.group()
	}
	if len(d.body) > maxBody {
		return false
	}
	if by == `\providecommand` && m.known[name].body != "" {
		return true
	}
	m.known[name] = d
	return true
}
