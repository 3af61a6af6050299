package problem

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judge"
)

// Expectation is what the tests of a submission must give.
type Expectation struct {
	// Tests is a pattern of groups and tests below data, as of [Pattern]; ""
	// means all tests.
	Tests string `json:"tests,omitempty"`

	Permitted []judge.Verdict `json:"permitted"`         // every test has one of these
	Required  []judge.Verdict `json:"required"`          // and one test at least has one of these
	Low       *float64        `json:"low,omitempty"`     // bounds of the score of the groups,
	High      *float64        `json:"high,omitempty"`    // or of the whole
	Message   string          `json:"message,omitempty"` // is in what the checker says about one test at least

	// Bound says which bound of the time limit the tests give: "lower", "upper"
	// or none.
	Bound string `json:"bound,omitempty"`
}

// expected are the words of permitted and required.
var expected = map[string][]judge.Verdict{
	"AC": {judge.AC}, "WA": {judge.WA, judge.PE}, "TLE": {judge.TLE}, "RTE": {judge.RE, judge.MLE, judge.OLE},
}

var anyWord = []string{"AC", "WA", "TLE", "RTE"}

// rule is an expectation as it is written.
type rule struct {
	permitted, required []string // nil = not given
	low, high           *float64
	message             string
	bound               string // "", "lower", "upper", "true" or "false"
}

// folders are the rules of the folders below submissions.
var folders = map[string]rule{
	"accepted":            {permitted: []string{"AC"}},
	"rejected":            {required: []string{"RTE", "TLE", "WA"}},
	"wrong_answer":        {permitted: []string{"AC", "WA"}, required: []string{"WA"}},
	"time_limit_exceeded": {permitted: []string{"AC", "TLE"}, required: []string{"TLE"}},
	"run_time_error":      {permitted: []string{"AC", "RTE"}, required: []string{"RTE"}},
	"brute_force":         {permitted: []string{"AC", "RTE", "TLE"}, required: []string{"RTE", "TLE"}},
}

// expectation returns what a rule means for some tests.
func (u rule) expectation(tests string) Expectation {
	words := func(given []string) (all []judge.Verdict) {
		if given == nil {
			given = anyWord
		}
		for _, w := range given {
			all = append(all, expected[w]...)
		}
		return all
	}
	e := Expectation{Tests: tests, Permitted: words(u.permitted), Required: words(u.required), Low: u.low, High: u.high, Message: u.message}
	switch {
	case u.bound == "lower", u.bound == "upper":
		e.Bound = u.bound
	case u.bound == "false":
	case slices.Equal(u.required, []string{"TLE"}):
		e.Bound = "upper"
	case u.permitted != nil && !slices.Contains(u.permitted, "TLE"):
		e.Bound = "lower"
	}
	return e
}

// entries are the submissions that a key of submissions.yaml is about.
type entries struct {
	pattern  string
	match    *regexp.Regexp
	language string
	entry    string // the file or class that is started; "" = it is not said
	rules    []Expectation
	used     bool
}

// expectations reads submissions.yaml, and returns what it and the folders say.
func (r *reader) expectations() []*entries {
	k := r.yaml(submissionsYAML)
	var all []*entries
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range folders {
			if !yield(name) {
				return
			}
		}
	}) {
		if k.node(name) == nil {
			match, _ := Pattern(name)
			all = append(all, &entries{match: match, rules: []Expectation{folders[name].expectation("")}})
		}
	}
	for _, name := range k.order {
		match, err := Pattern(name)
		if err != nil {
			k.refuse(name, "is no pattern of submissions: %v", err)
			continue
		}
		all = append(all, r.readEntries(k.mapping(name), name, match))
	}
	return all
}

// readEntries reads what stands below one pattern. What the name of a folder
// does not say, the folder's own rule says.
func (r *reader) readEntries(m *keys, name string, match *regexp.Regexp) *entries {
	en := &entries{pattern: name, match: match}
	en.language, _ = m.text("language")
	if en.language != "" {
		en.language = languageIDs([]string{en.language})[0]
	}
	en.entry, _ = m.text("entrypoint")
	r.named(m, "authors", "email", "orcid", "kattis")
	m.flag("model_solution", false)
	whole := r.readRule(m, folders[name])
	if _, ours := folders[name]; ours || m.nodes["permitted"] != nil || m.nodes["required"] != nil || m.nodes["score"] != nil ||
		m.nodes["message"] != nil || m.nodes["use_for_time_limit"] != nil {
		en.rules = append(en.rules, whole.expectation(""))
	}
	for _, tests := range m.order {
		if m.read[tests] {
			continue
		}
		if n := m.nodes[tests]; n.Kind != yaml.MappingNode {
			m.refuse(tests, "is not known: the keys are language, authors, model_solution, permitted, required, score, message, use_for_time_limit and patterns of tests with a mapping")
			continue
		}
		if _, err := Pattern(tests); err != nil {
			m.refuse(tests, "is no pattern of tests: %v", err)
			continue
		}
		sub := m.mapping(tests)
		u := r.readRule(sub, rule{})
		sub.unknownRefused()
		en.rules = append(en.rules, u.expectation(tests))
	}
	return en
}

// readRule reads a rule over another.
func (r *reader) readRule(m *keys, u rule) rule {
	words := func(key string, before []string) []string {
		list, ok := m.list(key, false)
		if !ok {
			return before
		}
		for _, w := range list {
			if expected[w] == nil {
				m.refuse(key, "holds %q: the verdicts are AC, WA, TLE and RTE", w)
			}
		}
		if len(list) == 0 {
			m.refuse(key, "is empty: name a verdict, or leave the key out")
		}
		return list
	}
	u.permitted, u.required = words("permitted", u.permitted), words("required", u.required)
	if u.permitted != nil && u.required != nil && !slices.ContainsFunc(u.required, func(w string) bool { return slices.Contains(u.permitted, w) }) {
		m.refuse("required", "is %s, of which permitted has none: no submission can be so", strings.Join(u.required, ", "))
	}
	if n := m.node("score"); n != nil {
		if !r.p.Scoring {
			m.refuse("score", "needs a problem of the type scoring: remove it")
		}
		if n.Kind == yaml.ScalarNode {
			x := m.number("score", 0, 0, maxScore)
			u.low, u.high = &x, &x
		} else if u.low, u.high = m.scores("score"); u.low == nil || u.high == nil {
			m.refuse("score", "must be a number or a list of two numbers")
		}
	}
	if s, ok := m.text("message"); ok {
		u.message = s
	}
	if s, ok := m.text("use_for_time_limit"); ok {
		u.bound = m.choice("use_for_time_limit", "", "true", "false", "lower", "upper")
		if (u.bound == "lower" || u.bound == "upper") && s != u.bound {
			u.bound = ""
		}
	}
	return u
}

// expectNew sets what a submission of a format that has a version must give.
func (r *reader) expectNew(s *Submission, all []*entries) {
	name := strings.TrimPrefix(s.Path, submissionsDir+"/")
	for _, en := range all {
		if !en.match.MatchString(name) && !en.match.MatchString(path.Dir(name)) {
			continue
		}
		en.used = true
		s.Expect = append(s.Expect, en.rules...)
		if en.language != "" {
			s.Language = en.language
		}
		if en.entry != "" {
			r.startWith(s, en.entry, submissionsYAML, en.pattern+".entrypoint")
		}
	}
	if len(s.Expect) == 0 {
		r.warn(s.Path, "", "says nowhere which verdict it must get")
		return
	}
	s.Allowed = slices.Clone(rejections)
	s.Allowed = append([]judge.Verdict{judge.AC}, s.Allowed...)
	for _, e := range s.Expect {
		if e.Tests != "" {
			continue
		}
		s.Allowed = slices.DeleteFunc(s.Allowed, func(v judge.Verdict) bool {
			return !slices.Contains(e.Permitted, v) || v == judge.AC && !r.p.Scoring && !slices.Contains(e.Required, v)
		})
	}
	if len(s.Allowed) == 0 {
		r.refuse(submissionsYAML, name, "leaves no verdict that this submission may get: its rules exclude each other")
	}
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
