package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

func TestTheLogTellsWhatHappenedToThoseWhoMayKnow(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.record()
	first := g.submit(0, "aplusb")
	g.submit(2, "aplusb") // of the hidden team
	g.record()
	g.judge(first, judge.WA)
	g.record()
	g.record() // nothing happened
	got := names(sees(t, g.log(), public))
	want := []string{
		"p1 round day1", "p2 organization uni", "p3 group all", fmt.Sprint("p4 participant ", g.teams[0]), fmt.Sprint("p5 participant ", g.teams[1]),
		"p6 problem aplusb", "p7 problem other", "p8 submission 1", "p9 judgement 1-1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("everybody was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	whole(t, g.log(), g.teams)
	if all := strings.Join(names(sees(t, g.log(), team(g.teams[2]))), "\n"); !strings.Contains(all, "submission 1000000001") {
		t.Errorf("the hidden team was told\n%s\nand not of its own", all)
	}
}

func TestTheFreezeHidesJudgingsUntilTheThawAndOnlyWhatCountsIsShown(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	before := g.submit(0, "aplusb")
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	g.record()
	time.Sleep(2 * time.Millisecond)
	within := g.submit(0, "other")
	g.judge(before, judge.WA)
	g.judge(within, judge.WA)
	g.record()
	g.again(within, judge.AC)
	g.record()
	has := func(v contest.Viewer, object string) bool { return last(g.log(), v)["judgement "+object] != "" }
	for _, tt := range []struct {
		who    string
		v      contest.Viewer
		hidden bool
	}{{"everybody", public, true}, {"another team", team(g.teams[1]), true}, {"the team", team(g.teams[0]), false}, {"the jury", jury, false}} {
		if !has(tt.v, "1-1") {
			t.Errorf("%s was not told of what was handed in before the freeze", tt.who)
		}
		if has(tt.v, "2-1") == tt.hidden || has(tt.v, "2-2") == tt.hidden {
			t.Errorf("%s was told of the freeze: %v, %v", tt.who, has(tt.v, "2-1"), has(tt.v, "2-2"))
		}
	}
	g.act("shorten", func(r judge.Round, now time.Time) (judge.Round, error) {
		return contest.SetDuration(r, now, new(contest.ClockOf(&r).At(now)+2*time.Millisecond))
	})
	time.Sleep(5 * time.Millisecond)
	g.act("thaw", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.ThawNow(r, now) })
	g.record()
	if has(public, "2-1") || !has(public, "2-2") {
		t.Errorf("after the thaw everybody was told of 2-1: %v, 2-2: %v", has(public, "2-1"), has(public, "2-2"))
	}
	whole(t, g.log(), g.teams)
	same(t, last(g.log(), staff), g.anew())
}

func TestATimeToShowThatWasPlannedIsKeptByTheRecorder(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	time.Sleep(2 * time.Millisecond)
	g.judge(g.submit(1, "other"), judge.AC)
	g.record()
	thaw := sqltest.One[time.Time](t, g.s, "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, thaw_at = now() + interval '1 second' RETURNING thaw_at")
	g.s.Exec(t, "INSERT INTO contest_due (round_id, job_id) SELECT id, 0 FROM rounds")
	r, err := recorder.New(recorder.Config{Busy: 10 * time.Millisecond, Idle: 10 * time.Millisecond}, g.s.Rounds)
	sqltest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); last(g.log(), public)["judgement 1-1"] == ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was hidden is not shown")
		}
	}
	cancel()
	sqltest.Must(t, <-done)
	if at := sqltest.One[time.Time](t, g.s, "SELECT thawed_at FROM rounds"); at.Before(thaw) {
		t.Errorf("it was shown at %v, %v was planned", at, thaw)
	}
	if by := sqltest.One[string](t, g.s, "SELECT actor FROM audit_log WHERE action = 'round_thaw'"); by != "system" {
		t.Errorf("the audit log says %q", by)
	}
}

func TestARejudgeSetIsToldOfWhenItIsApplied(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	id := g.submit(0, "aplusb")
	g.judge(id, judge.WA)
	g.record()
	before := len(g.log())
	for i, apply := range []bool{false, true} {
		set, err := g.s.StartRejudge(t.Context(), sql.RejudgeRequest{JobIDs: []int64{id}, Reason: "new tests", By: "prof"})
		sqltest.Must(t, err)
		g.judge(id, judge.AC)
		g.record()
		if n := len(g.log()); n != before {
			t.Fatalf("set %d: %d lines were told before anything came of it", i, n-before)
		}
		if apply {
			sqltest.Must(t, g.s.ApplyRejudge(t.Context(), set.ID, "prof"))
		} else {
			sqltest.Must(t, g.s.CancelRejudge(t.Context(), set.ID, "prof"))
		}
		g.record()
	}
	got := last(g.log(), public)
	if !strings.Contains(got["judgement 1-1"], `"current":false`) || !strings.Contains(got["judgement 1-2"], `"verdict":"AC","current":true`) {
		t.Errorf("everybody was told %s, %s", got["judgement 1-1"], got["judgement 1-2"])
	}
}

func TestARoundThatCannotBeWrittenHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.record()
	sqltest.Must(t, g.s.Rounds.Create(t.Context(), judge.Round{Space: "s", Code: "zz", Title: "Another", Kind: judge.RoundContest, Format: "icpc"}, "prof"))
	g.s.Exec(t, `UPDATE rounds SET settings = '{"nonsense": 1}' WHERE code = $1`, code)
	g.submit(0, "aplusb")
	g.record()
	if n := sqltest.One[int64](t, g.s, "SELECT c.seq FROM contest_recorders c JOIN rounds r ON r.id = c.round_id WHERE r.code = 'zz'"); n == 0 {
		t.Error("the other round has no log")
	}
	before := len(g.log())
	g.s.Exec(t, `UPDATE rounds SET settings = '{}' WHERE code = $1`, code)
	g.record() // by another recorder, which knows of no trouble
	if last(g.log(), public)["submission 1"] == "" {
		t.Errorf("nothing was told when it could be: %d lines, %d before", len(g.log()), before)
	}
}

// looked counts how often it is looked for what happened.
type looked struct {
	recorder.Store
	times atomic.Int64
}

func (l *looked) FeedJobs(ctx context.Context, limit int) (rounds.Fed, error) {
	l.times.Add(1)
	return l.Store.FeedJobs(ctx, limit)
}

func TestAJudgeWithoutARoundThatGoesOnPaysNothingForWhatHappensInIt(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	for _, goesOn := range []bool{false, true} {
		if goesOn {
			g.s.Exec(t, "UPDATE rounds SET duration_ms = 18000000")
		} else {
			g.s.Exec(t, "UPDATE rounds SET duration_ms = 1000, freeze_ms = NULL")
		}
		store, wake := &looked{Store: g.s.Rounds}, make(chan struct{})
		r, err := recorder.New(recorder.Config{Busy: time.Hour, Idle: time.Hour, Wake: wake}, store)
		sqltest.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		heard := 0
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
			select {
			case wake <- struct{}{}:
				heard++
			default:
			}
		}
		cancel()
		sqltest.Must(t, <-done)
		if n := store.times.Load(); goesOn && (heard == 0 || n < 2) || !goesOn && (heard != 0 || n != 1) {
			t.Errorf("a round goes on: %v; it was woken %d times and looked %d times", goesOn, heard, n)
		}
	}
}

// walk does random things to a stage. What it does after the freeze is hidden from everybody and from the other teams.
func (g *stage) walk(rnd *rand.Rand, steps int, after func()) {
	g.t.Helper()
	verdicts := []judge.Verdict{judge.AC, judge.WA, judge.CE, judge.RE, judge.JE}
	waiting := []int64{}
	judged := []int64{}
	for range steps {
		switch k := rnd.IntN(10); {
		case k < 4:
			waiting = append(waiting, g.submit(rnd.IntN(3), []string{"aplusb", "other"}[rnd.IntN(2)]))
		case k < 7 && len(waiting) > 0:
			i := rnd.IntN(len(waiting))
			g.judge(waiting[i], verdicts[rnd.IntN(len(verdicts))])
			judged = append(judged, waiting[i])
			waiting = slices.Delete(waiting, i, i+1)
		case k == 7 && len(judged) > 0:
			g.again(judged[rnd.IntN(len(judged))], verdicts[rnd.IntN(len(verdicts))])
		case k == 8:
			g.hide(2, rnd.IntN(2) == 0)
		}
		after()
	}
}

func TestRecordersThatAreCutOffLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 3 { // each begins anew, and is cut off somewhere
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 7))
			for ctx.Err() == nil {
				cut, cancel := context.WithTimeout(ctx, time.Duration(rnd.IntN(15_000))*time.Microsecond)
				r, err := recorder.New(recorder.Config{Busy: time.Millisecond, Idle: time.Millisecond}, g.s.Rounds)
				if err == nil {
					err = r.Run(cut)
				}
				cancel()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	killer := func() {
		g.s.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ~ 'contest_' AND pid <> pg_backend_pid() AND random() < 0.3`)
	}
	steps := 0
	g.walk(rand.New(rand.NewPCG(1, 2)), 100, func() {
		if steps++; steps%7 == 0 {
			killer()
		}
	})
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	time.Sleep(2 * time.Millisecond)
	g.walk(rand.New(rand.NewPCG(3, 4)), 50, func() {})
	stop()
	all.Wait()
	g.record()
	whole(t, g.log(), g.teams)
	same(t, last(g.log(), staff), g.anew())
	numbers := sqltest.All[int64](t, g.s, "SELECT number FROM contest_submissions ORDER BY number")
	if len(numbers) != len(g.jobs) {
		t.Errorf("%d of %d submissions have a number", len(numbers), len(g.jobs))
	}
}

// Two worlds that are alike until the freeze: everybody, and a team whose own submissions are alike, is told the same, with
// the same numbers, at the same steps.
func TestWorldsThatDifferBehindTheFreezeTellTheSame(t *testing.T) {
	t.Parallel()
	var told [2][]string
	for world := range told {
		g := newStage(t)
		first := g.submit(0, "aplusb")
		g.judge(first, judge.WA)
		late := g.submit(1, "other")
		g.record()
		g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
		time.Sleep(2 * time.Millisecond)
		rnd := rand.New(rand.NewPCG(uint64(world), 99))
		g.judge(late, judge.AC) // was handed in before, so it is shown
		steps := len(sees(t, g.log(), public))
		for i := range 30 {
			id := g.submit(0, []string{"aplusb", "other"}[i%2])
			if rnd.IntN(3) > 0 {
				g.judge(id, []judge.Verdict{judge.AC, judge.WA, judge.CE, judge.JE}[rnd.IntN(4)])
				if rnd.IntN(3) == 0 {
					g.again(id, []judge.Verdict{judge.AC, judge.WA, judge.CE}[rnd.IntN(3)])
				}
			}
			if rnd.IntN(4) == 0 { // only the jury knows of it
				g.submit(2, "other")
			}
			g.record()
			for _, v := range []contest.Viewer{public, team(g.teams[1])} {
				told[world] = append(told[world], fmt.Sprintf("step %d: %v", i, sees(t, g.log(), v)[min(steps, 5):]))
			}
		}
		whole(t, g.log(), g.teams)
	}
	for i := range told[0] {
		if told[0][i] != told[1][i] {
			t.Fatalf("one world tells\n%s\nthe other\n%s", told[0][i], told[1][i])
		}
	}
}

func TestAResultThatStandsIsNotChangedByWhatIsJudgedAgain(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	before := g.submit(0, "aplusb")
	g.judge(before, judge.WA)
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	time.Sleep(2 * time.Millisecond)
	within := g.submit(1, "other")
	g.judge(within, judge.AC)
	g.act("shorten", func(r judge.Round, now time.Time) (judge.Round, error) {
		return contest.SetDuration(r, now, new(contest.ClockOf(&r).At(now)+2*time.Millisecond))
	})
	time.Sleep(5 * time.Millisecond)
	g.act("finalize", func(r judge.Round, now time.Time) (judge.Round, error) {
		return contest.Finalize(r, now, "prof", nil, judge.RoundUnsettled{})
	})
	g.record()
	g.again(before, judge.AC)
	g.again(within, judge.WA)
	g.record()
	verdict := func(object string) string {
		t.Helper()
		var d contest.JudgementData
		if text := last(g.log(), public)["judgement "+object]; text != "" {
			sqltest.Must(t, json.Unmarshal([]byte(text), &d))
		}
		return fmt.Sprint(d.Verdict, " ", d.Current)
	}
	if verdict("1-1") != "WA true" || verdict("1-2") != " false" {
		t.Errorf("a result that stands has 1-1 %s, 1-2 %s", verdict("1-1"), verdict("1-2"))
	}
	g.act("thaw", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.ThawNow(r, now) })
	g.record()
	if verdict("2-1") != "AC true" || verdict("2-2") != " false" {
		t.Errorf("thawed, it has 2-1 %s, 2-2 %s", verdict("2-1"), verdict("2-2"))
	}
	g.act("reopen", func(r judge.Round, _ time.Time) (judge.Round, error) { return contest.Reopen(r) })
	g.record()
	if verdict("1-1") != "WA false" || verdict("1-2") != "AC true" || verdict("2-2") != "WA true" {
		t.Errorf("opened again, it has 1-1 %s, 1-2 %s, 2-2 %s", verdict("1-1"), verdict("1-2"), verdict("2-2"))
	}
	whole(t, g.log(), g.teams)
	same(t, last(g.log(), staff), g.anew())
}

// TestWhatStaffHaveNotCountIsToldOfNoMoreUntilItCounts ignores a submission of before a freeze and one of it, which nobody but the
// team and the jury knows the verdict of.
func TestWhatStaffHaveNotCountIsToldOfNoMoreUntilItCounts(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	wrong := g.submit(0, "aplusb")
	g.judge(wrong, judge.WA)
	right := g.submit(0, "aplusb")
	g.judge(right, judge.AC)
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	time.Sleep(2 * time.Millisecond)
	hidden := g.submit(1, "aplusb")
	g.judge(hidden, judge.AC)
	fails := g.submit(1, "other")
	g.judge(fails, judge.JE)
	g.record()
	before := map[string]contest.Board{"public": fold(t, g.log(), public), "staff": fold(t, g.log(), staff), "team": fold(t, g.log(), team(g.teams[1]))}
	cells := func(v contest.Viewer) string {
		var out []string
		for _, r := range fold(t, g.log(), v).Rows[:2] {
			out = append(out, fmt.Sprint(r.Participant == g.teams[0], " ", r.Solved, " ", r.Total, " ", r.Cells[0].Judged, "+", r.Cells[0].Pending))
		}
		return strings.Join(out, "; ")
	}
	mark := func(job int64, count bool) {
		t.Helper()
		sqltest.Must(t, g.s.Rounds.Ignore(t.Context(), code, job, count, "from the wrong machine", "prof"))
	}
	for _, job := range []int64{wrong, hidden, fails} {
		mark(job, false)
	}
	later := g.submit(0, "other") // while it is ignored, it has no number yet
	mark(later, false)
	g.record()
	whole(t, g.log(), g.teams)
	same(t, last(g.log(), staff), g.anew())
	if got := cells(public); got != "true 1 120 1+0; false 0 0 0+0" {
		t.Errorf("everybody sees %s", got)
	}
	if got := cells(staff); got != "true 1 120 1+0; false 0 0 0+0" {
		t.Errorf("staff see %s", got)
	}
	for what := range last(g.log(), team(g.teams[1])) {
		if strings.HasPrefix(what, "judgement 3-") || strings.HasPrefix(what, "submission 3") || strings.HasPrefix(what, "run 3-") {
			t.Errorf("the team is told of %s", what)
		}
	}
	g.again(hidden, judge.WA) // judged again meanwhile
	g.again(hidden, judge.AC)
	for _, job := range []int64{wrong, hidden, fails} {
		mark(job, true)
	}
	g.record()
	whole(t, g.log(), g.teams)
	for who, v := range map[string]contest.Viewer{"public": public, "staff": staff, "team": team(g.teams[1])} {
		if got := fold(t, g.log(), v); !reflect.DeepEqual(got, before[who]) {
			t.Errorf("%s sees\n%+v\nand saw before\n%+v", who, got, before[who])
		}
	}
	list, err := g.s.Rounds.Ignored(t.Context(), g.round.ID, 0, 10)
	if err != nil || len(list) != 1 || list[0].JobID != later || list[0].Reason == "" || list[0].By != "prof" || list[0].Participant != "t1" {
		t.Errorf("ignored are %+v, %v", list, err)
	}
	if err := g.s.Rounds.Ignore(t.Context(), code, 999, false, "", "prof"); err == nil {
		t.Error("what nobody handed in is ignored")
	}
}
