package kotlin

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A unit is what a Kotlin file declares, as far as starting it needs. Reading it
// never fails: a file with syntax errors goes to the compiler.
type unit struct {
	pkg      string
	jvmName  string // of the annotation @file:JvmName
	main     bool   // has a function main outside any class
	holder   string // the first class or object with a static function main
	complete bool   // all that was opened is closed again
}

// facade returns the name of the class that holds the functions of a file.
func (u unit) facade(file string) string {
	if u.jvmName != "" {
		return u.jvmName
	}
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	stem = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, stem)
	first, size := utf8.DecodeRuneInString(stem)
	if unicode.IsDigit(first) {
		return "_" + stem + "Kt"
	}
	return string(unicode.ToUpper(first)) + stem[size:] + "Kt"
}

// qualified returns a class's name with its package.
func (u unit) qualified(class string) string {
	if u.pkg == "" || class == "" {
		return class
	}
	return u.pkg + "." + class
}

// parse reads a file once. Depth counts what is open of (, [ and {; private and static tell whether `private` and
// `@JvmStatic` were there since the declaration began; class is the outermost class or object, and companion tells
// whether its companion is open.
func parse(source string) unit {
	var u unit
	s := scanner{rest: source}
	depth, lowest, class, before := 0, 0, "", ""
	private, static, companion := false, false, false
	for t := s.next(); t != ""; t = s.next() {
		ahead := s
		switch t {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			lowest = min(lowest, depth)
			companion = companion && depth > 1
		case "private":
			private = true
		case "JvmStatic":
			static = true
		case "companion":
			companion = companion || depth == 1
		case "package":
			if depth == 0 && u.pkg == "" {
				u.pkg = packageName(&ahead)
			}
		case "class", "object", "interface":
			if name := ahead.next(); depth == 0 && before != ":" && isWord(name) {
				class = name
			}
		case "JvmName":
			if depth == 0 && before == ":" && ahead.next() == "(" {
				u.jvmName = ahead.text()
			}
		case "fun":
			if ahead.next() != "main" || ahead.next() != "(" {
				break
			}
			none, array := parameters(&ahead)
			if depth == 0 && !private && (none || array) {
				u.main = true
			}
			if static && array && u.holder == "" && (depth == 1 || depth == 2 && companion) {
				u.holder = class
			}
		}
		if declares[t] {
			private, static = false, false
		}
		before = t
	}
	u.complete = depth == 0 && lowest == 0 && !s.open()
	return u
}

// declares are the tokens that modifiers and annotations stand before, and those that end what they belong to.
var declares = map[string]bool{
	"fun": true, "val": true, "var": true, "class": true, "object": true, "interface": true, "typealias": true,
	"constructor": true, "init": true, "get": true, "set": true, "{": true, "}": true, "=": true, ";": true,
}

// packageName joins the words of a package. Only a dot goes on to another word.
func packageName(s *scanner) string {
	var b strings.Builder
	for {
		word := s.next()
		if !isWord(word) {
			return b.String()
		}
		b.WriteString(word)
		if s.next() != "." {
			return b.String()
		}
		b.WriteByte('.')
	}
}

// parameters reports whether parameters, after their bracket, are none or an array of strings.
func parameters(s *scanner) (none, array bool) {
	const most = 16 // tokens, so that reading ahead stays short
	for i := range most {
		switch s.next() {
		case ")":
			return i == 0, array
		case "String":
			array = true
		case ",", "":
			return false, false
		}
	}
	return false, false
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && wordRune(r)
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
