package problem

import (
	"math"
	"slices"
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

// ScoreGroup is the rule of DOMjudge's scoring dialect of the legacy format: the scores
// that checkers give in a group are those of its tests, and where they give none, all
// of it has AcceptScore once, if all is accepted.
const ScoreGroup ScoreRule = "group"

// MaxScore returns the highest score a submission can get, or nil when there is
// no such bound.
func (p *Package) MaxScore() *float64 {
	if !p.Scoring || p.Root == nil {
		return nil
	}
	return p.Root.MaxScore(p.points())
}

// points reports whether checkers give the scores of tests.
func (p *Package) points() bool {
	return slices.ContainsFunc(p.Checkers, func(c Checker) bool { return c.Points }) || p.Interactor != nil && p.Interactor.Points
}

// MaxScore returns the highest score of a group: its range's upper bound, or
// what its items can give together. Nil means no bound. With points the checker
// gives the scores of tests, which has no bound.
func (g *Group) MaxScore(points bool) *float64 {
	if g.Grading.High != nil || g.Grading.Custom {
		return g.Grading.High
	}
	if g.Grading.Rule == ScoreGroup && !slices.ContainsFunc(g.Items, func(it Item) bool { return it.Group != nil }) {
		if points {
			return nil
		}
		return &g.Grading.AcceptScore
	}
	var each []float64
	for _, it := range g.Items {
		top := math.Max(g.Grading.AcceptScore, g.Grading.RejectScore)
		switch {
		case it.Case() != nil && it.Case().Points != nil && (it.Static == nil || !points):
			top = *it.Case().Points
		case it.Group != nil:
			if g.Grading.IgnoreSample && it.Group.Name == SampleGroup {
				continue
			}
			m := it.Group.MaxScore(points)
			if m == nil {
				return nil
			}
			top = *m
		case points:
			return nil
		}
		each = append(each, top)
	}
	top := g.Grading.Score.Of(each)
	return &top
}

// Of returns the score of a group whose items have these scores; an empty group
// has 0.
func (m ScoreMode) Of(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	switch m {
	case Min:
		return slices.Min(scores)
	case Max:
		return slices.Max(scores)
	case Sum, Avg, PassFail:
	}
	total := 0.0
	for _, s := range scores {
		total += s
	}
	if m == Avg {
		return total / float64(len(scores))
	}
	return total
}
