package contest

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Digest is a digest of the whole board, by the short names of participants: of ranks, sums and cells, and not of what people and
// problems are called. Two states of the same entries have the same, in whatever order and at whatever times they took them in.
func (s *State) Digest(code func(participant int64) string) [sha256.Size]byte {
	rows := make([][]byte, 0, len(s.order))
	for _, r := range s.order {
		row := s.shown(r, s.rank(r))
		b := named(nil, code(row.Participant))
		b = numbers(b, int64(row.Rank), int64(row.Solved), row.Total, row.Last.Milliseconds(), micros(row.Points))
		for _, c := range row.Cells {
			solved := int64(0)
			if c.Solved {
				solved = 1
			}
			b = numbers(b, int64(c.Judged), int64(c.Pending), solved, c.Time.Milliseconds(), c.Penalty, micros(c.Score))
		}
		rows = append(rows, b)
	}
	slices.SortFunc(rows, slices.Compare) // who is equal has no order among each other
	all := sha256.New()
	for _, p := range s.columns {
		_, _ = all.Write(named(nil, p.ID)) // never fails: see hash
	}
	for _, b := range rows {
		_, _ = all.Write(b)
	}
	return [sha256.Size]byte(all.Sum(nil))
}

// named appends a text and its length.
func named(b []byte, text string) []byte {
	return append(numbers(b, int64(len(text))), text...)
}

// numbers appends numbers.
func numbers(b []byte, all ...int64) []byte {
	for _, n := range all {
		b = binary.AppendVarint(b, n)
	}
	return b
}
