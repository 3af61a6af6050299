package statement

import (
	"strings"
	"unicode/utf8"
)

// maxFrames is how deep texts may be in each other: what a macro became in what another
// one became, or a file in a file.
const maxFrames = 64

// maxOption is how long an argument in brackets may be: where it closes is looked for
// from each bracket.
const maxOption = 2000

// frame is a text that is being read.
type frame struct {
	text string
	at   int
	file string // that it is, if it is a file of the package
	made bool   // a macro became it
}

// scanner reads TeX from left to right. What a macro becomes, and a file that is put
// in, is read before the rest. Nothing is copied and nothing read twice, except
// arguments by whoever asks for them.
type scanner struct {
	frames []frame // the innermost last
}

// more reports whether there is anything left, and leaves texts that are at their end.
func (s *scanner) more() bool {
	for len(s.frames) > 0 {
		f := &s.frames[len(s.frames)-1]
		if f.at < len(f.text) {
			return true
		}
		s.frames = s.frames[:len(s.frames)-1]
	}
	return false
}

// push puts a text before what is left. It is false if texts are too deep in each
// other.
func (s *scanner) push(text string) bool {
	s.more()
	s.frames = append(s.frames, frame{text: text, made: true})
	return len(s.frames) <= maxFrames
}

// abandon goes on behind what macros became.
func (s *scanner) abandon() {
	for len(s.frames) > 0 && s.frames[len(s.frames)-1].made {
		s.frames = s.frames[:len(s.frames)-1]
	}
}

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// rest is what is left of the innermost text, "" if there is nothing at all.
func (s *scanner) rest() string {
	if !s.more() {
		return ""
	}
	f := s.top()
	return f.text[f.at:]
}

// peek returns the next byte; there must be one.
func (s *scanner) peek() byte { f := s.top(); return f.text[f.at] }

func (s *scanner) skip(n int) { s.top().at += n }

// plain reads text up to the next backslash.
func (s *scanner) plain() string {
	rest := s.rest()
	if at := strings.IndexByte(rest, '\\'); at >= 0 {
		rest = rest[:at]
	}
	s.skip(len(rest))
	return rest
}

// command reads a backslash with the name behind it, and the spaces behind letters.
func (s *scanner) command() string {
	rest := s.rest()
	n := 1
	for n < len(rest) && (isLetter(rest[n]) || rest[n] == '@') {
		n++
	}
	if n > 1 {
		s.skip(n)
		name := rest[:n]
		for n < len(rest) && (rest[n] == ' ' || rest[n] == '\t') {
			n++
			s.skip(1)
		}
		return name
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	s.skip(1 + size)
	return rest[:1+size]
}

// star goes on behind a star.
func (s *scanner) star() bool {
	if s.more() && s.peek() == '*' {
		s.skip(1)
		return true
	}
	return false
}

// spaces goes on behind white space.
func (s *scanner) spaces() {
	for s.more() && strings.IndexByte(" \t\r\n", s.peek()) >= 0 {
		s.skip(1)
	}
}

// defined reads the name of what is being defined.
func (s *scanner) defined() (string, bool) {
	name := ""
	if s.more() && s.peek() == '{' {
		name = strings.TrimSpace(s.group())
	} else if s.more() && s.peek() == '\\' {
		name = s.command()
	}
	return name, len(name) > 1 && name[0] == '\\'
}

// until reads text up to a byte, which stays; all of it if there is none.
func (s *scanner) until(c byte) string {
	rest := s.rest()
	at := strings.IndexByte(rest, c)
	if at < 0 {
		at = len(rest)
	}
	if at > 0 {
		s.skip(at)
	}
	return rest[:at]
}

// group reads an argument in braces, without them. What nothing closes goes to the end.
// Without a brace there is nothing.
func (s *scanner) group() string {
	if !s.more() || s.peek() != '{' {
		return ""
	}
	rest := s.rest()
	n := closing(rest)
	s.skip(min(n+1, len(rest)))
	return rest[1:n]
}

// closing returns where the brace is that closes the one at the beginning of a text, or
// its length.
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

// option reads an argument in brackets, without them; "" if there is none.
func (s *scanner) option() string {
	rest := s.rest()
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
				s.skip(i + 1)
				return rest[1:i]
			}
		}
		if depth < 0 || strings.HasPrefix(rest[i:], "\n\n") {
			return "" // brackets close in their paragraph
		}
	}
	return ""
}

// one reads one argument: a group, a command or a character.
func (s *scanner) one() string {
	s.spaces()
	switch {
	case !s.more():
		return ""
	case s.peek() == '{':
		return s.group()
	case s.peek() == '\\':
		return strings.TrimRight(s.command(), " ")
	}
	_, size := utf8.DecodeRuneInString(s.rest())
	c := s.rest()[:size]
	s.skip(size)
	return c
}

// arguments reads those of a macro.
func (s *scanner) arguments(d macro) []string {
	var args []string
	for i := range d.args {
		if i == 0 && d.first != nil {
			first := *d.first
			if s.more() && s.peek() == '[' {
				first = s.option()
			}
			args = append(args, first)
			continue
		}
		args = append(args, s.one())
	}
	return args
}

// uncomment leaves comments out. A backslash before a percent sign makes it one.
func uncomment(text string) string {
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
