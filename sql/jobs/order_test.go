package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestGroupsTakeTurns(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	var alice []int64
	for range 4 {
		alice = append(alice, sqltest.Submit(t, s, sqltest.Sub("alice")))
	}
	bob := sqltest.Submit(t, s, sqltest.Sub("bob"))
	team := sqltest.Submit(t, s, sqltest.Sub("carol", func(n *sql.NewJob) { n.GroupKey = "alice" })) // the same group
	sqltest.Order(t, s, alice[0], bob, alice[1], alice[2], alice[3], team)
}

func TestAHeavierGroupGetsMoreTurns(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	s.Exec(t, "INSERT INTO groups (queue, key, weight) VALUES ('default', 'vip', 2)")
	var vip, user []int64
	for range 4 {
		vip = append(vip, sqltest.Submit(t, s, sqltest.Sub("vip")))
	}
	for range 4 {
		user = append(user, sqltest.Submit(t, s, sqltest.Sub("user")))
	}
	got := sqltest.Pick(t, s, 6)
	if n := len(slices.DeleteFunc(slices.Clone(got), func(id int64) bool { return !slices.Contains(vip, id) })); n != 4 {
		t.Errorf("of the first six, %d are the heavier group's, want 4: %v (theirs %v)", n, got, vip)
	}
	sqltest.Order(t, s, user[2], user[3])
}

func TestLanesAndPriorityDecideBeforeRank(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	batch := sqltest.Submit(t, s, sqltest.Sub("a", func(n *sql.NewJob) { n.Lane = judge.LaneBatch }))
	normal := sqltest.Submit(t, s, sqltest.Sub("b"))
	urgent := sqltest.Submit(t, s, sqltest.Sub("c", func(n *sql.NewJob) { n.Priority = 5 }))
	rejudge := sqltest.Submit(t, s, sqltest.Sub("d", func(n *sql.NewJob) { n.Lane = judge.LaneRejudge }))
	staff := sqltest.Submit(t, s, sqltest.Sub("e", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	sqltest.Order(t, s, staff, urgent, normal, rejudge, batch)
}

func TestAnImmediateSubmitLeavesTheClockAlone(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	first := sqltest.Submit(t, s, sqltest.Sub("alice"))
	for range 5 {
		sqltest.Submit(t, s, sqltest.Sub("alice", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	}
	second := sqltest.Submit(t, s, sqltest.Sub("alice"))
	gap := sqltest.One[float64](t, s, `SELECT extract(epoch FROM b.rank_at - a.rank_at)::float8 FROM outbox_events a, outbox_events b WHERE a.job_id = $1 AND b.job_id = $2`, first, second)
	if gap > 1.5 {
		t.Errorf("the second normal submission ranks %.1f s after the first, want one spacing", gap)
	}
}

// course makes the default queue a lifo queue.
func course(t *testing.T, s *sqltest.Store) {
	t.Helper()
	s.Exec(t, "UPDATE queues SET ordering = 'lifo', spacing = '60 s'")
}

func TestTheNewestOfAGroupGoesFirstInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	course(t, s)
	var alice []int64
	for range 3 {
		alice = append(alice, sqltest.Submit(t, s, sqltest.Sub("alice")))
	}
	bob := sqltest.Submit(t, s, sqltest.Sub("bob"))
	sqltest.Order(t, s, alice[2], bob, alice[1], alice[0])
}

func TestALIFOQueuePicksManyAsItPicksOne(t *testing.T) {
	t.Parallel()
	one, many := sqltest.Audited(t), sqltest.Audited(t)
	for _, s := range []*sqltest.Store{one, many} {
		course(t, s)
		for i := range 20 {
			sqltest.Submit(t, s, sqltest.Sub(fmt.Sprintf("user%d", i%3)))
		}
	}
	var single []int64
	for range 20 {
		single = append(single, sqltest.Pick(t, one, 1)...)
	}
	if batch := sqltest.Pick(t, many, 20); len(batch) != 20 {
		t.Fatalf("picked %d of 20", len(batch))
	}
	if len(single) != 20 || single[0] != 19 || single[1] != 20 || single[2] != 18 {
		t.Errorf("one by one: %v", single)
	}
}

func TestAnAgedJobKeepsItsPlaceInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	course(t, s)
	old := sqltest.Submit(t, s, sqltest.Sub("alice"))
	s.Exec(t, "UPDATE outbox_events SET created_at = now() - interval '16 min'")
	newer := sqltest.Submit(t, s, sqltest.Sub("alice"))
	sqltest.Order(t, s, old, newer)
}

func TestAReleasedJobIsFirst(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	sqltest.Must(t, s.Release(t.Context(), ids[2], "prof"))
	sqltest.Order(t, s, ids[2], ids[0], ids[1], ids[3])
}

func TestADelayedJobIsLast(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	delay(t, s, ids[1])
	sqltest.Order(t, s, ids[0], ids[2], ids[3], ids[1])
}

func TestOfTwoReleasedJobsTheLaterGoesFirst(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	sqltest.Must(t, s.Release(t.Context(), ids[2], "prof"))
	sqltest.Must(t, s.Release(t.Context(), ids[3], "prof"))
	sqltest.Order(t, s, ids[3], ids[2], ids[0], ids[1])
}

func TestOfTwoDelayedJobsTheLaterGoesLast(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	delay(t, s, ids[0])
	delay(t, s, ids[1])
	sqltest.Order(t, s, ids[2], ids[3], ids[0], ids[1])
}

func TestADelayedJobIsNotSwappedForwardInALIFOQueue(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	course(t, s)
	var alice []int64
	for range 3 {
		alice = append(alice, sqltest.Submit(t, s, sqltest.Sub("alice")))
	}
	delay(t, s, alice[2])
	sqltest.Order(t, s, alice[1], alice[0], alice[2])
}

func TestAnImmediateJobCannotBeDelayed(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	_, err := s.Delay(t.Context(), id, "prof")
	sqltest.Rejected(t, err, judge.ReasonImmediateCantMov)
	_, err = s.Delay(t.Context(), 999, "prof")
	sqltest.Rejected(t, err, judge.ReasonNotFound)
	sqltest.Claim(t, s, id, "w1", 1)
	sqltest.Rejected(t, s.Release(t.Context(), id, "prof"), judge.ReasonUnexpectedState)
	sqltest.Rejected(t, s.Withdraw(t.Context(), id, "prof", ""), judge.ReasonUnexpectedState)
}

func TestAJobMadeImmediateIsBehindThoseThatWereBefore(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	late := sqltest.Submit(t, s, sqltest.Sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	now := sqltest.Submit(t, s, sqltest.Sub("now", func(n *sql.NewJob) { n.Lane = judge.LaneStaff; n.Priority = -1 }))
	clock := sqltest.One[time.Time](t, s, "SELECT next_at FROM groups WHERE key = 'user2'")
	sqltest.Must(t, s.Hasten(t.Context(), late, "prof"))
	sqltest.Must(t, s.Hasten(t.Context(), ids[2], "prof"))
	sqltest.Must(t, s.Release(t.Context(), ids[3], "prof"))
	sqltest.Rejected(t, s.Hasten(t.Context(), ids[2], "prof"), judge.ReasonImmediateCantMov)
	sqltest.Rejected(t, s.Hasten(t.Context(), 999, "prof"), judge.ReasonNotFound)
	if after := sqltest.One[time.Time](t, s, "SELECT next_at FROM groups WHERE key = 'user2'"); !after.Equal(clock) {
		t.Errorf("the submitter's clock went from %s to %s", clock, after)
	}
	sqltest.Must(t, s.Hasten(t.Context(), ids[1], "prof"))
	if got, err := s.Undo(t.Context(), ids[1], "prof"); err != nil || got != "immediate" {
		t.Errorf("undid %q, %v", got, err)
	}
	sqltest.Order(t, s, ids[3], now, late, ids[2], ids[0], ids[1])
	_, err := s.Delay(t.Context(), ids[0], "prof")
	sqltest.Rejected(t, err, judge.ReasonUnexpectedState) // it is delivered, and never was in the first lane
}

func TestTheFrontOfTheQueueIsListedInItsOrder(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	late := sqltest.Submit(t, s, sqltest.Sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	sqltest.Submit(t, s, sqltest.Sub("elsewhere", func(n *sql.NewJob) { n.Pool = "gpu" }))
	sqltest.Must(t, s.Release(t.Context(), ids[3], "prof"))
	sqltest.Pick(t, s, 2)
	sqltest.Claim(t, s, ids[0], "w1", 1)
	delay(t, s, ids[1])
	found, err := s.QueueFront(t.Context(), "", "", 0)
	sqltest.Must(t, err)
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
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 2)
	mine := sqltest.Submit(t, s, sqltest.Sub("user0"))
	late := sqltest.Submit(t, s, sqltest.Sub("user0", func(n *sql.NewJob) { n.Delay = time.Hour }))
	sqltest.Must(t, s.Cancel(t.Context(), mine, "user0", ""))
	found, err := s.QueueOf(t.Context(), "user0", 0)
	sqltest.Must(t, err)
	if len(found) != 2 || found[0].JobID != late || found[0].State != "S" || found[1].JobID != ids[0] {
		t.Errorf("unfinished are %+v, want jobs %d and %d", found, late, ids[0])
	}
	if newest, err := s.QueueOf(t.Context(), "user0", 1); err != nil || len(newest) != 1 || newest[0].JobID != late {
		t.Errorf("the newest is %+v, %v", newest, err)
	}
}

func TestAPlaceFarBackIsALowerBoundUntilItIsGivenAnUpperOne(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	many := make([]sql.NewJob, 300)
	for i := range many {
		many[i] = sqltest.Sub(fmt.Sprint("user", i))
	}
	rs, err := s.SubmitMany(t.Context(), many)
	sqltest.Must(t, err)
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
		sqltest.Must(t, err)
		if p = p.AtMost(ready); p.Most != 301 || p.Position != 252 || p.ETAHigh < 2*p.ETALow {
			t.Errorf("with %d ready its place is %+v", ready, p)
		}
	}
}

func TestWhatWasDeliveredHasPlacesOfItsOwn(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 5)
	order := append(sqltest.Pick(t, s, 2), sqltest.Pick(t, s, 1)...)
	if len(order) != 3 {
		t.Fatalf("delivered %v of %v", order, ids)
	}
	for _, id := range ids {
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	places, err := s.For(true).Places(t.Context(), ids)
	sqltest.Must(t, err)
	for at, id := range order {
		if p := places[id]; p.Position != int64(at+1) {
			t.Errorf("job %d, the %d. of %v, has place %d", id, at+1, order, p.Position)
		}
	}
}

func TestAPausedQueueGivesNothing(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	s.Exec(t, "UPDATE queues SET paused = true")
	sqltest.Order(t, s)
	if p, err := s.Place(t.Context(), id); err != nil || p.Why != "paused" || p.Position != 1 {
		t.Errorf("place = %+v, %v", p, err)
	}
	s.Exec(t, "UPDATE queues SET paused = false")
	sqltest.Order(t, s, id)
}

func TestAPoolGetsOnlyWhatItServes(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	java := sqltest.Submit(t, s, sqltest.Sub("a", func(n *sql.NewJob) { n.Language = "java" }))
	cpp := sqltest.Submit(t, s, sqltest.Sub("b"))
	gpu := sqltest.Submit(t, s, sqltest.Sub("c", func(n *sql.NewJob) { n.Pool = "gpu" }))
	take := func(r jobs.PickRequest) []int64 {
		r.Dispatcher, r.Limit = "d1", 10
		ts, err := s.Pick(t.Context(), r)
		sqltest.Must(t, err)
		var ids []int64
		for _, x := range ts {
			ids = append(ids, x.JobID)
		}
		return ids
	}
	if got := take(jobs.PickRequest{Languages: []string{}}); got != nil {
		t.Errorf("a pool without languages got %v", got)
	}
	if got := take(jobs.PickRequest{Languages: []string{"cpp", "c"}}); !slices.Equal(got, []int64{cpp}) {
		t.Errorf("a pool for C++ got %v", got)
	}
	if got := take(jobs.PickRequest{Pool: "gpu"}); !slices.Equal(got, []int64{gpu}) {
		t.Errorf("pool gpu got %v", got)
	}
	if got := take(jobs.PickRequest{}); !slices.Equal(got, []int64{java}) {
		t.Errorf("a pool for everything got %v", got)
	}
}

func TestAGroupHasNoMoreJobsUnderWayThanItsLimit(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	s.Exec(t, "UPDATE queues SET group_limit = 2")
	var alice []int64
	for range 4 {
		alice = append(alice, sqltest.Submit(t, s, sqltest.Sub("alice")))
	}
	bob := sqltest.Submit(t, s, sqltest.Sub("bob"))
	if got := sqltest.Pick(t, s, 10); !slices.Equal(got, []int64{alice[0], bob, alice[1]}) {
		t.Fatalf("picked %v", got)
	}
	sqltest.Order(t, s)
	sqltest.Must(t, s.WorkerBeat(t.Context(), judge.WorkerInfo{Name: "w1", Pool: "default", Slots: 1, Languages: []judge.Language{{ID: "cpp", Available: true}}}))
	s.Exec(t, "UPDATE workers SET seen_at = now() + interval '1 h'")
	if p, err := s.Place(t.Context(), alice[2]); err != nil || p.Why != "group_limit" {
		t.Errorf("alice's third job waits because of %q, %v; want her limit", p.Why, err)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, alice[0], "w1", 1).Attempt, judge.AC)
	if p, err := s.Place(t.Context(), alice[2]); err != nil || p.Why == "group_limit" {
		t.Errorf("with one job less under way it waits because of %q, %v", p.Why, err)
	}
	sqltest.Order(t, s, alice[2])
}

func TestManyDispatchersPickNoJobTwice(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	const waiting, dispatchers = 100_000, 4
	// Rows of the queue alone: picking looks at nothing else.
	s.Exec(t, `INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before, trace_id)
		SELECT n, 'default', 'default', 'user' || n % 997, 'cpp', 2, 0, now() + n * interval '1 us', 'R', 1, 0, now(), '' FROM generate_series(1, $1::integer) AS n`, waiting)
	got := make(chan []int64, dispatchers)
	for d := range dispatchers {
		go func() {
			var mine []int64
			for {
				ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: fmt.Sprint("d", d), Limit: 1000})
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
	if n := len(all); n != waiting || len(slices.Compact(all)) != waiting {
		t.Errorf("picked %d times, want %d jobs once each", n, waiting)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM outbox_events WHERE state = 'D' AND deliveries = 1"); n != waiting {
		t.Errorf("%d jobs are delivered once, want %d", n, waiting)
	}
}
