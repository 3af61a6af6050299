package event

import (
	"encoding/base64"
	"unicode/utf8"
)

// plain are the bytes that stand for themselves in JSON.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendText appends what stands between the quotes of a JSON string: s, in which whatever is no UTF-8 is U+FFFD.
func appendText[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			from = i
			continue
		}
		r, size := decode(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[from:i]...), "\ufffd"...)
			from = i + 1
		}
		i += size
	}
	return append(dst, s[from:]...)
}

// decode returns the first character of s.
func decode[T string | []byte](s T) (rune, int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s)])
}

// appendArg appends an argument, in base64 or as it is.
func appendArg(dst, a []byte, in64 bool) []byte {
	if in64 {
		return base64.StdEncoding.AppendEncode(dst, a)
	}
	return appendText(dst, a)
}

// appendKeyText appends a key, of which nothing may be lost: other keys would become the same.
func appendKeyText(dst, key []byte) []byte { return appendArg(dst, key, !utf8.Valid(key)) }
