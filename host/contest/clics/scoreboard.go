package clics

import (
	"slices"
	"time"

	"deepoj/host/contest"
)

// Scoreboard is the board of a contest.
type Scoreboard struct {
	Time        string `json:"time"`
	ContestTime string `json:"contest_time"`
	State       State  `json:"state"`
	Rows        []Row  `json:"rows"`
}

// Row is a row of the board.
type Row struct {
	Rank     int    `json:"rank"`
	Team     string `json:"team_id"`
	Score    Score  `json:"score"`
	Problems []Cell `json:"problems"`
}

// Score is what a row is ranked by: solved problems with their time, or points.
type Score struct {
	Solved *int     `json:"num_solved,omitempty"`
	Total  any      `json:"total_time,omitempty"`
	Score  *float64 `json:"score,omitempty"`
	Time   *any     `json:"time,omitempty"` // of the last solution or improvement
}

// Cell is a problem in a row.
type Cell struct {
	Problem string   `json:"problem_id"`
	Judged  int      `json:"num_judged"`
	Pending int      `json:"num_pending"`
	Solved  *bool    `json:"solved,omitempty"`
	Score   *float64 `json:"score,omitempty"`
	Time    any      `json:"time,omitempty"`
	First   *bool    `json:"first_to_solve,omitempty"`
}

// ScoreboardOf returns a board, which is of the moment now. Rows without a rank are not on it. Code names a participant.
func (f Form) ScoreboardOf(
	b contest.Board, r contest.RoundData, cfg contest.Config, clock contest.Clock, now time.Time, code func(participant int64) string,
) Scoreboard {
	out := Scoreboard{Time: AbsTime(now), ContestTime: RelTime(clock.At(now)), State: StateOf(r), Rows: []Row{}}
	for _, row := range b.Rows {
		if row.Rank == 0 {
			continue
		}
		said := Row{Rank: row.Rank, Team: code(row.Participant), Score: f.score(row, cfg), Problems: make([]Cell, len(row.Cells))}
		for i, c := range row.Cells {
			said.Problems[i] = f.cell(b.Problems[i], row.Participant, c, cfg)
		}
		out.Rows = append(out.Rows, said)
	}
	return out
}

func (f Form) score(row contest.Row, cfg contest.Config) Score {
	if scored(cfg) {
		return Score{Score: &row.Points, Time: new(f.span(row.Last))}
	}
	unit := time.Minute
	if cfg.ICPC.Rounding == contest.Second {
		unit = time.Second
	}
	s := Score{Solved: &row.Solved, Total: f.span(time.Duration(row.Total) * unit)}
	switch {
	case row.Solved > 0:
		s.Time = new(f.span(row.Last))
	case f.Version == V202601:
		s.Time = new(any) // the schema wants a null there
	}
	return s
}

func (f Form) cell(p contest.Column, participant int64, c contest.Cell, cfg contest.Config) Cell {
	out := Cell{Problem: ID(p.ID), Judged: c.Judged, Pending: c.Pending}
	if scored(cfg) {
		out.Score = &c.Score
		if c.Score > 0 {
			out.Time = f.span(c.Time)
		}
		return out
	}
	out.Solved = &c.Solved
	if !c.Solved {
		return out
	}
	out.Time = f.span(c.Time)
	if f.modern() {
		if slices.ContainsFunc(p.First, func(s contest.Solver) bool { return s.Participant == participant }) {
			out.First = new(true)
		}
	}
	return out
}
