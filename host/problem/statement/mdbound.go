package statement

import (
	"fmt"
	"strings"
)

// What goldmark looks at again and again: it compares each mark of a paragraph with
// those before it, and each line with all containers around it. So both are bounded.
const (
	maxMarks      = 1000 // of * _ ~ [ ] in lines without an empty one between
	maxContainers = 32   // quotes and lists in each other
)

// markable reports why a text in Markdown is not rendered: it would take much longer than it is long.
func markable(text string) error {
	marks, fence := 0, ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		plain := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(plain, fence) && strings.Trim(plain, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		for _, f := range []string{"```", "~~~"} {
			if strings.HasPrefix(plain, f) && !strings.Contains(strings.TrimLeft(plain, f[:1]), f[:1]) {
				fence = f
			}
		}
		if plain == "" || fence != "" {
			marks = 0
			continue
		}
		for i := range len(plain) {
			if strings.IndexByte("*_~[]", plain[i]) >= 0 {
				marks++
			}
		}
		if marks > maxMarks {
			return fmt.Errorf("has more than %d of the signs * _ ~ [ ] in one paragraph, around line %d: put an empty line between, or code into a fence", maxMarks, number)
		}
		if containers(plain) > maxContainers {
			return fmt.Errorf("has more than %d quotes or lists in each other in line %d", maxContainers, number)
		}
	}
	return nil
}

// containers counts the signs of quotes and lists that a line begins with.
func containers(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case (c == '-' || c == '+' || c == '*' || c == '.' || c == ')') && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}
