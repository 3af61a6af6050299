package problem

import (
	"errors"
	"regexp"
	"strings"

	"deepoj/host/judge"
)

// Expectation is what the tests of a submission must give.
type Expectation struct {
	// Tests is a pattern of groups and tests below data, as of [Pattern]; "" means all tests.
	Tests string `json:"tests,omitempty"`

	Permitted []judge.Verdict `json:"permitted"`         // every test has one of these
	Required  []judge.Verdict `json:"required"`          // and one test at least has one of these
	Low       *float64        `json:"low,omitempty"`     // bounds of the score of the groups,
	High      *float64        `json:"high,omitempty"`    // or of the whole
	Message   string          `json:"message,omitempty"` // is in what the checker says about one test at least

	// Bound says which bound of the time limit the tests give: "lower", "upper" or none.
	Bound string `json:"bound,omitempty"`
}

// Pattern returns the expression of a pattern in submissions.yaml: * stands for
// anything but a slash, and {a,b} for a or b.
func Pattern(pattern string) (*regexp.Regexp, error) {
	switch {
	case strings.Contains(pattern, "**"):
		return nil, errors.New("** is not supported: name each folder, with * for a part of a name")
	case strings.ContainsAny(pattern, "[]"):
		return nil, errors.New("[] is not supported: write {a,b} for a or b")
	case pattern == "":
		return nil, errors.New("it is empty")
	}
	var out strings.Builder
	depth := 0
	for _, c := range pattern {
		switch {
		case c == '*':
			out.WriteString(`[^/]*`)
		case c == '{':
			depth++
			out.WriteString(`(?:`)
		case c == '}':
			if depth--; depth < 0 {
				return nil, errors.New("} stands without {")
			}
			out.WriteString(`)`)
		case c == ',' && depth > 0:
			out.WriteString(`|`)
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if depth != 0 {
		return nil, errors.New("{ stands without }")
	}
	return regexp.Compile(`^(?:` + out.String() + `)$`)
}
