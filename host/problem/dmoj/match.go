package dmoj

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/plain"
	"deepoj/host/problem/source"
)

// How the files of an archive are called where init.yml does not say.
const (
	inputPattern  = `^(?=.*?\.in|in).*?(?:(?:^|\W)(?P<batch>\d+)[^\d\s]+)?(?P<case>\d+)[^\d\s]*$`
	answerPattern = `^(?=.*?\.out|out).*?(?:(?:^|\W)(?P<batch>\d+)[^\d\s]+)?(?P<case>\d+)[^\d\s]*$`
)

// namePattern tells of which case and batch a file is.
type namePattern struct {
	ahead    []lookahead
	match    *regexp.Regexp
	batch, n int // numbers of the groups; batch is -1 without one
}

// lookahead is a condition at the beginning of a name.
type lookahead struct {
	match *regexp.Regexp
	not   bool
}

// newNamePattern takes a regular expression as Python has it, of which there is one
// thing here that Go's have not: conditions at the very beginning.
func newNamePattern(text string) (*namePattern, error) {
	if len(text) > problem.MaxReason {
		return nil, errors.New("it is too long")
	}
	rest := strings.TrimPrefix(text, "^")
	p := &namePattern{}
	for {
		inner, after, not, found := cutLookahead(rest)
		if !found {
			break
		}
		m, err := pythonPattern(inner)
		if err != nil {
			return nil, err
		}
		p.ahead, rest = append(p.ahead, lookahead{m, not}), after
	}
	var err error
	if p.match, err = pythonPattern(rest); err != nil {
		return nil, err
	}
	if p.batch, p.n = p.match.SubexpIndex("batch"), p.match.SubexpIndex("case"); p.n < 0 {
		return nil, errors.New("it has no group (?P<case>…), which tells the number of the test")
	}
	return p, nil
}

func pythonPattern(text string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)\A(?:` + strings.ReplaceAll(text, `\Z`, `\z`) + `)`)
}

// cutLookahead cuts a condition from the beginning of an expression.
func cutLookahead(text string) (inner, after string, not, found bool) {
	inner, found = strings.CutPrefix(text, "(?=")
	if !found {
		if inner, not = strings.CutPrefix(text, "(?!"); !not {
			return "", text, false, false
		}
	}
	depth, class := 1, false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return inner[:i], inner[i+1:], not, true
			}
		}
	}
	return "", text, false, false
}

// of returns the batch and case of a file, if it is one of a test.
func (p *namePattern) of(name string) (batch, n string, ok bool) {
	for _, a := range p.ahead {
		if a.match.MatchString(name) == a.not {
			return "", "", false
		}
	}
	m := p.match.FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	if p.batch >= 0 {
		batch = plainNumber(m[p.batch])
	}
	return batch, plainNumber(m[p.n]), true
}

// plainNumber is a number without zeros before it, and any other text as it is.
func plainNumber(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return s
}

// byNumber orders cases: words come before numbers.
func byNumber(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return 1
	case errY == nil:
		return -1
	}
	return strings.Compare(a, b)
}

// matchedCase is a test whose files were found by their names.
type matchedCase struct{ in, out string }

// matched is a test, or a batch of them.
type matched struct {
	batch bool
	cases []matchedCase
}

// matchCases finds the tests of the archive by the names of their files.
func (d *reader) matchCases(k *source.Keys) []matched {
	if d.archive == "" {
		d.Refuse(source.InitYML, "test_cases", "are told by the names of files, which needs an archive: name it, or list the tests")
		return nil
	}
	groups := map[string]map[string]*matchedCase{}
	batches := map[string]bool{}
	for _, of := range []struct {
		key, otherwise string
		file           func(*matchedCase) *string
	}{
		{"input_format", inputPattern, func(c *matchedCase) *string { return &c.in }},
		{"output_format", answerPattern, func(c *matchedCase) *string { return &c.out }},
	} {
		text, _ := k.Text(of.key)
		if text == "" {
			text = of.otherwise
		}
		p, err := newNamePattern(text)
		if err != nil {
			k.Refuse(of.key, "cannot be used here: %v: list the tests instead", err)
			continue
		}
		for _, name := range d.Below(d.archive) {
			short := strings.TrimPrefix(name, d.archive+"/")
			batch, n, ok := p.of(short)
			if !ok || plain.Noise(short) {
				continue
			}
			if batch != "" {
				batches[batch] = true
			} else {
				batch = n
			}
			if groups[batch] == nil {
				groups[batch] = map[string]*matchedCase{}
			}
			if groups[batch][n] == nil {
				groups[batch][n] = &matchedCase{}
			}
			if at := of.file(groups[batch][n]); *at != "" {
				d.Refuse(name, "", "is of the same test as %s: leave one of them, or list the tests", *at)
			} else {
				*at = name
			}
		}
	}
	return d.ordered(groups, batches)
}

// ordered returns the tests that were found in the order in which they are judged.
func (d *reader) ordered(groups map[string]map[string]*matchedCase, batches map[string]bool) []matched {
	var all []matched
	var alone, orphans []string
	for _, id := range sortedKeys(groups) {
		m := matched{batch: batches[id]}
		for _, n := range sortedKeys(groups[id]) {
			c := groups[id][n]
			if m.cases = append(m.cases, *c); c.in == "" {
				orphans = append(orphans, c.out)
			} else if c.out == "" && !d.interactive {
				alone = append(alone, c.in)
			}
		}
		if all = append(all, m); !m.batch && len(m.cases) > 1 { // cannot be: their cases are their names
			d.Refuse(m.cases[1].in, "", "is of the same test as %s: list the tests", m.cases[0].in)
		}
	}
	for _, file := range alone {
		d.Refuse(file, "", "is an input without an answer: add it, or write output_format in %s so that it is found", source.InitYML)
	}
	for _, file := range orphans {
		d.Refuse(file, "", "is an answer without an input: add it, or write input_format in %s so that it is found", source.InitYML)
	}
	return all
}

// sortedKeys returns keys in the order of the numbers in them: 2 before 10.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, byNumber)
	return keys
}
