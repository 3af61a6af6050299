package judge0

import (
	"errors"
	"strings"
)

var errQuote = errors.New("a quotation mark is not closed")

// splitWords splits a command line as a shell does that expands nothing: blanks separate words, single quotes keep what
// they enclose, double quotes all but backslashes, and a backslash keeps the next character.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote, escaped := false, rune(0), false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			open, quote = true, c
		case strings.ContainsRune(" \t\r\n", c):
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			open = true
			word.WriteRune(c)
		}
	}
	if quote != 0 || escaped {
		return nil, errQuote
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
