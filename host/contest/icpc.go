package contest

import (
	"iter"
	"time"

	"deepoj/host/judge"
)

// Cell is what counts of what a participant handed in for a problem.
type Cell struct {
	Judged  int           // attempts: wrong ones, and the solution
	Pending int           // not judged yet, as far as they may still change something
	Solved  bool          //
	Time    time.Duration // contest time of the solution, or of the last improvement of the score
	Penalty int64         // of the cell in the unit of the row; 0 where it is not solved
	Score   float64       // in formats that give points
}

// Effect is what a submission does to its cell.
type Effect string

// The effects. In the format ioi one counts, or does not yet.
const (
	Wrong    Effect = "wrong"    // before the solution
	Free     Effect = "free"     // a compile error that costs nothing
	Pending  Effect = "pending"  // not judged, as far as the viewer knows
	Solution Effect = "solution" // the first that is accepted
	After    Effect = "after"    // behind the solution
	Counts   Effect = "counts"
	Ignored  Effect = "ignored" // by staff
	Late     Effect = "late"    // behind the end of the contest
)

// effects says what each submission of a cell does.
func (c ICPCConfig) effects(all iter.Seq[*submission]) iter.Seq2[*submission, Effect] {
	return func(yield func(*submission, Effect) bool) {
		solved := false
		for sub := range all {
			j, judged := sub.decided()
			what := Wrong
			switch {
			case solved:
				what = After
			case !judged:
				what = Pending
			case j.Verdict == judge.AC:
				what, solved = Solution, true
			case j.Verdict == judge.CE && !c.PenaliseCE:
				what = Free
			}
			if !yield(sub, what) {
				return
			}
		}
	}
}

// cell counts a cell by the rules of the ICPC (CCS Requirements, Scoring): the first solution counts, and what is wrong
// before it. While something before it is pending, it may not be the first.
func (c ICPCConfig) cell(all iter.Seq[*submission]) (r Cell) {
	wrong := int64(0)
	for sub, what := range c.effects(all) {
		switch what {
		case Wrong:
			wrong++
		case Pending:
			r.Pending++
		case Solution:
			r = c.solved(sub.at, wrong, r.Pending)
		case Free, After, Counts, Ignored, Late: // change nothing
		}
	}
	r.Judged += int(wrong)
	return r
}

// solved is a cell that is solved at t after wrong attempts, with some pending before it.
func (c ICPCConfig) solved(t time.Duration, wrong int64, pending int) Cell {
	return Cell{Judged: 1, Pending: pending, Solved: true, Time: t, Penalty: c.units(t) + wrong*c.minutes(c.PenaltyMinutes)}
}

// units returns a contest time in what times of problems are counted in.
func (c ICPCConfig) units(t time.Duration) int64 {
	if c.Rounding == MinuteEach {
		return int64(t / time.Minute)
	}
	return int64(t / time.Second)
}

func (c ICPCConfig) minutes(n int64) int64 {
	if c.Rounding == MinuteEach {
		return n
	}
	return 60 * n
}

// shown returns a sum of times as the row has it.
func (c ICPCConfig) shown(sum int64) int64 {
	if c.Rounding == SecondThenMinute {
		return floorDiv(sum, 60)
	}
	return sum
}

// floorDiv divides and rounds down, below 0, too.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// row adds up a row, and more cells if there were any: more problems solved are better, then less penalty time, then an
// earlier last solution.
func (c ICPCConfig) row(s *State, r *row, more ...Cell) summary {
	solved, total, last := 0, c.minutes(r.adjust.Minutes), int64(0)
	add := func(cell Cell) {
		if cell.Solved {
			solved++
			total += cell.Penalty
			last = max(last, c.units(cell.Time))
		}
	}
	for _, p := range s.columns {
		add(r.result(p))
	}
	for _, cell := range more {
		add(cell)
	}
	t := summary{solved: solved, total: c.shown(total), last: c.shown(last)}
	t.key = key{int64(solved), -t.total, -t.last}
	if !c.TieLast {
		t.key[2] = 0
	}
	return t
}
