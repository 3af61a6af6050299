package contest

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"deepoj/host/judge"
)

// micro is how many units of a key are a point: scores that differ by less are the same.
const micro = 1_000_000

// cell counts a cell by the mode. What is not judged yet counts 0. Time is that of the submission since which the score
// is what it is.
func (c IOIConfig) cell(all iter.Seq[*submission], p *Problem) (r Cell) {
	raw := 0.0            // as the problem scores
	var best []GroupScore // of each group of tests, by its name
	tokened, last := 0.0, 0.0
	for sub := range all {
		j, judged := sub.decided()
		if !judged {
			r.Pending++
		} else if j.Verdict != judge.CE {
			r.Judged++
			r.Solved = r.Solved || j.Verdict == judge.AC
		}
		score := j.points(judged, p)
		now := raw
		switch c.Mode {
		case Max:
			now = max(now, score)
		case LastSubmission:
			now = score
		case MaxTokenedLast:
			if last = score; sub.token {
				tokened = max(tokened, score)
			}
			now = max(tokened, last)
		case MaxSubtask:
			if !judged || j.Verdict == judge.CE {
				break
			}
			groups := j.Groups
			if len(groups) == 0 { // the whole is one
				groups = []GroupScore{{Score: score}}
			}
			for _, g := range groups {
				best = better(best, g)
			}
			now = 0 // added up anew, as what differences add up to depends on their order
			for _, g := range best {
				now += g.Score
			}
		}
		raw = now
		if now = p.worth(raw); micros(now) != micros(r.Score) {
			r.Time = sub.at
		}
		r.Score = now
	}
	return r
}

// better returns the best scores of groups, by name, with one that may be better than before.
func better(best []GroupScore, g GroupScore) []GroupScore {
	i, known := slices.BinarySearchFunc(best, g.Group, func(b GroupScore, name string) int { return cmp.Compare(b.Group, name) })
	if !known {
		return slices.Insert(best, i, g)
	}
	best[i].Score = max(best[i].Score, g.Score)
	return best
}

// points returns the score of a judgement. Who judges without scores gives all for what is accepted.
func (j Judgement) points(judged bool, p *Problem) float64 {
	switch {
	case !judged || j.Verdict == judge.CE:
		return 0
	case j.Score != nil:
		return *j.Score
	case j.Verdict == judge.AC:
		return p.full()
	}
	return 0
}

// micros returns a score in units of a key.
func micros(score float64) int64 { return int64(math.Round(score * micro)) }

// row adds up a row: more points are better, and where the settings say so, an earlier last improvement.
func (c IOIConfig) row(s *State, r *row) (t summary) {
	t.points = r.adjust.Points
	last := time.Duration(0)
	for _, p := range s.columns {
		cell := r.result(p)
		t.points += cell.Score
		if cell.Solved {
			t.solved++
		}
		last = max(last, cell.Time)
	}
	t.last = last.Milliseconds()
	t.key = key{micros(t.points)}
	switch c.Tie {
	case TieTime:
		t.key[1] = -t.last
	case TieSolved:
		t.key[1] = int64(t.solved)
	case TieNone:
	}
	return t
}
