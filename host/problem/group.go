package problem

import (
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

	// Static is a test of the submitted files by the package's Static: it has no
	// input and no answer, and nothing is run on it. It comes before the others of
	// its group.
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

	// Made is how its input is made, if the package does not hold it: the name of
	// a generator and its arguments.
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

// The score modes: those of the legacy default grader, and the one of the newer
// formats that looks at verdicts only.
const (
	Sum      ScoreMode = "sum"
	Avg      ScoreMode = "avg"
	Min      ScoreMode = "min"
	Max      ScoreMode = "max"
	PassFail ScoreMode = "pass-fail" // the highest score if all is accepted, else 0
)

// Grading is how a group is graded (testdata.yaml, or test_group.yaml).
type Grading struct {
	// Break says that the rest of the group is not judged after its first
	// rejected item.
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

// Cases returns every test below g in judging order, those of the submitted files
// too.
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
