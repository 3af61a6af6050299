package contest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deepoj/host/judge"
)

// everything is all that a state tells, as JSON.
func everything(t fataler, s *State) string {
	t.Helper()
	var all []any
	b := s.Board(Query{})
	all = append(all, b, s.Board(Query{Group: "guest"}), s.Awards(), s.Columns(), s.End(), s.FrozenAt())
	for _, r := range b.Rows {
		e, _ := s.Explain(r.Participant)
		all = append(all, e)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWorldsThatDifferOnlyBehindTheFreezeLookTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const teams = 7
		w := icpcWorld(t, "")
		w.people(teams)
		for range rapid.IntRange(1, 20).Draw(t, "before") {
			w.act(t, teams)
		}
		// The same is handed in behind the freeze, and judged otherwise.
		handed := []Submission{}
		for i := range rapid.IntRange(1, 8).Draw(t, "handed in") {
			handed = append(handed, Submission{
				ID: int64(5000 + i), Participant: rapid.Int64Range(1, teams).Draw(t, "team"),
				Problem: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "problem"), Time: w.staff.FrozenAt().Add(time.Duration(5+i) * time.Minute),
			})
		}
		fork := func(name string) *world {
			other := icpcWorld(t, "")
			for _, r := range w.log[1:] {
				other.say(r.Audience, r.Only, r.Entry)
			}
			for _, s := range handed {
				other.made[s.ID] = s
				other.submit(s)
				for range rapid.IntRange(0, 3).Draw(t, name+" judgings") {
					other.decide(s.ID, rapid.SampledFrom(judged).Draw(t, name+" verdict"), nil, nil)
				}
			}
			return other
		}
		one, two := fork("one"), fork("two")
		for name, v := range map[string]Viewer{"the public": public, "a team without submissions in the freeze": {Audience: Teams, Participant: 99}} {
			if a, b := everything(t, one.sees(t, v)), everything(t, two.sees(t, v)); a != b {
				t.Fatalf("%s sees\n%s\nand\n%s", name, a, b)
			}
		}
		for _, s := range handed {
			v := Viewer{Audience: Teams, Participant: s.Participant}
			a, b := one.sees(t, v), two.sees(t, v)
			for id := range a.rows {
				if id == s.Participant {
					continue
				}
				x, _ := a.Row(id)
				y, _ := b.Row(id)
				x.Rank, y.Rank = 0, 0 // which depends on the team's own row
				if p, q := mustJSON(t, x), mustJSON(t, y); p != q {
					t.Fatalf("team %d sees of team %d\n%s\nand\n%s", s.Participant, id, p, q)
				}
			}
		}
	})
}

func TestARowWithWhatIsToldAsideIsWhatItsTeamKnows(t *testing.T) {
	others := 0
	rapid.Check(t, func(t *rapid.T) {
		const teams = 7
		w := icpcWorld(t, "")
		if rapid.Bool().Draw(t, "ioi") {
			w = newWorld(config(t, IOI, `{"mode": "max_subtask"}`), Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)})
		}
		w.people(teams)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.act(t, teams)
		}
		if rapid.Bool().Draw(t, "thawed") {
			w.thaw()
			for range rapid.IntRange(0, 5).Draw(t, "steps behind the thaw") {
				w.act(t, teams)
			}
			if id := rapid.SampledFrom(append(slices.Sorted(maps.Keys(w.now)), 0)).Draw(t, "judged anew"); id != 0 {
				old := w.now[id]
				old.Current = false
				w.judge(old)
			}
		}
		all, aside := w.sees(t, Viewer{Audience: Teams}), Aside{}
		before := everything(t, all)
		for _, r := range w.log {
			switch {
			case (Viewer{Audience: Teams}).Sees(r):
				aside.Told(r.Entry)
			case r.Audience&Own != 0:
				aside.Take(r.Entry)
			}
		}
		for team := range int64(teams) {
			want, is := w.sees(t, Viewer{Audience: Teams, Participant: team + 1}).Row(team + 1)
			got, other, ok := all.Own(team+1, aside)
			public, _ := all.Row(team + 1)
			if want.Rank = public.Rank; ok != is || mustJSON(t, got) != mustJSON(t, want) {
				t.Fatalf("the own row is\n%s, %v\nwant\n%s, %v", mustJSON(t, got), ok, mustJSON(t, want), is)
			}
			if other != (mustJSON(t, got) != mustJSON(t, public)) {
				t.Fatalf("that the own row is another is said to be %v, and it is\n%s\nbeside\n%s", other, mustJSON(t, got), mustJSON(t, public))
			}
			if other {
				others++
			}
		}
		if everything(t, all) != before {
			t.Fatal("the board was changed")
		}
	})
	if others == 0 {
		t.Error("no team was told anything aside")
	}
}

func mustJSON(t fataler, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheBoardOfAMomentIsWhatWasShownThen(t *testing.T) {
	w := icpcWorld(t, "")
	w.people(5)
	var shown []string
	for i := range 10 {
		w.submit(Submission{ID: int64(i + 1), Participant: int64(i%5 + 1), Problem: "a", Time: at(float64(i * 30))})
		w.decide(int64(i+1), judged[i%len(judged)], nil, nil)
		shown = append(shown, everything(t, w.sees(t, public)))
	}
	w.thaw()
	n := 0
	for i, r := range w.log {
		if j, ok := r.Entry.(Judgement); !ok || j.Verdict == "" || !j.Current || n == len(shown) {
			continue
		}
		s, err := Fold(w.cfg, public, Until(slices.Values(w.log), w.log[i].At))
		if err != nil {
			t.Fatal(err)
		}
		if got := everything(t, s); got != shown[n] {
			t.Errorf("at record %d the board was\n%s\nand is said to have been\n%s", i, shown[n], got)
		}
		n++
	}
	if n != len(shown) {
		t.Errorf("only %d moments were looked at", n)
	}
}

func TestWhatIsOpenedStepByStepEndsAsTheFinalBoard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const teams = 7
		w := icpcWorld(t, "")
		w.people(teams)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			w.act(t, teams)
		}
		frozen := w.sees(t, public)
		before := everything(t, frozen)
		w.thaw()
		final := w.sees(t, public)
		opened, steps := resolve(frozen, final)
		if everything(t, frozen) != before {
			t.Fatal("the frozen board was changed")
		}
		var done []int64
		for _, step := range steps {
			if step.Problem == "" {
				done = append(done, step.Participant)
			} else if slices.Contains(done, step.Participant) {
				t.Fatalf("%+v comes after the row was final", step)
			} else if step.Cell.Solved && step.Rank > step.Was {
				t.Fatalf("%+v made a row worse", step)
			}
		}
		if got, want := opened.Board(Query{}), final.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("in the end the board is\n%+v\nwant\n%+v", got, want)
		}
		slices.Reverse(done)
		for i, r := range final.Board(Query{}).Rows {
			if i >= len(done) || done[i] != r.Participant {
				t.Fatalf("rows were done with in the order %v, want from below\n%+v", done, final.Board(Query{}).Rows)
			}
		}
	})
}

func TestARowIsOpenedFromTheLastAndProblemByProblem(t *testing.T) {
	w := icpcWorld(t, "")
	w.say(Everybody, 0, Problem{ID: "a", Ordinal: 0})
	w.say(Everybody, 0, Problem{ID: "b", Ordinal: 1})
	for i, n := range []string{"first", "second", "third"} {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: n, Ranked: true})
	}
	for i, s := range []struct {
		team    int64
		problem string
		minute  float64
		verdict judge.Verdict
	}{
		{1, "a", 10, judge.AC},
		{2, "a", 20, judge.AC},
		{3, "b", 250, judge.AC},
		{3, "a", 260, judge.WA},
		{2, "b", 270, judge.AC},
		{1, "b", 280, judge.JE},
	} {
		w.submit(Submission{ID: int64(i + 1), Participant: s.team, Problem: s.problem, Time: at(s.minute)})
		w.decide(int64(i+1), s.verdict, nil, nil)
	}
	frozen := w.sees(t, public)
	w.thaw()
	want := []Step{
		{Participant: 3, Problem: "a", Was: 3, Rank: 3, Cell: Cell{Judged: 1}},
		{Participant: 3, Problem: "b", Was: 3, Rank: 3, Cell: Cell{Judged: 1, Solved: true, Time: 250 * 60e9, Penalty: 250}},
		{Participant: 3, Was: 3, Rank: 3},
		{Participant: 2, Problem: "b", Was: 2, Rank: 1, Cell: Cell{Judged: 1, Solved: true, Time: 270 * 60e9, Penalty: 270}},
		{Participant: 1, Was: 2, Rank: 2}, // nobody knows whether b is solved
		{Participant: 2, Was: 1, Rank: 1},
	}
	if got := Resolve(frozen, w.sees(t, public)); !slices.Equal(got, want) {
		t.Errorf("the steps are\n%+v\nwant\n%+v", got, want)
	}
}
