package contest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var formats = map[string]Format{
	`{}`: ICPC, `{"rounding": "second", "penalise_ce": true}`: ICPC, `{"rounding": "second_then_minute", "tie_last": false}`: ICPC,
	`{"mode": "max"}`: IOI, `{"mode": "max", "tie": "solved"}`: IOI, `{"mode": "max_subtask", "tie": "time"}`: IOI, `{"mode": "last"}`: IOI, `{"mode": "max_tokened_last"}`: IOI,
}

func TestTheFoldIsWhatSortingEverythingGivesForEveryView(t *testing.T) {
	for settings, format := range formats {
		t.Run(string(format)+" "+settings, rapid.MakeCheck(func(t *rapid.T) {
			const teams = 7
			w := newWorld(config(t, format, settings), Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)})
			w.people(teams)
			views := map[*State]Viewer{New(w.cfg): staff, New(w.cfg): public, New(w.cfg): {Audience: Teams, Participant: 2}}
			told, thaw := 0, rapid.IntRange(5, 60).Draw(t, "thaw")
			for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
				if w.act(t, teams); i == thaw {
					w.thaw()
				}
				for s, v := range views {
					for _, r := range w.log[told:] {
						if !v.Sees(r) {
							continue
						}
						before, _ := s.Row(1)
						change, err := s.Apply(r.Entry)
						if err != nil {
							t.Fatal(err)
						}
						if after, _ := s.Row(1); change.Participant == 1 && (change.Was != before.Rank || change.Rank != after.Rank) {
							t.Fatalf("%+v is told as %+v, but the rank went from %d to %d", r.Entry, change, before.Rank, after.Rank)
						}
					}
					var seen []Entry
					for _, r := range w.log {
						if v.Sees(r) {
							seen = append(seen, r.Entry)
						}
					}
					if got, want := s.Board(Query{}).Rows, Recount(w.cfg, seen); Differs(got, want) {
						t.Fatalf("after %+v view %+v has\n%+v\nwant\n%+v", w.log[len(w.log)-1].Entry, v, got, want)
					}
				}
				told = len(w.log)
			}
		}))
	}
}

func TestTheOrderInWhichDifferentThingsAreToldDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const teams = 5
		w := icpcWorld(t, "")
		w.people(teams)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			w.act(t, teams)
		}
		kind := func(r Record) string { return reflect.TypeOf(r.Entry).Name() }
		priority := rapid.Permutation([]string{"Round", "Removed", "Group", "Participant", "Problem", "Submission", "Judgement", "Mark", "Token", "Adjustment"}).Draw(t, "order")
		other := slices.Clone(w.log)
		slices.SortStableFunc(other, func(a, b Record) int { return slices.Index(priority, kind(a)) - slices.Index(priority, kind(b)) })
		s := New(w.cfg)
		for _, r := range other {
			if _, err := s.Apply(r.Entry); err != nil {
				t.Fatal(err)
			}
		}
		if s.Digest(called) != w.staff.Digest(called) {
			t.Fatalf("told in the order %q the board has another digest", priority)
		}
		if got, want := s.Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("told in the order %q the board is\n%+v\nwant\n%+v", priority, got, want)
		}
		if got, want := w.sees(t, staff).Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("the fold of all is\n%+v\nwant what was counted step by step:\n%+v", got, want)
		}
	})
}
