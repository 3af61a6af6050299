package jobs_test

import (
	"errors"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestAReleasedJobNeedNotWaitForItsTime(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	later := sqltest.Submit(t, s, sqltest.Sub("alice", func(n *sql.NewJob) { n.Delay = time.Hour }))
	other := sqltest.Submit(t, s, sqltest.Sub("bob"))
	if v := sqltest.Status(t, s, later, judge.Pending); v.QueueState != "S" {
		t.Errorf("queue state %s, want S", v.QueueState)
	}
	sqltest.Must(t, s.Release(t.Context(), later, "prof"))
	sqltest.Order(t, s, later, other)
	sqltest.Claim(t, s, later, "w1", 1)
}

func TestAMovedJobIsRightBeforeTheOther(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 6)
	// All of the same rank: there is no room between any two of them.
	s.Exec(t, "UPDATE outbox_events SET rank_at = now()")
	sqltest.Must(t, s.Move(t.Context(), ids[5], ids[2], "prof"))
	sqltest.Must(t, s.Move(t.Context(), ids[0], ids[4], "prof"))
	sqltest.Must(t, s.Move(t.Context(), ids[3], ids[1], "prof"))
	sqltest.Order(t, s, ids[3], ids[1], ids[5], ids[2], ids[0], ids[4])
}

func TestAJobMovesIntoTheLaneOfTheOther(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	later := func(n *sql.NewJob) { n.Delay = time.Hour }
	a, b := sqltest.Submit(t, s, sqltest.Sub("ann")), sqltest.Submit(t, s, sqltest.Sub("bob", func(n *sql.NewJob) { n.Lane = judge.LaneBatch }))
	c := sqltest.Submit(t, s, sqltest.Sub("cai", later))
	sqltest.Must(t, s.Move(t.Context(), a, b, "prof"))
	sqltest.Must(t, s.Move(t.Context(), c, b, "prof"))
	sqltest.Order(t, s, a, c, b)
	for before, why := range map[int64]string{b: "delivered", c: "itself", 999: "unknown"} {
		var e *judge.FieldError
		if err := s.Move(t.Context(), c, before, "prof"); !errors.As(err, &e) || e.Field != "before" {
			t.Errorf("moved before a job that is %s: %v", why, err)
		}
	}
	sqltest.Rejected(t, s.Move(t.Context(), 999, a, "prof"), judge.ReasonNotFound)
}

func TestMovesAreUndoneOneByOne(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 4)
	late := sqltest.Submit(t, s, sqltest.Sub("late", func(n *sql.NewJob) { n.Delay = time.Hour }))
	id := ids[2]
	sqltest.Must(t, s.Release(t.Context(), id, "prof"))
	sqltest.Must(t, s.Withdraw(t.Context(), id, "prof", ""))
	sqltest.Must(t, s.Restore(t.Context(), id, "prof"))
	sqltest.Must(t, s.Move(t.Context(), id, ids[1], "prof"))
	delay(t, s, id)
	sqltest.Must(t, s.Withdraw(t.Context(), id, "prof", ""))
	for _, want := range []string{"cancel", "delay", "move", "release"} {
		if got, err := s.Undo(t.Context(), id, "prof"); err != nil || got != want {
			t.Fatalf("undid %q, %v; want %s", got, err, want)
		}
	}
	if _, err := s.Undo(t.Context(), id, "prof"); err == nil {
		t.Error("something was left to undo")
	}
	sqltest.Must(t, s.Release(t.Context(), late, "prof"))
	if _, err := s.Undo(t.Context(), late, "prof"); err != nil {
		t.Error(err)
	}
	if v := sqltest.Status(t, s, late, judge.Pending); v.QueueState != "S" {
		t.Errorf("after the undo its queue state is %s, want S: it waits for its time again", v.QueueState)
	}
	sqltest.Order(t, s, ids...)
	first := sqltest.Submit(t, s, sqltest.Sub("zoe"))
	sqltest.Must(t, s.Release(t.Context(), first, "prof"))
	job := sqltest.Claim(t, s, first, "w1", 1)
	if _, err := s.Fail(t.Context(), job.Attempt, "draining", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), first, "prof"); err == nil {
		t.Error("a release was undone after the job had been claimed")
	}
}

func TestAWithdrawnJobGetsItsPlaceBack(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 3)
	sqltest.Must(t, s.Withdraw(t.Context(), ids[1], "prof", ""))
	sqltest.Status(t, s, ids[1], judge.Cancelled)
	sqltest.Must(t, s.Restore(t.Context(), ids[1], "prof"))
	sqltest.Rejected(t, s.Restore(t.Context(), ids[1], "prof"), judge.ReasonUnexpectedState)
	sqltest.Order(t, s, ids...)
	running := sqltest.Claim(t, s, ids[0], "w1", 1)
	sqltest.Must(t, s.Cancel(t.Context(), ids[0], "prof", ""))
	sqltest.Rejected(t, s.Restore(t.Context(), ids[0], "prof"), judge.ReasonCancelled)
	sqltest.Rejected(t, s.Finalize(t.Context(), running.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonCancelled)
}

func delay(t *testing.T, s *sqltest.Store, id int64) {
	t.Helper()
	if _, err := s.Delay(t.Context(), id, "prof"); err != nil {
		t.Fatal(err)
	}
}
