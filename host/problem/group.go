package problem

import (
	"fmt"
	"math"
	"path"
	"slices"
)

// Group is a group of tests with the rules by which their results become one.
type Group struct {
	Name    string  `json:"name"` // such as "secret/group1"; "" is the whole package
	Grading Grading `json:"grading"`
	Items   []Item  `json:"items"` // in judging order
}

// Item is a test or a group; exactly one of its fields is set.
type Item struct {
	Test  *Test  `json:"test,omitempty"`
	Group *Group `json:"group,omitempty"`

	// Static is a test of the submitted files by the package's Static: it has no input and no answer, and nothing
	// is run on it. It comes before the others of its group.
	Static *Test `json:"static,omitempty"`
}

// Case returns the test that it is, of either kind, or nil if it is a group.
func (it Item) Case() *Test {
	if it.Static != nil {
		return it.Static
	}
	return it.Test
}

// Test is one input with its answer.
type Test struct {
	Name   string   `json:"name"` // such as "secret/group1/01"
	Sample bool     `json:"sample,omitempty"`
	Input  File     `json:"input"`
	Answer File     `json:"answer"`
	Flags  []string `json:"flags,omitempty"` // output_validator_flags or _args that apply here

	// Args are the arguments that programs get, and Files what is in their working
	// directory besides. Validators of inputs get both, too.
	Args  []string    `json:"args,omitempty"`
	Files []NamedFile `json:"files,omitempty"`

	// InputFlags are those of the validators of inputs, and InputFlagsOf those of
	// one of them by its name, which count instead.
	InputFlags   []string            `json:"input_flags,omitempty"`
	InputFlagsOf map[string][]string `json:"input_flags_of,omitempty"`

	// Points are what the test is worth when it is accepted, the most for one of the
	// submitted files; nil = what the group gives for each.
	Points *float64 `json:"points,omitempty"`

	// Made is how its input is made, if the package does not hold it: the name of a generator and its arguments.
	Made []string `json:"made,omitempty"`
}

// VerdictMode says how the verdicts of a group's items become one.
type VerdictMode string

// The verdict modes of the legacy default grader.
const (
	WorstError   VerdictMode = "worst_error"
	FirstError   VerdictMode = "first_error"
	AlwaysAccept VerdictMode = "always_accept"
)

// ScoreMode says how the scores of a group's items become one.
type ScoreMode string

// The score modes: those of the legacy default grader, and the one of the newer formats that looks at verdicts only.
const (
	Sum      ScoreMode = "sum"
	Avg      ScoreMode = "avg"
	Min      ScoreMode = "min"
	Max      ScoreMode = "max"
	PassFail ScoreMode = "pass-fail" // the highest score if all is accepted, else 0
)

// Grading is how a group is graded (testdata.yaml, or test_group.yaml).
type Grading struct {
	// Break says that the rest of the group is not judged after its first rejected item.
	Break bool `json:"break"`

	Verdict      VerdictMode `json:"verdict"`
	Score        ScoreMode   `json:"score"`
	IgnoreSample bool        `json:"ignore_sample,omitempty"` // at the root: secret alone counts
	AcceptAny    bool        `json:"accept_any,omitempty"`    // accepted if any item is

	AcceptScore float64  `json:"accept_score"` // of a test that is accepted
	RejectScore float64  `json:"reject_score"` // of a test that is not
	Low         *float64 `json:"low,omitempty"`
	High        *float64 `json:"high,omitempty"` // bounds of the group's score; nil = none

	// Custom says that the package's Grader decides, with GraderFlags.
	Custom      bool     `json:"custom,omitempty"`
	GraderFlags []string `json:"grader_flags,omitempty"`

	// Rule says what a checker may say about scores.
	Rule ScoreRule `json:"rule,omitempty"`

	// Requires are the names of groups before this one. If one of them is not
	// accepted, this one is not judged: its score is 0 and it is not accepted.
	Requires []string `json:"requires,omitempty"`
}

// Group returns the child group of g that is called so, or nil.
func (g *Group) Group(name string) *Group {
	for _, it := range g.Items {
		if it.Group != nil && path.Base(it.Group.Name) == name {
			return it.Group
		}
	}
	return nil
}

// Below returns the group of a name at any depth, or nil.
func (g *Group) Below(name string) *Group {
	if g.Name == name {
		return g
	}
	for _, it := range g.Items {
		if it.Group != nil {
			if found := it.Group.Below(name); found != nil {
				return found
			}
		}
	}
	return nil
}

// Name is that of a test or group.
func (it Item) Name() string {
	if it.Group != nil {
		return it.Group.Name
	}
	return it.Case().Name
}

// Tests returns every test of p that has an input, in judging order.
func (p *Package) Tests() []*Test { return p.Root.Tests() }

// Tests returns every test below g that has an input, in judging order.
func (g *Group) Tests() []*Test {
	return slices.DeleteFunc(g.cases(func(it Item) *Test { return it.Test }), func(t *Test) bool { return t == nil })
}

// Cases returns every test of p in judging order, those of the submitted files too.
func (p *Package) Cases() []*Test { return p.Root.Cases() }

// Cases returns every test below g in judging order, those of the submitted files too.
func (g *Group) Cases() []*Test { return g.cases(Item.Case) }

// cases returns what each item below g is.
func (g *Group) cases(of func(Item) *Test) []*Test {
	var all []*Test
	for _, it := range g.Items {
		if it.Group != nil {
			all = append(all, it.Group.cases(of)...)
		} else {
			all = append(all, of(it))
		}
	}
	return all
}

// ScoreRule says what a checker may say about the score of a test.
type ScoreRule string

// The score rules. The legacy format has none: there a score counts if the checker may give one at all.
const (
	ScoreIgnored ScoreRule = "ignored"   // tests have no score, whatever a checker says
	ScoreNone    ScoreRule = "none"      // a checker must give no score
	ScoreBounded ScoreRule = "bounded"   // a score up to AcceptScore, a part of it, or nothing, which means all
	ScoreFree    ScoreRule = "unbounded" // a checker must give a score
	ScorePoints  ScoreRule = "points"    // an accepted test gives its points, or fewer if the checker says so
)

// ScoreGroup is the rule of DOMjudge's scoring dialect of the legacy format: the scores that checkers give in a group
// are those of its tests, and where they give none, all of it has AcceptScore once, if all is accepted.
const ScoreGroup ScoreRule = "group"

// MaxScore returns the highest score a submission can get, or nil when there is no such bound.
func (p *Package) MaxScore() *float64 {
	if !p.Scoring || p.Root == nil {
		return nil
	}
	return p.Root.MaxScore(p.points())
}

// points reports whether checkers give the scores of tests.
func (p *Package) points() bool {
	return slices.ContainsFunc(p.Checkers, func(c Checker) bool { return c.Points }) || p.Interactor != nil && p.Interactor.Points
}

// MaxScore returns the highest score of a group: its range's upper bound, or what its items can give together. Nil
// means no bound. With points the checker gives the scores of tests, which has no bound.
func (g *Group) MaxScore(points bool) *float64 {
	if g.Grading.High != nil || g.Grading.Custom {
		return g.Grading.High
	}
	if g.Grading.Rule == ScoreGroup && !slices.ContainsFunc(g.Items, func(it Item) bool { return it.Group != nil }) {
		if points {
			return nil
		}
		return &g.Grading.AcceptScore
	}
	var each []float64
	for _, it := range g.Items {
		top := math.Max(g.Grading.AcceptScore, g.Grading.RejectScore)
		switch {
		case it.Case() != nil && it.Case().Points != nil && (it.Static == nil || !points):
			top = *it.Case().Points
		case it.Group != nil:
			if g.Grading.IgnoreSample && it.Group.Name == SampleGroup {
				continue
			}
			m := it.Group.MaxScore(points)
			if m == nil {
				return nil
			}
			top = *m
		case points:
			return nil
		}
		each = append(each, top)
	}
	top := g.Grading.Score.Of(each)
	return &top
}

// Of returns the score of a group whose items have these scores; an empty group has 0.
func (m ScoreMode) Of(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	switch m {
	case Min:
		return slices.Min(scores)
	case Max:
		return slices.Max(scores)
	case Sum, Avg, PassFail:
	}
	total := 0.0
	for _, s := range scores {
		total += s
	}
	if m == Avg {
		return total / float64(len(scores))
	}
	return total
}

// Only leaves the package with the tests whose names match pattern, as of [path.Match], such as "sample/*" or
// "secret/group1/*". Groups without tests go. An empty pattern leaves all. It must be called before Save.
func (p *Package) Only(pattern string) error {
	if pattern == "" {
		return nil
	}
	left, err := p.Root.only(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q of tests: %w", pattern, err)
	}
	if left == nil {
		return fmt.Errorf("no test of %s matches %q", p.Slug, pattern)
	}
	p.Root = left
	return nil
}

// only returns a copy of the group with the tests that match, nil if none does.
func (g *Group) only(pattern string) (*Group, error) {
	left := *g
	left.Items = nil
	for _, item := range g.Items {
		var err error
		keep := false
		if t := item.Case(); t != nil {
			keep, err = path.Match(pattern, t.Name)
		} else if item.Group, err = item.Group.only(pattern); err == nil {
			keep = item.Group != nil
		}
		if err != nil {
			return nil, err
		}
		if keep {
			left.Items = append(left.Items, item)
		}
	}
	if len(left.Items) == 0 {
		return nil, nil
	}
	return &left, nil
}
