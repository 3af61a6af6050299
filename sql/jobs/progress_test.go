package jobs_test

import (
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// A worker may give up waiting for an answer, as when its network fails, and have the result recorded meanwhile. The
// statement that it gave up goes on in the database.
func TestNoProgressComesBehindTheResult(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	sqltest.Pick(t, s, 1)
	job := sqltest.Claim(t, s, id, "w1", 1)
	// Progress waits here after it has begun to look, and before it takes an id.
	s.Exec(t, `CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`)
	s.Exec(t, `CREATE TRIGGER wait_here BEFORE INSERT ON single_events FOR EACH STATEMENT EXECUTE FUNCTION wait_here()`)
	holder, err := s.Main.Begin(t.Context())
	sqltest.Must(t, err)
	defer holder.Rollback(t.Context())
	_, err = holder.Exec(t.Context(), "SELECT pg_advisory_xact_lock(7)")
	sqltest.Must(t, err)
	told := make(chan error, 1)
	go func() {
		told <- s.Progress(t.Context(), job.Attempt, []judge.Progress{{Kind: judge.EventTest, Test: &judge.TestResult{Index: 1}}})
	}()
	for !sqltest.One[bool](t, s, "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))") {
		select {
		case err := <-told:
			t.Fatalf("progress did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	sqltest.Finalize(t, s, job.Attempt, judge.AC)
	sqltest.Must(t, holder.Commit(t.Context()))
	sqltest.Must(t, <-told) // as of any attempt that has its result: there is nothing to be done
	if got := sqltest.Kinds(t, s, id); !slices.Equal(got, []string{"submitted", "dispatched", "claimed", "finished"}) {
		t.Errorf("events %v", got)
	}
}
