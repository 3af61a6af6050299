package grading

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

func TestWhatATestIsWorth(t *testing.T) {
	t.Parallel()
	bounded := problem.Grading{Rule: problem.ScoreBounded, AcceptScore: 20}
	free := problem.Grading{Rule: problem.ScoreFree}
	none := problem.Grading{Rule: problem.ScoreNone}
	sample := problem.Grading{Rule: problem.ScoreIgnored}
	legacy := problem.Grading{AcceptScore: 3, RejectScore: -1}
	tests := map[string]struct {
		verdict           judge.Verdict
		score, multiplier *float64
		grading           problem.Grading
		want              float64
		err               error
	}{
		"an accepted test is worth all":          {judge.AC, nil, nil, bounded, 20, nil},
		"a rejected one nothing":                 {judge.TLE, nil, nil, bounded, 0, nil},
		"a score counts":                         {judge.AC, new(7.5), nil, bounded, 7.5, nil},
		"a part counts":                          {judge.AC, nil, new(0.25), bounded, 5, nil},
		"both is an error":                       {judge.AC, new(1.0), new(0.5), bounded, 0, errTwoScores},
		"a score of a rejected test is an error": {judge.WA, new(0.0), nil, bounded, 0, errLoserScore},
		"so is a part":                           {judge.WA, nil, new(0.0), free, 0, errLoserScore},
		"a free score counts":                    {judge.AC, new(1e6), nil, free, 1e6, nil},
		"a free score must be given":             {judge.AC, nil, nil, free, 0, errScoreNeeded},
		"there is no part without a whole":       {judge.AC, nil, new(0.5), free, 0, errPartOfAll},
		"a group that passes has no scores":      {judge.AC, new(1.0), nil, none, 0, errNoScoreHere},
		"nor parts":                              {judge.AC, nil, new(1.0), none, 0, errNoScoreHere},
		"and its tests are worth nothing":        {judge.AC, nil, nil, none, 0, nil},
		"a sample's score is not looked at":      {judge.AC, new(5.0), new(0.5), sample, 0, nil},
		"the legacy format takes any score":      {judge.WA, new(5.0), nil, legacy, 5, nil},
		"or what its group gives":                {judge.AC, nil, nil, legacy, 3, nil},
		"also to a rejected test":                {judge.RE, nil, nil, legacy, -1, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Worth{tt.verdict, tt.score, tt.multiplier}.In(tt.grading)
			if got != tt.want || err != tt.err { //nolint:errorlint // the very error is meant
				t.Errorf("it is worth %g, %v: want %g, %v", got, err, tt.want, tt.err)
			}
		})
	}
	for name, r := range map[string]Worth{
		"a score above the highest": {Verdict: judge.AC, Score: new(20.01)}, "a part above the whole": {Verdict: judge.AC, Multiplier: new(1.01)},
	} {
		if got, err := r.In(bounded); err == nil || got != 0 {
			t.Errorf("%s is worth %g", name, got)
		}
	}
	if got, err := (Worth{judge.AC, new(33.333333333333336), nil}).In(problem.Grading{Rule: problem.ScoreBounded, AcceptScore: 100.0 / 3}); err != nil {
		t.Errorf("a third of 100 is worth %g, %v", got, err)
	}
}

// drawn is what a checker says in TestGroupsWithRequirementsAgreeWithTheObvious.
type drawn struct {
	verdict           judge.Verdict
	score, multiplier *float64
}

// TestGroupsWithRequirementsAgreeWithTheObvious compares the grader with the
// rules of test_group.yaml written down once more, without early stops.
func TestGroupsWithRequirementsAgreeWithTheObvious(outer *testing.T) {
	outer.Parallel()
	rapid.Check(outer, func(t *rapid.T) {
		said := map[*problem.Test]drawn{}
		root := drawTree(t, said)
		parents := map[*problem.Test]problem.Grading{}
		for _, it := range root.Items {
			for _, sub := range append(it.Group.Items, problem.Item{Group: it.Group}) {
				if sub.Group == nil {
					continue
				}
				for _, test := range sub.Group.Items {
					if test.Group == nil {
						parents[test.Case()] = sub.Group.Grading
					}
				}
			}
		}
		g := &Grader{Scoring: true, Skip: func(*problem.Test) {}, Test: func(test *problem.Test) (Mark, error) {
			d, rules := said[test], parents[test]
			if test.Points != nil {
				rules.AcceptScore = *test.Points
			}
			score, err := Worth{d.verdict, d.score, d.multiplier}.In(rules)
			return Mark{Verdict: d.verdict, Score: score}, err
		}}
		got, err := g.Group(root)
		if err != nil {
			t.Fatal(err)
		}
		want := obviousScore(root.Group("secret"), root, said)
		if math.Abs(got.Score-want) > 1e-6 {
			t.Errorf("scored %g, want %g", got.Score, want)
		}
		if top := root.Group("secret").Grading.High; top != nil && got.Score > *top {
			t.Errorf("scored %g of %g", got.Score, *top)
		}
		all := passed(root.Group("secret"), root, said)
		if all && got.Verdict != judge.AC || !all && got.Verdict == judge.AC && root.Group("secret").Grading.Score == problem.PassFail {
			t.Errorf("verdict %s, all passed: %t", got.Verdict, all)
		}
		if got.Verdict != judge.AC && got.Score != 0 {
			t.Errorf("verdict %s with a score of %g", got.Verdict, got.Score)
		}
	})
}

// drawTree draws sample and secret as the readers of packages make them.
func drawTree(t *rapid.T, said map[*problem.Test]drawn) *problem.Group {
	sample := &problem.Group{Name: "sample", Grading: problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, Rule: problem.ScoreIgnored}}
	drawTests(t, sample, said)
	secret := &problem.Group{Name: "secret"}
	mode := rapid.SampledFrom([]problem.ScoreMode{problem.Sum, problem.Sum, problem.Min, problem.PassFail}).Draw(t, "mode")
	if rapid.Bool().Draw(t, "groups") {
		earlier, tops := []string{"sample"}, []float64{}
		for i := range rapid.IntRange(1, 4).Draw(t, "count") {
			g := &problem.Group{Name: fmt.Sprintf("secret/%d", i)}
			own := problem.PassFail
			if mode != problem.PassFail {
				own = rapid.SampledFrom([]problem.ScoreMode{problem.Sum, problem.Min, problem.PassFail}).Draw(t, "own")
			}
			top := float64(rapid.IntRange(0, 100).Draw(t, "top"))
			tops = append(tops, top)
			drawTests(t, g, said)
			g.Grading = grading(own, &top, len(g.Items))
			drawStatic(t, g, said)
			g.Grading.Requires = slices.DeleteFunc(slices.Clone(earlier), func(string) bool { return !rapid.Bool().Draw(t, "requires") })
			speak(t, g, said)
			if own == problem.PassFail {
				earlier = append(earlier, g.Name)
			}
			secret.Items = append(secret.Items, problem.Item{Group: g})
		}
		top := 70.0
		if mode != problem.PassFail {
			top = mode.Of(tops)
		}
		secret.Grading = grading(mode, &top, 0)
	} else {
		drawTests(t, secret, said)
		var top *float64
		if mode == problem.PassFail || rapid.Bool().Draw(t, "bounded") {
			top = new(100.0)
		}
		secret.Grading = grading(mode, top, len(secret.Items))
		drawStatic(t, secret, said)
		speak(t, secret, said)
	}
	return &problem.Group{
		Grading: problem.Grading{Verdict: problem.FirstError, Score: problem.Sum, IgnoreSample: true},
		Items:   []problem.Item{{Group: sample}, {Group: secret}},
	}
}

func grading(mode problem.ScoreMode, top *float64, tests int) problem.Grading {
	g := problem.Grading{Break: mode != problem.Sum, Verdict: problem.FirstError, Score: mode, AcceptAny: mode == problem.Sum, High: top, Rule: problem.ScoreFree}
	switch {
	case mode == problem.PassFail:
		g.Rule = problem.ScoreNone
	case top != nil:
		g.Rule, g.AcceptScore = problem.ScoreBounded, *top
		if mode == problem.Sum {
			g.AcceptScore /= float64(max(tests, 1))
		}
	}
	return g
}

func drawTests(t *rapid.T, g *problem.Group, said map[*problem.Test]drawn) {
	for range rapid.IntRange(1, 4).Draw(t, "tests") {
		test := &problem.Test{}
		said[test] = drawn{verdict: rapid.SampledFrom([]judge.Verdict{judge.AC, judge.AC, judge.AC, judge.AC, judge.WA, judge.TLE}).Draw(t, "verdict")}
		g.Items = append(g.Items, problem.Item{Test: test})
	}
}

// drawStatic may add a test of the submitted files, which takes its points from
// those that tests share.
func drawStatic(t *rapid.T, g *problem.Group, said map[*problem.Test]drawn) {
	if !rapid.Bool().Draw(t, "static") {
		return
	}
	test := &problem.Test{}
	said[test] = drawn{verdict: rapid.SampledFrom([]judge.Verdict{judge.AC, judge.AC, judge.WA}).Draw(t, "verdict of the files")}
	if gr := &g.Grading; gr.Score != problem.PassFail {
		most := 100
		if gr.High != nil {
			most = int(*gr.High)
		}
		test.Points = new(float64(rapid.IntRange(0, most).Draw(t, "static score")))
		if gr.High != nil && gr.Score == problem.Sum {
			gr.AcceptScore = (*gr.High - *test.Points) / float64(len(g.Items))
		}
	}
	g.Items = slices.Insert(g.Items, 0, problem.Item{Static: test})
}

// worthOf is the most that a test of a group gives.
func worthOf(g *problem.Group, it problem.Item) float64 {
	if it.Static != nil {
		return *it.Static.Points
	}
	return g.Grading.AcceptScore
}

// speak draws what a checker says about accepted tests, within the rules.
func speak(t *rapid.T, g *problem.Group, said map[*problem.Test]drawn) {
	for _, it := range g.Items {
		d := said[it.Case()]
		if d.verdict != judge.AC {
			continue
		}
		part := rapid.Float64Range(0, 1).Draw(t, "part")
		switch how := rapid.IntRange(0, 2).Draw(t, "how"); {
		case g.Grading.Rule == problem.ScoreFree:
			d.score = new(1000 * part)
		case g.Grading.Rule == problem.ScoreBounded && how == 1:
			d.multiplier = &part
		case g.Grading.Rule == problem.ScoreBounded && how == 2:
			d.score = new(part * worthOf(g, it))
		}
		said[it.Case()] = d
	}
}

// obviousScore is the score of a group, by the words of the specification.
func obviousScore(g, root *problem.Group, said map[*problem.Test]drawn) float64 {
	if !allowed(g, root, said) {
		return 0
	}
	if g.Grading.Score == problem.PassFail {
		if passed(g, root, said) {
			return *g.Grading.High
		}
		return 0
	}
	var scores []float64
	for _, it := range g.Items {
		if it.Group != nil {
			scores = append(scores, obviousScore(it.Group, root, said))
			continue
		}
		d := said[it.Case()]
		switch {
		case d.verdict != judge.AC:
			scores = append(scores, 0)
		case d.multiplier != nil:
			scores = append(scores, *d.multiplier*worthOf(g, it))
		case d.score != nil:
			scores = append(scores, *d.score)
		default:
			scores = append(scores, worthOf(g, it))
		}
	}
	if g.Grading.Score == problem.Min {
		return slices.Min(scores)
	}
	total := 0.0
	for _, s := range scores {
		total += s
	}
	return total
}

// passed reports whether every test of a group is accepted; those of a group
// that is not run are not.
func passed(g, root *problem.Group, said map[*problem.Test]drawn) bool {
	if !allowed(g, root, said) {
		return false
	}
	for _, it := range g.Items {
		if it.Group != nil && !passed(it.Group, root, said) || it.Group == nil && said[it.Case()].verdict != judge.AC {
			return false
		}
	}
	return true
}

// allowed reports whether all that a group requires has passed.
func allowed(g, root *problem.Group, said map[*problem.Test]drawn) bool {
	for _, name := range g.Grading.Requires {
		other := root.Group("sample")
		if name != "sample" {
			other = root.Group("secret").Group(name[len("secret/"):])
		}
		if !passed(other, root, said) {
			return false
		}
	}
	return true
}
