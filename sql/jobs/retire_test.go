package jobs_test

import (
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func retireJobs(t *testing.T, s *sqltest.Store, submissions bool) int64 {
	t.Helper()
	return sqltest.RetireAll(t, func(from jobs.RetireCursor) (jobs.Retired, error) {
		return s.RetireJobs(t.Context(), submissions, time.Hour, from, 2)
	})
}

func retireEvents(t *testing.T, s *sqltest.Store) int64 {
	t.Helper()
	return sqltest.RetireAll(t, func(from jobs.RetireCursor) (jobs.Retired, error) {
		return s.RetireEvents(t.Context(), time.Hour, from, 2)
	})
}

// longAgo makes a job and its events older than an hour.
func longAgo(t *testing.T, s *sqltest.Store, ids ...int64) {
	t.Helper()
	for _, table := range []string{
		"jobs SET created_at = created_at - interval '2 h', started_at = started_at - interval '2 h', finished_at = finished_at - interval '2 h'",
		"results SET created_at = created_at - interval '2 h', started_at = started_at - interval '2 h'",
		"attempts SET started_at = started_at - interval '2 h'",
		"single_events SET at = at - interval '2 h'",
	} {
		s.Exec(t, "UPDATE "+table+" WHERE job_id = ANY ($1)", ids)
	}
	s.Exec(t, "UPDATE event_batches SET at = at - interval '2 h' WHERE job_ids <@ $1", ids)
}

func TestOldEventsGoAndTheNewestMoveStays(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 3)
	for i, id := range ids {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", i).Attempt, judge.AC)
	}
	waiting := sqltest.Submit(t, s, sqltest.Sub("late"))
	longAgo(t, s, ids[0], ids[1], waiting)
	s.Exec(t, `INSERT INTO feed_cursors (sink, system_identifier, xid, id)
		SELECT 'slow', 'x', xid, id FROM events WHERE job_id = $1 ORDER BY xid, id DESC LIMIT 1`, ids[1])
	read := sqltest.One[int64](t, s, `SELECT count(*) FROM events e, feed_cursors c WHERE e.job_id = ANY ($1) AND (e.xid, e.id) <= (c.xid, c.id)`, ids[:2])
	if got := retireEvents(t, s); got != read || got == 0 {
		t.Errorf("deleted %d events, want the %d that the slowest feed has read", got, read)
	}
	s.Exec(t, "DELETE FROM feed_cursors")
	retireEvents(t, s)
	for _, id := range ids[:2] {
		if got := sqltest.Kinds(t, s, id); !slices.Equal(got, []string{"finished"}) {
			t.Errorf("job %d keeps %v, want its end", id, got)
		}
	}
	if got := sqltest.Kinds(t, s, ids[2]); len(got) != 3 {
		t.Errorf("a job that has just ended keeps %v, want all three events", got)
	}
	if got := sqltest.Kinds(t, s, waiting); len(got) != 1 {
		t.Errorf("a job that waits keeps %v", got)
	}
}

func TestEventsOfManyJobsGoWithTheLastOfThem(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	rs, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("alice"), sqltest.Sub("bob")})
	sqltest.Must(t, err)
	ids := []int64{rs[0].JobID, rs[1].JobID}
	jobs, rejected, err := s.Claim(t.Context(), ids, "w1", sqltest.Token(1), time.Minute)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("claimed %v, %v, %v", jobs, rejected, err)
	}
	sqltest.Finalize(t, s, jobs[0].Attempt, judge.AC)
	longAgo(t, s, ids...)
	if got := retireEvents(t, s); got != 0 {
		t.Errorf("deleted %d events of a job that is under way", got)
	}
	sqltest.Finalize(t, s, jobs[1].Attempt, judge.WA)
	longAgo(t, s, ids[1])
	if got := retireEvents(t, s); got != 4 {
		t.Errorf("deleted %d events, want the submits and claims of both", got)
	}
	for _, id := range ids {
		if got := sqltest.Kinds(t, s, id); !slices.Equal(got, []string{"finished"}) {
			t.Errorf("job %d keeps %v, want its end", id, got)
		}
	}
	_, err = s.Rejudge(t.Context(), ids[:1], judge.LaneRejudge, "prof")
	sqltest.Must(t, err)
	if got := retireEvents(t, s); got != 0 {
		t.Errorf("deleted %d events of a job that waits again", got)
	}
}

func TestOldJobsGoUnlessSomebodyHasToLookAtThem(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	run := func(n *sql.NewJob) { n.Kind = judge.KindRun }
	ids := make([]int64, 6)
	for i := range ids {
		ids[i] = sqltest.Submit(t, s, sqltest.Sub("alice", run))
	}
	gone, buried, discarded, young, waiting, inSet := ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]
	sqltest.Must(t, s.Bury(t.Context(), sqltest.Claim(t, s, buried, "w1", 1).Attempt, judge.ReasonPayload, ""))
	sqltest.Must(t, s.Bury(t.Context(), sqltest.Claim(t, s, discarded, "w1", 2).Attempt, judge.ReasonPayload, ""))
	sqltest.Must(t, s.Discard(t.Context(), discarded, "prof", ""))
	for i, id := range []int64{gone, young, inSet} {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 3+i).Attempt, judge.AC)
	}
	s.Exec(t, "INSERT INTO rejudge_sets (reason, request, skipped, created_by) VALUES ('', '{}', 0, 'prof')")
	s.Exec(t, "INSERT INTO rejudge_set_jobs (set_id, job_id, generation, before) SELECT id, $1, 1, 1 FROM rejudge_sets", inSet)
	kept := sqltest.Submit(t, s, sqltest.Sub("alice")) // a submission
	sqltest.Finalize(t, s, sqltest.Claim(t, s, kept, "w1", 9).Attempt, judge.AC)
	longAgo(t, s, gone, buried, discarded, waiting, inSet, kept)

	if got := retireJobs(t, s, false); got != 2 {
		t.Errorf("deleted %d jobs, want 2", got)
	}
	left := sqltest.All[int64](t, s, "SELECT job_id FROM jobs ORDER BY job_id")
	if want := []int64{buried, young, waiting, inSet, kept}; !slices.Equal(left, want) {
		t.Errorf("kept %v, want %v", left, want)
	}
	if got := retireEvents(t, s); got == 0 {
		t.Error("the events that the jobs shared are left behind")
	}
	for _, table := range []string{"job_payloads", "results", "attempts", "dead_letters", "events"} {
		if n := sqltest.One[int64](t, s, "SELECT count(*) FROM "+table+" WHERE job_id = ANY ($1)", []int64{gone, discarded}); n != 0 {
			t.Errorf("%d rows of %s are left behind", n, table)
		}
	}
	if got := retireJobs(t, s, true); got != 1 {
		t.Errorf("deleted %d submissions, want 1", got)
	}
}

func TestClocksThatStandInThePastGo(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	sqltest.SubmitMany(t, s, 3)
	s.Exec(t, "UPDATE groups SET next_at = now() - interval '2 days' WHERE key <> 'user2'")
	s.Exec(t, "UPDATE groups SET weight = 2 WHERE key = 'user1'")
	if n, err := s.RetireGroups(t.Context()); err != nil || n != 1 {
		t.Errorf("deleted %d clocks, %v; want that of user0", n, err)
	}
}
