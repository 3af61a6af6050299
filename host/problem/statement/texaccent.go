package statement

import (
	"html"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// signAccents and accents are the characters that go onto the letter before them.
var (
	signAccents = map[string]rune{"'": 0x301, "`": 0x300, "^": 0x302, "\"": 0x308, "~": 0x303, "=": 0x304, ".": 0x307}
	accents     = map[string]rune{"u": 0x306, "v": 0x30c, "H": 0x30b, "c": 0x327, "k": 0x328, "r": 0x30a, "d": 0x323, "b": 0x331}
)

// alone are the accents that people mean by one without a letter.
var alone = map[rune]string{0x301: "´", 0x300: "`", 0x302: "^", 0x308: "¨", 0x303: "~", 0x304: "¯"}

// accent reads a letter and puts an accent onto it.
func (t *tex) accent(mark rune) {
	letter := t.One()
	for len(letter) > 1 && letter[0] == '{' && letter[len(letter)-1] == '}' {
		letter = letter[1 : len(letter)-1]
	}
	switch letter {
	case `\i`:
		letter = "i"
	case `\j`:
		letter = "j"
	}
	if letter == "" { // the accent itself
		t.text(html.EscapeString(alone[mark]))
		return
	}
	if letter[0] == '\\' {
		t.text(t.inner(letter, false))
		return
	}
	first, size := utf8.DecodeRuneInString(letter)
	t.text(html.EscapeString(norm.NFC.String(string([]rune{first, mark})) + letter[size:]))
}
