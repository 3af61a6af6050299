package contest

import (
	"crypto/sha256"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// called is the short name of a participant in tests.
func called(id int64) string { return "t" + strconv.FormatInt(id, 10) }

// digested is what a digest is of.
type digested struct {
	Problems []string
	Rows     map[int64]Row
}

// whole is a score in what scores are told apart by: what they were added up from does not matter.
func whole(score float64) float64 { return float64(micros(score)) }

func toDigest(s *State) digested {
	d := digested{Rows: map[int64]Row{}}
	for _, c := range s.Columns() {
		d.Problems = append(d.Problems, c.ID)
	}
	for _, r := range s.Board(Query{}).Rows {
		r.Name, r.Points = "", whole(r.Points)
		for i := range r.Cells {
			r.Cells[i].Score = whole(r.Cells[i].Score)
		}
		d.Rows[r.Participant] = r
	}
	return d
}

func TestBoardsHaveTheSameDigestIfAndOnlyIfTheyAreTheSame(t *testing.T) {
	for settings, format := range formats {
		t.Run(string(format)+" "+settings, rapid.MakeCheck(func(t *rapid.T) {
			const teams = 5
			w := newWorld(config(t, format, settings), Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)})
			w.people(teams)
			seen := map[[sha256.Size]byte]digested{}
			for range rapid.IntRange(1, 30).Draw(t, "steps") {
				w.act(t, teams)
				for _, s := range []*State{w.staff, w.sees(t, public)} {
					is, digest := toDigest(s), s.Digest(called)
					if before, known := seen[digest]; known && !reflect.DeepEqual(before, is) {
						t.Fatalf("two boards have one digest:\n%+v\n%+v", before, is)
					}
					seen[digest] = is
				}
			}
			for a, one := range seen {
				for b, other := range seen {
					if a != b && reflect.DeepEqual(one, other) {
						t.Fatalf("a board has two digests:\n%+v", one)
					}
				}
			}
		}))
	}
}
