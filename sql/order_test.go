package sql_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

func TestGroupsTakeTurns(t *testing.T) {
	t.Parallel()
	s := audited(t)
	var alice []int64
	for range 4 {
		alice = append(alice, submit(t, s, sub("alice")))
	}
	bob := submit(t, s, sub("bob"))
	team := submit(t, s, sub("carol", func(n *sql.NewJob) { n.GroupKey = "alice" })) // the same group
	order(t, s, alice[0], bob, alice[1], alice[2], alice[3], team)
}

func TestAHeavierGroupGetsMoreTurns(t *testing.T) {
	t.Parallel()
	s := audited(t)
	s.Exec(t, "INSERT INTO groups (queue, key, weight) VALUES ('default', 'vip', 2)")
	var vip, user []int64
	for range 4 {
		vip = append(vip, submit(t, s, sub("vip")))
	}
	for range 4 {
		user = append(user, submit(t, s, sub("user")))
	}
	got := pick(t, s, 6)
	if n := len(slices.DeleteFunc(slices.Clone(got), func(id int64) bool { return !slices.Contains(vip, id) })); n != 4 {
		t.Errorf("of the first six, %d are the heavier group's, want 4: %v (theirs %v)", n, got, vip)
	}
	order(t, s, user[2], user[3])
}

func TestLanesAndPriorityDecideBeforeRank(t *testing.T) {
	t.Parallel()
	s := audited(t)
	batch := submit(t, s, sub("a", func(n *sql.NewJob) { n.Lane = judge.LaneBatch }))
	normal := submit(t, s, sub("b"))
	urgent := submit(t, s, sub("c", func(n *sql.NewJob) { n.Priority = 5 }))
	rejudge := submit(t, s, sub("d", func(n *sql.NewJob) { n.Lane = judge.LaneRejudge }))
	staff := submit(t, s, sub("e", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	order(t, s, staff, urgent, normal, rejudge, batch)
}

func TestAnImmediateSubmitLeavesTheClockAlone(t *testing.T) {
	t.Parallel()
	s := audited(t)
	first := submit(t, s, sub("alice"))
	for range 5 {
		submit(t, s, sub("alice", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	}
	second := submit(t, s, sub("alice"))
	gap := sql.One[float64](t, s, `SELECT extract(epoch FROM b.rank_at - a.rank_at)::float8 FROM outbox_events a, outbox_events b WHERE a.job_id = $1 AND b.job_id = $2`, first, second)
	if gap > 1.5 {
		t.Errorf("the second normal submission ranks %.1f s after the first, want one spacing", gap)
	}
}

// course makes the default queue a lifo queue.
func course(t *testing.T, s *sql.Store) {
	t.Helper()
	s.Exec(t, "UPDATE queues SET ordering = 'lifo', spacing = '60 s'")
}

func TestTheNewestOfAGroupGoesFirstInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := audited(t)
	course(t, s)
	var alice []int64
	for range 3 {
		alice = append(alice, submit(t, s, sub("alice")))
	}
	bob := submit(t, s, sub("bob"))
	order(t, s, alice[2], bob, alice[1], alice[0])
}

func TestALIFOQueuePicksManyAsItPicksOne(t *testing.T) {
	t.Parallel()
	one, many := audited(t), audited(t)
	for _, s := range []*sql.Store{one, many} {
		course(t, s)
		for i := range 20 {
			submit(t, s, sub(fmt.Sprintf("user%d", i%3)))
		}
	}
	var single []int64
	for range 20 {
		single = append(single, pick(t, one, 1)...)
	}
	if batch := pick(t, many, 20); len(batch) != 20 {
		t.Fatalf("picked %d of 20", len(batch))
	}
	if len(single) != 20 || single[0] != 19 || single[1] != 20 || single[2] != 18 {
		t.Errorf("one by one: %v", single)
	}
}

func TestAnAgedJobKeepsItsPlaceInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := audited(t)
	course(t, s)
	old := submit(t, s, sub("alice"))
	s.Exec(t, "UPDATE outbox_events SET created_at = now() - interval '16 min'")
	newer := submit(t, s, sub("alice"))
	order(t, s, old, newer)
}

func TestAReleasedJobIsFirst(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	must(t, s.Release(t.Context(), ids[2], "prof"))
	order(t, s, ids[2], ids[0], ids[1], ids[3])
}

func TestADelayedJobIsLast(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	delay(t, s, ids[1])
	order(t, s, ids[0], ids[2], ids[3], ids[1])
}

func TestOfTwoReleasedJobsTheLaterGoesFirst(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	must(t, s.Release(t.Context(), ids[2], "prof"))
	must(t, s.Release(t.Context(), ids[3], "prof"))
	order(t, s, ids[3], ids[2], ids[0], ids[1])
}

func TestOfTwoDelayedJobsTheLaterGoesLast(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	delay(t, s, ids[0])
	delay(t, s, ids[1])
	order(t, s, ids[2], ids[3], ids[0], ids[1])
}

func TestADelayedJobIsNotSwappedForwardInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := audited(t)
	course(t, s)
	var alice []int64
	for range 3 {
		alice = append(alice, submit(t, s, sub("alice")))
	}
	delay(t, s, alice[2])
	order(t, s, alice[1], alice[0], alice[2])
}

func TestAnImmediateJobCannotBeDelayed(t *testing.T) {
	t.Parallel()
	s := audited(t)
	id := submit(t, s, sub("alice", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	_, err := s.Delay(t.Context(), id, "prof")
	rejected(t, err, judge.ReasonImmediateCantMov)
	_, err = s.Delay(t.Context(), 999, "prof")
	rejected(t, err, judge.ReasonNotFound)
	claim(t, s, id, "w1", 1)
	rejected(t, s.Release(t.Context(), id, "prof"), judge.ReasonUnexpectedState)
	rejected(t, s.Withdraw(t.Context(), id, "prof", ""), judge.ReasonUnexpectedState)
}

func TestAJobMadeImmediateIsBehindThoseThatWereBefore(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	late := submit(t, s, sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	now := submit(t, s, sub("now", func(n *sql.NewJob) { n.Lane = judge.LaneStaff; n.Priority = -1 }))
	clock := sql.One[time.Time](t, s, "SELECT next_at FROM groups WHERE key = 'user2'")
	must(t, s.Hasten(t.Context(), late, "prof"))
	must(t, s.Hasten(t.Context(), ids[2], "prof"))
	must(t, s.Release(t.Context(), ids[3], "prof"))
	rejected(t, s.Hasten(t.Context(), ids[2], "prof"), judge.ReasonImmediateCantMov)
	rejected(t, s.Hasten(t.Context(), 999, "prof"), judge.ReasonNotFound)
	if after := sql.One[time.Time](t, s, "SELECT next_at FROM groups WHERE key = 'user2'"); !after.Equal(clock) {
		t.Errorf("the submitter's clock went from %s to %s", clock, after)
	}
	must(t, s.Hasten(t.Context(), ids[1], "prof"))
	if got, err := s.Undo(t.Context(), ids[1], "prof"); err != nil || got != "immediate" {
		t.Errorf("undid %q, %v", got, err)
	}
	order(t, s, ids[3], now, late, ids[2], ids[0], ids[1])
	_, err := s.Delay(t.Context(), ids[0], "prof")
	rejected(t, err, judge.ReasonUnexpectedState) // it is delivered, and never was in the first lane
}

func TestTheFrontOfTheQueueIsListedInItsOrder(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	late := submit(t, s, sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	submit(t, s, sub("elsewhere", func(n *sql.NewJob) { n.Pool = "gpu" }))
	must(t, s.Release(t.Context(), ids[3], "prof"))
	pick(t, s, 2)
	claim(t, s, ids[0], "w1", 1)
	delay(t, s, ids[1])
	found, err := s.QueueFront(t.Context(), "", "", 0)
	must(t, err)
	want := []int64{ids[0], ids[3], ids[2], ids[1], late}
	if len(found) != len(want) {
		t.Fatalf("%d rows, want %d: %+v", len(found), len(want), found)
	}
	for i, r := range found {
		if r.JobID != want[i] || r.State != []string{"L", "D", "R", "R", "S"}[i] {
			t.Errorf("row %d is job %d in state %s, want job %d", i, r.JobID, r.State, want[i])
		}
	}
	if r := found[0]; r.Worker != "w1" || r.AttemptID != 1 || r.Author != "user0" || r.Problem != "aplusb" || r.Shown() != "RUNNING" {
		t.Errorf("the running one is %+v", r)
	}
	if r := found[3]; !r.Delayed || r.Lane != judge.LaneNormal || r.Worker != "" {
		t.Errorf("the delayed one is %+v", r)
	}
	if few, err := s.QueueFront(t.Context(), "", "", 2); err != nil || len(few) != 2 || few[1].JobID != ids[3] {
		t.Errorf("the first two are %+v, %v", few, err)
	}
}

func TestAnAuthorsUnfinishedSubmissionsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 2)
	mine := submit(t, s, sub("user0"))
	late := submit(t, s, sub("user0", func(n *sql.NewJob) { n.Delay = time.Hour }))
	must(t, s.Cancel(t.Context(), mine, "user0", ""))
	found, err := s.QueueOf(t.Context(), "user0", 0)
	must(t, err)
	if len(found) != 2 || found[0].JobID != late || found[0].State != "S" || found[1].JobID != ids[0] {
		t.Errorf("unfinished are %+v, want jobs %d and %d", found, late, ids[0])
	}
	if newest, err := s.QueueOf(t.Context(), "user0", 1); err != nil || len(newest) != 1 || newest[0].JobID != late {
		t.Errorf("the newest is %+v, %v", newest, err)
	}
}

func TestAPlaceFarBackIsALowerBoundUntilItIsGivenAnUpperOne(t *testing.T) {
	t.Parallel()
	s := audited(t)
	many := make([]sql.NewJob, 300)
	for i := range many {
		many[i] = sub(fmt.Sprint("user", i))
	}
	rs, err := s.SubmitMany(t.Context(), many)
	must(t, err)
	for _, at := range []int{0, 249, 250} {
		p, err := s.Place(t.Context(), rs[at].JobID)
		if err != nil || !p.Exact() || p.Position != int64(at+1) || p.ETAHigh < p.ETALow {
			t.Errorf("place of job %d is %+v, %v", at+1, p, err)
		}
	}
	for _, at := range []int{251, 299} {
		p, err := s.Place(t.Context(), rs[at].JobID)
		if err != nil || p.Exact() || p.Position != 252 || p.ETAHigh != 0 || p.ETALow == 0 {
			t.Errorf("place of job %d is %+v, %v", at+1, p, err)
		}
		ready, err := s.Ready(t.Context())
		must(t, err)
		if p = p.AtMost(ready); p.Most != 301 || p.Position != 252 || p.ETAHigh < 2*p.ETALow {
			t.Errorf("with %d ready its place is %+v", ready, p)
		}
	}
}

func TestAReleasedJobNeedNotWaitForItsTime(t *testing.T) {
	t.Parallel()
	s := audited(t)
	later := submit(t, s, sub("alice", func(n *sql.NewJob) { n.Delay = time.Hour }))
	other := submit(t, s, sub("bob"))
	if v := status(t, s, later, judge.Pending); v.QueueState != "S" {
		t.Errorf("queue state %s, want S", v.QueueState)
	}
	must(t, s.Release(t.Context(), later, "prof"))
	order(t, s, later, other)
	claim(t, s, later, "w1", 1)
}

func TestAMovedJobIsRightBeforeTheOther(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 6)
	// All of the same rank: there is no room between any two of them.
	s.Exec(t, "UPDATE outbox_events SET rank_at = now()")
	must(t, s.Move(t.Context(), ids[5], ids[2], "prof"))
	must(t, s.Move(t.Context(), ids[0], ids[4], "prof"))
	must(t, s.Move(t.Context(), ids[3], ids[1], "prof"))
	order(t, s, ids[3], ids[1], ids[5], ids[2], ids[0], ids[4])
}

func TestAJobMovesIntoTheLaneOfTheOther(t *testing.T) {
	t.Parallel()
	s := audited(t)
	later := func(n *sql.NewJob) { n.Delay = time.Hour }
	a, b := submit(t, s, sub("ann")), submit(t, s, sub("bob", func(n *sql.NewJob) { n.Lane = judge.LaneBatch }))
	c := submit(t, s, sub("cai", later))
	must(t, s.Move(t.Context(), a, b, "prof"))
	must(t, s.Move(t.Context(), c, b, "prof"))
	order(t, s, a, c, b)
	for before, why := range map[int64]string{b: "delivered", c: "itself", 999: "unknown"} {
		var e *judge.FieldError
		if err := s.Move(t.Context(), c, before, "prof"); !errors.As(err, &e) || e.Field != "before" {
			t.Errorf("moved before a job that is %s: %v", why, err)
		}
	}
	rejected(t, s.Move(t.Context(), 999, a, "prof"), judge.ReasonNotFound)
}

func TestMovesAreUndoneOneByOne(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 4)
	late := submit(t, s, sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	id := ids[2]
	must(t, s.Release(t.Context(), id, "prof"))
	must(t, s.Withdraw(t.Context(), id, "prof", ""))
	must(t, s.Restore(t.Context(), id, "prof"))
	must(t, s.Move(t.Context(), id, ids[1], "prof"))
	delay(t, s, id)
	must(t, s.Withdraw(t.Context(), id, "prof", ""))
	for _, want := range []string{"cancel", "delay", "move", "release"} {
		if got, err := s.Undo(t.Context(), id, "prof"); err != nil || got != want {
			t.Fatalf("undid %q, %v; want %s", got, err, want)
		}
	}
	if _, err := s.Undo(t.Context(), id, "prof"); err == nil {
		t.Error("something was left to undo")
	}
	must(t, s.Release(t.Context(), late, "prof"))
	if _, err := s.Undo(t.Context(), late, "prof"); err != nil {
		t.Error(err)
	}
	if v := status(t, s, late, judge.Pending); v.QueueState != "S" {
		t.Errorf("after the undo its queue state is %s, want S: it waits for its time again", v.QueueState)
	}
	order(t, s, ids...)
	first := submit(t, s, sub("zoe"))
	must(t, s.Release(t.Context(), first, "prof"))
	job := claim(t, s, first, "w1", 1)
	if _, err := s.Fail(t.Context(), job.Attempt, "draining", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), first, "prof"); err == nil {
		t.Error("a release was undone after the job had been claimed")
	}
}

func TestAWithdrawnJobGetsItsPlaceBack(t *testing.T) {
	t.Parallel()
	s := audited(t)
	ids := submitMany(t, s, 3)
	must(t, s.Withdraw(t.Context(), ids[1], "prof", ""))
	status(t, s, ids[1], judge.Cancelled)
	must(t, s.Restore(t.Context(), ids[1], "prof"))
	rejected(t, s.Restore(t.Context(), ids[1], "prof"), judge.ReasonUnexpectedState)
	order(t, s, ids...)
	running := claim(t, s, ids[0], "w1", 1)
	must(t, s.Cancel(t.Context(), ids[0], "prof", ""))
	rejected(t, s.Restore(t.Context(), ids[0], "prof"), judge.ReasonCancelled)
	rejected(t, s.Finalize(t.Context(), running.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonCancelled)
}

func TestAPausedQueueGivesNothing(t *testing.T) {
	t.Parallel()
	s := audited(t)
	id := submit(t, s, sub("alice"))
	s.Exec(t, "UPDATE queues SET paused = true")
	order(t, s)
	if p, err := s.Place(t.Context(), id); err != nil || p.Why != "paused" || p.Position != 1 {
		t.Errorf("place = %+v, %v", p, err)
	}
	s.Exec(t, "UPDATE queues SET paused = false")
	order(t, s, id)
}

func TestAPoolGetsOnlyWhatItServes(t *testing.T) {
	t.Parallel()
	s := audited(t)
	java := submit(t, s, sub("a", func(n *sql.NewJob) { n.Language = "java" }))
	cpp := submit(t, s, sub("b"))
	gpu := submit(t, s, sub("c", func(n *sql.NewJob) { n.Pool = "gpu" }))
	take := func(r sql.PickRequest) []int64 {
		r.Dispatcher, r.Limit = "d1", 10
		ts, err := s.Pick(t.Context(), r)
		must(t, err)
		var ids []int64
		for _, x := range ts {
			ids = append(ids, x.JobID)
		}
		return ids
	}
	if got := take(sql.PickRequest{Languages: []string{}}); got != nil {
		t.Errorf("a pool without languages got %v", got)
	}
	if got := take(sql.PickRequest{Languages: []string{"cpp", "c"}}); !slices.Equal(got, []int64{cpp}) {
		t.Errorf("a pool for C++ got %v", got)
	}
	if got := take(sql.PickRequest{Pool: "gpu"}); !slices.Equal(got, []int64{gpu}) {
		t.Errorf("pool gpu got %v", got)
	}
	if got := take(sql.PickRequest{}); !slices.Equal(got, []int64{java}) {
		t.Errorf("a pool for everything got %v", got)
	}
}

func TestAGroupHasNoMoreJobsUnderWayThanItsLimit(t *testing.T) {
	t.Parallel()
	s := audited(t)
	s.Exec(t, "UPDATE queues SET group_limit = 2")
	var alice []int64
	for range 4 {
		alice = append(alice, submit(t, s, sub("alice")))
	}
	bob := submit(t, s, sub("bob"))
	if got := pick(t, s, 10); !slices.Equal(got, []int64{alice[0], bob, alice[1]}) {
		t.Fatalf("picked %v", got)
	}
	order(t, s)
	must(t, s.WorkerBeat(t.Context(), judge.WorkerInfo{Name: "w1", Pool: "default", Slots: 1, Languages: []judge.Language{{ID: "cpp", Available: true}}}))
	s.Exec(t, "UPDATE workers SET seen_at = now() + interval '1 h'")
	if p, err := s.Place(t.Context(), alice[2]); err != nil || p.Why != "group_limit" {
		t.Errorf("alice's third job waits because of %q, %v; want her limit", p.Why, err)
	}
	finalize(t, s, claim(t, s, alice[0], "w1", 1).Attempt, judge.AC)
	if p, err := s.Place(t.Context(), alice[2]); err != nil || p.Why == "group_limit" {
		t.Errorf("with one job less under way it waits because of %q, %v", p.Why, err)
	}
	order(t, s, alice[2])
}

func TestManyDispatchersPickNoJobTwice(t *testing.T) {
	t.Parallel()
	s := open(t)
	const jobs, dispatchers = 100_000, 4
	// Rows of the queue alone: picking looks at nothing else.
	s.Exec(t, `INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before, trace_id)
		SELECT n, 'default', 'default', 'user' || n % 997, 'cpp', 2, 0, now() + n * interval '1 us', 'R', 1, 0, now(), '' FROM generate_series(1, $1::integer) AS n`, jobs)
	got := make(chan []int64, dispatchers)
	for d := range dispatchers {
		go func() {
			var mine []int64
			for {
				ts, err := s.Pick(t.Context(), sql.PickRequest{Dispatcher: fmt.Sprint("d", d), Limit: 1000})
				if err != nil {
					t.Error(err)
				}
				if len(ts) == 0 {
					got <- mine
					return
				}
				for _, x := range ts {
					mine = append(mine, x.JobID)
				}
			}
		}()
	}
	var all []int64
	for range dispatchers {
		all = append(all, <-got...)
	}
	slices.Sort(all)
	if n := len(all); n != jobs || len(slices.Compact(all)) != jobs {
		t.Errorf("picked %d times, want %d jobs once each", n, jobs)
	}
	if n := sql.One[int](t, s, "SELECT count(*) FROM outbox_events WHERE state = 'D' AND deliveries = 1"); n != jobs {
		t.Errorf("%d jobs are delivered once, want %d", n, jobs)
	}
}

func delay(t *testing.T, s *sql.Store, id int64) {
	t.Helper()
	if _, err := s.Delay(t.Context(), id, "prof"); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
