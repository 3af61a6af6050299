package contest

import (
	"slices"
	"time"

	"deepoj/host/judge"
)

// Explanation says why a row is where it is. It has only what the viewer of the state sees.
type Explanation struct {
	Row    Row
	Equal  int        // others with the same rank
	Adjust Adjustment // what staff added
	Cells  []CellExplanation
	Above  *Neighbour // the nearest row of a better rank; nil = there is none
	Below  *Neighbour // the nearest row of a worse rank
	Reach  []Reach    // what would be enough to be as good as Above, by problem; in the format icpc
}

// CellExplanation says how a cell came about.
type CellExplanation struct {
	Problem  string
	Cell     Cell
	Attempts []Attempt // by time
	Wrong    int       // those that are penalised if it is solved
}

// Attempt is a submission and what it does to its cell.
type Attempt struct {
	Submission int64
	Time       time.Duration
	Verdict    judge.Verdict // "" = not judged, as far as the viewer knows
	Score      *float64
	Effect     Effect
}

// Neighbour is another row, and by how much it is better, or below 0: worse. Of three figures the first that is not 0
// decides.
type Neighbour struct {
	Participant int64
	Name        string
	Rank        int
	Solved      int           // problems more
	Total       int64         // of penalty time less
	Last        time.Duration // earlier
	Points      float64       // more
}

// Reach is the latest time at which a problem could be solved for the row to be as good as the next better one.
type Reach struct {
	Problem string
	Latest  time.Duration
}

// Explain says why the row of a participant is where it is, and false if there is none.
func (s *State) Explain(participant int64) (Explanation, bool) {
	r := s.rows[participant]
	if r == nil || !r.known {
		return Explanation{}, false
	}
	e := Explanation{Row: s.shown(r, s.rank(r)), Adjust: r.adjust}
	for _, p := range s.columns {
		e.Cells = append(e.Cells, s.explainCell(r, p))
	}
	if e.Row.Rank == 0 {
		return e, true
	}
	all := s.those(r.section)
	first := e.Row.Rank - 1
	next := first
	for next < len(all) && all[next].sum.key == r.sum.key {
		next++
	}
	e.Equal = next - first - 1
	if first > 0 {
		e.Above = s.neighbour(r, all[first-1])
		e.Reach = s.reach(r, all[first-1])
	}
	if next < len(all) {
		e.Below = s.neighbour(r, all[next])
	}
	return e, true
}

func (s *State) neighbour(r, other *row) *Neighbour {
	mine, theirs := s.shown(r, 0), s.shown(other, 0)
	return &Neighbour{
		Participant: other.ID, Name: other.Name, Rank: s.rank(other), Solved: theirs.Solved - mine.Solved,
		Total: mine.Total - theirs.Total, Last: mine.Last - theirs.Last, Points: theirs.Points - mine.Points,
	}
}

// explainCell says how a cell came about.
func (s *State) explainCell(r *row, p *problem) CellExplanation {
	e := CellExplanation{Problem: p.ID, Cell: r.result(p)}
	if p.index >= len(r.cells) {
		return e
	}
	var counted []*submission
	for _, sub := range r.cells[p.index].all {
		j, judged := sub.decided()
		a := Attempt{Submission: sub.ID, Time: sub.at, Effect: Counts}
		if judged {
			a.Verdict, a.Score = j.Verdict, j.Score
		} else {
			a.Effect = Pending
		}
		switch {
		case sub.ignored:
			a.Effect = Ignored
		case !s.clock.official(sub.at):
			a.Effect = Late
		default:
			counted = append(counted, sub)
		}
		e.Attempts = append(e.Attempts, a)
	}
	if s.cfg.Format != ICPC {
		return e
	}
	i := 0
	for sub, what := range s.cfg.ICPC.effects(slices.Values(counted)) {
		for e.Attempts[i].Submission != sub.ID {
			i++
		}
		e.Attempts[i].Effect = what
		if what == Wrong {
			e.Wrong++
		}
	}
	return e
}

// reach returns for each problem that the row has not solved how late it could be solved for the row to be at least as
// good as another.
func (s *State) reach(r, other *row) []Reach {
	if s.cfg.Format != ICPC {
		return nil
	}
	c := s.cfg.ICPC
	end := s.clock.round.Duration
	if end == 0 {
		return nil
	}
	var all []Reach
	for _, p := range s.columns {
		if r.result(p).Solved {
			continue
		}
		wrong := int64(s.explainCell(r, p).Wrong)
		good := func(t time.Duration) bool {
			return compareKeys(c.row(s, r, c.solved(t, wrong, 0)).key, other.sum.key) <= 0
		}
		latest := end - time.Millisecond
		if !good(latest) {
			low, high := time.Duration(-1), latest // good at low, not at high
			for high-low > time.Millisecond {
				if middle := low + (high-low)/2; good(middle) {
					low = middle
				} else {
					high = middle
				}
			}
			latest = low
		}
		if latest >= 0 {
			all = append(all, Reach{p.ID, latest.Truncate(time.Millisecond)})
		}
	}
	return all
}
