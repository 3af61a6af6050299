package problem

import (
	"path"
	"slices"
	"strings"
)

// ScoreGroup is the rule of DOMjudge's scoring dialect of the legacy format: the scores
// that checkers give in a group are those of its tests, and where they give none, all
// of it has AcceptScore once, if all is accepted.
const ScoreGroup ScoreRule = "group"

// The dialects of scoring in the legacy format, as [nativeYAML] names them.
const (
	scoringKey      = "scoring"
	scoringKattis   = "kattis"
	scoringDOMjudge = "domjudge"
)

// kattisWords are flags of Kattis' default grader that DOMjudge has not.
var kattisWords = []string{"first_error", "worst_error", "no_errors", "always_accept", "accept_if_any_accepted"}

// dialect finds out whose arithmetic a scoring package of the legacy format is written
// for. Both dialects have the same files and keys: accept_score is for each test with
// Kattis and for the whole group with DOMjudge. A package says it in deepoj.yaml; else
// it is DOMjudge's if it has something that only DOMjudge reads, and nothing that only
// Kattis does.
func (r *reader) dialect() string {
	switch said := r.scoringSaid; {
	case !r.p.Scoring:
		return scoringKattis
	case said != "":
		return said
	case r.points || len(r.below(gradersDir)) > 0 || !r.has(path.Join(dataDir, testdataYAML)):
		return scoringKattis
	}
	several := "" // a group whose accept_score means different things
	for _, f := range r.below(dataDir) {
		if path.Base(f) != testdataYAML {
			continue
		}
		k := r.peek(f)
		flags, _ := k.words("grader_flags")
		if k.node("reject_score") != nil || k.node("grading") != nil || slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(kattisWords, flag) }) {
			return scoringKattis
		}
		if k.node("accept_score") != nil && k.node("range") == nil && !slices.ContainsFunc(flags, func(flag string) bool { return flag != "sum" }) && r.inputs(path.Dir(f)) > 1 {
			several = f
		}
	}
	if r.scoredByDOMjudge() {
		r.warn(problemYAML, "type", "is scoring, and the package is scored as DOMjudge does it, where accept_score is for a whole group: "+
			"write scoring: kattis into %s if it is for each test", nativeYAML)
		return scoringDOMjudge
	}
	if several != "" {
		r.warn(several, "accept_score", "is for each test of the group, as Kattis has it: write scoring: domjudge into %s if it is for the whole group, as DOMjudge has it", nativeYAML)
	}
	return scoringKattis
}

// peek reads a file of YAML without a word about what is wrong with it, which whoever
// reads it later says.
func (r *reader) peek(file string) *keys {
	quiet := &reader{fsys: r.fsys, p: r.p, all: r.all, links: r.links}
	return quiet.yaml(file)
}

// inputs returns how many tests lie in a folder.
func (r *reader) inputs(dir string) (n int) {
	for _, f := range r.below(dir) {
		if path.Dir(f) == dir && path.Ext(f) == ".in" {
			n++
		}
	}
	return n
}

// scoredByDOMjudge reports whether there is something that only DOMjudge reads: its own
// settings, or a score that a submission must get.
func (r *reader) scoredByDOMjudge() bool {
	if r.has(sideINI) {
		return true
	}
	return slices.ContainsFunc(r.below(submissionsDir), func(f string) bool {
		if r.all[f] > maxText || noSubmission(path.Base(f)) != "" {
			return false
		}
		b, err := r.read(f, maxText)
		return err == nil && expectedScore.Match(b)
	})
}

// readDOMjudge reads the groups and tests of a package in DOMjudge's scoring dialect,
// in which groups inherit nothing.
func (r *reader) readDOMjudge() {
	for i := range r.p.Checkers {
		r.p.Checkers[i].Points = r.custom // their score.txt always counts
	}
	if r.p.Interactor != nil {
		r.p.Interactor.Points = true
	}
	if !r.has(path.Join(dataDir, testdataYAML)) {
		r.refuse(path.Join(dataDir, testdataYAML), "", "is missing: without it DOMjudge gives no scores; write one, or scoring: kattis into %s", nativeYAML)
	}
	r.p.Root = r.domjudgeGroup(dataDir, "")
	r.besideTests()
}

// domjudgeGroup reads a folder of tests, or of groups.
func (r *reader) domjudgeGroup(dir, name string) *Group {
	g := &Group{Name: name}
	file := path.Join(dir, testdataYAML)
	k := r.yaml(file)
	g.Grading = Grading{Break: true, Verdict: FirstError, Score: Sum, Rule: ScoreGroup}
	g.Grading.Break = k.choice("on_reject", "break", "break", "continue", "first_error", "worst_error", "grade") != "continue"
	g.Grading.AcceptScore = k.number("accept_score", 0, 0, maxScore)
	g.Grading.Low, g.Grading.High = k.scores("range")
	flags, _ := k.words("grader_flags")
	for _, flag := range flags {
		switch mode := ScoreMode(flag); {
		case slices.Contains([]ScoreMode{Sum, Avg, Min, Max}, mode):
			g.Grading.Score = mode
		case flag == "ignore_sample":
			g.Grading.IgnoreSample = name == ""
		default:
			k.warn("grader_flags", "holds %q, which DOMjudge does not know", flag)
		}
	}
	var own settings
	own.output, _ = k.words("output_validator_flags")
	own.input, _ = k.words("input_validator_flags")
	k.unknown()
	if name == "" && !r.has(path.Join(dataDir, sampleDir, testdataYAML)) {
		g.Grading.IgnoreSample = true // it is no group to DOMjudge
	}
	r.items(g, dir, name, own, func(full, child string) *Group { return r.domjudgeGroup(full, child) })
	r.countable(g, dir, file)
	return g
}

// countable refuses tests that DOMjudge would not count.
func (r *reader) countable(g *Group, dir, file string) {
	tests, groups := 0, 0
	for _, it := range g.Items {
		if it.Test != nil {
			tests++
		} else if r.has(path.Join(dataDir, it.Group.Name, testdataYAML)) {
			groups++
		}
	}
	sample := g.Name == sampleDir || strings.HasPrefix(g.Name, sampleDir+"/")
	switch {
	case sample && !r.has(file):
	case tests+groups == 0 && g.Grading.AcceptScore > 0:
		r.refuse(file, "accept_score", "gives %s points, and the group holds no test: put tests into it, or give no points", short(g.Grading.AcceptScore))
	case tests > 0 && groups > 0:
		r.refuse(dir, "", "holds tests and groups: DOMjudge would not count the tests, so put them into a group")
	case tests > 0 && !r.has(file):
		r.refuse(dir, "", "holds tests and no %s: DOMjudge would not count them, so write one", testdataYAML)
	}
}
