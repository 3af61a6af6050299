package contest

import (
	"testing"
	"time"

	"deepoj/host/judge"
)

// attempts judges programs for problem c by one team, at minutes.
func attempts(w *world, all []struct {
	minute  float64
	verdict judge.Verdict
},
) {
	for i, a := range all {
		w.submit(Submission{ID: int64(i + 1), Participant: 1, Problem: "c", Time: at(a.minute)})
		w.decide(int64(i+1), a.verdict, nil, nil)
	}
}

func one(t fataler, s *State) (Row, Cell) {
	t.Helper()
	r, ok := s.Row(1)
	if !ok || len(r.Cells) != 1 {
		t.Fatalf("the row is %+v, %v", r, ok)
	}
	return r, r.Cells[0]
}

func alone(w *world) *world {
	w.say(Everybody, 0, Problem{ID: "c", Label: "C"})
	w.say(Everybody, 0, Participant{ID: 1, Name: "T", Ranked: true})
	return w
}

func TestTheFreezeHidesWhateverTheVerdictsAre(t *testing.T) {
	type attempt = struct {
		minute  float64
		verdict judge.Verdict
	}
	before := []attempt{{12, judge.CE}, {31.9, judge.WA}, {55, judge.JE}, {97.99, judge.TLE}}
	worlds := map[string][3]judge.Verdict{
		"of the example": {judge.WA, judge.AC, judge.WA}, "solved at once": {judge.AC, judge.CE, judge.JE}, "never solved": {judge.CE, judge.TLE, judge.RE},
	}
	for name, hidden := range worlds {
		w := alone(icpcWorld(t, ""))
		attempts(w, append(before[:4:4], attempt{241, hidden[0]}, attempt{250, hidden[1]}, attempt{260, hidden[2]}))
		if row, c := one(t, w.sees(t, public)); c != (Cell{Judged: 2, Pending: 4}) || row.Solved != 0 || row.Total != 0 {
			t.Errorf("%s: the public sees %+v in %+v, want 2 judged, 4 pending, unsolved", name, c, row)
		}
		if name != "of the example" {
			continue
		}
		row, c := one(t, w.staff)
		if want := (Cell{Judged: 4, Pending: 1, Solved: true, Time: 250 * time.Minute, Penalty: 310}); c != want {
			t.Errorf("staff see %+v, want %+v", c, want)
		}
		if row.Solved != 1 || row.Total != 310 || row.Last != 250*time.Minute || row.Rank != 1 {
			t.Errorf("the row is %+v", row)
		}
		if f := w.staff.Columns()[0]; f.Decided || len(f.First) != 1 || f.First[0] != (Solver{1, 250 * time.Minute}) {
			t.Errorf("the first to solve is %+v, want team 1, while the pending one of minute 55 may be", f)
		}
		own := w.sees(t, Viewer{Audience: Teams, Participant: 1})
		if _, mine := one(t, own); mine != c {
			t.Errorf("the team sees %+v of itself, want %+v", mine, c)
		}
		if _, theirs := one(t, w.sees(t, Viewer{Audience: Teams, Participant: 2})); theirs != (Cell{Judged: 2, Pending: 4}) {
			t.Errorf("another team sees %+v", theirs)
		}
		w.thaw()
		if _, c2 := one(t, w.sees(t, public)); c2 != c {
			t.Errorf("after the thaw the public sees %+v, want %+v", c2, c)
		}
	}
}

func TestTeamsMayBeToldNothingInTheFreezeEither(t *testing.T) {
	w := alone(icpcWorld(t, `{"own_verdicts_in_freeze": false}`))
	w.submit(Submission{ID: 1, Participant: 1, Problem: "c", Time: at(241)})
	w.decide(1, judge.AC, nil, nil)
	if _, c := one(t, w.sees(t, Viewer{Audience: Teams, Participant: 1})); c.Solved || c.Pending != 1 {
		t.Errorf("the team sees %+v, want it pending", c)
	}
}

func TestPenaltyTimeIsRoundedAsTheSettingsSay(t *testing.T) {
	// Solved at 10:59 with one wrong attempt, and at 29:59.
	for _, want := range []struct {
		settings    string
		total, last int64
	}{
		{`{}`, 10 + 20 + 29, 29},
		{`{"rounding": "second"}`, 10*60 + 59 + 1200 + 29*60 + 59, 29*60 + 59},
		{`{"rounding": "second_then_minute"}`, (10*60 + 59 + 1200 + 29*60 + 59) / 60, 29},
		{`{"penalty_minutes": 5}`, 10 + 5 + 29, 29},
		{`{"penalise_ce": true}`, 10 + 40 + 29, 29},
		{`{"penalise_ce": true, "rounding": "second"}`, 10*60 + 59 + 2400 + 29*60 + 59, 29*60 + 59},
		{`{"penalty_minutes": 0, "rounding": "second"}`, 10*60 + 59 + 29*60 + 59, 29*60 + 59},
		{`{"tie_last": false, "penalty_minutes": 0}`, 10 + 29, 29},
		{`{"medals": {"gold": 1}, "penalty_minutes": 100}`, 10 + 100 + 29, 29},
	} {
		w := icpcWorld(t, want.settings)
		w.people(2)
		for i, a := range []struct {
			problem string
			time    time.Time
			verdict judge.Verdict
		}{
			{"a", at(1), judge.WA},
			{"a", at(2), judge.CE},
			{"a", start.Add(10*time.Minute + 59*time.Second + 999*time.Millisecond), judge.AC},
			{"a", at(12), judge.WA},
			{"b", start.Add(29*time.Minute + 59*time.Second), judge.AC},
			{"c", at(40), judge.WA},
		} {
			w.submit(Submission{ID: int64(i + 1), Participant: 1, Problem: a.problem, Time: a.time})
			w.decide(int64(i+1), a.verdict, nil, nil)
		}
		if r := w.staff.rows[1]; r.sum.total != want.total || r.sum.last != want.last || r.sum.solved != 2 {
			t.Errorf("%s: %d solved in %d, the last at %d, want 2 in %d, %d", want.settings, r.sum.solved, r.sum.total, r.sum.last, want.total, want.last)
		}
	}
}

func TestRemovedTimeDoesNotCount(t *testing.T) {
	w := alone(icpcWorld(t, ""))
	w.submit(Submission{ID: 1, Participant: 1, Problem: "c", Time: at(100)})
	w.decide(1, judge.AC, nil, nil)
	w.submit(Submission{ID: 2, Participant: 1, Problem: "c", Time: at(310)})
	for _, step := range []struct {
		entry    Removed
		time     time.Duration
		end      time.Time
		official bool
	}{
		{Removed{ID: 1, From: at(50), To: at(60)}, 90 * time.Minute, at(310), false},
		{Removed{ID: 2, From: at(55), To: at(70)}, 80 * time.Minute, at(320), true}, // it overlaps the first
		{Removed{ID: 3, From: at(-20), To: at(-10)}, 80 * time.Minute, at(320), true},
		{Removed{ID: 4, From: at(99), To: at(200)}, 79 * time.Minute, at(421), true},
		{Removed{ID: 4, From: at(99), To: at(200), Undone: true}, 80 * time.Minute, at(320), true},
		{Removed{ID: 2, From: at(55), To: at(70), Undone: true}, 90 * time.Minute, at(310), false},
		{Removed{ID: 1, From: at(50), To: at(60), Undone: true}, 100 * time.Minute, at(300), false},
	} {
		w.say(Everybody, 0, step.entry)
		_, c := one(t, w.staff)
		if c.Time != step.time || !w.staff.End().Equal(step.end) {
			t.Errorf("after %+v the solution is at %s and the end at %s, want %s and %s", step.entry, c.Time, w.staff.End(), step.time, step.end)
		}
		if e, _ := w.staff.Explain(1); (e.Cells[0].Attempts[1].Effect != Late) != step.official {
			t.Errorf("after %+v the second one is %q", step.entry, e.Cells[0].Attempts[1].Effect)
		}
	}
}

func TestThoseThatAreEqualShareARankAndTheNextOneSkips(t *testing.T) {
	w := icpcWorld(t, "")
	w.say(Everybody, 0, Problem{ID: "c"})
	names := []string{"Éclair", "Zebra", "apple", "Echo", "Ädel"}
	for i, n := range names {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: n, Ranked: true})
	}
	for i, minute := range []float64{30, 10, 30.5, 30.2, 60} { // cut to the minute: 30, 10, 30, 30, 60
		w.submit(Submission{ID: int64(i + 1), Participant: int64(i + 1), Problem: "c", Time: at(minute)})
		w.decide(int64(i+1), judge.AC, nil, nil)
	}
	var got []string
	for _, r := range w.staff.Board(Query{}).Rows {
		got = append(got, string(rune('0'+r.Rank))+" "+r.Name)
	}
	want := []string{"1 Zebra", "2 apple", "2 Echo", "2 Éclair", "5 Ädel"}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("the board is %q, want %q", got, want)
		}
	}
}
