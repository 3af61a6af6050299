package macro

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What macros of a statement may do. A macro may call others, so that without bounds
// ten lines become more than any machine holds.
const (
	MaxMacros     = 500
	maxExpansions = 10_000  // in one statement
	MaxExpanded   = 1 << 20 // bytes that they become
	MaxBody       = 8 << 10 // bytes of one macro
	MaxFormula    = 8 << 10 // bytes of a formula
)

// Macro is what a statement defines by \newcommand, \def or \let.
type Macro struct {
	Args  int
	First *string // what the first argument is if it is left out; nil = it must be there
	Body  string
}

// Macros are those of one statement, for its text and its formulas.
type Macros struct {
	Known map[string]Macro // by name, with the backslash
	count int
	bytes int
}

// New returns none.
func New() *Macros { return &Macros{Known: map[string]Macro{}} }

// tooMuch is why a macro is not expanded.
const tooMuch = "its macros become too much"

// Expand returns what a macro becomes with its arguments. It is false if the macros of
// the statement have become too much.
func (m *Macros) Expand(d Macro, args []string) (string, bool) {
	if m.count++; m.count > maxExpansions {
		return "", false
	}
	var out strings.Builder
	body := d.Body
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
		if out.Len()+m.bytes > MaxExpanded {
			return "", false
		}
		body = body[at+2:]
	}
	out.WriteString(body)
	m.bytes += out.Len()
	return out.String(), m.bytes <= MaxExpanded
}

// definers are the commands that define macros.
var definers = strings.Fields(`\newcommand \renewcommand \providecommand \def \gdef \edef \xdef \let \DeclareMathOperator \DeclareRobustCommand`)

// Defines reports whether a command defines a macro.
func Defines(command string) bool { return slices.Contains(definers, command) }

// Formula returns a formula in which the macros of the statement are expanded, or why
// that cannot be. Definitions in it hold from there on.
func (m *Macros) Formula(tex string) (expanded, why string) {
	if len(m.Known) == 0 && !mayDefine(tex) {
		return Uncomment(tex), ""
	}
	s := NewScanner(Uncomment(tex), "")
	var out strings.Builder
	for s.More() {
		if s.Peek() != '\\' {
			out.WriteString(s.plain())
			continue
		}
		name := s.Command()
		switch d, known := m.Known[name]; {
		case Defines(name):
			if !m.Define(s, name) {
				return "", "a definition in it cannot be read"
			}
		case known:
			text, ok := m.Expand(d, s.Arguments(d))
			if !ok || !s.Push(text) {
				return "", tooMuch
			}
		default:
			out.WriteString(name)
			if IsLetter(name[len(name)-1]) && s.More() && IsLetter(s.Peek()) {
				out.WriteByte(' ')
			}
		}
		if out.Len() > MaxFormula {
			return "", tooMuch
		}
	}
	return out.String(), ""
}

// mayDefine reports whether there may be a definition in a formula.
func mayDefine(tex string) bool {
	return slices.ContainsFunc(definers, func(name string) bool { return strings.Contains(tex, name) })
}

// Digits is the number of arguments of a macro.
var Digits = regexp.MustCompile(`^\s*([0-9])\s*$`)

// Define reads a definition after the command that begins it.
func (m *Macros) Define(s *Scanner, by string) bool {
	s.Star()
	s.Spaces()
	name, ok := s.defined()
	if !ok || len(m.Known) >= MaxMacros {
		return false
	}
	d := Macro{}
	switch by {
	case `\let`:
		s.Spaces()
		if s.More() && s.Peek() == '=' {
			s.Skip(1)
			s.Spaces()
		}
		if !s.More() {
			return false
		}
		if d.Body = s.One(); m.Known[d.Body].Body != "" {
			d = m.Known[d.Body]
		}
		if d.Body == name {
			return true
		}
	case `\def`, `\gdef`, `\edef`, `\xdef`:
		parameters := s.Until('{')
		d.Args = strings.Count(parameters, "#")
		if d.Args > 9 || strings.Trim(parameters, "#123456789 \t\r\n") != "" {
			return false
		}
		d.Body = s.Group()
	case `\DeclareMathOperator`:
		s.Spaces()
		d.Body = `\operatorname{` + s.Group() + `}`
	default:
		s.Spaces()
		if n := Digits.FindStringSubmatch(s.Option()); n != nil {
			d.Args, _ = strconv.Atoi(n[1])
			if s.Spaces(); s.More() && s.Peek() == '[' {
				first := s.Option()
				d.First = &first
			}
		}
		s.Spaces()
		d.Body = s.Group()
	}
	if len(d.Body) > MaxBody {
		return false
	}
	if by == `\providecommand` && m.Known[name].Body != "" {
		return true
	}
	m.Known[name] = d
	return true
}

// IsLetter reports whether a character is a letter, of which names of commands are.
func IsLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
