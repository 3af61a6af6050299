package problem

import (
	"path"
	"regexp"
)

// Standard are the names of the checkers that come with the platform.
var Standard = []string{"default", "tokens", "rows", "lines", "exact", "floats", "yesno", "sorted", "letters", "linecount"}

const (
	nativeYAML       = "deepoj.yaml"
	outputValidators = "output_validators" // of the legacy format: all of them must accept
	outputValidator  = "output_validator"  // of the newer ones: one
)

// readCheckers finds who decides on outputs in the legacy format.
func (r *reader) readCheckers() {
	if r.readBound() {
		return
	}
	many, _ := r.children(outputValidators)
	one, _ := r.children(outputValidator)
	switch {
	case !r.custom && len(many)+len(one) > 0:
		dir := outputValidators
		if len(many) == 0 {
			dir = outputValidator
		}
		r.warn(dir, "", "has no effect: %s does not say \"validation: custom\"", problemYAML)
		fallthrough
	case !r.custom:
		r.p.Checkers = []Checker{{Standard: "default", Protocol: "icpc/1", Flags: r.flags}}
	case len(many) == 0 && len(one) > 0: // as DOMjudge has it, in this format too
		r.readOneChecker()
	default:
		if len(one) > 0 {
			r.warn(outputValidator, "", "has no effect beside %s", outputValidators)
		}
		r.readManyCheckers()
	}
}

// readBound takes the checker and interactor that deepoj.yaml names, and reports
// whether there is one.
func (r *reader) readBound() bool {
	if !r.has(nativeYAML) {
		return false
	}
	checker, interactor := r.native()
	r.p.Interactor = interactor
	if checker != nil {
		if r.p.Format != FormatLegacy {
			checker.Points = r.points && checker.Standard == ""
		}
		r.p.Checkers = []Checker{*checker}
	}
	return checker != nil || interactor != nil
}

// readManyCheckers reads the programs of which each must accept.
func (r *reader) readManyCheckers() {
	const dir = outputValidators
	names, folder := r.programNames(dir)
	var headers []File
	for _, name := range names {
		if !folder[name] && isHeader(name) {
			headers = append(headers, r.file(path.Join(dir, name)))
		}
	}
	before := r.refusals
	for _, name := range names {
		if c := r.checker(path.Join(dir, name), folder[name], headers); c != nil {
			r.p.Checkers = append(r.p.Checkers, *c)
		}
	}
	switch {
	case r.refusals > before:
	case len(r.p.Checkers) == 0:
		r.refuse(dir, "", "is empty: \"validation: custom\" needs a checker")
	case r.interactive && len(r.p.Checkers) > 1:
		r.refuse(dir, "", "holds several programs: one of them can talk with a submission")
	case r.interactive: // the validator of an interactive problem is its interactor
		r.p.Interactor, r.p.Checkers = &r.p.Checkers[0], nil
	}
}

// readNewCheckers finds who decides on outputs in a format that has a version.
func (r *reader) readNewCheckers() {
	r.points = r.p.Scoring
	if r.readBound() {
		return
	}
	if names, _ := r.children(outputValidator); len(names) > 0 {
		r.custom = true
		r.readOneChecker()
		return
	}
	if r.interactive {
		r.refuse(outputValidator, "", "is empty: an interactive problem needs the program that talks with submissions there")
	}
	r.p.Checkers = []Checker{{Standard: "default", Protocol: "icpc/1"}}
}

// readOneChecker reads the program that decides alone.
func (r *reader) readOneChecker() {
	before := r.refusals
	names, folder := r.programNames(outputValidator)
	var c *Checker
	switch {
	case len(names) == 0:
	case len(names) == 1 && (folder[names[0]] || !isSource(names[0]) && !isHeader(names[0])):
		c = r.checker(path.Join(outputValidator, names[0]), folder[names[0]], nil)
	default:
		c = r.checker(outputValidator, true, nil)
	}
	switch {
	case c == nil || len(c.Sources) == 0 && c.Wasm == nil && c.Program == nil:
		if r.refusals == before {
			r.refuse(outputValidator, "", "holds no program: put a .wasm module or C or C++ files there")
		}
	case r.interactive:
		r.p.Interactor = c
	default:
		r.p.Checkers = []Checker{*c}
	}
}

// programNames returns the entries of a folder of programs, and which of them are
// folders, without what only lies beside them. Of this it warns.
func (r *reader) programNames(dir string) (names []string, folder map[string]bool) {
	all, folder := r.children(dir)
	for _, name := range all {
		why := aside(name)
		if why == "" && !folder[name] && dir == outputValidators && !isHeader(name) && path.Ext(name) != ".wasm" {
			why = noSubmission(name)
		}
		if why != "" {
			r.leave(path.Join(dir, name), why)
			continue
		}
		names = append(names, name)
	}
	return names, folder
}

// checker makes a checker of a file or folder of output_validators, or nil of
// a header.
func (r *reader) checker(name string, folder bool, headers []File) *Checker {
	c := &Checker{Protocol: "icpc/1", Flags: r.flags, Points: r.points}
	if folder {
		for _, file := range r.below(name) {
			if aside(path.Base(file)) != "" {
				continue // the program alone knows whether it needs it
			}
			if !isSource(file) && !isHeader(file) {
				c.Sources = nil
				if c.Program = r.program(name, true, r.refuse); c.Program == nil {
					return nil
				}
				return c
			}
			c.Sources = append(c.Sources, r.file(file))
		}
		c.Sources = r.withTestlib(c.Sources)
		return c
	}
	switch {
	case isSource(name):
		c.Sources = r.withTestlib(append([]File{r.file(name)}, headers...))
	case path.Ext(name) == ".wasm":
		f := r.file(name)
		c.Wasm = &f
	case isHeader(name):
		return nil
	default:
		if c.Program = r.program(name, false, r.refuse); c.Program == nil {
			return nil
		}
	}
	return c
}

func isSource(name string) bool { return checkerSource.MatchString(name) }

func isHeader(name string) bool { return checkerHeader.MatchString(name) }

var (
	checkerSource = regexp.MustCompile(`\.(c|cc|cpp|cxx)$`)
	checkerHeader = regexp.MustCompile(`\.(h|hh|hpp)$`)
)
