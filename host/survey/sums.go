package survey

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// Sums is what a survey comes to.
type Sums struct {
	Packages int           `json:"packages"`
	States   map[State]int `json:"states"`

	// Why packages are refused, what they are warned of, and why they are not proved or
	// could not be told of, the most frequent first.
	Refused  []Reason `json:"refused,omitempty"`
	Warned   []Reason `json:"warned,omitempty"`
	Unproved []Reason `json:"unproved,omitempty"`
	Failed   []Reason `json:"failed,omitempty"`
}

// Reason is what several packages have in common.
type Reason struct {
	Text     string `json:"text"`     // with … for names and numbers
	Packages int    `json:"packages"` // how many have it
	Times    int    `json:"times"`    // how often all of them have it
	Example  string `json:"example"`  // path of the first
}

// Sum sums packages up.
func Sum(all []Package) Sums {
	s := Sums{Packages: len(all), States: map[State]int{}}
	refused, warned, unproved, failed := reasons{}, reasons{}, reasons{}, reasons{}
	for _, p := range all {
		s.States[p.State]++
		for _, w := range p.Warnings {
			warned.add(p, findingText(w))
		}
		for _, f := range p.Refused {
			refused.add(p, findingText(f))
		}
		if p.Error != "" && p.State == Refused {
			refused.add(p, plain(p.Error))
		} else if p.Error != "" {
			failed.add(p, plain(p.Error))
		}
		if p.Proof != nil {
			for _, why := range wrongs(*p.Proof) {
				unproved.add(p, why)
			}
		}
	}
	s.Refused, s.Warned, s.Unproved, s.Failed = refused.sorted(), warned.sorted(), unproved.sorted(), failed.sorted()
	return s
}

// wrongs are what is wrong with a proof, in words that packages have in common.
func wrongs(r judge.Proof) (all []string) {
	for _, row := range r.Rows {
		if row.Problem != "" {
			all = append(all, path.Dir(row.Path)+": "+plain(row.Problem))
		}
	}
	for _, f := range r.Faults {
		if _, what, ok := strings.Cut(f, ": "); ok {
			f = what
		}
		all = append(all, plain(firstLine(f)))
	}
	if len(r.Rows) == 0 {
		all = append(all, "there are no submissions")
	}
	return all
}

// reasons are found reasons by their text.
type reasons map[string]*found

type found struct {
	Reason
	last string // path of the package that had it last
}

func (rs reasons) add(p Package, text string) {
	r := rs[text]
	if r == nil {
		r = &found{Reason: Reason{Text: text, Example: p.Path}}
		rs[text] = r
	}
	r.Times++
	if r.last != p.Path {
		r.last = p.Path
		r.Packages++
	}
}

func (rs reasons) sorted() []Reason {
	var all []Reason
	for _, r := range rs {
		all = append(all, r.Reason)
	}
	slices.SortFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Packages, a.Packages), cmp.Compare(b.Times, a.Times), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// findingText is a finding without what only its package has: files have the name of their kind, such as "data/….yaml".
func findingText(f problem.Finding) string {
	top, rest, deep := strings.Cut(f.File, "/")
	if deep {
		top += "/…" + path.Ext(rest)
	}
	if f.Key != "" {
		top += ": " + numbers.ReplaceAllString(f.Key, "…")
	}
	return top + ": " + plain(f.Reason)
}

// What differs between packages in a reason.
var (
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	numbers = regexp.MustCompile(`\b\d+(?:[.,]\d+)*(?:ms|s)?\b`)
	paths   = regexp.MustCompile(`[\pL\d_.+-]+(?:/[\pL\d_.+ -]+)+`)
)

// maxText bounds a reason, in characters.
const maxText = 200

// plain is a reason without names and numbers.
func plain(s string) string {
	s = firstLine(s)
	s = quoted.ReplaceAllString(s, "“…”")
	s = paths.ReplaceAllString(s, "…")
	s = numbers.ReplaceAllString(s, "…")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return s
}
