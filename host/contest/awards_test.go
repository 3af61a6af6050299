package contest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

// standings makes a contest in which team i+1 solved so many problems, the later teams later.
func standings(t *testing.T, settings string, solved ...int) *world {
	t.Helper()
	w := icpcWorld(t, settings)
	for i := range 12 {
		w.say(Everybody, 0, Problem{ID: fmt.Sprint("p", i), Label: string(rune('A' + i)), Ordinal: i})
	}
	id := int64(0)
	for i, n := range solved {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: fmt.Sprintf("Team %02d", i+1), Ranked: true})
		for p := range n {
			id++
			w.submit(Submission{ID: id, Participant: int64(i + 1), Problem: fmt.Sprint("p", p), Time: at(float64(p + i + 1))})
			w.decide(id, judge.AC, nil, nil)
		}
	}
	return w
}

func got(w *world, prefixes ...string) map[string][]int64 {
	m := map[string][]int64{}
	for _, a := range w.staff.Awards() {
		for _, p := range prefixes {
			if strings.HasPrefix(a.ID, p) {
				m[a.ID] = a.Participants
			}
		}
	}
	return m
}

func TestAwardsAreThoseOfTheRules(t *testing.T) {
	// Sixteen teams: the last medal is for 5 solved, the team in the middle of the order has 6.
	w := standings(t, "", 9, 9, 8, 8, 7, 7, 7, 6, 6, 6, 5, 5, 5, 5, 4, 0)
	for _, test := range []struct {
		prefix string
		want   map[string][]int64
	}{
		{"winner", map[string][]int64{"winner": {1}}},
		{"gold", map[string][]int64{"gold-medal": {1, 2, 3, 4}}},
		{"silver", map[string][]int64{"silver-medal": {5, 6, 7, 8}}},
		{"bronze", map[string][]int64{"bronze-medal": {9, 10, 11, 12}}},
		{"high", map[string][]int64{}},
		{"honor", map[string][]int64{"honorable-mention": {13, 14, 15, 16}}},
		{"first-to-solve-p8", map[string][]int64{"first-to-solve-p8": {1}}},
	} {
		if m := got(w, test.prefix); !reflect.DeepEqual(m, test.want) {
			t.Errorf("the awards %q are %v, want %v", test.prefix, m, test.want)
		}
	}
	// Nineteen teams of which the one in the middle has 4: behind the medals ranks are by problems solved alone.
	w = standings(t, "", 9, 9, 8, 8, 7, 7, 6, 6, 6, 4, 4, 4, 4, 4, 3, 3, 3, 2, 2)
	if m := got(w, "rank-13", "rank-15", "high", "honor"); !reflect.DeepEqual(m, map[string][]int64{
		"rank-13": {13, 14}, "highest-honors": {13, 14}, "honorable-mention": {15, 16, 17, 18, 19},
	}) {
		t.Errorf("behind the medals there are %v", m)
	}
	// Half of them solved nothing.
	w = standings(t, "", 9, 9, 8, 8, 7, 7, 6, 6, 6, 5, 5, 5, 5, 4, 4, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	if m := got(w, "rank-13", "rank-14", "rank-16", "rank-17", "high", "honors"); !reflect.DeepEqual(m, map[string][]int64{
		"rank-13": {13}, "rank-14": {14, 15}, "rank-16": {16}, "rank-17": {17}, "highest-honors": {13}, "high-honors": {14, 15}, "honors": {16, 17},
	}) {
		t.Errorf("behind the medals there are %v", m)
	}
	// One more bronze medal, and fewer gold ones.
	w = standings(t, `{"b": 1, "medals": {"gold": 1, "silver": 1, "bronze": 1}}`, 5, 4, 3, 2, 1)
	if m := got(w, "gold", "silver", "bronze"); !reflect.DeepEqual(m, map[string][]int64{"gold-medal": {1}, "silver-medal": {2}, "bronze-medal": {3, 4}}) {
		t.Errorf("the medals are %v", m)
	}
}

func TestThoseWhoAreEqualAtTheEdgeBothGetTheMedalAndNobodyForNothing(t *testing.T) {
	w := standings(t, `{"medals": {"gold": 1, "silver": 1, "bronze": 4}}`)
	for i := range 4 {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: fmt.Sprint(i), Ranked: true})
	}
	for i := range 3 {
		w.submit(Submission{ID: int64(i + 1), Participant: int64(i + 1), Problem: "p0", Time: at(10)})
		w.decide(int64(i+1), judge.AC, nil, nil)
	}
	if m := got(w, "gold", "silver", "bronze", "first"); !reflect.DeepEqual(m, map[string][]int64{"gold-medal": {1, 2, 3}, "first-to-solve-p0": {1, 2, 3}}) {
		t.Errorf("the awards are %v", m)
	}
}

func TestWhereNobodySolvedAnythingNobodyWins(t *testing.T) {
	if m := got(standings(t, "", 0, 0, 0), "winner", "gold", "rank", "honor", "group"); !reflect.DeepEqual(m, map[string][]int64{"honorable-mention": {1, 2, 3}}) {
		t.Errorf("the awards are %v", m)
	}
}

func TestMedalsMayBeForSomeGroups(t *testing.T) {
	w := standings(t, `{"medals": {"gold": 1, "silver": 1, "bronze": 0, "groups": ["students"]}}`, 5, 4, 3, 2)
	w.say(Everybody, 0, Group{ID: "students", Name: "Students", Ranked: true})
	w.say(Everybody, 0, Group{ID: "guests", Sort: 2})
	for _, id := range []int64{2, 4} {
		w.say(Everybody, 0, Participant{ID: id, Name: fmt.Sprint(id), Ranked: true, Groups: []string{"students"}})
	}
	w.say(Everybody, 0, Participant{ID: 3, Name: "guest", Ranked: true, Groups: []string{"guests"}})
	if m := got(w, "gold", "silver", "group", "winner"); !reflect.DeepEqual(m, map[string][]int64{
		"gold-medal": {2}, "silver-medal": {4}, "group-winner-students": {2}, "group-winner-guests": {3}, "winner": {1},
	}) {
		t.Errorf("the awards are %v", m)
	}
}

func TestAGroupRanksItsParticipantsAmongEachOther(t *testing.T) {
	w := standings(t, "", 5, 4, 3, 2)
	w.say(Everybody, 0, Group{ID: "g", Ranked: true})
	for _, id := range []int64{2, 4} {
		w.say(Everybody, 0, Participant{ID: id, Name: fmt.Sprint(id), Ranked: true, Groups: []string{"g"}})
	}
	b := w.staff.Board(Query{Group: "g", Offset: 1, Limit: 5})
	if b.Total != 2 || len(b.Rows) != 1 || b.Rows[0].Participant != 4 || b.Rows[0].Rank != 2 {
		t.Errorf("the second of the group is %+v of %d", b.Rows, b.Total)
	}
	if b := w.staff.Board(Query{Offset: 1, Limit: 2}); len(b.Rows) != 2 || b.Rows[0].Rank != 2 || b.Total != 4 {
		t.Errorf("the second page is %+v", b)
	}
	if b := w.staff.Board(Query{Offset: 10}); len(b.Rows) != 0 {
		t.Errorf("behind the end there is %+v", b)
	}
}

func TestARankIsExplained(t *testing.T) {
	w := icpcWorld(t, "")
	w.say(Everybody, 0, Problem{ID: "a"})
	w.say(Everybody, 0, Problem{ID: "b", Ordinal: 1})
	for i := range 4 {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: fmt.Sprint("Team ", i+1), Ranked: true})
	}
	id := int64(0)
	hand := func(team int64, problem string, minute float64, v judge.Verdict) {
		id++
		w.submit(Submission{ID: id, Participant: team, Problem: problem, Time: at(minute)})
		w.decide(id, v, nil, nil)
	}
	hand(1, "a", 50, judge.AC)
	hand(1, "b", 100, judge.AC)
	hand(2, "a", 30, judge.WA)
	hand(2, "a", 35, judge.CE)
	hand(2, "a", 40, judge.AC)
	hand(2, "a", 41, judge.WA)
	hand(2, "b", 45, judge.WA)
	hand(2, "b", 301, judge.AC)
	hand(3, "b", 40, judge.AC)
	hand(4, "b", 90, judge.AC)
	w.say(Everybody, 0, Adjustment{Participant: 3, Minutes: 20})
	e, ok := w.staff.Explain(2)
	if !ok || e.Row.Rank != 2 || e.Row.Total != 60 || e.Equal != 1 {
		t.Fatalf("the row is %+v with %d equal ones, want rank 2 with 60 minutes as team 3 has", e.Row, e.Equal)
	}
	if e.Above == nil || *e.Above != (Neighbour{Participant: 1, Name: "Team 1", Rank: 1, Solved: 1, Total: 60 - 150, Last: -60 * time.Minute}) {
		t.Errorf("above is %+v", e.Above)
	}
	if e.Below == nil || *e.Below != (Neighbour{Participant: 4, Name: "Team 4", Rank: 4, Total: 60 - 90, Last: -50 * time.Minute}) {
		t.Errorf("below is %+v", e.Below)
	}
	var effects []Effect
	for _, c := range e.Cells {
		for _, a := range c.Attempts {
			effects = append(effects, a.Effect)
		}
	}
	if want := []Effect{Wrong, Free, Solution, After, Wrong, Late}; !reflect.DeepEqual(effects, want) {
		t.Errorf("the attempts are %q, want %q", effects, want)
	}
	// 60 + 20 for the wrong attempt + t is at most 150, and then the last solution is earlier.
	if want := []Reach{{"b", 71*time.Minute - time.Millisecond}}; !reflect.DeepEqual(e.Reach, want) {
		t.Errorf("enough would be %v, want %v", e.Reach, want)
	}
	if _, ok := w.staff.Explain(9); ok {
		t.Error("there is a row for nobody")
	}
}
