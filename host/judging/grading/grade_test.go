package grading

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// tested makes a group of tests whose verdicts are in their names.
func tested(name string, g problem.Grading, verdicts ...judge.Verdict) *problem.Group {
	group := &problem.Group{Name: name, Grading: g}
	for _, v := range verdicts {
		group.Items = append(group.Items, problem.Item{Test: &problem.Test{Name: string(v)}})
	}
	return group
}

// grouped makes a group of groups.
func grouped(name string, g problem.Grading, groups ...*problem.Group) *problem.Group {
	group := &problem.Group{Name: name, Grading: g}
	for _, sub := range groups {
		group.Items = append(group.Items, problem.Item{Group: sub})
	}
	return group
}

// outcome is what grading a tree gave.
type outcome struct {
	Mark
	groups          []judge.GroupResult
	judged, skipped []string
}

func gradeTree(t testing.TB, root *problem.Group, scoring bool) outcome {
	t.Helper()
	var o outcome
	parents := map[*problem.Test]*problem.Group{}
	var walk func(*problem.Group)
	walk = func(g *problem.Group) {
		for _, it := range g.Items {
			if it.Group != nil {
				walk(it.Group)
			} else {
				parents[it.Test] = g
			}
		}
	}
	walk(root)
	g := &Grader{
		Scoring: scoring,
		Test: func(t *problem.Test) (Mark, error) {
			o.judged = append(o.judged, t.Name)
			m := Mark{Verdict: judge.Verdict(t.Name), Score: parents[t].Grading.RejectScore}
			if m.Verdict == judge.AC {
				m.Score = parents[t].Grading.AcceptScore
			}
			return m, nil
		},
		Skip: func(t *problem.Test) { o.skipped = append(o.skipped, t.Name) },
	}
	m, err := g.Group(root)
	if err != nil {
		t.Fatal(err)
	}
	o.Mark, o.groups = m, g.Groups
	return o
}

func TestGroupsAreGradedByTheirRules(t *testing.T) {
	t.Parallel()
	base := problem.Grading{Verdict: problem.WorstError, Score: problem.Sum, AcceptScore: 1}
	with := func(change func(*problem.Grading)) problem.Grading { g := base; change(&g); return g }
	stop := with(func(g *problem.Grading) { g.Break = true })
	minimum := with(func(g *problem.Grading) { g.Break, g.Score, g.AcceptScore = true, problem.Min, 30 })
	anyOf := with(func(g *problem.Grading) { g.Verdict, g.AcceptAny = problem.FirstError, true })
	tests := map[string]struct {
		root    *problem.Group
		verdict judge.Verdict
		score   float64
		judged  int
		formula string
	}{
		"an empty group is accepted with 0":      {tested("", base), judge.AC, 0, 0, "sum()"},
		"all accepted":                           {tested("", base, "AC", "AC", "AC"), judge.AC, 3, 3, "sum(1 ×3)"},
		"the worst error decides":                {tested("", base, "AC", "WA", "TLE", "AC"), judge.TLE, 2, 4, "sum(1, 0, 0, 1)"},
		"the first error decides":                {tested("", with(func(g *problem.Grading) { g.Verdict = problem.FirstError }), "AC", "WA", "RE"), judge.WA, 1, 3, "sum(1, 0, 0)"},
		"always accepted":                        {tested("", with(func(g *problem.Grading) { g.Verdict = problem.AlwaysAccept }), "WA", "RE"), judge.AC, 0, 2, "sum(0, 0)"},
		"accepted if any is":                     {tested("", anyOf, "WA", "AC"), judge.AC, 1, 2, "sum(0, 1)"},
		"not accepted if none is":                {tested("", anyOf, "WA", "RE"), judge.WA, 0, 2, "sum(0, 0)"},
		"break leaves out the rest":              {tested("", stop, "AC", "WA", "RE", "AC"), judge.WA, 1, 2, "sum(1, 0)"},
		"a judging error stops and is shown":     {tested("", anyOf, "AC", "JE", "AC"), judge.JE, 1, 2, "sum(1, 0)"},
		"a judging error beats always accept":    {tested("", with(func(g *problem.Grading) { g.Verdict = problem.AlwaysAccept }), "JE", "AC"), judge.JE, 0, 1, "sum(0)"},
		"min of a group that breaks":             {tested("", minimum, "AC", "WA", "AC"), judge.WA, 0, 2, "min(30, 0)"},
		"break ends the group and not the whole": {grouped("", anyOf, tested("a", minimum, "WA", "AC"), tested("b", minimum, "AC", "AC")), judge.AC, 30, 3, "sum(0, 30)"},
		"break at the top leaves out groups":     {grouped("", stop, tested("a", base, "WA", "AC"), tested("b", base, "AC")), judge.WA, 1, 2, "sum(1)"},
		"an ignored sample neither counts nor stops": {
			grouped("", with(func(g *problem.Grading) { g.Break, g.IgnoreSample = true, true }), tested("sample", stop, "WA"), tested("secret", base, "AC", "AC")),
			judge.AC, 2, 3, "sum(2)",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := gradeTree(t, tt.root, true)
			if o.Verdict != tt.verdict || o.Score != tt.score || len(o.judged) != tt.judged {
				t.Errorf("%s %g after %q, want %s %g after %d", o.Verdict, o.Score, o.judged, tt.verdict, tt.score, tt.judged)
			}
			if o.groups[0].Formula != tt.formula {
				t.Errorf("the formula is %q, want %q", o.groups[0].Formula, tt.formula)
			}
			if len(o.judged)+len(o.skipped) != len(tt.root.Tests()) {
				t.Errorf("judged %q, left out %q, of %d", o.judged, o.skipped, len(tt.root.Tests()))
			}
		})
	}
}

func TestAPassFailProblemShowsNoScores(t *testing.T) {
	t.Parallel()
	o := gradeTree(t, tested("", problem.Grading{AcceptScore: 1}, "AC", "WA"), false)
	if g := o.groups[0]; g.Score != nil || g.MaxScore != nil || g.Formula != "" || g.Verdict != judge.WA {
		t.Errorf("the group is %+v", g)
	}
}

// TestGradingAgreesWithTheObvious compares the grader with the rules written
// down once more, without early stops: first every test is judged, then what
// break leaves out is taken away.
func TestGradingAgreesWithTheObvious(outer *testing.T) {
	outer.Parallel()
	rapid.Check(outer, func(t *rapid.T) {
		root := drawGroup(t, "", 0)
		got := gradeTree(outer, root, true)
		verdict, score := obvious(root)
		if got.Verdict != verdict || got.Score != score {
			t.Errorf("graded %s %g, want %s %g", got.Verdict, got.Score, verdict, score)
		}
		for _, g := range got.groups {
			if g.Verdict == "" && g.Score != nil {
				t.Errorf("group %s was left out, yet has a score", g.Name)
			}
		}
	})
}

func drawGroup(t *rapid.T, name string, depth int) *problem.Group {
	g := &problem.Group{Name: name, Grading: problem.Grading{
		Break:       rapid.Bool().Draw(t, "break"),
		Verdict:     rapid.SampledFrom([]problem.VerdictMode{problem.WorstError, problem.FirstError, problem.AlwaysAccept}).Draw(t, "verdict"),
		Score:       rapid.SampledFrom([]problem.ScoreMode{problem.Sum, problem.Avg, problem.Min, problem.Max}).Draw(t, "score"),
		AcceptAny:   rapid.Bool().Draw(t, "any"),
		AcceptScore: float64(rapid.IntRange(0, 8).Draw(t, "accept")),
		RejectScore: float64(rapid.IntRange(-2, 2).Draw(t, "reject")),
	}}
	for range rapid.IntRange(0, 4).Draw(t, "items") {
		if depth < 2 && rapid.Bool().Draw(t, "group") {
			g.Items = append(g.Items, problem.Item{Group: drawGroup(t, name+"g", depth+1)})
			continue
		}
		v := rapid.SampledFrom([]judge.Verdict{judge.AC, judge.AC, judge.AC, judge.WA, judge.TLE, judge.RE}).Draw(t, "test")
		g.Items = append(g.Items, problem.Item{Test: &problem.Test{Name: string(v)}})
	}
	return g
}

func obvious(g *problem.Group) (judge.Verdict, float64) {
	var verdicts []judge.Verdict
	var scores []float64
	for _, it := range g.Items {
		var v judge.Verdict
		s := g.Grading.RejectScore
		if it.Group != nil {
			v, s = obvious(it.Group)
		} else if v = judge.Verdict(it.Test.Name); v == judge.AC {
			s = g.Grading.AcceptScore
		}
		verdicts, scores = append(verdicts, v), append(scores, s)
	}
	rejected := func(v judge.Verdict) bool { return v != judge.AC }
	if i := slices.IndexFunc(verdicts, rejected); i >= 0 && g.Grading.Break {
		verdicts, scores = verdicts[:i+1], scores[:i+1]
	}
	score := g.Grading.Score.Of(scores)
	first := slices.IndexFunc(verdicts, rejected)
	switch {
	case first < 0, g.Grading.Verdict == problem.AlwaysAccept, g.Grading.AcceptAny && slices.Contains(verdicts, judge.AC):
		return judge.AC, score
	case g.Grading.Verdict == problem.FirstError:
		return verdicts[first], score
	}
	for _, v := range []judge.Verdict{judge.RE, judge.TLE} {
		if slices.Contains(verdicts, v) {
			return v, score
		}
	}
	return judge.WA, score
}

func TestLongFormulasAreCut(t *testing.T) {
	t.Parallel()
	var marks []Mark
	for i := range 100 {
		marks = append(marks, Mark{Verdict: judge.AC, Score: float64(i)})
	}
	if f := formula(problem.Grading{Score: problem.Sum}, marks); len(f) > 120 {
		t.Errorf("the formula has %d bytes: %s", len(f), f)
	}
}
