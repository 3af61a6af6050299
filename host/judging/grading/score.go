package grading

import (
	"errors"
	"fmt"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// What a checker may not say about a score, in the formats with test_group.yaml.
var (
	errTwoScores   = errors.New("the checker gives both score.txt and score_multiplier.txt: it must give one of them at most")
	errLoserScore  = errors.New("the checker gives a score and does not accept: only an accepted test may have a score")
	errNoScoreHere = errors.New("the checker gives a score in a group that passes or fails as a whole")
	errScoreNeeded = errors.New("the checker accepts without score.txt, which a group without a highest score needs")
	errPartOfAll   = errors.New("the checker gives score_multiplier.txt in a group without a highest score: it must give score.txt")
)

// Worth is what decides on the score of a test: its verdict, and the score and the part
// of the points that a checker gave, if any.
type Worth struct {
	Verdict    judge.Verdict
	Score      *float64
	Multiplier *float64
}

// In returns the score of a test in a group: what the checker gave, else what
// the group gives. The error says what the checker did wrong; then the score is 0.
func (w Worth) In(gr problem.Grading) (float64, error) {
	given := w.Score != nil || w.Multiplier != nil
	switch gr.Rule {
	case problem.ScoreIgnored:
		return 0, nil
	case problem.ScorePoints:
		return w.ownWorth(gr.AcceptScore)
	case problem.ScoreGroup: // where it is not given, the group has one
		if w.Score != nil && (w.Verdict == judge.AC || w.Verdict == judge.WA) {
			return *w.Score, nil
		}
		return 0, nil
	case problem.ScoreNone, problem.ScoreBounded, problem.ScoreFree:
	default:
		return w.legacyWorth(gr), nil
	}
	switch {
	case w.Score != nil && w.Multiplier != nil:
		return 0, errTwoScores
	case w.Verdict != judge.AC && given:
		return 0, errLoserScore
	case w.Verdict != judge.AC:
		return 0, nil
	case gr.Rule == problem.ScoreNone && given:
		return 0, errNoScoreHere
	case gr.Rule == problem.ScoreFree && w.Multiplier != nil:
		return 0, errPartOfAll
	case gr.Rule == problem.ScoreFree && w.Score == nil:
		return 0, errScoreNeeded
	case w.Multiplier != nil && *w.Multiplier > 1:
		return 0, fmt.Errorf("score_multiplier.txt holds %g: it must be from 0 to 1", *w.Multiplier)
	case w.Multiplier != nil:
		return *w.Multiplier * gr.AcceptScore, nil
	case w.Score != nil && gr.Rule == problem.ScoreBounded && *w.Score > gr.AcceptScore+rounding*(1+gr.AcceptScore):
		return 0, fmt.Errorf("score.txt holds %g, more than the %g that the test can give", *w.Score, gr.AcceptScore)
	case w.Score != nil:
		return *w.Score, nil
	}
	return gr.AcceptScore, nil
}

// ownWorth is the rule of tests that have points of their own.
func (w Worth) ownWorth(points float64) (float64, error) {
	switch {
	case w.Verdict != judge.AC:
		return 0, nil
	case w.Score == nil:
		return points, nil
	case *w.Score > points+rounding*(1+points):
		return 0, fmt.Errorf("the checker gives %g points, more than the %g that the test can give", *w.Score, points)
	}
	return *w.Score, nil
}

// InFull makes a rejected test of one that the checker gives a part of its points,
// in a group that gives all points or none.
func (m *Mark) InFull(gr problem.Grading) bool {
	if gr.Rule != problem.ScorePoints || gr.Score != problem.PassFail || m.Verdict != judge.AC || m.Score >= gr.AcceptScore-rounding*(1+gr.AcceptScore) {
		return true
	}
	m.Verdict, m.Score = judge.WA, 0
	return false
}

// legacyWorth is the rule of the format that has no version.
func (w Worth) legacyWorth(gr problem.Grading) float64 {
	switch {
	case w.Score != nil:
		return *w.Score
	case w.Verdict == judge.AC:
		return gr.AcceptScore
	default:
		return gr.RejectScore
	}
}

// WithinStatic is an error if a static validator gives more than it may.
func WithinStatic(t *problem.Test, score float64) error {
	if t.Points == nil || score <= *t.Points+rounding*(1+*t.Points) {
		return nil
	}
	return fmt.Errorf("the static validator gives %g points, more than the static_validation_score %g", score, *t.Points)
}
