package icpc

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

const (
	inputValidators = "input_validators"
	oldValidators   = "input_format_validators"
	gradersDir      = "graders"
)

// readValidators lists the programs that look at inputs.
func (r *reader) readValidators() {
	for _, dir := range []string{inputValidators, oldValidators} {
		if dir == oldValidators && r.Package.Format != problem.FormatLegacy {
			continue
		}
		for _, p := range r.Programs(dir, r.Warn) {
			r.Package.Validators = append(r.Package.Validators, problem.Validator{Program: p, Protocol: "icpc/1"})
		}
	}
}

// inputFlags reads input_validator_args: a list for all validators, or a mapping from the name of each to its own.
func inputFlags(k *source.Keys, key string, before validatorFlags) validatorFlags {
	n := k.Node(key)
	if n == nil {
		return before
	}
	if m := k.MappingOrNil(key); m != nil {
		f := validatorFlags{of: map[string][]string{}}
		for _, name := range m.Order {
			f.of[name], _ = m.List(name, false)
		}
		return f
	}
	all, _ := k.List(key, false)
	return validatorFlags{all: all}
}

// validatorFlags are the flags of the validators of inputs.
type validatorFlags struct {
	all []string
	of  map[string][]string // by validator
}

// The folders of tests of a package's own programs.
const (
	invalidInput  = "invalid_input"
	invalidOutput = "invalid_output"
	validOutput   = "valid_output"
)

// ownTests reads the inputs that the validators must reject, and the outputs that the checkers must accept or reject.
func (r *reader) ownTests(folder string) {
	dir := path.Join(source.DataDir, folder)
	group := r.ownArgs(path.Join(dir, testGroupYAML), caseArgs{})
	for _, f := range r.Below(dir) {
		stem, in := strings.CutSuffix(f, ".in")
		switch {
		case path.Base(f) == testGroupYAML && path.Dir(f) == dir, slices.Contains(besides, path.Ext(f)), path.Ext(f) == ".yaml" && r.Has(strings.TrimSuffix(f, ".yaml")+".in"):
		case in && folder == invalidInput:
			r.Package.Invalid = append(r.Package.Invalid, *r.ownInput(f, r.ownArgs(stem+".yaml", group)))
		case in && (!r.Has(stem+".ans") || !r.Has(stem+".out")):
			r.Warn(f, "", "is not run: %s.ans and %s.out must be there", path.Base(stem), path.Base(stem))
		case in:
			args := r.ownArgs(stem+".yaml", group)
			r.Package.CheckerTests = append(r.Package.CheckerTests, problem.CheckerTest{
				Input: r.File(f), Answer: r.File(stem + ".ans"), Output: r.File(stem + ".out"), Flags: args.output, Valid: r.ownInput(f, args),
				Wants: map[string]string{validOutput: "accepted", invalidOutput: "rejected"}[folder],
			})
		case slices.Contains([]string{".ans", ".out"}, path.Ext(f)):
			if !r.Has(strings.TrimSuffix(f, path.Ext(f)) + ".in") {
				r.Warn(f, "", "is not run: %s.in is missing", strings.TrimSuffix(path.Base(f), path.Ext(f)))
			}
		default:
			r.Warn(f, "", "is not part of a test")
		}
	}
}

// ownInput returns an input with the flags of its validators.
func (r *reader) ownInput(name string, args caseArgs) *problem.OwnInput {
	return &problem.OwnInput{File: r.File(name), Flags: args.input.all, FlagsBy: args.input.of}
}

// ownArgs reads the arguments of checkers and validators from a file, if it is there.
func (r *reader) ownArgs(file string, before caseArgs) caseArgs {
	if !r.Has(file) {
		return before
	}
	k := r.YAML(file)
	if flags, ok := k.List("output_validator_args", false); ok {
		before.output = flags
	}
	before.input = inputFlags(k, "input_validator_args", before.input)
	k.Node("args")
	k.Text("description")
	k.WarnUnknown()
	return before
}

const staticValidator = "static_validator"

// readStatic finds the program that looks at the submitted files.
func (r *reader) readStatic() {
	names, _ := r.Children(staticValidator)
	if len(names) == 0 {
		return
	}
	if r.Package.Answers {
		r.Refuse(staticValidator, "", "looks at programs, but with submit-answer there are none: remove it")
		return
	}
	all := r.Programs(staticValidator, r.Refuse)
	switch {
	case len(all) == 1:
		r.Package.Static = &all[0]
	case len(all) > 1:
		r.Refuse(staticValidator, "", "holds %d programs: it may be one, a file or a folder of files", len(all))
	case r.Refusals == 0:
		r.Refuse(staticValidator, "", "holds no program")
	}
}

// staticCase reads whether the submitted files are a test of g, which holds so many others, and what it is worth.
func (r *reader) staticCase(k *source.Keys, g *problem.Group, tests int) {
	const key, argsKey = "static_validation_score", "static_validator_args"
	args, given := k.List(argsKey, false)
	score, asked := k.Text(key)
	switch {
	case !asked && given:
		k.Refuse(argsKey, "is for no test: write %s too", key)
	case asked && r.Package.Static == nil && len(r.Below(staticValidator)) == 0:
		k.Refuse(key, "asks to look at the submitted files, but %s holds no program", staticValidator)
	}
	if !asked {
		return
	}
	r.hasStatic = true
	t := &problem.Test{Name: path.Join(g.Name, "static_validation"), Sample: g.Name == problem.SampleGroup, Flags: args}
	if r.Has(path.Join(source.DataDir, t.Name+".in")) {
		r.Refuse(path.Join(source.DataDir, t.Name+".in"), "", "has the name of the test of the submitted files: give it another")
	}
	g.Items = append(g.Items, problem.Item{Static: t})
	gr := &g.Grading
	switch {
	case score == string(problem.PassFail):
		if r.Package.Scoring && gr.Score != problem.PassFail && !t.Sample {
			k.Refuse(key, "is pass-fail, but score_aggregation is %s: write a number", gr.Score)
		}
		return
	case !r.Package.Scoring || gr.Score == problem.PassFail:
		k.Refuse(key, "is %q, but the group passes or fails as a whole: write pass-fail", score)
		return
	}
	top := k.Number(key, 0, 0, source.MaxScore)
	t.Points = &top
	switch {
	case top != float64(int64(top)):
		k.Refuse(key, "is %q: it must be a whole number or pass-fail", score)
	case gr.High != nil && top > *gr.High:
		k.Refuse(key, "is %s, more than the max_score %s of the group", source.Short(top), source.Short(*gr.High))
	case gr.Rule == problem.ScoreBounded && gr.Score == problem.Sum && tests > 0:
		gr.AcceptScore = (*gr.High - top) / float64(tests)
	}
}
