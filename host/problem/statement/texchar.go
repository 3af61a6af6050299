package statement

import (
	"html"
	"strings"

	"deepoj/host/problem/statement/macro"
)

// char writes a character by its number.
func (t *tex) char(string) {
	t.Spaces()
	rest := t.Rest()
	if strings.HasPrefix(rest, "`\\") && len(rest) > 2 {
		t.Skip(3)
		t.text(html.EscapeString(rest[2:3]))
		return
	}
	arg := rest[:min(len(rest), 8)]
	n, base := 0, 10
	i := 0
	for ; i < len(arg); i++ {
		c := arg[i]
		switch {
		case i == 0 && c == '"':
			base = 16
			continue
		case i == 0 && c == '{':
			continue
		case c >= '0' && c <= '9':
			n = n*base + int(c-'0')
			continue
		case base == 16 && c >= 'A' && c <= 'F':
			n = n*base + int(c-'A') + 10
			continue
		case c == '}' && arg[0] == '{':
			i++
		}
		break
	}
	if t.More() {
		t.Skip(i)
	}
	if n >= 32 && n < 0x10000 && (n < 0xd800 || n > 0xdfff) {
		t.text(html.EscapeString(string(rune(n))))
	}
}

// condition takes the branch that a page is meant to see.
func (t *tex) condition(name string) {
	if name == "iftrue" || name == "ifplastex" {
		return
	}
	rest := t.Rest()
	depth := 0
	for i := 0; i < len(rest); i++ {
		if rest[i] != '\\' {
			continue
		}
		end := i + 1
		for end < len(rest) && macro.IsLetter(rest[end]) {
			end++
		}
		switch word := rest[i+1 : end]; {
		case strings.HasPrefix(word, "if"):
			depth++
		case word == "fi":
			depth--
		case word == "else" && depth == 0 && name != "else":
			depth = -1
		}
		if i = max(i, end-1); depth < 0 {
			t.Skip(i + 1)
			return
		}
	}
	if rest != "" {
		t.Skip(len(rest))
		t.note("has conditions that nothing ends, so that the rest is left out: %s", `\`+name)
	}
}
