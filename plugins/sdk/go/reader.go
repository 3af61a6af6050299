package sdk

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// read reads the first JSON value of a stream, and no further. It takes what a Decoder of encoding/json takes, and makes
// the same of it, also where that is odd: names in any case, a later value of a name over what an earlier one left, any
// bytes for text.
func read[T any](in io.Reader, value func(*reader, *T)) (T, error) {
	var v T
	r := reader{in: in}
	r.next()
	r.started = true
	if value(&r, &v); r.err != nil {
		return v, &failure{"read the request", r.err}
	}
	return v, nil
}

// reader reads JSON. After the first error it reads nothing more, and everything is empty.
type reader struct {
	in      io.Reader
	buf     []byte // all that was read
	at      int    // in buf
	started bool   // something but white space has come, so that it must have an end
	depth   int
	err     error
}

// maxDepth is how deep arrays and objects may be nested.
const maxDepth = 10_000

// peek returns the next byte, or 0, which nothing begins with.
func (r *reader) peek() byte {
	for r.at == len(r.buf) && r.err == nil {
		r.fill()
	}
	if r.err != nil {
		return 0
	}
	return r.buf[r.at]
}

// fill reads some more.
func (r *reader) fill() {
	const least, patience = 512, 100
	if cap(r.buf)-len(r.buf) < least {
		r.buf = append(make([]byte, 0, 2*cap(r.buf)+least), r.buf...)
	}
	for range patience {
		n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		switch {
		case n > 0: // an error comes again
			return
		case errors.Is(err, io.EOF) && r.started:
			r.err = io.ErrUnexpectedEOF
			return
		case err != nil:
			r.err = err
			return
		}
	}
	r.err = io.ErrNoProgress
}

// fail says that the next byte is not what there should be.
func (r *reader) fail(wanted string) {
	if r.peek(); r.err == nil {
		r.err = errors.New("invalid character " + strconv.QuoteRune(rune(r.buf[r.at])) + ", want " + wanted)
	}
}

// next passes over white space and returns the byte behind it.
func (r *reader) next() byte {
	for isSpace(r.peek()) {
		r.at++
	}
	return r.peek()
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// take passes over the next byte if it is c.
func (r *reader) take(c byte) bool {
	if r.peek() != c || r.err != nil {
		return false
	}
	r.at++
	return true
}

// word reads the rest of null, true or false, or fails.
func (r *reader) word(word string) {
	for i := range len(word) {
		if !r.take(word[i]) {
			r.fail(word)
			return
		}
	}
}

// null reads null if it comes next.
func (r *reader) null() bool {
	if r.next() != 'n' {
		return false
	}
	r.word("null")
	return true
}

// items reads what stands between brackets, separated by commas.
func (r *reader) items(begin, end byte, item func()) {
	if r.next() != begin {
		r.fail("a value that begins with " + string(begin))
		return
	}
	r.at++
	if r.depth++; r.depth > maxDepth {
		r.err = errors.New("it is nested too deeply")
		return
	}
	if r.next(); !r.take(end) {
		for r.err == nil {
			item()
			if r.next(); r.take(end) {
				break
			}
			if !r.take(',') {
				r.fail("a comma or " + string(end))
			}
		}
	}
	r.depth--
}

// object reads an object: member reads the value of a name. It reports whether there is one, and not null.
func (r *reader) object(member func(name string)) bool {
	if r.null() {
		return false
	}
	r.items('{', '}', func() {
		name := r.quoted()
		if r.next(); !r.take(':') {
			r.fail("a colon")
			return
		}
		member(name)
	})
	return true
}

// fields reads an object into a struct. Its fields are found whatever the case of their letters, two of which have
// relatives beyond ASCII.
func (r *reader) fields(member func(name string)) {
	r.object(func(name string) {
		member(strings.Map(func(c rune) rune {
			switch {
			case 'A' <= c && c <= 'Z':
				return c + 'a' - 'A'
			case c == 'ſ':
				return 's'
			case c == '\u212a': // the sign of kelvin
				return 'k'
			}
			return c
		}, name))
	})
}

// list reads an array into a slice. Elements that were there keep what the new ones do not say.
func list[T any](r *reader, into *[]T, element func(*T)) {
	if r.null() {
		*into = nil
		return
	}
	all, n := *into, 0
	r.items('[', ']', func() {
		if n == cap(all) {
			all = append(all, *new(T))
		}
		all = all[:max(len(all), n+1)]
		element(&all[n])
		n++
	})
	if *into = all[:n]; n == 0 {
		*into = []T{}
	}
}

// table reads an object into a map.
func table[T any](r *reader, into *map[string]T, element func(*T)) {
	if *into == nil {
		*into = map[string]T{}
	}
	isObject := r.object(func(name string) {
		var v T
		element(&v)
		(*into)[name] = v
	})
	if !isObject {
		*into = nil
	}
}

// integer reads a number.
func integer[T int | int64](r *reader, into *T) {
	if r.null() {
		return
	}
	literal := r.number()
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil || int64(T(n)) != n {
		if r.err == nil {
			r.err = errors.New("the number " + literal + " is no integer that fits")
		}
		return
	}
	*into = T(n)
}

// number reads a number and returns it as it is written.
func (r *reader) number() string {
	var literal []byte
	step := func(signs string) bool {
		c := r.peek()
		if strings.IndexByte(signs, c) < 0 {
			return false
		}
		literal = append(literal, c)
		r.at++
		return true
	}
	digits := func() {
		if !step("0123456789") {
			r.fail("a digit")
		}
		for step("0123456789") {
		}
	}
	r.next()
	step("-")
	if !step("0") {
		digits()
	}
	if step(".") {
		digits()
	}
	if step("eE") {
		step("+-")
		digits()
	}
	return string(literal)
}

// text reads a string.
func (r *reader) text(into *string) {
	if !r.null() {
		*into = r.quoted()
	}
}

// quoted reads a string. What is no UTF-8, and half of a surrogate pair, becomes U+FFFD.
func (r *reader) quoted() string {
	if r.next(); !r.take('"') {
		r.fail("a string")
		return ""
	}
	var text []byte
	var half rune // that the text ends with, when it is halfAt bytes long
	halfAt := -1
	for {
		c := r.peek()
		switch {
		case r.err != nil:
			return ""
		case c == '"':
			r.at++
			return string(text)
		case c == '\\':
			r.at++
			char := r.escape()
			if whole := utf16.DecodeRune(half, char); whole != utf8.RuneError && len(text) == halfAt {
				text = utf8.AppendRune(text[:halfAt-len(string(utf8.RuneError))], whole)
				break
			}
			text = utf8.AppendRune(text, char) // U+FFFD for a half
			if utf16.IsSurrogate(char) {
				half, halfAt = char, len(text)
			}
		case c < ' ':
			r.fail("the end of the string")
		case c < utf8.RuneSelf:
			from := r.at
			for r.at < len(r.buf) && plain(r.buf[r.at]) {
				r.at++
			}
			text = append(text, r.buf[from:r.at]...)
		default:
			for !utf8.FullRune(r.buf[r.at:]) && r.err == nil {
				r.fill()
			}
			char, size := utf8.DecodeRune(r.buf[r.at:])
			text = utf8.AppendRune(text, char)
			r.at += size
		}
	}
}

func plain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// escape reads what follows a backslash.
func (r *reader) escape() rune {
	const signs, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(signs, r.peek()); i >= 0 {
		r.at++
		return rune(meanings[i])
	}
	if !r.take('u') {
		r.fail("an escape sequence")
		return 0
	}
	var char rune
	for range 4 {
		digit := strings.IndexByte("0123456789abcdefABCDEF", r.peek())
		if digit < 0 {
			r.fail("a hexadecimal digit")
			return 0
		}
		if digit > 0xf {
			digit -= 6
		}
		char = char<<4 | rune(digit)
		r.at++
	}
	return char
}

// skip reads any value.
func (r *reader) skip() {
	switch c := r.next(); c {
	case '{':
		r.object(func(string) { r.skip() })
	case '[':
		r.items('[', ']', r.skip)
	case '"':
		r.quoted()
	case 'n':
		r.word("null")
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	default:
		r.number()
	}
}
