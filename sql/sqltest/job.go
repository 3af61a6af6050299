package sqltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// Lease is long enough for a test.
const Lease = time.Minute

// WithProblem returns a store on a fresh database that knows the problem aplusb. When
// the test ends, the audit must be all zeros.
func WithProblem(t testing.TB) *Store {
	t.Helper()
	s := DB(t)
	p := judge.Problem{Slug: "aplusb", Title: "A + B", Version: "sha256:00", CPUMillis: 1000}
	if err := s.SaveProblem(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	return s
}

// Audited is WithProblem for tests that must leave everything in order.
func Audited(t testing.TB) *Store {
	t.Helper()
	s := WithProblem(t)
	// Registered after the store's own cleanup, so it runs before it.
	t.Cleanup(func() { AuditNow(t, s) })
	return s
}

// AuditNow is an error of the test for each figure of the audit that is not 0.
func AuditNow(t testing.TB, s *Store) {
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

// Sub is a submission by author, changed by with.
func Sub(author string, with ...func(*sql.NewJob)) sql.NewJob {
	n := sql.NewJob{
		Problem: "aplusb", Language: "cpp", Author: author, TraceID: "trace",
		Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}\n"}},
	}
	for _, w := range with {
		w(&n)
	}
	return n
}

// Key gives a submission an idempotency key.
func Key(k string) func(*sql.NewJob) {
	return func(n *sql.NewJob) { n.IdempotencyKey = k }
}

// Submit stores a job that is new, and returns its id.
func Submit(t testing.TB, s *Store, n sql.NewJob) int64 {
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

// SubmitMany submits n jobs of as many users.
func SubmitMany(t testing.TB, s *Store, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = Submit(t, s, Sub(fmt.Sprintf("user%d", i)))
	}
	return ids
}

// Pick picks jobs and returns their ids.
func Pick(t testing.TB, s *Store, limit int) []int64 {
	t.Helper()
	ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: "d1", Limit: limit})
	if err != nil {
		t.Fatalf("pick: %v", err)
	}
	ids := make([]int64, len(ts))
	for i, ticket := range ts {
		ids[i] = ticket.JobID
	}
	return ids
}

// Order picks everything, one job at a time, and checks the order.
func Order(t testing.TB, s *Store, want ...int64) {
	t.Helper()
	var got []int64
	for {
		ids := Pick(t, s, 1)
		if len(ids) == 0 {
			break
		}
		got = append(got, ids...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

// Token makes the nth token.
func Token(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// Claim claims one job, which must succeed.
func Claim(t testing.TB, s *Store, id int64, owner string, n int) judge.Claim {
	t.Helper()
	jobs, rejected, err := s.Claim(t.Context(), []int64{id}, owner, Token(n), Lease)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claim of job %d: jobs %v, rejected %v, err %v", id, jobs, rejected, err)
	}
	return jobs[0]
}

// Finalize records a verdict, which must succeed.
func Finalize(t testing.TB, s *Store, a judge.Attempt, v judge.Verdict) {
	t.Helper()
	if err := s.Finalize(t.Context(), a, judge.Result{Verdict: v}); err != nil {
		t.Fatalf("finalize: %v", err)
	}
}

// Rejected checks that err is a rejection for reason.
func Rejected(t testing.TB, err error, reason judge.Reason) *judge.RejectedError {
	t.Helper()
	r, ok := errors.AsType[*judge.RejectedError](err)
	if !ok || r.Reason != reason {
		t.Fatalf("err = %v, want a rejection with reason %s", err, reason)
	}
	return r
}

// Status checks where a job stands.
func Status(t testing.TB, s *Store, id int64, want judge.Status) *judge.Submission {
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

// Kinds returns the kinds of a job's events in order.
func Kinds(t testing.TB, s *Store, id int64) []string {
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

// Expire lets the lease of a job run out long ago.
func Expire(t testing.TB, s *Store, id int64) {
	t.Helper()
	s.Exec(t, "UPDATE jobs SET lease_until = now() - interval '90 s' WHERE job_id = $1", id)
	s.Exec(t, "UPDATE outbox_events SET lock_until = now() - interval '90 s' WHERE job_id = $1 AND state = 'L'", id)
}

// losses is more lost workers than a test has.
const losses = 100

// Reap takes jobs from lost workers.
func Reap(t testing.TB, s *Store) []jobs.Reaped {
	t.Helper()
	lost, err := s.Reap(t.Context(), 100, 15*time.Second, losses)
	if err != nil {
		t.Fatalf("reap: %v", err)
	}
	return lost
}

// cleanupContext is a context for cleanups, when the test's own has ended.
func cleanupContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Must fails the test for an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// RetireAll sweeps to the end, a few rows at a time.
func RetireAll(t testing.TB, step func(jobs.RetireCursor) (jobs.Retired, error)) (deleted int64) {
	t.Helper()
	for from, more := (jobs.RetireCursor{}), true; more; {
		r, err := step(from)
		Must(t, err)
		deleted += r.Deleted
		from, more = r.Next, r.More
	}
	return deleted
}
