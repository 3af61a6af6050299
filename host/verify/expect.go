package verify

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// unexpected says which expectation of the package a result does not meet, or
// "". Tests that were not judged, for their group requires another, do not count.
func unexpected(s problem.Submission, r judge.Result) string {
	for _, e := range s.Expect {
		if why := unmet(e, r); why != "" {
			if e.Tests != "" {
				return e.Tests + ": " + why
			}
			return why
		}
	}
	return ""
}

// unmet says why a result does not meet an expectation, or "".
func unmet(e problem.Expectation, r judge.Result) string {
	var about *regexp.Regexp // nil = all tests
	if e.Tests != "" {
		var err error
		if about, err = problem.Pattern(e.Tests); err != nil {
			return err.Error()
		}
	}
	tests, met, said := 0, false, false
	for _, t := range r.Tests {
		if t.Verdict == "" || !covers(about, t.Name) {
			continue
		}
		tests++
		if !slices.Contains(e.Permitted, t.Verdict.InPackage()) {
			return fmt.Sprintf("got %s on %s, each test may get %s", t.Verdict, t.Name, join(e.Permitted))
		}
		met = met || slices.Contains(e.Required, t.Verdict.InPackage())
		said = said || strings.Contains(t.JudgeNote, e.Message) || strings.Contains(t.Message, e.Message)
	}
	switch {
	case tests == 0 && about != nil && !slices.ContainsFunc(r.Tests, func(t judge.TestResult) bool { return covers(about, t.Name) }):
		return "is the pattern of no test"
	case tests == 0:
		return ""
	case !met:
		return "no test got " + join(e.Required)
	case !said:
		return fmt.Sprintf("the checker said %q about no test", e.Message)
	}
	return outOfBounds(e, about, r)
}

// outOfBounds says which score is not within the bounds of e, or "".
func outOfBounds(e problem.Expectation, about *regexp.Regexp, r judge.Result) string {
	if e.Low == nil || e.High == nil {
		return ""
	}
	check := func(score *float64) string {
		const rounding = 1e-6
		if score != nil && *score >= *e.Low-rounding && *score <= *e.High+rounding {
			return ""
		}
		return fmt.Sprintf("scored %s, must score %g to %g", points(score), *e.Low, *e.High)
	}
	if about == nil {
		return check(r.Score)
	}
	for _, g := range r.Groups {
		if !about.MatchString(g.Name) {
			continue
		}
		score := g.Score
		if g.Verdict == "" { // not judged: a group that it requires is not accepted
			score = new(0.0)
		}
		if why := check(score); why != "" {
			return g.Name + " " + why
		}
	}
	return ""
}

// bounds returns the patterns of the tests of a submission that give a bound of the
// time limit; nil among them stands for all tests.
func bounds(s problem.Submission, bound string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, e := range s.Expect {
		if e.Bound != bound {
			continue
		}
		var about *regexp.Regexp
		if e.Tests != "" {
			var err error
			if about, err = problem.Pattern(e.Tests); err != nil {
				return nil, fmt.Errorf("pattern %q of tests: %w", e.Tests, err)
			}
		}
		all = append(all, about)
	}
	return all, nil
}

// covers reports whether a pattern is about a test: it matches the test or one of the groups that hold it.
func covers(about *regexp.Regexp, test string) bool {
	if about == nil {
		return true
	}
	for name := test; name != "."; name = path.Dir(name) {
		if about.MatchString(name) {
			return true
		}
	}
	return false
}
