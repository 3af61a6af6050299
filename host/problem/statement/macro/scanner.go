// Package macro reads the characters of TeX, and expands the macros that a statement defines, within bounds.
package macro

import (
	"strings"
	"unicode/utf8"
)

// maxFrames is how deep texts may be in each other: what a macro became in what another
// one became, or a file in a file.
const maxFrames = 64

// maxOption is how long an argument in brackets may be: where it closes is looked for from each bracket.
const maxOption = 2000

// Frame is a text that is being read.
type Frame struct {
	text string
	at   int
	File string // that it is, if it is a file of the package
	Made bool   // a macro became it
}

// Scanner reads TeX from left to right. What a macro becomes, and a file that is put in, is read before the rest.
// Nothing is copied and nothing read twice, except arguments by whoever asks for them.
type Scanner struct {
	Frames []Frame // the innermost last
}

// NewScanner returns a Scanner of a text, and of what file of the package it is; "" if it is none.
func NewScanner(text, file string) *Scanner {
	return &Scanner{Frames: []Frame{{text: text, File: file}}}
}

// More reports whether there is anything left, and leaves texts that are at their end.
func (s *Scanner) More() bool {
	for len(s.Frames) > 0 {
		f := &s.Frames[len(s.Frames)-1]
		if f.at < len(f.text) {
			return true
		}
		s.Frames = s.Frames[:len(s.Frames)-1]
	}
	return false
}

// Push puts a text before what is left. It is false if texts are too deep in each other.
func (s *Scanner) Push(text string) bool {
	s.More()
	s.Frames = append(s.Frames, Frame{text: text, Made: true})
	return len(s.Frames) <= maxFrames
}

// Abandon goes on behind what macros became.
func (s *Scanner) Abandon() {
	for len(s.Frames) > 0 && s.Frames[len(s.Frames)-1].Made {
		s.Frames = s.Frames[:len(s.Frames)-1]
	}
}

// Top is the innermost text.
func (s *Scanner) Top() *Frame { return &s.Frames[len(s.Frames)-1] }

// Rest is what is left of the innermost text, "" if there is nothing at all.
func (s *Scanner) Rest() string {
	if !s.More() {
		return ""
	}
	f := s.Top()
	return f.text[f.at:]
}

// Peek returns the next byte; there must be one.
func (s *Scanner) Peek() byte { f := s.Top(); return f.text[f.at] }

// Skip goes on behind n bytes of the innermost text.
func (s *Scanner) Skip(n int) { s.Top().at += n }

// plain reads text up to the next backslash.
func (s *Scanner) plain() string {
	rest := s.Rest()
	if at := strings.IndexByte(rest, '\\'); at >= 0 {
		rest = rest[:at]
	}
	s.Skip(len(rest))
	return rest
}

// Command reads a backslash with the name behind it, and the spaces behind letters.
func (s *Scanner) Command() string {
	rest := s.Rest()
	n := 1
	for n < len(rest) && (IsLetter(rest[n]) || rest[n] == '@') {
		n++
	}
	if n > 1 {
		s.Skip(n)
		name := rest[:n]
		for n < len(rest) && (rest[n] == ' ' || rest[n] == '\t') {
			n++
			s.Skip(1)
		}
		return name
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	s.Skip(1 + size)
	return rest[:1+size]
}

// Star goes on behind a star.
func (s *Scanner) Star() bool {
	if s.More() && s.Peek() == '*' {
		s.Skip(1)
		return true
	}
	return false
}

// Spaces goes on behind white space.
func (s *Scanner) Spaces() {
	for s.More() && strings.IndexByte(" \t\r\n", s.Peek()) >= 0 {
		s.Skip(1)
	}
}

// defined reads the name of what is being defined.
func (s *Scanner) defined() (string, bool) {
	name := ""
	if s.More() && s.Peek() == '{' {
		name = strings.TrimSpace(s.Group())
	} else if s.More() && s.Peek() == '\\' {
		name = s.Command()
	}
	return name, len(name) > 1 && name[0] == '\\'
}

// Until reads text up to a byte, which stays; all of it if there is none.
func (s *Scanner) Until(c byte) string {
	rest := s.Rest()
	at := strings.IndexByte(rest, c)
	if at < 0 {
		at = len(rest)
	}
	if at > 0 {
		s.Skip(at)
	}
	return rest[:at]
}

// Group reads an argument in braces, without them. What nothing closes goes to the end.
// Without a brace there is nothing.
func (s *Scanner) Group() string {
	if !s.More() || s.Peek() != '{' {
		return ""
	}
	rest := s.Rest()
	n := closing(rest)
	s.Skip(min(n+1, len(rest)))
	return rest[1:n]
}

// closing returns where the brace is that closes the one at the beginning of a text, or its length.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '%':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return len(text)
			}
			i += end
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// Option reads an argument in brackets, without them; "" if there is none.
func (s *Scanner) Option() string {
	rest := s.Rest()
	if rest == "" || rest[0] != '[' {
		return ""
	}
	depth := 0
	for i := 1; i < min(len(rest), maxOption); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case ']':
			if depth <= 0 {
				s.Skip(i + 1)
				return rest[1:i]
			}
		}
		if depth < 0 || strings.HasPrefix(rest[i:], "\n\n") {
			return "" // brackets close in their paragraph
		}
	}
	return ""
}

// One reads one argument: a group, a command or a character.
func (s *Scanner) One() string {
	s.Spaces()
	switch {
	case !s.More():
		return ""
	case s.Peek() == '{':
		return s.Group()
	case s.Peek() == '\\':
		return strings.TrimRight(s.Command(), " ")
	}
	_, size := utf8.DecodeRuneInString(s.Rest())
	c := s.Rest()[:size]
	s.Skip(size)
	return c
}

// Arguments reads those of a macro.
func (s *Scanner) Arguments(d Macro) []string {
	var args []string
	for i := range d.Args {
		if i == 0 && d.First != nil {
			first := *d.First
			if s.More() && s.Peek() == '[' {
				first = s.Option()
			}
			args = append(args, first)
			continue
		}
		args = append(args, s.One())
	}
	return args
}

// Uncomment leaves comments out. A backslash before a percent sign makes it one.
func Uncomment(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], `\%`)
		switch {
		case n < 0:
			out.WriteString(text[i:])
			return out.String()
		case text[i+n] == '\\':
			n = min(n+2, len(text)-i)
			out.WriteString(text[i : i+n])
		default:
			out.WriteString(text[i : i+n])
			end := strings.IndexByte(text[i+n:], '\n')
			if end < 0 {
				return out.String()
			}
			n += end + 1
		}
		i += n
	}
	return out.String()
}
