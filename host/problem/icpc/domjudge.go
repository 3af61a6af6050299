package icpc

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// The dialects of scoring in the legacy format, as [problem.NativeYAML] names them.
const (
	scoringKey      = "scoring"
	scoringKattis   = "kattis"
	scoringDOMjudge = "domjudge"
)

// kattisWords are flags of Kattis' default grader that DOMjudge has not.
var kattisWords = []string{"first_error", "worst_error", "no_errors", "always_accept", "accept_if_any_accepted"}

// dialect finds out whose arithmetic a scoring package of the legacy format is written for. Both dialects have the same
// files and keys: accept_score is for each test with Kattis and for the whole group with DOMjudge. A package says it in
// deepoj.yaml; else it is DOMjudge's if it has something that only DOMjudge reads, and nothing that only Kattis does.
func (r *reader) dialect() string {
	switch said := r.scoringSaid; {
	case !r.Package.Scoring:
		return scoringKattis
	case said != "":
		return said
	case r.points || len(r.Below(gradersDir)) > 0 || !r.Has(path.Join(source.DataDir, testdataYAML)):
		return scoringKattis
	}
	several := "" // a group whose accept_score means different things
	for _, f := range r.Below(source.DataDir) {
		if path.Base(f) != testdataYAML {
			continue
		}
		k := r.peek(f)
		flags, _ := k.Words("grader_flags")
		if k.Node("reject_score") != nil || k.Node("grading") != nil || slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(kattisWords, flag) }) {
			return scoringKattis
		}
		if k.Node("accept_score") != nil && k.Node("range") == nil && !slices.ContainsFunc(flags, func(flag string) bool { return flag != "sum" }) && r.inputs(path.Dir(f)) > 1 {
			several = f
		}
	}
	if r.scoredByDOMjudge() {
		r.Warn(source.ProblemYAML, "type", "is scoring, and the package is scored as DOMjudge does it, where accept_score is for a whole group: "+
			"write scoring: kattis into %s if it is for each test", problem.NativeYAML)
		return scoringDOMjudge
	}
	if several != "" {
		r.Warn(several, "accept_score", "is for each test of the group, as Kattis has it: write scoring: domjudge into %s if it is for the whole group, as DOMjudge has it", problem.NativeYAML)
	}
	return scoringKattis
}

// peek reads a file of YAML without a word about what is wrong with it, which whoever reads it later says.
func (r *reader) peek(file string) *source.Keys {
	return r.Quiet().YAML(file)
}

// inputs returns how many tests lie in a folder.
func (r *reader) inputs(dir string) (n int) {
	for _, f := range r.Below(dir) {
		if path.Dir(f) == dir && path.Ext(f) == ".in" {
			n++
		}
	}
	return n
}

// scoredByDOMjudge reports whether there is something that only DOMjudge reads: its own
// settings, or a score that a submission must get.
func (r *reader) scoredByDOMjudge() bool {
	if r.Has(sideINI) {
		return true
	}
	return slices.ContainsFunc(r.Below(source.SubmissionsDir), func(f string) bool {
		if r.Sizes[f] > source.MaxText || source.NoSubmission(path.Base(f)) != "" {
			return false
		}
		b, err := r.Read(f, source.MaxText)
		return err == nil && expectedScore.Match(b)
	})
}

// readDOMjudge reads the groups and tests of a package in DOMjudge's scoring dialect, in which groups inherit nothing.
func (r *reader) readDOMjudge() {
	for i := range r.Package.Checkers {
		r.Package.Checkers[i].Points = r.custom // their score.txt always counts
	}
	if r.Package.Interactor != nil {
		r.Package.Interactor.Points = true
	}
	if !r.Has(path.Join(source.DataDir, testdataYAML)) {
		r.Refuse(path.Join(source.DataDir, testdataYAML), "", "is missing: without it DOMjudge gives no scores; write one, or scoring: kattis into %s", problem.NativeYAML)
	}
	r.Package.Root = r.domjudgeGroup(source.DataDir, "")
	r.besideTests()
}

// domjudgeGroup reads a folder of tests, or of groups.
func (r *reader) domjudgeGroup(dir, name string) *problem.Group {
	g := &problem.Group{Name: name}
	file := path.Join(dir, testdataYAML)
	k := r.YAML(file)
	g.Grading = problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, Rule: problem.ScoreGroup}
	g.Grading.Break = k.Choice("on_reject", "break", "break", "continue", "first_error", "worst_error", "grade") != "continue"
	g.Grading.AcceptScore = k.Number("accept_score", 0, 0, source.MaxScore)
	g.Grading.Low, g.Grading.High = k.Scores("range")
	flags, _ := k.Words("grader_flags")
	for _, flag := range flags {
		switch mode := problem.ScoreMode(flag); {
		case slices.Contains([]problem.ScoreMode{problem.Sum, problem.Avg, problem.Min, problem.Max}, mode):
			g.Grading.Score = mode
		case flag == "ignore_sample":
			g.Grading.IgnoreSample = name == ""
		default:
			k.Warn("grader_flags", "holds %q, which DOMjudge does not know", flag)
		}
	}
	var own settings
	own.output, _ = k.Words("output_validator_flags")
	own.input, _ = k.Words("input_validator_flags")
	k.WarnUnknown()
	if name == "" && !r.Has(path.Join(source.DataDir, problem.SampleGroup, testdataYAML)) {
		g.Grading.IgnoreSample = true // it is no group to DOMjudge
	}
	r.items(g, dir, name, own, func(full, child string) *problem.Group { return r.domjudgeGroup(full, child) })
	r.countable(g, dir, file)
	return g
}

// countable refuses tests that DOMjudge would not count.
func (r *reader) countable(g *problem.Group, dir, file string) {
	tests, groups := 0, 0
	for _, it := range g.Items {
		if it.Test != nil {
			tests++
		} else if r.Has(path.Join(source.DataDir, it.Group.Name, testdataYAML)) {
			groups++
		}
	}
	sample := g.Name == problem.SampleGroup || strings.HasPrefix(g.Name, problem.SampleGroup+"/")
	switch {
	case sample && !r.Has(file):
	case tests+groups == 0 && g.Grading.AcceptScore > 0:
		r.Refuse(file, "accept_score", "gives %s points, and the group holds no test: put tests into it, or give no points", source.Short(g.Grading.AcceptScore))
	case tests > 0 && groups > 0:
		r.Refuse(dir, "", "holds tests and groups: DOMjudge would not count the tests, so put them into a group")
	case tests > 0 && !r.Has(file):
		r.Refuse(dir, "", "holds tests and no %s: DOMjudge would not count them, so write one", testdataYAML)
	}
}
