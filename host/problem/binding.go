package problem

import (
	"encoding/json"
	"slices"
	"strings"

	"deepoj/host/blob"
)

// Binding is what a package says of its checkers where somebody bound another to the
// problem.
type Binding struct {
	// Own are the checkers that the package asks for; nil if that is not known, as of
	// bindings that older versions of the platform made.
	Own []Checker `json:"own,omitempty"`
}

// Bind returns p judged by an uploaded checker that somebody bound to the problem, not
// yet saved. What the package itself asks for is kept beside it.
func (p *Package) Bind(c Checker) *Package {
	q := p.WithChecker(c)
	if _, before := p.Bound(); !before {
		q.Binding = &Binding{Own: slices.Clone(p.Checkers)}
	} else if q.Binding == nil {
		q.Binding = &Binding{}
	}
	return q
}

// Bound returns the checker that somebody bound to the problem, and whether there is
// one.
func (p *Package) Bound() (Checker, bool) {
	if len(p.Checkers) != 1 || p.Checkers[0].Plugin == "" && p.Checkers[0].Digest == "" {
		return Checker{}, false
	}
	named := slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == NativeYAML })
	return p.Checkers[0], p.Binding != nil || !named // a package can name an uploaded checker in that file alone
}

// SameOwn reports whether a new version of a package asks for the same checkers as p
// does, to which another is bound. Where that is not known they are the same if all
// their files are in p. The new version is saved.
func (p *Package) SameOwn(now *Package) bool {
	if p.Binding != nil && p.Binding.Own != nil {
		before, err := json.Marshal(p.Binding.Own)
		after, err2 := json.Marshal(now.Checkers)
		return err == nil && err2 == nil && string(before) == string(after)
	}
	had := map[string]blob.Digest{}
	for _, f := range p.Files {
		had[f.Path] = f.Digest
	}
	same := true
	for i := range now.Checkers {
		now.Checkers[i].EachFile(func(f *File) { same = same && had[f.Path] == f.Digest })
	}
	return same
}

// OwnNames is what people call the checkers that a package asks for.
func (p *Package) OwnNames() string {
	var names []string
	for _, c := range p.Checkers {
		names = append(names, c.Name())
	}
	return strings.Join(names, ", ")
}
