package main

import (
	"slices"
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

// token is a word, a number or one character of punctuation.
type token struct {
	text string
	line int
}

// parse reads a file: depth counts what is open of (, [ and {.
func parse(source string) unit {
	var u unit
	tokens := tokenize(source)
	depth, start := 0, 0 // start of the statement or member
	for i, t := range tokens {
		next := func(n int) string {
			if i+n < len(tokens) {
				return tokens[i+n].text
			}
			return ""
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth = max(depth-1, 0)
		case "package":
			if depth == 0 && u.pkg == "" && len(u.types) == 0 {
				u.pkg = packageName(tokens[i+1:])
			}
		case "class", "interface", "enum", "record":
			if depth == 0 && isWord(next(1)) {
				u.types = append(u.types, declared{name: next(1), line: t.line, public: has(tokens[start:i], "public")})
			}
		case "main":
			if depth == 1 && len(u.types) > 0 && next(1) == "(" && i > 0 && tokens[i-1].text == "void" &&
				has(tokens[start:i], "static") && takesStrings(tokens[i+2:]) {
				u.types[len(u.types)-1].main = true
			}
		}
		if depth <= 1 && (t.text == ";" || t.text == "{" || t.text == "}") {
			start = i + 1
		}
	}
	return u
}

func has(tokens []token, text string) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.text == text })
}

// packageName joins the tokens up to a semicolon.
func packageName(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.text != "." && !isWord(t.text) {
			break
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// takesStrings reports whether String occurs before the parameters close.
func takesStrings(tokens []token) bool {
	closing := slices.IndexFunc(tokens, func(t token) bool { return t.text == ")" })
	return closing > 0 && has(tokens[:closing], "String")
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && wordRune(r)
}

func wordRune(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// tokenize drops white space, comments and the contents of literals.
func tokenize(source string) []token {
	var tokens []token
	line := 1
	for len(source) > 0 {
		r, size := utf8.DecodeRuneInString(source)
		length := size
		switch {
		case unicode.IsSpace(r):
		case strings.HasPrefix(source, "//"):
			length = through(source, 2, "\n")
		case strings.HasPrefix(source, "/*"):
			length = through(source, 2, "*/")
		case strings.HasPrefix(source, `"""`):
			length = literal(source, `"""`)
		case r == '"', r == '\'':
			length = literal(source, source[:1])
		case wordRune(r):
			if end := strings.IndexFunc(source, func(r rune) bool { return !wordRune(r) }); end > 0 {
				length = end
			} else {
				length = len(source)
			}
			tokens = append(tokens, token{source[:length], line})
		default:
			tokens = append(tokens, token{source[:length], line})
		}
		line += strings.Count(source[:length], "\n")
		source = source[length:]
	}
	return tokens
}

// through returns the length up to and with the end mark, looked for after the
// first from bytes.
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
