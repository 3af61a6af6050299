package judge

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is something about a package that a setter should know.
type Finding struct {
	File   string `json:"file"`
	Key    string `json:"key,omitempty"` // such as "limits.memory"
	Reason string `json:"reason"`

	// Count is of how many files the same is true and the same is to be done; 0 = of
	// File alone. Also are the first of the others, in the order of their names.
	Count int      `json:"count,omitempty"`
	Also  []string `json:"also,omitempty"`
}

func (f Finding) String() string {
	s := f.File
	if f.Key != "" {
		s += ": " + f.Key
	}
	s += ": " + f.Reason
	if more := f.More(); more != "" {
		s += " (" + more + ")"
	}
	return s
}

// More says which other files have the same fault, such as "27 files like this: also
// data/secret/02.in, data/secret/03.in, …"; "" if none has.
func (f Finding) More() string {
	if f.Count < 2 {
		return ""
	}
	more := fmt.Sprintf("%d files like this: also %s", f.Count, strings.Join(f.Also, ", "))
	if f.Count > len(f.Also)+1 {
		more += ", …"
	}
	return more
}

// PackageReport is what a job about a problem package found, in the result's field report.
type PackageReport struct {
	Problem string `json:"problem"`
	Version string `json:"version,omitempty"` // that was made or proved; "" = the package was refused
	Live    bool   `json:"live,omitempty"`    // whether the job made it live

	// Refused lists why the package was refused, and Warnings what in it is not honoured.
	Refused  []Finding `json:"refused,omitempty"`
	Warnings []Finding `json:"warnings,omitempty"`

	// Binding is what became of a checker that was bound to the problem before; nil if there was none.
	Binding *Binding `json:"binding,omitempty"`

	Proof *Proof `json:"proof,omitempty"`
	Error string `json:"error,omitempty"` // why nothing could be done, and how to mend it
}

// Binding says what became of the checker that was bound to the problem when another version of its package came.
type Binding struct {
	Checker string `json:"checker"` // the name or digest of the uploaded checker
	Kept    bool   `json:"kept"`    // it checks the new version, too
	Own     string `json:"own"`     // what the package asks for itself
	Why     string `json:"why"`     // in a sentence, what happens and how to change it
	Binding string `json:"binding"` // "name" or "digest", as of [PluginReport]
}

// Proof is what the submissions of a package got, and what its validators and checkers said.
type Proof struct {
	Slug    string `json:"slug"`
	Version string `json:"version"`

	// LimitMillis is the time limit and LimitFrom where it comes from.
	LimitMillis int64  `json:"limit_ms"`
	LimitFrom   string `json:"limit_from"`

	// SlowestMillis is the CPU time of the slowest submission on its slowest test, divided by the factor of its
	// language, of those that must be accepted and are, for the highest score.
	SlowestMillis int64 `json:"slowest_ms"`

	// SuggestedMillis is the limit that the package's own multiplier gives: the slowest accepted time multiplied
	// and rounded up to the package's resolution, or to a second, and at least that.
	SuggestedMillis int64 `json:"suggested_ms"`

	// Checked is how many inputs and outputs the validators and checkers were asked about, and Faults says what is
	// wrong with them. Both are empty in a proof of some submissions only.
	Checked int      `json:"checked"`
	Faults  []string `json:"faults,omitempty"`

	// Warnings say what of the checkers' words has no effect.
	Warnings []string `json:"warnings,omitempty"`

	// Notes say in a sentence each what is worth knowing of checkers and validators, and is no fault: that one runs
	// as a program and not as a plugin, was bound to the problem, or is asked with the line ends of Windows.
	Notes []string `json:"notes,omitempty"`

	Rows []ProofRow `json:"rows"`
}

// OK reports whether every submission got what its place allows, and there was
// at least one, and nothing is wrong with tests and checkers.
func (p *Proof) OK() bool {
	return len(p.Rows) > 0 && len(p.Faults) == 0 && p.Wrong() == 0
}

// Wrong returns how many submissions got what they should not.
func (p *Proof) Wrong() (n int) {
	for _, row := range p.Rows {
		if row.Problem != "" {
			n++
		}
	}
	return n
}

// Groups returns the names of the groups of tests, in order.
func (p *Proof) Groups() (names []string) {
	for _, row := range p.Rows {
		for _, g := range row.Groups {
			if g.Name != "" && !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// ProofRow is what one submission got.
type ProofRow struct {
	Path     string        `json:"path"` // such as "accepted/fast.cpp"
	Language string        `json:"language,omitempty"`
	Allowed  []Verdict     `json:"allowed,omitempty"` // empty = anything
	Verdict  Verdict       `json:"verdict,omitempty"` // "" = it was not judged
	Score    *float64      `json:"score,omitempty"`
	MaxScore *float64      `json:"max_score,omitempty"`
	Usage    Usage         `json:"usage"`        // the worst test
	TotalCPU int64         `json:"total_cpu_ms"` // of all its runs
	Groups   []GroupResult `json:"groups,omitempty"`
	Message  string        `json:"message,omitempty"`

	// Slack is the time limit, with the language's factor, divided by the CPU time of
	// the slowest test, for accepted submissions that used any.
	Slack float64 `json:"slack,omitempty"`

	// Skipped says why it was not judged, where that is nothing wrong: the language is
	// not here, and another program shows that the problem can be solved.
	Skipped string `json:"skipped,omitempty"`

	// Problem says what is wrong; "" means that all is as it should be.
	Problem string `json:"problem,omitempty"`

	// Warning says what a setter should know and is nothing wrong: that the submission
	// is accepted without all points, or is longer than what contestants may hand in.
	Warning string `json:"warning,omitempty"`
}

// In returns what the submission got in a group; nil if that was not judged.
func (r ProofRow) In(group string) *GroupResult {
	for i, g := range r.Groups {
		if g.Name == group && g.Verdict != "" {
			return &r.Groups[i]
		}
	}
	return nil
}
