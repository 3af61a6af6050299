package rounds

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// applied is a board as who looks on makes it of the one that they have and of a change: rows that say something else are taken
// out and put at their places, and the ranks of the others shift.
func applied(was []boardRowJSON, c boardChangeJSON) []boardRowJSON {
	changed := map[string]bool{}
	for _, r := range c.Rows {
		changed[r.Participant] = true
	}
	out := slices.DeleteFunc(slices.Clone(was), func(r boardRowJSON) bool { return changed[r.Participant] })
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, func(a, b placedRowJSON) int { return a.Place - b.Place })
	for _, r := range rows {
		out = slices.Insert(out, r.Place, r.boardRowJSON)
	}
	for _, s := range c.Shifts {
		for i := s.From; i <= s.To; i++ {
			if !changed[out[i].Participant] && out[i].Rank != nil {
				out[i].Rank = new(*out[i].Rank + s.By)
			}
		}
	}
	return out
}

// ranked orders rows by points, and by name where these are equal, and ranks those that take part.
func ranked(rows []boardRowJSON) []boardRowJSON {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b boardRowJSON) int {
		switch {
		case (a.Organization == "out") != (b.Organization == "out"):
			if a.Organization == "out" {
				return 1
			}
			return -1
		case a.Solved != b.Solved:
			return b.Solved - a.Solved
		case a.Name < b.Name:
			return -1
		}
		return 1
	})
	for i := range rows {
		rows[i].Rank = nil
		if rows[i].Organization == "out" {
			continue
		}
		rank := i + 1
		if i > 0 && rows[i-1].Solved == rows[i].Solved {
			rank = *rows[i-1].Rank
		}
		rows[i].Rank = &rank
	}
	return rows
}

func TestADifferenceMakesOneBoardOfAnother(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []boardRowJSON
		for i := range 1 + r.IntN(12) {
			rows = append(rows, boardRowJSON{Participant: fmt.Sprint("t", i), Name: fmt.Sprint("Team ", r.IntN(100), " ", i), Solved: r.IntN(4), Groups: []string{}, Cells: []boardCellJSON{{}}})
		}
		was := &boardJSON{Rows: ranked(rows)}
		next := slices.Clone(was.Rows)
		for range r.IntN(5) {
			i := r.IntN(len(next))
			switch r.IntN(4) {
			case 0:
				next[i].Solved += r.IntN(3)
			case 1:
				next[i].Cells = []boardCellJSON{{Pending: r.IntN(3)}}
			case 2:
				next[i].Organization = []string{"", "out"}[r.IntN(2)]
			case 3:
				next[i].Name = fmt.Sprint("Other ", r.IntN(100), " ", i)
			}
		}
		is := &boardJSON{Token: "p1", Rows: ranked(next)}
		c := difference(was, is)
		if c.Reset {
			t.Fatalf("seed %d: the same teams make another board", seed)
		}
		if got := applied(was.Rows, c); !reflect.DeepEqual(got, is.Rows) {
			t.Fatalf("seed %d: %+v\nmakes\n%+v\nwant\n%+v", seed, c, got, is.Rows)
		}
	}
}
