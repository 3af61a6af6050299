package sql_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

const lease = time.Minute

// open returns a store on a fresh database that knows the problem aplusb. When
// the test ends, the audit must be all zeros.
func open(t *testing.T) *sql.Store {
	t.Helper()
	s := sqltest.DB(t)
	p := judge.Problem{Slug: "aplusb", Title: "A + B", Version: "sha256:00", CPUMillis: 1000}
	if err := s.SaveProblem(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	return s
}

// audited is open for tests that must leave everything in order.
func audited(t *testing.T) *sql.Store {
	t.Helper()
	s := open(t)
	// Registered after the store's own cleanup, so it runs before it.
	t.Cleanup(func() { auditNow(t, s) })
	return s
}

func auditNow(t *testing.T, s *sql.Store) {
	t.Helper()
	a, err := s.Audit(cleanupContext(t))
	if err != nil {
		t.Errorf("audit: %v", err)
	}
	for _, r := range a.Rows() {
		if r.Count != 0 {
			t.Errorf("audit: %s = %d, want 0", r.Name, r.Count)
		}
	}
}

// sub is a submission by author, changed by with.
func sub(author string, with ...func(*sql.NewJob)) sql.NewJob {
	n := sql.NewJob{
		Problem: "aplusb", Language: "cpp", Author: author, TraceID: "trace",
		Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}\n"}},
	}
	for _, w := range with {
		w(&n)
	}
	return n
}

func key(k string) func(*sql.NewJob) {
	return func(n *sql.NewJob) { n.IdempotencyKey = k }
}

func submit(t *testing.T, s *sql.Store, n sql.NewJob) int64 {
	t.Helper()
	r, err := s.Submit(t.Context(), n)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	if r.Existing {
		t.Fatalf("job %d existed before", r.JobID)
	}
	return r.JobID
}

func submitMany(t *testing.T, s *sql.Store, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = submit(t, s, sub(fmt.Sprintf("user%d", i)))
	}
	return ids
}

func pick(t *testing.T, s *sql.Store, limit int) []int64 {
	t.Helper()
	ts, err := s.Pick(t.Context(), sql.PickRequest{Dispatcher: "d1", Limit: limit})
	if err != nil {
		t.Fatalf("pick: %v", err)
	}
	ids := make([]int64, len(ts))
	for i, ticket := range ts {
		ids[i] = ticket.JobID
	}
	return ids
}

// order picks everything, one job at a time, and checks the order.
func order(t *testing.T, s *sql.Store, want ...int64) {
	t.Helper()
	var got []int64
	for {
		ids := pick(t, s, 1)
		if len(ids) == 0 {
			break
		}
		got = append(got, ids...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

// token makes the nth token.
func token(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// claim claims one job, which must succeed.
func claim(t *testing.T, s *sql.Store, id int64, owner string, n int) judge.Claim {
	t.Helper()
	jobs, rejected, err := s.Claim(t.Context(), []int64{id}, owner, token(n), lease)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claim of job %d: jobs %v, rejected %v, err %v", id, jobs, rejected, err)
	}
	return jobs[0]
}

func finalize(t *testing.T, s *sql.Store, a judge.Attempt, v judge.Verdict) {
	t.Helper()
	if err := s.Finalize(t.Context(), a, judge.Result{Verdict: v}); err != nil {
		t.Fatalf("finalize: %v", err)
	}
}

// rejected checks that err is a rejection for reason.
func rejected(t *testing.T, err error, reason judge.Reason) *judge.RejectedError {
	t.Helper()
	r, ok := errors.AsType[*judge.RejectedError](err)
	if !ok || r.Reason != reason {
		t.Fatalf("err = %v, want a rejection with reason %s", err, reason)
	}
	return r
}

// status checks where a job stands.
func status(t *testing.T, s *sql.Store, id int64, want judge.Status) *judge.Submission {
	t.Helper()
	v, err := s.Submission(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if v.Status != want {
		t.Fatalf("job %d is %s, want %s", id, v.Status, want)
	}
	return v
}

// kinds returns the kinds of a job's events in order.
func kinds(t *testing.T, s *sql.Store, id int64) []string {
	t.Helper()
	es, err := s.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = string(e.Kind)
	}
	return out
}

// expire lets the lease of a job run out long ago.
func expire(t *testing.T, s *sql.Store, id int64) {
	t.Helper()
	s.Exec(t, "UPDATE jobs SET lease_until = now() - interval '90 s' WHERE job_id = $1", id)
	s.Exec(t, "UPDATE outbox_events SET lock_until = now() - interval '90 s' WHERE job_id = $1 AND state = 'L'", id)
}

// patientLosses is more lost workers than a test has.
const patientLosses = 100

func reap(t *testing.T, s *sql.Store) []sql.Reaped {
	t.Helper()
	lost, err := s.Reap(t.Context(), 100, 15*time.Second, patientLosses)
	if err != nil {
		t.Fatalf("reap: %v", err)
	}
	return lost
}
