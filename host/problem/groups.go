package problem

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ScoreRule says what a checker may say about the score of a test.
type ScoreRule string

// The score rules. The legacy format has none: there a score counts if the
// checker may give one at all.
const (
	ScoreIgnored ScoreRule = "ignored"   // tests have no score, whatever a checker says
	ScoreNone    ScoreRule = "none"      // a checker must give no score
	ScoreBounded ScoreRule = "bounded"   // a score up to AcceptScore, a part of it, or nothing, which means all
	ScoreFree    ScoreRule = "unbounded" // a checker must give a score
	ScorePoints  ScoreRule = "points"    // an accepted test gives its points, or fewer if the checker says so
)

// caseArgs are the keys that a test group gives to its tests.
type caseArgs struct {
	output []string       // output_validator_args
	input  validatorFlags // input_validator_args
	args   []string
}

// testFile is a file that belongs to a test: group 1 is the test, group 2 the
// kind of file.
var testFile = regexp.MustCompile(`^(.+?)\.(in|ans|out|yaml|interaction|in\.statement|ans\.statement|in\.download|ans\.download|png|jpg|jpeg|svg)$`)

var filesFolder = regexp.MustCompile(`^(.*/)?[^/]+\.files/`)

// readGroups reads the groups and tests of a format that has a version.
func (r *reader) readGroups() {
	r.p.Root = &Group{Grading: Grading{Break: !r.p.Scoring, Verdict: FirstError, Score: Sum, IgnoreSample: r.p.Scoring, AcceptScore: 1}}
	names, folder := r.children(dataDir)
	for _, name := range names {
		full := path.Join(dataDir, name)
		switch {
		case name == testdataYAML && r.saysNothing(full):
			r.warn(full, "", "belongs to the legacy format; it says nothing and has no effect")
		case name == testGroupYAML, name == testdataYAML:
			r.refuse(full, "", "is for no group: write %s into data/sample, data/secret or a folder of data/secret", testGroupYAML)
		case !folder[name]:
			r.warn(full, "", "is not part of a test")
		case name == sampleDir:
			r.p.Root.Items = append(r.p.Root.Items, Item{Group: r.testGroup(name)})
		case name == secretDir:
			r.p.Root.Items = append(r.p.Root.Items, Item{Group: r.secret()})
		case name == invalidInput, name == invalidOutput, name == validOutput:
			r.ownTests(name)
		default:
			r.warn(full, "", "is not judged: tests are in sample and secret")
		}
	}
	if g := r.p.Root.Group(secretDir); g == nil || len(g.Cases()) == 0 {
		if !r.hasInputs() {
			r.refuse(path.Join(dataDir, secretDir), "", "holds no test")
		}
		return
	}
	if r.p.Static != nil && !r.hasStatic {
		r.warn(staticValidator, "", "is never run: write static_validation_score into the %s of a group", testGroupYAML)
	}
	r.checkGroups()
}

// secret reads data/secret, which holds tests or groups of tests.
func (r *reader) secret() *Group {
	dir := path.Join(dataDir, secretDir)
	names, folder := r.children(dir)
	var groups []string
	tests := false
	for _, name := range names {
		if folder[name] && !strings.HasSuffix(name, ".files") {
			groups = append(groups, name)
		}
		tests = tests || !folder[name] && path.Ext(name) == ".in"
	}
	if len(groups) == 0 {
		return r.testGroup(secretDir)
	}
	if tests {
		r.refuse(dir, "", "holds tests and folders: put all tests into folders, which are groups, or none")
	}
	g := &Group{Name: secretDir}
	if args := r.testGroupYAML(g, 0); len(args.output) > 0 {
		file, key := path.Join(dir, testGroupYAML), "output_validator_args"
		if r.p.Format == Format202307 { // drafts of it differ
			r.refuse(file, key, "would not reach the groups, which do not inherit: write it into the %s of each", testGroupYAML)
		} else {
			r.warn(file, key, "has no effect: groups do not inherit")
		}
	}
	first := len(g.Items)
	for _, name := range groups {
		g.Items = append(g.Items, Item{Group: r.testGroup(path.Join(secretDir, name))})
	}
	slices.SortFunc(g.Items[first:], func(a, b Item) int { return strings.Compare(a.Group.Name, b.Group.Name) })
	return g
}

// testGroup reads a group whose tests are in a folder and those below it.
func (r *reader) testGroup(name string) *Group {
	g := &Group{Name: name}
	dir := path.Join(dataDir, name)
	files := r.below(dir)
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
			r.warn(f, "", "belongs to the legacy format; it says nothing and has no effect")
		case base == testdataYAML:
			r.refuse(f, "", "belongs to the legacy format: write %s", testGroupYAML)
		case base == testGroupYAML && path.Dir(f) == dir:
		case base == testGroupYAML:
			r.refuse(f, "", "is below the group %s: a group has no groups in it", name)
		case m == nil:
			r.warn(f, "", "is not part of a test")
		case m[2] != "in" && !r.has(path.Join(path.Dir(f), m[1]+".in")) && r.shownAlone(path.Join(path.Dir(f), m[1])):
		case m[2] != "in" && r.lacks(path.Join(path.Dir(f), m[1]+".in")):
			r.refuse(f, "", "has no input: %s.in is missing", m[1])
		case m[2] == "in":
			if t := r.testCase(f, m[1], args); t != nil {
				g.Items = append(g.Items, Item{Test: t})
			}
		}
	}
	slices.SortFunc(g.Items[first:], func(a, b Item) int { return strings.Compare(a.Test.Name, b.Test.Name) })
	switch high := g.Grading.High; {
	case len(g.Items) > 0 || name == sampleDir && (len(files) == 0 || slices.ContainsFunc(files, func(f string) bool { return path.Ext(f) == ".interaction" })):
	case name != sampleDir && r.p.Scoring && (high == nil || *high > 0):
		r.refuse(dir, "", "holds no test, and the group is worth points: put tests into it, or give it the max_score 0")
	default:
		r.warn(dir, "", "holds no test")
	}
	return g
}

// testCase reads the test of an input. It returns nil if it has no answer.
func (r *reader) testCase(input, stem string, args caseArgs) *Test {
	stem = path.Join(path.Dir(input), stem)
	if r.lacks(stem + ".ans") {
		r.refuse(input, "", "has no answer: %s.ans is missing", path.Base(stem))
		return nil
	}
	k := r.yaml(stem + ".yaml")
	args = r.caseArgs(k, args)
	k.text("hint")
	k.text("description")
	k.unknownRefused()
	if out := stem + ".out"; r.has(out) && strings.HasPrefix(stem, path.Join(dataDir, sampleDir)+"/") && !r.interactive && !r.passes {
		r.p.CheckerTests = append(r.p.CheckerTests, CheckerTest{
			Input: r.file(input), Answer: r.file(stem + ".ans"), Output: r.file(out), Flags: args.output, Wants: "accepted",
		})
	}
	return &Test{
		Name: strings.TrimPrefix(stem, dataDir+"/"), Sample: strings.HasPrefix(stem, path.Join(dataDir, sampleDir)+"/"),
		Input: r.file(input), Answer: r.file(stem + ".ans"), Flags: args.output,
		Args: args.args, Files: r.testFiles(stem + ".files"), InputFlags: args.input.all, InputFlagsOf: args.input.of,
	}
}

// checkTestFile refuses a file for the working directory of programs that cannot
// be put there.
func (r *reader) checkTestFile(name string) {
	dir := strings.TrimSuffix(filesFolder.FindString(name), "/")
	switch {
	case !r.has(strings.TrimSuffix(dir, ".files") + ".in"):
		r.refuse(name, "", "is for no test: %s.in is missing", strings.TrimSuffix(path.Base(dir), ".files"))
	case r.all[name] > MaxTestFile:
		r.refuse(name, "", "is longer than %d MiB: it is put beside a program for each test", MaxTestFile>>20)
	}
}

// MaxTestFile bounds a file for the working directory of programs, in bytes.
const MaxTestFile = 64 << 20

// testFiles returns the files in a folder by their names there.
func (r *reader) testFiles(dir string) []NamedFile {
	var all []NamedFile
	for _, f := range r.below(dir) {
		all = append(all, NamedFile{Name: strings.TrimPrefix(f, dir+"/"), File: r.file(f)})
	}
	return all
}

// caseArgs reads the keys that a group and a test have in common.
func (r *reader) caseArgs(k *keys, args caseArgs) caseArgs {
	if list, ok := k.list("args", false); ok {
		args.args = list
	}
	if list, ok := k.list("output_validator_args", false); ok {
		args.output = list
	}
	args.input = k.inputFlags("input_validator_args", args.input)
	for _, visualizer := range []string{"input_visualizer_args", "output_visualizer_args"} {
		k.list(visualizer, false)
	}
	if k.flag("full_feedback", false) && !strings.HasPrefix(k.file, path.Join(dataDir, sampleDir)+"/") {
		k.warn("full_feedback", "has no effect: secret tests are not shown")
	}
	return args
}

// testGroupYAML reads how g is graded, which holds so many tests; 0 means that it
// holds groups.
func (r *reader) testGroupYAML(g *Group, tests int) caseArgs {
	k := r.yaml(path.Join(dataDir, g.Name, testGroupYAML))
	args := r.caseArgs(k, caseArgs{})
	g.Grading = Grading{Break: true, Verdict: FirstError, Score: Sum, AcceptScore: 1}
	sample := g.Name == sampleDir
	switch {
	case !r.p.Scoring || sample:
		for _, key := range []string{"max_score", "score_aggregation", "require_pass"} {
			switch {
			case k.node(key) == nil:
			case sample:
				k.refuse(key, "has no place in sample, which never scores: remove it")
			default:
				k.refuse(key, "needs a problem of the type scoring: remove it, or write type: scoring into %s", problemYAML)
			}
		}
		if sample && r.p.Scoring {
			g.Grading.AcceptScore, g.Grading.Rule = 0, ScoreIgnored
		}
	default:
		r.scoring(k, g, tests)
	}
	r.staticCase(k, g, tests)
	k.unknownRefused()
	return args
}

// scoring reads how the scores of a group come about.
func (r *reader) scoring(k *keys, g *Group, tests int) {
	gr := &g.Grading
	secret := g.Name == secretDir
	aggregation := string(PassFail)
	if secret {
		aggregation = string(Sum)
		gr.High = new(100.0)
	}
	if s, ok := k.text("max_score"); ok {
		if gr.High = nil; s != "unbounded" {
			top := k.number("max_score", 0, 0, maxScore)
			if top != float64(int64(top)) {
				k.refuse("max_score", "is %q: it must be a whole number or unbounded", s)
			}
			gr.High = &top
		}
	}
	gr.Score = ScoreMode(k.choice("score_aggregation", aggregation, string(PassFail), string(Sum), string(Min)))
	gr.Requires, _ = k.list("require_pass", true)
	gr.AcceptAny = gr.Score == Sum
	gr.Break = gr.Score != Sum
	gr.AcceptScore, gr.Rule = 0, ScoreFree
	switch {
	case gr.Score == PassFail && gr.High == nil:
		k.refuse("max_score", "is missing or unbounded: a group that passes or fails needs a number")
	case gr.Score == PassFail:
		gr.Rule = ScoreNone
	case gr.High == nil && tests > 0 && !r.custom && !r.bound():
		k.refuse("max_score", "is missing or unbounded, so tests need scores from a checker: write a number, or a program in %s", outputValidator)
	case gr.High != nil:
		gr.Rule, gr.AcceptScore = ScoreBounded, *gr.High
		if gr.Score == Sum && tests > 0 {
			gr.AcceptScore /= float64(tests)
		}
	}
}

// bound reports whether deepoj.yaml names who decides.
func (r *reader) bound() bool { return r.has(nativeYAML) }

// checkGroups refuses what groups say of each other and cannot be.
func (r *reader) checkGroups() {
	secret := r.p.Root.Group(secretDir)
	before := map[string]*Group{}
	if g := r.p.Root.Group(sampleDir); g != nil {
		before[g.Name] = g
	}
	r.requires(secret, before)
	var tops []float64
	for _, it := range secret.Items {
		g := it.Group
		if it.Static != nil && it.Static.Points != nil {
			tops = append(tops, *it.Static.Points)
		}
		if g == nil || !r.p.Scoring {
			continue
		}
		file := path.Join(dataDir, g.Name, testGroupYAML)
		r.requires(g, before)
		before[g.Name] = g
		switch {
		case secret.Grading.High == nil:
		case g.Grading.High == nil && g.Grading.Score != PassFail:
			r.refuse(file, "max_score", "is missing or unbounded, but data/secret has the bound %s: write a number", short(*secret.Grading.High))
		case g.Grading.High != nil:
			tops = append(tops, *g.Grading.High)
		}
		if secret.Grading.Score == PassFail && g.Grading.Score != PassFail {
			r.refuse(file, "score_aggregation", "is %s, but data/secret passes or fails as a whole: write pass-fail", g.Grading.Score)
		}
	}
	if len(tops) == 0 || secret.Grading.High == nil || secret.Grading.Score == PassFail {
		return
	}
	file := path.Join(dataDir, secretDir, testGroupYAML)
	switch top := secret.Grading.Score.Of(tops); {
	case top > *secret.Grading.High:
		r.refuse(file, "max_score", "is %s, but the groups give up to %s: make them agree", short(*secret.Grading.High), short(top))
	case top < *secret.Grading.High:
		r.warn(file, "max_score", "is %s, but the groups give at most %s", short(*secret.Grading.High), short(top))
	}
}

// requires checks the groups that g requires against those that come before it.
func (r *reader) requires(g *Group, before map[string]*Group) {
	file := path.Join(dataDir, g.Name, testGroupYAML)
	for _, name := range g.Grading.Requires {
		switch other := before[name]; {
		case g.Name == secretDir && name != sampleDir:
			r.refuse(file, "require_pass", "is %q: data/secret can require sample only", name)
		case other == nil:
			r.refuse(file, "require_pass", "is %q: it must be sample or a group that comes before %s, such as secret/group1", name, g.Name)
		case name != sampleDir && other.Grading.Score != PassFail:
			r.refuse(file, "require_pass", "is %q, whose score_aggregation is %s: only a group with pass-fail can be required", name, other.Grading.Score)
		}
	}
}

// shown returns the files that the statement shows of a sample. An interaction
// stands alone.
func (r *reader) shown(t *Test) (input, output *File) {
	stem := strings.TrimSuffix(t.Input.Path, ".in")
	there := func(ending string) bool { return r.has(stem + ending) }
	pick := func(endings ...string) *File {
		for _, ending := range endings {
			if there(ending) {
				f := r.file(stem + ending)
				return &f
			}
		}
		return nil
	}
	if there(".out") && there(".ans.statement") {
		r.refuse(stem+".out", "", "is there beside %s.ans.statement: remove one of them", path.Base(stem))
	}
	if there(".interaction") {
		for _, other := range []string{".out", ".in.statement", ".ans.statement"} {
			if there(other) {
				r.refuse(stem+other, "", "is there beside %s.interaction, which is shown alone: remove one of them", path.Base(stem))
			}
		}
		return nil, pick(".interaction")
	}
	return pick(".in.statement", ".in"), pick(".ans.statement", ".out", ".ans")
}
