package judging

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

// worth returns the score of a test in a group: what the checker gave, else what
// the group gives. The error says what the checker did wrong; then the score is 0.
func (r runResult) worth(gr problem.Grading) (float64, error) {
	given := r.score != nil || r.multiplier != nil
	switch gr.Rule {
	case problem.ScoreIgnored:
		return 0, nil
	case problem.ScorePoints:
		return r.ownWorth(gr.AcceptScore)
	case problem.ScoreGroup: // where it is not given, the group has one
		if r.score != nil && (r.verdict == judge.AC || r.verdict == judge.WA) {
			return *r.score, nil
		}
		return 0, nil
	case problem.ScoreNone, problem.ScoreBounded, problem.ScoreFree:
	default:
		return r.legacyWorth(gr), nil
	}
	switch {
	case r.score != nil && r.multiplier != nil:
		return 0, errTwoScores
	case r.verdict != judge.AC && given:
		return 0, errLoserScore
	case r.verdict != judge.AC:
		return 0, nil
	case gr.Rule == problem.ScoreNone && given:
		return 0, errNoScoreHere
	case gr.Rule == problem.ScoreFree && r.multiplier != nil:
		return 0, errPartOfAll
	case gr.Rule == problem.ScoreFree && r.score == nil:
		return 0, errScoreNeeded
	case r.multiplier != nil && *r.multiplier > 1:
		return 0, fmt.Errorf("score_multiplier.txt holds %g: it must be from 0 to 1", *r.multiplier)
	case r.multiplier != nil:
		return *r.multiplier * gr.AcceptScore, nil
	case r.score != nil && gr.Rule == problem.ScoreBounded && *r.score > gr.AcceptScore+rounding*(1+gr.AcceptScore):
		return 0, fmt.Errorf("score.txt holds %g, more than the %g that the test can give", *r.score, gr.AcceptScore)
	case r.score != nil:
		return *r.score, nil
	}
	return gr.AcceptScore, nil
}

// ownWorth is the rule of tests that have points of their own.
func (r runResult) ownWorth(points float64) (float64, error) {
	switch {
	case r.verdict != judge.AC:
		return 0, nil
	case r.score == nil:
		return points, nil
	case *r.score > points+rounding*(1+points):
		return 0, fmt.Errorf("the checker gives %g points, more than the %g that the test can give", *r.score, points)
	}
	return *r.score, nil
}

// inFull makes a rejected test of one that the checker gives a part of its points,
// in a group that gives all points or none.
func (m *mark) inFull(gr problem.Grading) bool {
	if gr.Rule != problem.ScorePoints || gr.Score != problem.PassFail || m.verdict != judge.AC || m.score >= gr.AcceptScore-rounding*(1+gr.AcceptScore) {
		return true
	}
	m.verdict, m.score = judge.WA, 0
	return false
}

// legacyWorth is the rule of the format that has no version.
func (r runResult) legacyWorth(gr problem.Grading) float64 {
	switch {
	case r.score != nil:
		return *r.score
	case r.verdict == judge.AC:
		return gr.AcceptScore
	default:
		return gr.RejectScore
	}
}
