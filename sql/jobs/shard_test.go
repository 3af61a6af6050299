package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func lease4(t *testing.T, s *sqltest.Store, who string) []int32 {
	t.Helper()
	held, err := s.LeaseShards(t.Context(), "", "", who, 4, time.Hour)
	sqltest.Must(t, err)
	return held
}

func TestDispatchersShareTheShards(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	if got := lease4(t, s, "a"); len(got) != 4 {
		t.Fatalf("the only dispatcher holds %v, want all", got)
	}
	if got := lease4(t, s, "b"); len(got) != 0 {
		t.Fatalf("the second holds %v before the first gives something back", got)
	}
	a, b := lease4(t, s, "a"), lease4(t, s, "b")
	if all := slices.Sorted(slices.Values(append(slices.Clone(a), b...))); len(a) != 2 || !slices.Equal(all, []int32{0, 1, 2, 3}) {
		t.Fatalf("a holds %v and b %v, want two each", a, b)
	}
	sqltest.Must(t, s.ReleaseShards(t.Context(), "", "", "b"))
	if got := lease4(t, s, "a"); len(got) != 4 {
		t.Errorf("after b left, a holds %v, want all", got)
	}
	// One that vanished keeps its shards for as long as its lease.
	lease4(t, s, "c")
	s.Exec(t, "UPDATE dispatchers SET seen_until = now() - interval '1 s' WHERE name = 'a'")
	s.Exec(t, "UPDATE outbox_shards SET lock_until = now() - interval '1 s' WHERE lock_owner = 'a'")
	if got := lease4(t, s, "c"); len(got) != 4 {
		t.Errorf("after a vanished, c holds %v, want all", got)
	}
	if got := lease4(t, s, "a"); len(got) != 0 {
		t.Errorf("a came back and holds %v, want none yet", got)
	}
	if held, err := s.LeaseShards(t.Context(), "other", "", "a", 3, time.Hour); err != nil || len(held) != 3 {
		t.Errorf("of another queue a holds %v, %v; want all three", held, err)
	}
}

func TestShardedDispatchersPickNoGroupOfAnother(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	// A hundred thousand rows with DEEPOJ_EFFORT=50.
	n := effort(t, 2000)
	s.Exec(t, `WITH j AS (
		INSERT INTO jobs (queue, group_key, max_tries) SELECT 'default', CASE i % 10 WHEN 0 THEN '' ELSE 'g' || i % 97 END, 5 FROM generate_series(1, $1) i RETURNING *),
	o AS (
		INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before)
		SELECT job_id, queue, pool, group_key, language, lane, priority, now() + job_id * interval '1 ms', 'R', 1, 0, now() FROM j)
	INSERT INTO single_events (job_id, generation, attempt, kind) SELECT job_id, 1, 0, 'submitted' FROM j`, n)
	s.Exec(t, "ANALYZE outbox_events")
	const dispatchers = 4
	for range 2 { // the first one gives back what the others take
		for d := range dispatchers {
			lease4(t, s, fmt.Sprint("d", d))
		}
	}
	got := make(chan []int64, dispatchers)
	for d := range dispatchers {
		go func() {
			var mine []int64
			for {
				ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: fmt.Sprint("d", d), Limit: 64, Shards: 4})
				if err != nil {
					t.Error(err)
				}
				for _, x := range ts {
					mine = append(mine, x.JobID)
				}
				if len(ts) == 0 {
					got <- mine
					return
				}
			}
		}()
	}
	var all []int64
	for range dispatchers {
		mine := <-got
		if len(mine) == 0 {
			t.Error("a dispatcher got nothing")
		}
		all = append(all, mine...)
	}
	slices.Sort(all)
	if len(all) != n || len(slices.Compact(all)) != n {
		t.Errorf("picked %d times, want %d jobs once each", len(all), n)
	}
	if mixed := sqltest.One[int64](t, s, `SELECT count(*) FROM (SELECT 1 FROM outbox_events WHERE group_key <> '' GROUP BY group_key HAVING count(DISTINCT lock_owner) > 1) x`); mixed != 0 {
		t.Errorf("%d groups were picked by several dispatchers", mixed)
	}
}

func TestADispatcherWhoseShardsWereTakenPicksAndMarksNothing(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 5)
	one := func(who string) []int64 {
		t.Helper()
		_, err := s.LeaseShards(t.Context(), "", "", who, 2, time.Hour)
		sqltest.Must(t, err)
		ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: who, Limit: 10, Shards: 2})
		sqltest.Must(t, err)
		var got []int64
		for _, x := range ts {
			got = append(got, x.JobID)
		}
		return got
	}
	if got := one("late"); !slices.Equal(got, ids) {
		t.Fatalf("picked %v, want %v", got, ids)
	}
	// It stalls: its shards and its deliveries run out, and another picks them.
	s.Exec(t, "UPDATE dispatchers SET seen_until = now() - interval '1 s'")
	s.Exec(t, "UPDATE outbox_shards SET lock_until = now() - interval '1 s'")
	s.Exec(t, "UPDATE outbox_events SET lock_until = now() - interval '1 s'")
	if again, err := s.Redeliver(t.Context(), 10); err != nil || len(again) != 5 {
		t.Fatalf("redelivered %v, %v", again, err)
	}
	if got := one("next"); !slices.Equal(got, ids) {
		t.Fatalf("the next picked %v, want %v", got, ids)
	}
	taken, err := s.Published(t.Context(), "late", ids, []string{"1-0", "1-1", "1-2", "1-3", "1-4"})
	slices.Sort(taken)
	if err != nil || !slices.Equal(taken, ids) {
		t.Errorf("the late mark says that %v were taken, %v; want all", taken, err)
	}
	sqltest.Must(t, s.PublishFailed(t.Context(), "late", ids, "too late"))
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM outbox_events WHERE state = 'D' AND lock_owner = 'next' AND stream_entry_id IS NULL"); n != 5 {
		t.Errorf("%d of 5 deliveries of the next are untouched", n)
	}
	later := sqltest.Submit(t, s, sqltest.Sub("zoe"))
	ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: "late", Limit: 10, Shards: 2})
	if err != nil || len(ts) != 0 {
		t.Errorf("without its shards it picked %v, %v", ts, err)
	}
	if got := one("next"); !slices.Equal(got, []int64{later}) {
		t.Errorf("the next picked %v, want %v", got, later)
	}
}
