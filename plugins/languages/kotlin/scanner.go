package kotlin

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner reads tokens and passes over white space, comments and the contents of literals. Strings may hold code,
// `"${f("x")}"`, which is read like any other but gives no tokens. A copy looks ahead: it starts outside any string, so
// what it keeps of strings is nothing to the original.
type scanner struct {
	rest    string
	strings []templated // the strings around the place, outermost first
	broken  bool        // a comment or string has no end
}

// templated is a string with code inside it.
type templated struct {
	quote  string // `"` or `"""`
	braces int    // that are open in the code
}

// next returns a word, a number or one character of punctuation; "" is the end.
// A name in backquotes comes without them.
func (s *scanner) next() string {
	for s.rest != "" {
		r, size := utf8.DecodeRuneInString(s.rest)
		switch {
		case unicode.IsSpace(r):
			s.rest = s.rest[size:]
		case strings.HasPrefix(s.rest, "//"), strings.HasPrefix(s.rest, "#!"):
			end := strings.IndexByte(s.rest, '\n')
			if end < 0 {
				end = len(s.rest)
			}
			s.rest = s.rest[end:]
		case strings.HasPrefix(s.rest, "/*"):
			s.comment()
		case strings.HasPrefix(s.rest, `"""`):
			s.inString(`"""`, 3)
		case r == '"':
			s.inString(`"`, 1)
		case r == '\'':
			s.character()
		case r == '`':
			if end := strings.IndexAny(s.rest[1:], "`\n"); end >= 0 {
				name := s.rest[1 : 1+end]
				s.rest = s.rest[end+2:]
				if len(s.strings) == 0 {
					return name
				}
				continue
			}
			s.rest = s.rest[1:]
		default:
			if wordRune(r) {
				if size = strings.IndexFunc(s.rest, func(r rune) bool { return !wordRune(r) }); size < 0 {
					size = len(s.rest)
				}
			}
			t := s.rest[:size]
			s.rest = s.rest[size:]
			if len(s.strings) == 0 {
				return t
			}
			s.inside(t)
		}
	}
	return ""
}

// text returns the contents of the string that comes next, or "".
func (s *scanner) text() string {
	s.rest = strings.TrimLeft(s.rest, " \t\r\n")
	if text, ok := strings.CutPrefix(s.rest, `"`); ok {
		if end := strings.IndexAny(text, "\"\n$\\"); end >= 0 && text[end] == '"' {
			return text[:end]
		}
	}
	return ""
}

// open reports whether something has no end.
func (s *scanner) open() bool { return s.broken || len(s.strings) > 0 }

// inside takes note of a token of code inside a string.
func (s *scanner) inside(t string) {
	around := &s.strings[len(s.strings)-1]
	switch t {
	case "{":
		around.braces++
	case "}":
		if around.braces--; around.braces == 0 {
			quote := around.quote
			s.strings = s.strings[:len(s.strings)-1]
			s.inString(quote, 0)
		}
	}
}

// inString passes over the rest of a string, after the first from bytes, or up to code inside it. A line that ends
// inside a simple string ends it, as it is an error there.
func (s *scanner) inString(quote string, from int) {
	for i := from; i < len(s.rest); i++ {
		switch {
		case strings.HasPrefix(s.rest[i:], quote):
			i += len(quote)
			for len(quote) == 3 && i < len(s.rest) && s.rest[i] == '"' {
				i++ // quotes that the string ends with
			}
			s.rest = s.rest[i:]
			return
		case strings.HasPrefix(s.rest[i:], "${"):
			s.rest = s.rest[i+2:]
			s.strings = append(s.strings, templated{quote, 1})
			return
		case s.rest[i] == '\\' && len(quote) == 1:
			i++
		case s.rest[i] == '\n' && len(quote) == 1:
			s.rest, s.broken = s.rest[i:], true
			return
		}
	}
	s.rest, s.broken = "", true
}

// character passes over a character, or over a quote that begins none.
func (s *scanner) character() {
	const longest = len(`'\u0000'`)
	for i := 1; i < min(len(s.rest), longest) && s.rest[i] != '\n'; i++ {
		if s.rest[i] == '\'' {
			s.rest = s.rest[i+1:]
			return
		}
		if s.rest[i] == '\\' {
			i++
		}
	}
	s.rest, s.broken = s.rest[1:], true
}

// comment passes over a comment, which may hold others.
func (s *scanner) comment() {
	depth := 0
	for i := 0; i+1 < len(s.rest); i++ {
		switch s.rest[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				s.rest = s.rest[i+1:]
				return
			}
		}
	}
	s.rest, s.broken = "", true
}
