package sdk

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deepoj/plugins/abi"
)

// write writes a value and a line feed, byte for byte as an Encoder of encoding/json does, or nothing.
func write[T any](out io.Writer, v T, value func(*writer, T)) error {
	var w writer
	if value(&w, v); w.err != nil {
		return &failure{"write the answer", w.err}
	}
	_, err := out.Write(append(w.out, '\n'))
	return err
}

// writer writes JSON. Methods that begin with may leave an empty value out.
type writer struct {
	out []byte
	err error // of a value that JSON has no words for
}

// begin sets what comes next apart from what came before.
func (w *writer) begin() {
	if n := len(w.out); n > 0 && w.out[n-1] != '{' && w.out[n-1] != '[' && w.out[n-1] != ':' {
		w.out = append(w.out, ',')
	}
}

// name begins a member of an object.
func (w *writer) name(name string) {
	w.quote(name)
	w.out = append(w.out, ':')
}

// object writes an object.
func (w *writer) object(members func()) {
	w.begin()
	w.out = append(w.out, '{')
	members()
	w.out = append(w.out, '}')
}

// member writes a member that is an object.
func (w *writer) member(name string, members func()) {
	w.name(name)
	w.object(members)
}

// array writes a slice, in which there may be objects.
func array[T any](w *writer, name string, all []T, element func(T)) {
	w.name(name)
	if all == nil {
		w.out = append(w.out, "null"...)
		return
	}
	w.out = append(w.out, '[')
	for _, v := range all {
		element(v)
	}
	w.out = append(w.out, ']')
}

func mayArray[T any](w *writer, name string, all []T, element func(T)) {
	if len(all) > 0 {
		array(w, name, all, element)
	}
}

func (w *writer) texts(name string, all []string) { array(w, name, all, w.quote) }

func (w *writer) mayTexts(name string, all []string) { mayArray(w, name, all, w.quote) }

func (w *writer) mayTable(name string, all map[string]string) {
	if len(all) > 0 {
		w.member(name, func() {
			for _, key := range slices.Sorted(maps.Keys(all)) {
				w.text(key, all[key])
			}
		})
	}
}

func (w *writer) text(name, text string) {
	w.name(name)
	w.quote(text)
}

func (w *writer) mayText(name, text string) {
	if text != "" {
		w.text(name, text)
	}
}

func writeInteger[T int | int64](w *writer, name string, n T) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, int64(n), 10)
}

func mayInteger[T int | int64](w *writer, name string, n T) {
	if n != 0 {
		writeInteger(w, name, n)
	}
}

func (w *writer) boolean(name string, is bool) {
	w.name(name)
	w.out = strconv.AppendBool(w.out, is)
}

func (w *writer) mayBoolean(name string, is bool) {
	if is {
		w.boolean(name, is)
	}
}

func (w *writer) mayNumber(name string, f float64) {
	if f == 0 {
		return
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		w.err = errors.New(name + " is no number that JSON knows")
		return
	}
	w.name(name)
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		w.out = strconv.AppendFloat(w.out, f, 'f', -1, 64)
		return
	}
	w.out = append(w.out, strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e-0", "e-", 1)...)
}

// mayRaw writes JSON as it is, without white space between its tokens.
func (w *writer) mayRaw(name string, raw abi.RawMessage) {
	if len(raw) == 0 {
		return
	}
	r := reader{in: strings.NewReader(""), started: true}
	r.buf = append(slices.Clip(raw), ' ') // after which a number has an end
	if r.skip(); r.err == nil && len(strings.TrimRight(string(r.buf[r.at:]), " \t\r\n")) > 0 {
		r.fail("nothing")
	}
	if r.err != nil {
		w.err = &failure{name, r.err}
		return
	}
	w.name(name)
	for i, quoted := 0, false; i < len(raw); i++ {
		switch c := raw[i]; {
		case !quoted && isSpace(c):
		case quoted && c == '\\':
			w.out = append(w.out, c, raw[i+1])
			i++
		case c == '"':
			quoted = !quoted
			w.out = append(w.out, c)
		case quoted:
			i += w.character(string(raw[i:min(len(raw), i+utf8.UTFMax)])) - 1
		default:
			w.out = append(w.out, c)
		}
	}
}

// quote writes a string.
func (w *writer) quote(text string) {
	w.begin()
	w.out = append(w.out, '"')
	for text != "" {
		size := 1
		switch c := text[0]; {
		case c == '"' || c == '\\':
			w.out = append(w.out, '\\', c)
		case c < ' ':
			if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
				w.out = append(w.out, '\\', "bfnrt"[i])
			} else {
				w.escape(rune(c))
			}
		default:
			char, n := utf8.DecodeRuneInString(text)
			if char == utf8.RuneError && n == 1 {
				w.escape(char)
			} else {
				n = w.character(text)
			}
			size = n
		}
		text = text[size:]
	}
	w.out = append(w.out, '"')
}

// character writes the first character of a text so that no page takes it for markup or the end of a line. It returns
// how many bytes it has.
func (w *writer) character(text string) int {
	char, size := utf8.DecodeRuneInString(text)
	switch char {
	case '<', '>', '&', '\u2028', '\u2029':
		w.escape(char)
	default:
		w.out = append(w.out, text[:size]...)
	}
	return size
}

func (w *writer) escape(char rune) {
	const hex = "0123456789abcdef"
	w.out = append(w.out, '\\', 'u', hex[char>>12&0xf], hex[char>>8&0xf], hex[char>>4&0xf], hex[char&0xf])
}
