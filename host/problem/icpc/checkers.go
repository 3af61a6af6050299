package icpc

import (
	"path"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

const (
	outputValidators = "output_validators" // of the legacy format: all of them must accept
	outputValidator  = "output_validator"  // of the newer ones: one
)

// readCheckers finds who decides on outputs in the legacy format.
func (r *reader) readCheckers() {
	if r.readBound() {
		return
	}
	many, _ := r.Children(outputValidators)
	one, _ := r.Children(outputValidator)
	switch {
	case !r.custom && len(many)+len(one) > 0:
		dir := outputValidators
		if len(many) == 0 {
			dir = outputValidator
		}
		r.Warn(dir, "", "has no effect: %s does not say \"validation: custom\"", source.ProblemYAML)
		fallthrough
	case !r.custom:
		r.Package.Checkers = []problem.Checker{{Standard: "default", Protocol: "icpc/1", Flags: r.flags}}
	case len(many) == 0 && len(one) > 0: // as DOMjudge has it, in this format too
		r.readOneChecker()
	default:
		if len(one) > 0 {
			r.Warn(outputValidator, "", "has no effect beside %s", outputValidators)
		}
		r.readManyCheckers()
	}
}

// readBound takes the checker and interactor that deepoj.yaml names, and reports whether there is one.
func (r *reader) readBound() bool {
	if !r.Has(problem.NativeYAML) {
		return false
	}
	checker, interactor := r.native()
	r.Package.Interactor = interactor
	if checker != nil {
		if r.Package.Format != problem.FormatLegacy {
			checker.Points = r.points && checker.Standard == ""
		}
		r.Package.Checkers = []problem.Checker{*checker}
	}
	return checker != nil || interactor != nil
}

// readManyCheckers reads the programs of which each must accept.
func (r *reader) readManyCheckers() {
	const dir = outputValidators
	names, folder := r.programNames(dir)
	var headers []problem.File
	for _, name := range names {
		if !folder[name] && source.IsHeader(name) {
			headers = append(headers, r.File(path.Join(dir, name)))
		}
	}
	before := r.Refusals
	for _, name := range names {
		if c := r.checker(path.Join(dir, name), folder[name], headers); c != nil {
			r.Package.Checkers = append(r.Package.Checkers, *c)
		}
	}
	switch {
	case r.Refusals > before:
	case len(r.Package.Checkers) == 0:
		r.Refuse(dir, "", "is empty: \"validation: custom\" needs a checker")
	case r.interactive && len(r.Package.Checkers) > 1:
		r.Refuse(dir, "", "holds several programs: one of them can talk with a submission")
	case r.interactive: // the validator of an interactive problem is its interactor
		r.Package.Interactor, r.Package.Checkers = &r.Package.Checkers[0], nil
	}
}

// readNewCheckers finds who decides on outputs in a format that has a version.
func (r *reader) readNewCheckers() {
	r.points = r.Package.Scoring
	if r.readBound() {
		return
	}
	if names, _ := r.Children(outputValidator); len(names) > 0 {
		r.custom = true
		r.readOneChecker()
		return
	}
	if r.interactive {
		r.Refuse(outputValidator, "", "is empty: an interactive problem needs the program that talks with submissions there")
	}
	r.Package.Checkers = []problem.Checker{{Standard: "default", Protocol: "icpc/1"}}
}

// readOneChecker reads the program that decides alone.
func (r *reader) readOneChecker() {
	before := r.Refusals
	names, folder := r.programNames(outputValidator)
	var c *problem.Checker
	switch {
	case len(names) == 0:
	case len(names) == 1 && (folder[names[0]] || !source.IsSource(names[0]) && !source.IsHeader(names[0])):
		c = r.checker(path.Join(outputValidator, names[0]), folder[names[0]], nil)
	default:
		c = r.checker(outputValidator, true, nil)
	}
	switch {
	case c == nil || len(c.Sources) == 0 && c.Wasm == nil && c.Program == nil:
		if r.Refusals == before {
			r.Refuse(outputValidator, "", "holds no program: put a .wasm module or C or C++ files there")
		}
	case r.interactive:
		r.Package.Interactor = c
	default:
		r.Package.Checkers = []problem.Checker{*c}
	}
}

// programNames returns the entries of a folder of programs, and which of them are
// folders, without what only lies beside them. Of this it warns.
func (r *reader) programNames(dir string) (names []string, folder map[string]bool) {
	all, folder := r.Children(dir)
	for _, name := range all {
		why := source.Aside(name)
		if why == "" && !folder[name] && dir == outputValidators && !source.IsHeader(name) && path.Ext(name) != ".wasm" {
			why = source.NoSubmission(name)
		}
		if why != "" {
			r.Leave(path.Join(dir, name), why)
			continue
		}
		names = append(names, name)
	}
	return names, folder
}

// checker makes a checker of a file or folder of output_validators, or nil of a header.
func (r *reader) checker(name string, folder bool, headers []problem.File) *problem.Checker {
	c := &problem.Checker{Protocol: "icpc/1", Flags: r.flags, Points: r.points}
	if folder {
		for _, file := range r.Below(name) {
			if source.Aside(path.Base(file)) != "" {
				continue // the program alone knows whether it needs it
			}
			if !source.IsSource(file) && !source.IsHeader(file) {
				c.Sources = nil
				if c.Program = r.Program(name, true, r.Refuse); c.Program == nil {
					return nil
				}
				return c
			}
			c.Sources = append(c.Sources, r.File(file))
		}
		c.Sources = r.WithTestlib(c.Sources)
		return c
	}
	switch {
	case source.IsSource(name):
		c.Sources = r.WithTestlib(append([]problem.File{r.File(name)}, headers...))
	case path.Ext(name) == ".wasm":
		f := r.File(name)
		c.Wasm = &f
	case source.IsHeader(name):
		return nil
	default:
		if c.Program = r.Program(name, false, r.Refuse); c.Program == nil {
			return nil
		}
	}
	return c
}
