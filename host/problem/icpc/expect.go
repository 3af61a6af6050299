package icpc

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

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
func (u rule) expectation(tests string) problem.Expectation {
	words := func(given []string) (all []judge.Verdict) {
		if given == nil {
			given = anyWord
		}
		for _, w := range given {
			all = append(all, expected[w]...)
		}
		return all
	}
	e := problem.Expectation{Tests: tests, Permitted: words(u.permitted), Required: words(u.required), Low: u.low, High: u.high, Message: u.message}
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
	rules    []problem.Expectation
	used     bool
}

// expectations reads submissions.yaml, and returns what it and the folders say.
func (r *reader) expectations() []*entries {
	k := r.YAML(submissionsYAML)
	var all []*entries
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range folders {
			if !yield(name) {
				return
			}
		}
	}) {
		if k.Node(name) == nil {
			match, _ := problem.Pattern(name)
			all = append(all, &entries{match: match, rules: []problem.Expectation{folders[name].expectation("")}})
		}
	}
	for _, name := range k.Order {
		match, err := problem.Pattern(name)
		if err != nil {
			k.Refuse(name, "is no pattern of submissions: %v", err)
			continue
		}
		all = append(all, r.readEntries(k.Mapping(name), name, match))
	}
	return all
}

// readEntries reads what stands below one pattern. What the name of a folder does not say, the folder's own rule says.
func (r *reader) readEntries(m *source.Keys, name string, match *regexp.Regexp) *entries {
	en := &entries{pattern: name, match: match}
	en.language, _ = m.Text("language")
	if en.language != "" {
		en.language = source.LanguageIDs([]string{en.language})[0]
	}
	en.entry, _ = m.Text("entrypoint")
	r.named(m, "authors", "email", "orcid", "kattis")
	m.Flag("model_solution", false)
	whole := r.readRule(m, folders[name])
	if _, ours := folders[name]; ours || m.Nodes["permitted"] != nil || m.Nodes["required"] != nil || m.Nodes["score"] != nil ||
		m.Nodes["message"] != nil || m.Nodes["use_for_time_limit"] != nil {
		en.rules = append(en.rules, whole.expectation(""))
	}
	for _, tests := range m.Order {
		if m.Read[tests] {
			continue
		}
		if n := m.Nodes[tests]; n.Kind != yaml.MappingNode {
			m.Refuse(tests, "is not known: the keys are language, authors, model_solution, permitted, required, score, message, use_for_time_limit and patterns of tests with a mapping")
			continue
		}
		if _, err := problem.Pattern(tests); err != nil {
			m.Refuse(tests, "is no pattern of tests: %v", err)
			continue
		}
		sub := m.Mapping(tests)
		u := r.readRule(sub, rule{})
		sub.RefuseUnknown()
		en.rules = append(en.rules, u.expectation(tests))
	}
	return en
}

// readRule reads a rule over another.
func (r *reader) readRule(m *source.Keys, u rule) rule {
	words := func(key string, before []string) []string {
		list, ok := m.List(key, false)
		if !ok {
			return before
		}
		for _, w := range list {
			if expected[w] == nil {
				m.Refuse(key, "holds %q: the verdicts are AC, WA, TLE and RTE", w)
			}
		}
		if len(list) == 0 {
			m.Refuse(key, "is empty: name a verdict, or leave the key out")
		}
		return list
	}
	u.permitted, u.required = words("permitted", u.permitted), words("required", u.required)
	if u.permitted != nil && u.required != nil && !slices.ContainsFunc(u.required, func(w string) bool { return slices.Contains(u.permitted, w) }) {
		m.Refuse("required", "is %s, of which permitted has none: no submission can be so", strings.Join(u.required, ", "))
	}
	if n := m.Node("score"); n != nil {
		if !r.Package.Scoring {
			m.Refuse("score", "needs a problem of the type scoring: remove it")
		}
		if n.Kind == yaml.ScalarNode {
			x := m.Number("score", 0, 0, source.MaxScore)
			u.low, u.high = &x, &x
		} else if u.low, u.high = m.Scores("score"); u.low == nil || u.high == nil {
			m.Refuse("score", "must be a number or a list of two numbers")
		}
	}
	if s, ok := m.Text("message"); ok {
		u.message = s
	}
	if s, ok := m.Text("use_for_time_limit"); ok {
		u.bound = m.Choice("use_for_time_limit", "", "true", "false", "lower", "upper")
		if (u.bound == "lower" || u.bound == "upper") && s != u.bound {
			u.bound = ""
		}
	}
	return u
}

// expectNew sets what a submission of a format that has a version must give.
func (r *reader) expectNew(s *problem.Submission, all []*entries) {
	name := strings.TrimPrefix(s.Path, source.SubmissionsDir+"/")
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
		r.Warn(s.Path, "", "says nowhere which verdict it must get")
		return
	}
	s.Allowed = slices.Clone(source.Rejections)
	s.Allowed = append([]judge.Verdict{judge.AC}, s.Allowed...)
	for _, e := range s.Expect {
		if e.Tests != "" {
			continue
		}
		s.Allowed = slices.DeleteFunc(s.Allowed, func(v judge.Verdict) bool {
			return !slices.Contains(e.Permitted, v) || v == judge.AC && !r.Package.Scoring && !slices.Contains(e.Required, v)
		})
	}
	if len(s.Allowed) == 0 {
		r.Refuse(submissionsYAML, name, "leaves no verdict that this submission may get: its rules exclude each other")
	}
}
