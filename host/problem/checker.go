package problem

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"deepoj/host/blob"
)

// Standard are the names of the checkers that come with the platform.
var Standard = []string{"default", "tokens", "rows", "lines", "exact", "floats", "yesno", "sorted", "letters", "linecount"}

// Checker is one program that decides on outputs, or an interactor. Exactly one of Standard,
// Plugin, Digest, Wasm, Sources and Program is set.
type Checker struct {
	Standard string `json:"standard,omitempty"` // name of a checker that comes with the platform, such as "default"
	Plugin   string `json:"plugin,omitempty"`   // name of an uploaded plugin: the version that is active when a job is judged
	Digest   string `json:"digest,omitempty"`   // an uploaded plugin, "sha256:<hex>"
	Wasm     *File  `json:"wasm,omitempty"`     // a module of the package
	Sources  []File `json:"sources,omitempty"`  // C or C++ files and headers of the package, to be compiled to WASI
	Dialect  string `json:"dialect,omitempty"`  // of Sources, as that of a [Program]

	// Program is of another language, or has scripts of its own: it runs natively.
	Program *Program `json:"program,omitempty"`

	Protocol string   `json:"protocol"`         // "icpc/1" or "testlib/1"
	Flags    []string `json:"flags,omitempty"`  // come before the flags of the test
	Points   bool     `json:"points,omitempty"` // its score.txt is the score of a test
}

// AsProgram returns a checker made of sources as one that runs natively.
func (c Checker) AsProgram() Checker {
	p := Program{Name: path.Base(c.Sources[0].Path), Dialect: c.Dialect, Files: c.Sources}
	for _, f := range c.Sources {
		if id := LanguageOf(f.Path); id != "" {
			p.Name, p.Language = strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)), id
		}
	}
	c.Sources, c.Program = nil, &p
	return c
}

// Name returns what people call the checker: its name, its digest, or its file.
func (c Checker) Name() string {
	switch {
	case c.Wasm != nil:
		return c.Wasm.Path
	case len(c.Sources) > 0:
		return c.Sources[0].Path
	case c.Program != nil:
		return c.Program.Files[0].Path
	}
	return c.Standard + c.Plugin + c.Digest
}

// WithChecker returns p judged by another checker, not yet saved. What the package says about flags and points stays.
func (p *Package) WithChecker(c Checker) *Package {
	q := *p
	if len(p.Checkers) > 0 {
		c.Flags, c.Points = p.Checkers[0].Flags, p.Checkers[0].Points
	}
	q.Checkers, q.Version = []Checker{c}, ""
	return &q
}

// WithInteractor returns p, an interactive problem, with another interactor, not
// yet saved. What the package says about flags and points stays.
func (p *Package) WithInteractor(c Checker) *Package {
	q := *p
	if p.Interactor != nil {
		c.Flags, c.Points = p.Interactor.Flags, p.Interactor.Points
	}
	q.Interactor, q.Version = &c, ""
	return &q
}

// EachFile calls f for the files of c.
func (c *Checker) EachFile(f func(*File)) {
	if c.Wasm != nil {
		f(c.Wasm)
	}
	for i := range c.Sources {
		f(&c.Sources[i])
	}
	if c.Program != nil {
		c.Program.EachFile(f)
	}
}

// Binding is what a package says of its checkers where somebody bound another to the problem.
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

// Bound returns the checker that somebody bound to the problem, and whether there is one.
func (p *Package) Bound() (Checker, bool) {
	if len(p.Checkers) != 1 || p.Checkers[0].Plugin == "" && p.Checkers[0].Digest == "" {
		return Checker{}, false
	}
	named := slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == NativeYAML })
	return p.Checkers[0], p.Binding != nil || !named // a package can name an uploaded checker in that file alone
}

// SameOwn reports whether a new version of a package asks for the same checkers as p does, to which another is bound.
// Where that is not known they are the same if all their files are in p. The new version is saved.
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
