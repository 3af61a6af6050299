package dialogue

import (
	"strings"
	"unicode/utf8"
)

// Text cleans what a guest wrote: valid UTF-8 of at most [TextMax] bytes,
// without characters that terminals and databases take amiss and without the
// ends of the last lines.
func Text(b []byte) string {
	out := make([]byte, 0, min(len(b), TextMax))
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		b = b[n:]
		if c < ' ' && c != '\n' && c != '\t' {
			if c == '\r' {
				continue
			}
			c = utf8.RuneError
		}
		if len(out)+utf8.RuneLen(c) > TextMax {
			break
		}
		out = utf8.AppendRune(out, c)
	}
	return strings.TrimRight(string(out), "\n")
}

// TextMax is how long a text may be, in bytes.
const TextMax = 64 << 10
