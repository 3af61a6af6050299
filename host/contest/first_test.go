package contest

import (
	"testing"
	"time"

	"deepoj/host/judge"
)

func TestWhoSolvedAProblemFirstIsDecidedWhenNothingEarlierIsPending(t *testing.T) {
	w := icpcWorld(t, "")
	w.say(Everybody, 0, Problem{ID: "c"})
	for i := range 3 {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: "T", Ranked: true})
	}
	w.say(Everybody, 0, Participant{ID: 4, Name: "guest"})
	for i, minute := range []float64{10, 10.5, 10, 9.5, 5} {
		w.submit(Submission{ID: int64(i + 1), Participant: []int64{1, 2, 3, 3, 4}[i], Problem: "c", Time: at(minute)})
	}
	decided := func(when string, want bool) {
		t.Helper()
		if c := w.staff.Columns()[0]; len(c.First) == 0 || c.First[0].Participant != 1 || c.Decided != want {
			t.Errorf("%s: the first are %v, decided %v, want team 1, decided %v", when, c.First, c.Decided, want)
		}
	}
	w.decide(5, judge.AC, nil, nil) // whoever does not rank is not first
	w.decide(1, judge.AC, nil, nil)
	decided("while two are pending", false)
	w.decide(4, judge.WA, nil, nil)
	decided("while one of the same moment is pending", false)
	w.say(Everybody, 0, Mark{3, true})
	decided("when only a later one is pending", true)
	w.say(Everybody, 0, Mark{3, false})
	w.decide(3, judge.AC, nil, nil)
	if c := w.staff.Columns()[0]; len(c.First) != 2 || !c.Decided || c.Solved != 2 {
		t.Errorf("two of the same moment are %+v", c)
	}
	w.say(Everybody, 0, Participant{ID: 3, Name: "T", Ranked: true, Status: Disqualified})
	if c := w.staff.Columns()[0]; len(c.First) != 1 || c.Solved != 1 {
		t.Errorf("without a team that is disqualified it is %+v", c)
	}
}

func TestAfterTheThawEverythingIsToldAtOnce(t *testing.T) {
	w := alone(icpcWorld(t, ""))
	w.submit(Submission{ID: 1, Participant: 1, Problem: "c", Time: at(241)})
	w.thaw()
	w.decide(1, judge.AC, nil, nil)
	if _, c := one(t, w.sees(t, public)); !c.Solved {
		t.Errorf("the public sees %+v", c)
	}
}

func TestOfHiddenTeamsOnlyTheyAndStaffAreTold(t *testing.T) {
	w := icpcWorld(t, "")
	w.people(7)
	w.submit(Submission{ID: 1, Participant: 7, Problem: "a", Time: at(10)})
	for id, want := range map[int64]Audience{1: Jury | Staff | Own, 99: Jury | Staff} {
		if got := w.staff.Audience(id); got != want {
			t.Errorf("a judgement of submission %d is for %b, want %b", id, got, want)
		}
	}
}

func TestAnEarlierLastImprovementDecidesWhereTheSettingsSaySo(t *testing.T) {
	for settings, want := range map[string][2]int{`{"mode": "max"}`: {1, 1}, `{"mode": "max", "tie": "time"}`: {2, 1}} {
		w := newWorld(config(t, IOI, settings), Round{Start: start})
		w.say(Everybody, 0, Problem{ID: "c"})
		for i, minute := range []float64{20, 10} {
			w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: "T", Ranked: true})
			w.submit(Submission{ID: int64(i + 1), Participant: int64(i + 1), Problem: "c", Time: at(minute)})
			score := 50.0
			w.decide(int64(i+1), judge.PA, &score, nil)
		}
		one, _ := w.staff.Row(1)
		two, _ := w.staff.Row(2)
		if one.Rank != want[0] || two.Rank != want[1] {
			t.Errorf("%s: the ranks are %d and %d, want %v", settings, one.Rank, two.Rank, want)
		}
	}
}

func TestWhatIsForOneParticipantIsForNobodyElse(t *testing.T) {
	r := Record{Audience: Own | Jury, Only: 3}
	for v, want := range map[Viewer]bool{
		{Audience: Public}: false, {Audience: Teams}: false, {Audience: Teams, Participant: 2}: false, {Audience: Teams | Own, Participant: 2}: false,
		{Audience: Public | Own}: false, {Audience: Teams, Participant: 3}: true, {Audience: Jury}: true,
	} {
		if got := v.Sees(r); got != want {
			t.Errorf("%+v sees it: %v, want %v", v, got, want)
		}
	}
}

func TestToBeAsGoodIsEnough(t *testing.T) {
	w := icpcWorld(t, `{"tie_last": false}`)
	w.say(Everybody, 0, Problem{ID: "a"})
	for i := range 2 {
		w.say(Everybody, 0, Participant{ID: int64(i + 1), Name: "T", Ranked: true})
	}
	w.submit(Submission{ID: 1, Participant: 1, Problem: "a", Time: at(70)})
	w.decide(1, judge.AC, nil, nil)
	if e, _ := w.staff.Explain(2); len(e.Reach) != 1 || e.Reach[0].Latest != 71*time.Minute-time.Millisecond {
		t.Errorf("enough would be %v, want the whole of minute 70", e.Reach)
	}
}
