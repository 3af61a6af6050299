package contest

import (
	"cmp"
	"slices"
	"time"
)

// Row is a row of the board.
type Row struct {
	Participant int64
	Name        string
	Rank        int           // from 1; those that are equal have the same, and the next ones skip; 0 = none
	Solved      int           // problems
	Total       int64         // penalty time: in minutes, or in seconds with the rounding second
	Last        time.Duration // contest time of the last solution, or of the last improvement of a score
	Points      float64       // in formats that give points
	Cells       []Cell        // one for each problem of the board
}

// Board is a part of what is shown.
type Board struct {
	Problems []Column
	Rows     []Row
	Total    int // rows there are, of which Rows may be some
}

// Column is what the board says of a problem.
type Column struct {
	Problem
	Solved  int // by how many of those that are ranked
	First   []Solver
	Decided bool // nobody else can be the first any more
}

// Solver is who solved a problem first; several may have in the same millisecond.
type Solver struct {
	Participant int64
	Time        time.Duration
}

// solvers are those who solved a problem first.
type solvers struct {
	solved  int
	first   []Solver
	decided bool
}

// Query says which part of the board is asked for.
type Query struct {
	Group  string // only its participants, who rank among each other; "" = all
	Offset int
	Limit  int // 0 = all

	// Known reports of whose row nothing is asked but the rank, as the rest of it is known; nil = of none.
	Known func(participant int64) bool
}

// Board returns a part of the board.
func (s *State) Board(q Query) Board {
	of := s.order
	if q.Group != "" {
		of = slices.DeleteFunc(slices.Clone(of), func(r *row) bool { return !slices.Contains(r.Groups, q.Group) })
	}
	ranks := ranksOf(of)
	rows, offset := page(of, q)
	b := Board{Problems: s.Columns(), Total: len(of), Rows: make([]Row, len(rows))}
	for i, r := range rows {
		if rank := ranks[offset+i]; q.Known != nil && q.Known(r.ID) {
			b.Rows[i] = Row{Participant: r.ID, Rank: rank}
		} else {
			b.Rows[i] = s.shown(r, rank)
		}
	}
	return b
}

// Order returns the participants of the board, or of a group, in its order.
func (s *State) Order(group string) []int64 {
	ids := make([]int64, 0, len(s.order))
	for _, r := range s.order {
		if group == "" || slices.Contains(r.Groups, group) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// page returns the rows that are asked for, and how many are above them.
func page(rows []*row, q Query) (asked []*row, offset int) {
	offset = min(max(q.Offset, 0), len(rows))
	rows = rows[offset:]
	if q.Limit > 0 {
		rows = rows[:min(q.Limit, len(rows))]
	}
	return rows, offset
}

// ranksOf returns the ranks of rows among each other.
func ranksOf(rows []*row) []int {
	ranks := make([]int, len(rows))
	begin := 0
	for i, r := range rows {
		if i == 0 || rows[i-1].section != r.section {
			begin = i
		}
		switch {
		case r.section.class >= hidden:
		case i > begin && rows[i-1].sum.key == r.sum.key:
			ranks[i] = ranks[i-1]
		default:
			ranks[i] = i - begin + 1
		}
	}
	return ranks
}

// Row returns the row of a participant, and false if there is none.
func (s *State) Row(participant int64) (Row, bool) {
	r := s.rows[participant]
	if r == nil || !r.known {
		return Row{}, false
	}
	return s.shown(r, s.rank(r)), true
}

// shown returns a row as the board has it.
func (s *State) shown(r *row, rank int) Row {
	shown := Row{
		Participant: r.ID, Name: r.Name, Rank: rank, Solved: r.sum.solved, Total: r.sum.total, Points: r.sum.points,
		Cells: make([]Cell, len(s.columns)),
	}
	for i, p := range s.columns {
		cell := r.result(p)
		shown.Cells[i] = cell
		if cell.Solved || s.cfg.Format == IOI {
			shown.Last = max(shown.Last, cell.Time)
		}
	}
	return shown
}

// Columns returns what the board says of each problem, in order.
func (s *State) Columns() []Column {
	all := make([]Column, len(s.columns))
	for i, p := range s.columns {
		f := s.solvers(p)
		all[i] = Column{Problem: p.Problem, Solved: f.solved, First: f.first, Decided: f.decided}
	}
	return all
}

// solvers returns who of those that are ranked solved a problem first. That is decided when nothing is pending that was
// handed in earlier.
func (s *State) solvers(p *problem) *solvers {
	if p.solvers != nil {
		return p.solvers
	}
	f := &solvers{}
	all := s.ranking()
	for _, r := range all {
		cell := r.result(p)
		if !cell.Solved {
			continue
		}
		f.solved++
		if len(f.first) > 0 && cell.Time > f.first[0].Time {
			continue
		}
		if len(f.first) > 0 && cell.Time < f.first[0].Time {
			f.first = nil
		}
		f.first = append(f.first, Solver{r.ID, cell.Time})
	}
	f.decided = len(f.first) > 0
	for _, r := range all {
		f.decided = f.decided && !s.pendingBefore(r, p, f.first[0].Time)
	}
	slices.SortFunc(f.first, func(a, b Solver) int { return cmp.Compare(a.Participant, b.Participant) })
	p.solvers = f
	return f
}

// pendingBefore reports whether a submission that was handed in at or before a time may still solve the problem.
func (s *State) pendingBefore(r *row, p *problem, t time.Duration) bool {
	if p.index >= len(r.cells) || r.cells[p.index].result.Pending == 0 {
		return false
	}
	for _, sub := range r.cells[p.index].all {
		if !sub.known || sub.ignored || !s.clock.official(sub.at) || sub.at > t {
			continue
		}
		if _, judged := sub.decided(); !judged {
			return true
		}
	}
	return false
}
