package icpc

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// caseArgs are the keys that a test group gives to its tests.
type caseArgs struct {
	output []string       // output_validator_args
	input  validatorFlags // input_validator_args
	args   []string
}

// testFile is a file that belongs to a test: group 1 is the test, group 2 the kind of file.
var testFile = regexp.MustCompile(`^(.+?)\.(in|ans|out|yaml|interaction|in\.statement|ans\.statement|in\.download|ans\.download|png|jpg|jpeg|svg)$`)

var filesFolder = regexp.MustCompile(`^(.*/)?[^/]+\.files/`)

// readGroups reads the groups and tests of a format that has a version.
func (r *reader) readGroups() {
	r.Package.Root = &problem.Group{Grading: problem.Grading{Break: !r.Package.Scoring, Verdict: problem.FirstError, Score: problem.Sum, IgnoreSample: r.Package.Scoring, AcceptScore: 1}}
	names, folder := r.Children(source.DataDir)
	for _, name := range names {
		full := path.Join(source.DataDir, name)
		switch {
		case name == testdataYAML && r.saysNothing(full):
			r.Warn(full, "", "belongs to the legacy format; it says nothing and has no effect")
		case name == testGroupYAML, name == testdataYAML:
			r.Refuse(full, "", "is for no group: write %s into data/sample, data/secret or a folder of data/secret", testGroupYAML)
		case !folder[name]:
			r.Warn(full, "", "is not part of a test")
		case name == problem.SampleGroup:
			r.Package.Root.Items = append(r.Package.Root.Items, problem.Item{Group: r.testGroup(name)})
		case name == problem.SecretGroup:
			r.Package.Root.Items = append(r.Package.Root.Items, problem.Item{Group: r.secret()})
		case name == invalidInput, name == invalidOutput, name == validOutput:
			r.ownTests(name)
		default:
			r.Warn(full, "", "is not judged: tests are in sample and secret")
		}
	}
	if g := r.Package.Root.Group(problem.SecretGroup); g == nil || len(g.Cases()) == 0 {
		if !r.hasInputs() {
			r.refuseUntested()
		}
		return
	}
	if r.Package.Static != nil && !r.hasStatic {
		r.Warn(staticValidator, "", "is never run: write static_validation_score into the %s of a group", testGroupYAML)
	}
	r.checkGroups()
}

// secret reads data/secret, which holds tests or groups of tests.
func (r *reader) secret() *problem.Group {
	dir := path.Join(source.DataDir, problem.SecretGroup)
	names, folder := r.Children(dir)
	var groups []string
	tests := false
	for _, name := range names {
		if folder[name] && !strings.HasSuffix(name, ".files") {
			groups = append(groups, name)
		}
		tests = tests || !folder[name] && path.Ext(name) == ".in"
	}
	if len(groups) == 0 {
		return r.testGroup(problem.SecretGroup)
	}
	if tests {
		r.Refuse(dir, "", "holds tests and folders: put all tests into folders, which are groups, or none")
	}
	g := &problem.Group{Name: problem.SecretGroup}
	if args := r.testGroupYAML(g, 0); len(args.output) > 0 {
		file, key := path.Join(dir, testGroupYAML), "output_validator_args"
		if r.Package.Format == problem.Format202307 { // drafts of it differ
			r.Refuse(file, key, "would not reach the groups, which do not inherit: write it into the %s of each", testGroupYAML)
		} else {
			r.Warn(file, key, "has no effect: groups do not inherit")
		}
	}
	first := len(g.Items)
	for _, name := range groups {
		g.Items = append(g.Items, problem.Item{Group: r.testGroup(path.Join(problem.SecretGroup, name))})
	}
	slices.SortFunc(g.Items[first:], func(a, b problem.Item) int { return strings.Compare(a.Group.Name, b.Group.Name) })
	return g
}

// testGroup reads a group whose tests are in a folder and those below it.
func (r *reader) testGroup(name string) *problem.Group {
	g := &problem.Group{Name: name}
	dir := path.Join(source.DataDir, name)
	files := r.Below(dir)
	n := 0
	for _, f := range files {
		if path.Ext(f) == ".in" && !filesFolder.MatchString(f) {
			n++
		}
	}
	args := r.testGroupYAML(g, n)
	first := len(g.Items)
	for _, f := range files {
		base := path.Base(f)
		m := testFile.FindStringSubmatch(base)
		switch {
		case filesFolder.MatchString(f):
			r.checkTestFile(f)
		case base == testdataYAML && r.saysNothing(f):
			r.Warn(f, "", "belongs to the legacy format; it says nothing and has no effect")
		case base == testdataYAML:
			r.Refuse(f, "", "belongs to the legacy format: write %s", testGroupYAML)
		case base == testGroupYAML && path.Dir(f) == dir:
		case base == testGroupYAML:
			r.Refuse(f, "", "is below the group %s: a group has no groups in it", name)
		case m == nil:
			r.Warn(f, "", "is not part of a test")
		case m[2] != "in" && !r.Has(path.Join(path.Dir(f), m[1]+".in")) && r.shownAlone(path.Join(path.Dir(f), m[1])):
		case m[2] != "in" && r.Lacks(path.Join(path.Dir(f), m[1]+".in")):
			r.Refuse(f, "", "has no input: %s.in is missing", m[1])
		case m[2] == "in":
			if t := r.testCase(f, m[1], args); t != nil {
				g.Items = append(g.Items, problem.Item{Test: t})
			}
		}
	}
	slices.SortFunc(g.Items[first:], func(a, b problem.Item) int { return strings.Compare(a.Test.Name, b.Test.Name) })
	switch high := g.Grading.High; {
	case len(g.Items) > 0 || name == problem.SampleGroup && (len(files) == 0 || slices.ContainsFunc(files, func(f string) bool { return path.Ext(f) == ".interaction" })):
	case name != problem.SampleGroup && r.Package.Scoring && (high == nil || *high > 0):
		r.Refuse(dir, "", "holds no test, and the group is worth points: put tests into it, or give it the max_score 0")
	default:
		r.Warn(dir, "", "holds no test")
	}
	return g
}

// testCase reads the test of an input. It returns nil if it has no answer.
func (r *reader) testCase(input, stem string, args caseArgs) *problem.Test {
	stem = path.Join(path.Dir(input), stem)
	if r.Lacks(stem + ".ans") {
		r.Refuse(input, "", "has no answer: %s.ans is missing", path.Base(stem))
		return nil
	}
	k := r.YAML(stem + ".yaml")
	args = r.caseArgs(k, args)
	k.Text("hint")
	k.Text("description")
	k.RefuseUnknown()
	if out := stem + ".out"; r.Has(out) && strings.HasPrefix(stem, path.Join(source.DataDir, problem.SampleGroup)+"/") && !r.interactive && !r.passes {
		r.Package.CheckerTests = append(r.Package.CheckerTests, problem.CheckerTest{
			Input: r.File(input), Answer: r.File(stem + ".ans"), Output: r.File(out), Flags: args.output, Wants: "accepted",
		})
	}
	return &problem.Test{
		Name: strings.TrimPrefix(stem, source.DataDir+"/"), Sample: strings.HasPrefix(stem, path.Join(source.DataDir, problem.SampleGroup)+"/"),
		Input: r.File(input), Answer: r.File(stem + ".ans"), Flags: args.output,
		Args: args.args, Files: r.testFiles(stem + ".files"), InputFlags: args.input.all, InputFlagsOf: args.input.of,
	}
}

// checkTestFile refuses a file for the working directory of programs that cannot be put there.
func (r *reader) checkTestFile(name string) {
	dir := strings.TrimSuffix(filesFolder.FindString(name), "/")
	switch {
	case !r.Has(strings.TrimSuffix(dir, ".files") + ".in"):
		r.Refuse(name, "", "is for no test: %s.in is missing", strings.TrimSuffix(path.Base(dir), ".files"))
	case r.Sizes[name] > problem.MaxTestFile:
		r.Refuse(name, "", "is longer than %d MiB: it is put beside a program for each test", problem.MaxTestFile>>20)
	}
}

// testFiles returns the files in a folder by their names there.
func (r *reader) testFiles(dir string) []problem.NamedFile {
	var all []problem.NamedFile
	for _, f := range r.Below(dir) {
		all = append(all, problem.NamedFile{Name: strings.TrimPrefix(f, dir+"/"), File: r.File(f)})
	}
	return all
}

// caseArgs reads the keys that a group and a test have in common.
func (r *reader) caseArgs(k *source.Keys, args caseArgs) caseArgs {
	if list, ok := k.List("args", false); ok {
		args.args = list
	}
	if list, ok := k.List("output_validator_args", false); ok {
		args.output = list
	}
	args.input = inputFlags(k, "input_validator_args", args.input)
	for _, visualizer := range []string{"input_visualizer_args", "output_visualizer_args"} {
		k.List(visualizer, false)
	}
	if k.Flag("full_feedback", false) && !strings.HasPrefix(k.File, path.Join(source.DataDir, problem.SampleGroup)+"/") {
		k.Warn("full_feedback", "has no effect: secret tests are not shown")
	}
	return args
}

// testGroupYAML reads how g is graded, which holds so many tests; 0 means that it holds groups.
func (r *reader) testGroupYAML(g *problem.Group, tests int) caseArgs {
	k := r.YAML(path.Join(source.DataDir, g.Name, testGroupYAML))
	args := r.caseArgs(k, caseArgs{})
	g.Grading = problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}
	sample := g.Name == problem.SampleGroup
	switch {
	case !r.Package.Scoring || sample:
		for _, key := range []string{"max_score", "score_aggregation", "require_pass"} {
			switch {
			case k.Node(key) == nil:
			case sample:
				k.Refuse(key, "has no place in sample, which never scores: remove it")
			default:
				k.Refuse(key, "needs a problem of the type scoring: remove it, or write type: scoring into %s", source.ProblemYAML)
			}
		}
		if sample && r.Package.Scoring {
			g.Grading.AcceptScore, g.Grading.Rule = 0, problem.ScoreIgnored
		}
	default:
		r.scoring(k, g, tests)
	}
	r.staticCase(k, g, tests)
	k.RefuseUnknown()
	return args
}

// scoring reads how the scores of a group come about.
func (r *reader) scoring(k *source.Keys, g *problem.Group, tests int) {
	gr := &g.Grading
	secret := g.Name == problem.SecretGroup
	aggregation := string(problem.PassFail)
	if secret {
		aggregation = string(problem.Sum)
		gr.High = new(100.0)
	}
	if s, ok := k.Text("max_score"); ok {
		if gr.High = nil; s != "unbounded" {
			top := k.Number("max_score", 0, 0, source.MaxScore)
			if top != float64(int64(top)) {
				k.Refuse("max_score", "is %q: it must be a whole number or unbounded", s)
			}
			gr.High = &top
		}
	}
	gr.Score = problem.ScoreMode(k.Choice("score_aggregation", aggregation, string(problem.PassFail), string(problem.Sum), string(problem.Min)))
	gr.Requires, _ = k.List("require_pass", true)
	gr.AcceptAny = gr.Score == problem.Sum
	gr.Break = gr.Score != problem.Sum
	gr.AcceptScore, gr.Rule = 0, problem.ScoreFree
	switch {
	case gr.Score == problem.PassFail && gr.High == nil:
		k.Refuse("max_score", "is missing or unbounded: a group that passes or fails needs a number")
	case gr.Score == problem.PassFail:
		gr.Rule = problem.ScoreNone
	case gr.High == nil && tests > 0 && !r.custom && !r.bound():
		k.Refuse("max_score", "is missing or unbounded, so tests need scores from a checker: write a number, or a program in %s", outputValidator)
	case gr.High != nil:
		gr.Rule, gr.AcceptScore = problem.ScoreBounded, *gr.High
		if gr.Score == problem.Sum && tests > 0 {
			gr.AcceptScore /= float64(tests)
		}
	}
}

// bound reports whether deepoj.yaml names who decides.
func (r *reader) bound() bool { return r.Has(problem.NativeYAML) }

// checkGroups refuses what groups say of each other and cannot be.
func (r *reader) checkGroups() {
	secret := r.Package.Root.Group(problem.SecretGroup)
	before := map[string]*problem.Group{}
	if g := r.Package.Root.Group(problem.SampleGroup); g != nil {
		before[g.Name] = g
	}
	r.requires(secret, before)
	var tops []float64
	for _, it := range secret.Items {
		g := it.Group
		if it.Static != nil && it.Static.Points != nil {
			tops = append(tops, *it.Static.Points)
		}
		if g == nil || !r.Package.Scoring {
			continue
		}
		file := path.Join(source.DataDir, g.Name, testGroupYAML)
		r.requires(g, before)
		before[g.Name] = g
		switch {
		case secret.Grading.High == nil:
		case g.Grading.High == nil && g.Grading.Score != problem.PassFail:
			r.Refuse(file, "max_score", "is missing or unbounded, but data/secret has the bound %s: write a number", source.Short(*secret.Grading.High))
		case g.Grading.High != nil:
			tops = append(tops, *g.Grading.High)
		}
		if secret.Grading.Score == problem.PassFail && g.Grading.Score != problem.PassFail {
			r.Refuse(file, "score_aggregation", "is %s, but data/secret passes or fails as a whole: write pass-fail", g.Grading.Score)
		}
	}
	if len(tops) == 0 || secret.Grading.High == nil || secret.Grading.Score == problem.PassFail {
		return
	}
	file := path.Join(source.DataDir, problem.SecretGroup, testGroupYAML)
	switch top := secret.Grading.Score.Of(tops); {
	case top > *secret.Grading.High:
		r.Refuse(file, "max_score", "is %s, but the groups give up to %s: make them agree", source.Short(*secret.Grading.High), source.Short(top))
	case top < *secret.Grading.High:
		r.Warn(file, "max_score", "is %s, but the groups give at most %s", source.Short(*secret.Grading.High), source.Short(top))
	}
}

// requires checks the groups that g requires against those that come before it.
func (r *reader) requires(g *problem.Group, before map[string]*problem.Group) {
	file := path.Join(source.DataDir, g.Name, testGroupYAML)
	for _, name := range g.Grading.Requires {
		switch other := before[name]; {
		case g.Name == problem.SecretGroup && name != problem.SampleGroup:
			r.Refuse(file, "require_pass", "is %q: data/secret can require sample only", name)
		case other == nil:
			r.Refuse(file, "require_pass", "is %q: it must be sample or a group that comes before %s, such as secret/group1", name, g.Name)
		case name != problem.SampleGroup && other.Grading.Score != problem.PassFail:
			r.Refuse(file, "require_pass", "is %q, whose score_aggregation is %s: only a group with pass-fail can be required", name, other.Grading.Score)
		}
	}
}
