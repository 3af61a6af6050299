package problem

import (
	"path"
	"slices"
	"strings"
)

const (
	inputValidators = "input_validators"
	oldValidators   = "input_format_validators"
	gradersDir      = "graders"
)

// programLanguages are the languages of the judges' programs by the extensions of
// their files, as the manifests of the adapters have them. Others than these only
// come along.
var programLanguages = map[string]string{
	".py": "python", ".py3": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".c++": "cpp", ".C": "cpp",
	".java": "java", ".go": "go", ".rs": "rust", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".ts": "typescript", ".kt": "kotlin", ".cs": "csharp",
}

// programs returns the programs in a folder, each of which is a file or a folder.
// Tell is told of what is none that can be run here.
func (r *reader) programs(dir string, tell func(file, key, format string, args ...any)) []Program {
	names, folder := r.children(dir)
	var all []Program
	for _, name := range names {
		if !folder[name] && isHeader(name) {
			continue
		}
		if why := aside(name); why != "" {
			r.leave(path.Join(dir, name), why)
			continue
		}
		if p := r.program(path.Join(dir, name), folder[name], tell); p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// program returns the program that is a file or a folder, nil if it is none that can
// be run here.
func (r *reader) program(full string, folder bool, tell func(file, key, format string, args ...any)) *Program {
	files := []string{full}
	scripts := false
	if folder {
		files = r.below(full)
		scripts = r.has(path.Join(full, "build")) || r.has(path.Join(full, "run"))
	}
	if !scripts { // which alone know what they need
		files = slices.DeleteFunc(slices.Clone(files), func(f string) bool { return folder && aside(path.Base(f)) != "" })
	}
	p := Program{Name: strings.TrimSuffix(path.Base(full), path.Ext(full))}
	languages := map[string]bool{}
	for _, f := range files {
		if id := programLanguages[path.Ext(f)]; id != "" {
			p.Language = id
			languages[id] = true
		}
		p.Files = append(p.Files, r.file(f))
	}
	switch {
	case scripts:
		p.Language = LanguageScripts
	case !folder && path.Ext(full) == ".sh":
		p.Language = LanguageShell
	case len(languages) == 0:
		tell(full, "", "is not run: its language is not one that programs are run in here")
		return nil
	case len(languages) > 1:
		tell(full, "", "is not run: its files are of several languages")
		return nil
	case slices.ContainsFunc(files, func(f string) bool { return folder && path.Dir(f) != full }):
		tell(full, "", "is not run: it has folders in it; put its files together")
		return nil
	}
	if p.Language == "cpp" {
		p.Files = r.withTestlib(p.Files)
	}
	return &p
}

// readValidators lists the programs that look at inputs.
func (r *reader) readValidators() {
	for _, dir := range []string{inputValidators, oldValidators} {
		if dir == oldValidators && r.p.Format != FormatLegacy {
			continue
		}
		for _, p := range r.programs(dir, r.warn) {
			r.p.Validators = append(r.p.Validators, Validator{Program: p, Protocol: "icpc/1"})
		}
	}
}

// inputFlags reads input_validator_args: a list for all validators, or a mapping
// from the name of each to its own.
func (k *keys) inputFlags(key string, before validatorFlags) validatorFlags {
	n := k.node(key)
	if n == nil {
		return before
	}
	if m := k.mappingOrNil(key); m != nil {
		f := validatorFlags{of: map[string][]string{}}
		for _, name := range m.order {
			f.of[name], _ = m.list(name, false)
		}
		return f
	}
	all, _ := k.list(key, false)
	return validatorFlags{all: all}
}

// validatorFlags are the flags of the validators of inputs.
type validatorFlags struct {
	all []string
	of  map[string][]string // by validator
}

// FlagsOf returns the flags that a validator gets for the test.
func (t *Test) FlagsOf(validator string) []string {
	if flags, ok := t.InputFlagsOf[validator]; ok {
		return flags
	}
	return t.InputFlags
}

// The folders of tests of a package's own programs.
const (
	invalidInput  = "invalid_input"
	invalidOutput = "invalid_output"
	validOutput   = "valid_output"
)

// ownTests reads the inputs that the validators must reject, and the outputs that
// the checkers must accept or reject.
func (r *reader) ownTests(folder string) {
	dir := path.Join(dataDir, folder)
	group := r.ownArgs(path.Join(dir, testGroupYAML), caseArgs{})
	for _, f := range r.below(dir) {
		stem, in := strings.CutSuffix(f, ".in")
		switch {
		case path.Base(f) == testGroupYAML && path.Dir(f) == dir, slices.Contains(besides, path.Ext(f)), path.Ext(f) == ".yaml" && r.has(strings.TrimSuffix(f, ".yaml")+".in"):
		case in && folder == invalidInput:
			r.p.Invalid = append(r.p.Invalid, *r.ownInput(f, r.ownArgs(stem+".yaml", group)))
		case in && (!r.has(stem+".ans") || !r.has(stem+".out")):
			r.warn(f, "", "is not run: %s.ans and %s.out must be there", path.Base(stem), path.Base(stem))
		case in:
			args := r.ownArgs(stem+".yaml", group)
			r.p.CheckerTests = append(r.p.CheckerTests, CheckerTest{
				Input: r.file(f), Answer: r.file(stem + ".ans"), Output: r.file(stem + ".out"), Flags: args.output, Valid: r.ownInput(f, args),
				Wants: map[string]string{validOutput: "accepted", invalidOutput: "rejected"}[folder],
			})
		case slices.Contains([]string{".ans", ".out"}, path.Ext(f)):
			if !r.has(strings.TrimSuffix(f, path.Ext(f)) + ".in") {
				r.warn(f, "", "is not run: %s.in is missing", strings.TrimSuffix(path.Base(f), path.Ext(f)))
			}
		default:
			r.warn(f, "", "is not part of a test")
		}
	}
}

// ownInput returns an input with the flags of its validators.
func (r *reader) ownInput(name string, args caseArgs) *OwnInput {
	return &OwnInput{File: r.file(name), Flags: args.input.all, FlagsBy: args.input.of}
}

// ownArgs reads the arguments of checkers and validators from a file, if it is there.
func (r *reader) ownArgs(file string, before caseArgs) caseArgs {
	if !r.has(file) {
		return before
	}
	k := r.yaml(file)
	if flags, ok := k.list("output_validator_args", false); ok {
		before.output = flags
	}
	before.input = k.inputFlags("input_validator_args", before.input)
	k.node("args")
	k.text("description")
	k.unknown()
	return before
}
