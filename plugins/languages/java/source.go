package java

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A unit is what a Java file declares, as far as naming it and starting it
// needs. Reading it never fails: a file with syntax errors goes to javac.
type unit struct {
	pkg   string
	types []declared
}

// declared is a top-level type.
type declared struct {
	name   string
	line   int // from 1
	public bool
	main   bool // has a static void main with a String parameter
}

// public returns the name of the public top-level type, or "".
func (u unit) public() string {
	for _, t := range u.types {
		if t.public {
			return t.name
		}
	}
	return ""
}

// qualified returns a type's name with its package.
func (u unit) qualified(name string) string {
	if u.pkg == "" {
		return name
	}
	return u.pkg + "." + name
}

// token is a word, a number or one character of punctuation; "" is the end.
type token struct {
	text string
	line int
}

// parse reads a file once: depth counts what is open of (, [ and {, and public and static tell whether these words were
// there since the statement or member began.
func parse(source string) unit {
	var u unit
	s := scanner{source, 1}
	depth, public, static, before := 0, false, false, ""
	for t := s.next(); t.text != ""; t = s.next() {
		ahead := s
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth = max(depth-1, 0)
		case "public":
			public = true
		case "static":
			static = true
		case "package":
			if depth == 0 && u.pkg == "" && len(u.types) == 0 {
				u.pkg = packageName(&ahead)
			}
		case "class", "interface", "enum", "record":
			if name := ahead.next().text; depth == 0 && isWord(name) {
				u.types = append(u.types, declared{name: name, line: t.line, public: public})
			}
		case "main":
			if depth == 1 && len(u.types) > 0 && before == "void" && static && ahead.next().text == "(" && takesStrings(&ahead) {
				u.types[len(u.types)-1].main = true
			}
		}
		if depth <= 1 && (t.text == ";" || t.text == "{" || t.text == "}") {
			public, static = false, false
		}
		before = t.text
	}
	return u
}

// packageName joins the tokens up to a semicolon.
func packageName(s *scanner) string {
	var b strings.Builder
	for t := s.next().text; t == "." || isWord(t); t = s.next().text {
		b.WriteString(t)
	}
	return b.String()
}

// takesStrings reports whether String occurs before the parameters close.
func takesStrings(s *scanner) bool {
	found := false
	for t := s.next().text; t != ""; t = s.next().text {
		if t == ")" {
			return found
		}
		found = found || t == "String"
	}
	return false
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && wordRune(r)
}

func wordRune(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// scanner reads tokens and passes over white space, comments and the contents of literals. A copy looks ahead.
type scanner struct {
	rest string
	line int // of rest
}

func (s *scanner) next() token {
	for s.rest != "" {
		r, size := rune(s.rest[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s.rest)
		}
		switch {
		case r == '\n':
			s.line++
			s.rest = s.rest[1:]
		case r == ' ', unicode.IsSpace(r):
			s.rest = s.rest[size:]
		case strings.HasPrefix(s.rest, "//"):
			s.skip(through(s.rest, 2, "\n"))
		case strings.HasPrefix(s.rest, "/*"):
			s.skip(through(s.rest, 2, "*/"))
		case strings.HasPrefix(s.rest, `"""`):
			s.skip(literal(s.rest, `"""`))
		case r == '"', r == '\'':
			s.skip(literal(s.rest, s.rest[:1]))
		default:
			if wordRune(r) {
				if size = strings.IndexFunc(s.rest, func(r rune) bool { return !wordRune(r) }); size < 0 {
					size = len(s.rest)
				}
			}
			t := token{s.rest[:size], s.line}
			s.rest = s.rest[size:]
			return t
		}
	}
	return token{line: s.line}
}

// skip passes over what may hold line ends.
func (s *scanner) skip(length int) {
	s.line += strings.Count(s.rest[:length], "\n")
	s.rest = s.rest[length:]
}

// through returns the length up to and with the end mark, looked for after the first from bytes.
func through(source string, from int, end string) int {
	if i := strings.Index(source[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(source)
}

// literal returns the length of a string or character that starts with quote. A
// line that ends inside a simple one ends it, as it is an error there.
func literal(source, quote string) int {
	for i := len(quote); i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i++
		case strings.HasPrefix(source[i:], quote):
			return i + len(quote)
		case source[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(source)
}
