package contest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deepoj/host/judge"
)

var (
	start  = time.Date(2030, 2, 14, 9, 0, 0, 0, time.UTC)
	staff  = Viewer{Audience: Staff}
	public = Viewer{Audience: Public}
)

// at returns a time so many minutes after the start.
func at(minutes float64) time.Time {
	return start.Add(time.Duration(minutes * float64(time.Minute)))
}

// world is a contest whose log is written as a recorder would.
type world struct {
	cfg   Config
	log   []Record
	staff *State
	made  map[int64]Submission
	last  map[int64]int // the newest generation
	now   map[int64]Judgement
	round Round
}

func newWorld(cfg Config, r Round) *world {
	w := &world{cfg: cfg, staff: New(cfg), made: map[int64]Submission{}, last: map[int64]int{}, now: map[int64]Judgement{}, round: r}
	w.say(Everybody, 0, r)
	return w
}

func (w *world) say(a Audience, only int64, e Entry) {
	if _, err := w.staff.Apply(e); err != nil {
		panic(err)
	}
	n := len(w.log)
	w.log = append(w.log, Record{Seq: int64(n + 1), At: start.Add(time.Duration(n) * time.Second), Audience: a, Only: only, Entry: e})
}

func (w *world) submit(s Submission) {
	w.made[s.ID] = s
	a := Everybody
	if r := w.staff.rows[s.Participant]; r != nil && r.Hidden {
		a = Jury | Staff
	}
	w.say(a, 0, s)
}

func (w *world) judge(j Judgement) {
	w.now[j.Submission] = j
	w.say(w.staff.Audience(j.Submission), w.made[j.Submission].Participant, j)
}

// decide judges a submission, or judges it anew.
func (w *world) decide(id int64, v judge.Verdict, score *float64, groups []GroupScore) {
	if old, ok := w.now[id]; ok && old.Current {
		old.Current = false
		w.judge(old)
	}
	w.last[id]++
	w.judge(Judgement{Submission: id, Generation: w.last[id], Verdict: v, Current: true, Score: score, Groups: groups})
}

func (w *world) thaw() {
	w.round.Thawed = true
	w.say(Everybody, 0, w.round)
	ids := make([]int64, 0, len(w.now))
	for id := range w.now {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if r := w.staff.rows[w.made[id].Participant]; !r.Hidden && w.now[id].Current {
			w.say(Public|Teams, 0, w.now[id])
		}
	}
}

func (w *world) sees(t fataler, v Viewer) *State {
	t.Helper()
	s, err := Fold(w.cfg, v, slices.Values(w.log))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fataler is a test or a trial of one.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func config(t fataler, f Format, text string) Config {
	t.Helper()
	c, err := ParseConfig(f, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// people gives a world two groups, teams and problems, with everything that a board can have.
func (w *world) people(teams int) {
	w.say(Everybody, 0, Group{ID: "uni", Name: "Universities", Ranked: true})
	w.say(Everybody, 0, Group{ID: "guest", Name: "Guests", Sort: 5})
	for i, p := range []string{"a", "b", "c"} {
		w.say(Everybody, 0, Problem{ID: p, Label: string(rune('A' + i)), Ordinal: i, Points: []*float64{nil, new(30.0), new(40.0)}[i], Max: []float64{0, 90, 0}[i]})
	}
	for i := range teams {
		p := Participant{ID: int64(i + 1), Name: fmt.Sprintf("Team %c", 'Z'-i%3), Groups: []string{"uni"}, Ranked: true}
		a := Everybody
		switch {
		case i%5 == 3:
			p.Groups = []string{"guest"}
		case i%7 == 6:
			p.Hidden, a = true, Jury|Staff
		}
		w.say(a, 0, p)
	}
}

var judged = []judge.Verdict{judge.AC, judge.AC, judge.WA, judge.TLE, judge.CE, judge.RE, judge.JE, judge.PA}

// act does one thing that happens in a contest.
func (w *world) act(t *rapid.T, teams int) {
	some := func() int64 { return rapid.SampledFrom(slices.Sorted(maps.Keys(w.made))).Draw(t, "submission") }
	what := rapid.SampledFrom([]string{"submit", "submit", "submit", "submit", "judge", "judge", "judge", "judge", "judge", "mark", "adjust", "remove", "undo", "status", "begin", "token"}).Draw(t, "what")
	if len(w.made) == 0 && !slices.Contains([]string{"adjust", "remove", "undo", "status"}, what) {
		what = "submit"
	}
	team := rapid.Int64Range(1, int64(teams)).Draw(t, "team")
	switch what {
	case "submit":
		w.submit(Submission{
			ID: int64(len(w.made)+1)*7%1009 + 1, Participant: team, Problem: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "problem"),
			Time: at(float64(rapid.IntRange(-2, 620).Draw(t, "half minutes")) / 2),
		})
	case "judge":
		v := rapid.SampledFrom(judged).Draw(t, "verdict")
		score := float64(rapid.IntRange(0, 100).Draw(t, "score"))
		w.decide(some(), v, &score, []GroupScore{{"1", score / 3}, {"2", float64(rapid.IntRange(0, 50).Draw(t, "second"))}})
	case "begin": // a judging begins
		id := some()
		w.last[id]++
		w.judge(Judgement{Submission: id, Generation: w.last[id], Current: rapid.Bool().Draw(t, "current")})
	case "mark":
		w.say(Everybody, 0, Mark{some(), rapid.Bool().Draw(t, "ignored")})
	case "token":
		w.say(Everybody, 0, Token{some()})
	case "adjust":
		w.say(Everybody, 0, Adjustment{team, int64(rapid.IntRange(-40, 40).Draw(t, "minutes")), float64(rapid.IntRange(-9, 9).Draw(t, "points"))})
	case "remove", "undo":
		from := rapid.IntRange(-10, 300).Draw(t, "from")
		r := Removed{
			rapid.Int64Range(1, 3).Draw(t, "interval"), at(float64(from)), at(float64(from + rapid.IntRange(0, 60).Draw(t, "long"))), what == "undo",
		}
		if !w.hides(r) {
			w.say(Everybody, 0, r)
		}
	case "status":
		r := w.staff.rows[team]
		p := r.Participant
		p.Status = rapid.SampledFrom([]Status{Active, Banned, Withdrawn, Disqualified}).Draw(t, "status")
		a := Everybody
		if p.Hidden {
			a = Jury | Staff
		}
		w.say(a, 0, p)
	}
}

// hides reports whether something that was shown would be hidden by an interval that is removed or given back, which no
// act of staff does.
func (w *world) hides(r Removed) bool {
	before := &w.staff.clock
	after := clock{round: before.round}
	for _, old := range before.removed {
		after.remove(old)
	}
	after.remove(r)
	for _, s := range w.made {
		if !before.frozen(before.at(s.Time)) && after.frozen(after.at(s.Time)) {
			return true
		}
	}
	return false
}

// icpcWorld is a contest of five hours that freezes after four.
func icpcWorld(t fataler, settings string) *world {
	t.Helper()
	return newWorld(config(t, ICPC, settings), Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)})
}

func TestTheWorldOfTheTestsHasEveryKindOfParticipant(t *testing.T) {
	w := icpcWorld(t, "")
	w.people(7)
	if all, shown := w.staff.Board(Query{}).Total, w.sees(t, public).Board(Query{}).Total; all != 7 || shown != 6 {
		t.Errorf("staff see %d rows and the public %d, want 7 and 6", all, shown)
	}
}
