package jobs_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestASubmissionBecomesOneVerdict(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	if v := sqltest.Status(t, s, id, judge.Pending); v.QueueState != "R" || v.Shown() != "PENDING" || v.Title != "A + B" || v.Sources[0].Text != "int main() {}\n" {
		t.Errorf("submission = %+v", v)
	}
	ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: "d1", Limit: 10})
	if err != nil || len(ts) != 1 || ts[0].JobID != id || ts[0].TraceID != "trace" || ts[0].PayloadRef == "" || ts[0].Enqueued.IsZero() {
		t.Fatalf("pick = %+v, %v", ts, err)
	}
	if v := sqltest.Status(t, s, id, judge.Pending); v.Shown() != "DISPATCHED" {
		t.Errorf("shown as %s, want DISPATCHED", v.Shown())
	}
	job := sqltest.Claim(t, s, id, "w1", 1)
	if job.AttemptID != 1 || job.Generation != 1 || job.Owner != "w1" || job.Token != sqltest.Token(1) || job.Kind != judge.KindSubmission || job.ProblemVersion != "sha256:00" || len(job.Payload) == 0 {
		t.Errorf("job = %+v", job)
	}
	sqltest.Status(t, s, id, judge.Running)
	progress := []judge.Progress{
		{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true}, Total: 2},
		{Kind: judge.EventTest, Test: &judge.TestResult{Index: 1, Verdict: judge.AC, Output: "nul \x00 in output"}},
	}
	if err := s.Progress(t.Context(), job.Attempt, progress); err != nil {
		t.Fatalf("progress: %v", err)
	}
	score := 100.0
	result := judge.Result{Verdict: judge.AC, Score: &score, Tests: []judge.TestResult{{Index: 1, Verdict: judge.AC, Output: "a\x00\\u0000\\\x00"}}}
	if err := s.Finalize(t.Context(), job.Attempt, result); err != nil {
		t.Fatalf("finalize: %v", err)
	}
	v := sqltest.Status(t, s, id, judge.Finished)
	if v.Result == nil || v.Result.Verdict != judge.AC || *v.Result.Score != 100 || v.Result.Tests[0].Output != "a\ufffd\\u0000\\\ufffd" {
		t.Errorf("result = %+v", v.Result)
	}
	want := []string{"submitted", "dispatched", "claimed", "compiled", "test", "finished"}
	if got := sqltest.Kinds(t, s, id); !slices.Equal(got, want) {
		t.Errorf("events = %v, want %v", got, want)
	}
	list, err := s.Submissions(t.Context(), sql.Filter{Author: "alice", Verdict: judge.AC})
	if err != nil || len(list) != 1 || list[0].Result.Verdict != judge.AC || list[0].Result.Tests != nil || list[0].Sources != nil {
		t.Errorf("list = %+v, %v", list, err)
	}
}

func TestAJobIsClaimedOnce(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 3)
	sqltest.Pick(t, s, 3)
	jobs, refused, err := s.Claim(t.Context(), []int64{ids[2], ids[0], ids[0], ids[1], 999}, "w1", sqltest.Token(1), sqltest.Lease)
	if err != nil || len(jobs) != 3 || len(refused) != 1 || refused[0].Reason != judge.ReasonNotFound {
		t.Fatalf("first claim: %v, %v, %v", jobs, refused, err)
	}
	jobs, refused, err = s.Claim(t.Context(), ids, "w2", sqltest.Token(2), sqltest.Lease)
	if err != nil || len(jobs) != 0 || len(refused) != 3 {
		t.Fatalf("second claim: %v, %v, %v", jobs, refused, err)
	}
	for _, r := range refused {
		if r.Reason != judge.ReasonClaimReject || r.DBLeaseOwner != "w1" || r.DBStatus != judge.Running || r.DBState != judge.Processing || r.DBLeaseUntil == "" {
			t.Errorf("rejected = %+v", r)
		}
	}
}

func TestALateWorkerWritesOnlyUntilItsLeaseIsReclaimed(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 2)
	late, lost := sqltest.Claim(t, s, ids[0], "w1", 1), sqltest.Claim(t, s, ids[1], "w1", 2)

	sqltest.Expire(t, s, ids[0])
	sqltest.Finalize(t, s, late.Attempt, judge.TLE) // expired, but nobody reclaimed it

	sqltest.Expire(t, s, ids[1])
	got := sqltest.Reap(t, s)
	if len(got) != 1 || got[0].JobID != ids[1] || got[0].Status != judge.Pending || got[0].Owner != "w1" || got[0].AttemptID != 1 {
		t.Fatalf("reaped = %+v", got)
	}
	if alive, err := s.Heartbeat(t.Context(), []judge.Attempt{lost.Attempt}, sqltest.Lease); err != nil || len(alive) != 0 {
		t.Errorf("alive after the reclaim = %v, %v", alive, err)
	}
	err := s.Finalize(t.Context(), lost.Attempt, judge.Result{Verdict: judge.WA})
	sqltest.Rejected(t, err, judge.ReasonUnexpectedState)

	again := sqltest.Claim(t, s, ids[1], "w2", 3)
	if again.AttemptID != 2 || again.Tries != 1 {
		t.Errorf("second attempt = %+v", again)
	}
	err = s.Finalize(t.Context(), lost.Attempt, judge.Result{Verdict: judge.WA})
	if r := sqltest.Rejected(t, err, judge.ReasonStaleAttempt); r.AttemptID != 1 || r.DBAttemptID != 2 || r.DBLeaseOwner != "w2" {
		t.Errorf("rejected = %+v", r)
	}
	err = s.Progress(t.Context(), lost.Attempt, []judge.Progress{{Kind: judge.EventTest, Test: &judge.TestResult{Index: 1}}})
	sqltest.Rejected(t, err, judge.ReasonStaleAttempt)
	sqltest.Finalize(t, s, again.Attempt, judge.AC)
	if v := sqltest.Status(t, s, ids[1], judge.Finished); v.Result.Verdict != judge.AC {
		t.Errorf("verdict = %s, want AC", v.Result.Verdict)
	}
	err = s.Finalize(t.Context(), lost.Attempt, judge.Result{Verdict: judge.WA})
	sqltest.Rejected(t, err, judge.ReasonStaleAttempt)
}

func TestARefusedFinalizeSaysWhy(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	job := sqltest.Claim(t, s, id, "w1", 1)
	try := func(change func(*judge.Attempt)) error {
		a := job.Attempt
		change(&a)
		return s.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC})
	}
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.Token = sqltest.Token(9) }), judge.ReasonOwnerMismatch)
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.Owner = "w9" }), judge.ReasonOwnerMismatch)
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.AttemptID = 0 }), judge.ReasonStaleAttempt)
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.AttemptID = 2 }), judge.ReasonUnexpectedState)
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.JobID = 999 }), judge.ReasonNotFound)
	if err := s.Finalize(t.Context(), job.Attempt, judge.Result{Verdict: judge.SE}); err == nil {
		t.Error("SE was accepted as the verdict of a result")
	}
	if alive, err := s.Heartbeat(t.Context(), []judge.Attempt{job.Attempt, {JobID: id, AttemptID: 1, Owner: "w1", Token: sqltest.Token(9)}}, sqltest.Lease); err != nil || len(alive) != 1 {
		t.Errorf("alive = %v, %v", alive, err)
	}
	// Somebody who claims to be the owner does not keep the owner from writing, be
	// it in the same statement.
	forged := job.Attempt
	forged.Token = sqltest.Token(9)
	for i, err := range s.FinalizeTogether(t.Context(), judge.AC, forged, job.Attempt, forged) {
		if i == 1 {
			sqltest.Must(t, err)
		} else if _, refused := errors.AsType[*judge.RejectedError](err); !refused {
			t.Errorf("the forged attempt %d: %v", i, err)
		}
	}
	sqltest.Finalize(t, s, job.Attempt, judge.AC) // the reply to the first was lost
	sqltest.Rejected(t, try(func(a *judge.Attempt) { a.Token = sqltest.Token(9) }), judge.ReasonAlreadyFinished)
	if _, err := s.Fail(t.Context(), judge.Attempt{JobID: id, AttemptID: 1, Owner: "w1", Token: sqltest.Token(9)}, "x", true); err == nil {
		t.Error("a finished job failed")
	}
}

func TestACancelledJobCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 2)
	job := sqltest.Claim(t, s, ids[0], "w1", 1)
	for _, id := range ids {
		if err := s.Cancel(t.Context(), id, "alice", ""); err != nil {
			t.Fatal(err)
		}
		sqltest.Status(t, s, id, judge.Cancelled)
	}
	if alive, err := s.Heartbeat(t.Context(), []judge.Attempt{job.Attempt}, sqltest.Lease); err != nil || len(alive) != 0 {
		t.Errorf("alive = %v, %v", alive, err)
	}
	sqltest.Rejected(t, s.Finalize(t.Context(), job.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonCancelled)
	sqltest.Rejected(t, s.Cancel(t.Context(), ids[0], "alice", ""), judge.ReasonCancelled)
	sqltest.Rejected(t, s.Cancel(t.Context(), 999, "alice", ""), judge.ReasonNotFound)
	if got := sqltest.Pick(t, s, 10); len(got) != 0 {
		t.Errorf("picked %v", got)
	}
}

func TestARejudgeFencesOffTheRunningAttempt(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 2)
	first := sqltest.Claim(t, s, ids[0], "w1", 1)
	sqltest.Finalize(t, s, first.Attempt, judge.WA)
	gens, err := s.Rejudge(t.Context(), append(ids, 999), judge.LaneRejudge, "prof")
	if err != nil || len(gens) != 2 || gens[ids[0]] != 2 || gens[ids[1]] != 1 {
		t.Fatalf("rejudge = %v, %v", gens, err)
	}
	if v := sqltest.Status(t, s, ids[0], judge.Pending); v.Result == nil || v.Result.Verdict != judge.WA {
		t.Errorf("the live result while waiting = %+v, want the old one", v.Result)
	}
	again, err := s.Rejudge(t.Context(), ids[:1], judge.LaneRejudge, "prof")
	if err != nil || again[ids[0]] != 2 {
		t.Errorf("a repeated rejudge = %v, %v, want generation 2", again, err)
	}
	second := sqltest.Claim(t, s, ids[0], "w2", 2)
	if second.AttemptID != 2 || second.Generation != 2 {
		t.Errorf("second = %+v", second)
	}
	if gens, err = s.Rejudge(t.Context(), ids[:1], judge.LaneRejudge, "prof"); err != nil || gens[ids[0]] != 3 {
		t.Fatalf("rejudge of a running job = %v, %v", gens, err)
	}
	sqltest.Rejected(t, s.Finalize(t.Context(), second.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonUnexpectedState)
	third := sqltest.Claim(t, s, ids[0], "w3", 3)
	sqltest.Rejected(t, s.Finalize(t.Context(), second.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonStaleAttempt)
	sqltest.Finalize(t, s, third.Attempt, judge.AC)
	if v := sqltest.Status(t, s, ids[0], judge.Finished); v.Result.Verdict != judge.AC || v.Generation != 3 || v.AttemptID != 3 {
		t.Errorf("submission = %+v", v)
	}
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM results WHERE job_id = $1", ids[0]); n != 2 {
		t.Errorf("%d results kept, want those of generations 1 and 3", n)
	}
}

func TestAFailureIsRetriedWithBackoffAndThenDead(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	for try := 1; ; try++ {
		job := sqltest.Claim(t, s, id, "w1", try)
		got, err := s.Fail(t.Context(), job.Attempt, "sandbox broke", true)
		if err != nil {
			t.Fatal(err)
		}
		if try == 5 {
			if got != judge.Dead {
				t.Fatalf("after %d tries: %s, want dead", try, got)
			}
			break
		}
		v := sqltest.Status(t, s, id, judge.Pending)
		if v.QueueState != "S" || v.Shown() != "RETRYING" || v.LastError != "sandbox broke" {
			t.Fatalf("try %d: %+v", try, v)
		}
		if jobs, _, err := s.Claim(t.Context(), []int64{id}, "w1", sqltest.Token(99), sqltest.Lease); err != nil || len(jobs) != 0 {
			t.Fatalf("claimed before the backoff was over: %v, %v", jobs, err)
		}
		s.Exec(t, "UPDATE jobs SET not_before = now() WHERE job_id = $1", id)
		s.Exec(t, "UPDATE outbox_events SET not_before = now() WHERE job_id = $1", id)
		if n, err := s.Promote(t.Context()); err != nil || n != 1 {
			t.Fatalf("promote = %d, %v", n, err)
		}
	}
	letters, err := s.DeadLetters(t.Context(), sql.LetterPlace{}, true, 0)
	if err != nil || len(letters) != 1 || letters[0].Reason != "max_tries" || letters[0].Tries != 5 || letters[0].AttemptID != 5 {
		t.Fatalf("dead letters = %+v, %v", letters, err)
	}
	if err := s.Discard(t.Context(), id, "prof", "the tests are gone"); err != nil {
		t.Fatal(err)
	}
	if l, err := s.DeadLetter(t.Context(), id); err != nil || l.Resolution != "discarded" || l.ResolvedBy != "prof" || l.Note != "the tests are gone" {
		t.Errorf("discarded letter = %+v, %v", l, err)
	}
	if err := s.Discard(t.Context(), id, "prof", "again"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("second discard: %v", err)
	}
	if _, err := s.Rejudge(t.Context(), []int64{id}, judge.LaneRejudge, "prof"); err != nil {
		t.Fatal(err)
	}
	job := sqltest.Claim(t, s, id, "w1", 6)
	if job.AttemptID != 6 || job.Tries != 0 {
		t.Errorf("replayed job = %+v", job)
	}
}

func TestAJobGivenBackCountsNoTryAndGoesFirst(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 3)
	job := sqltest.Claim(t, s, ids[2], "w1", 1)
	got, err := s.Fail(t.Context(), job.Attempt, "draining", false)
	if err != nil || got != judge.Pending {
		t.Fatalf("give back = %s, %v", got, err)
	}
	if v := sqltest.Status(t, s, ids[2], judge.Pending); v.Tries != 0 || v.Shown() != "PENDING" {
		t.Errorf("submission = %+v", v)
	}
	sqltest.Order(t, s, ids[2], ids[0], ids[1])
}

func TestAProgramThatKillsItsWorkerIsDeadAfterMaxTries(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("mallory"))
	for try := 1; try <= 5; try++ {
		sqltest.Claim(t, s, id, "w1", try)
		other := sqltest.Submit(t, s, sqltest.Sub("bob"))
		if got := sqltest.Pick(t, s, 2); !slices.Equal(got, []int64{other}) {
			t.Fatalf("try %d: picked %v while the lost worker has its sqltest.Lease, want the other job %d", try, got, other)
		}
		sqltest.Finalize(t, s, sqltest.Claim(t, s, other, "w2", 100+try).Attempt, judge.AC)
		sqltest.Expire(t, s, id)
		if got := sqltest.Reap(t, s); len(got) != 1 || (got[0].Status == judge.Dead) != (try == 5) {
			t.Fatalf("try %d: reaped = %+v", try, got)
		}
	}
	v := sqltest.Status(t, s, id, judge.Dead)
	if v.Result != nil || v.Tries != 5 {
		t.Errorf("submission = %+v", v)
	}
	letters, err := s.DeadLetters(t.Context(), sql.LetterPlace{}, true, 0)
	if err != nil || len(letters) != 1 || letters[0].Reason != "worker_lost" {
		t.Errorf("dead letters = %+v, %v", letters, err)
	}
}

func TestAJobThatCannotSucceedIsBuried(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	job := sqltest.Claim(t, s, id, "w1", 1)
	if err := s.Bury(t.Context(), job.Attempt, judge.ReasonPayload, "schema_version 7"); err != nil {
		t.Fatal(err)
	}
	sqltest.Status(t, s, id, judge.Dead)
	sqltest.Rejected(t, s.Bury(t.Context(), job.Attempt, judge.ReasonPayload, ""), judge.ReasonAlreadyFinished)
	letters, err := s.DeadLetters(t.Context(), sql.LetterPlace{}, true, 0)
	if err != nil || len(letters) != 1 || letters[0].Reason != string(judge.ReasonPayload) {
		t.Errorf("dead letters = %+v, %v", letters, err)
	}
}

func TestALostDeliveryIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 3)
	if got := sqltest.Pick(t, s, 3); !slices.Equal(got, ids) {
		t.Fatalf("picked %v", got)
	}
	if taken, err := s.Published(t.Context(), "d1", ids, []string{"1-0", "1-1", "1-2"}); err != nil || len(taken) != 0 {
		t.Fatal(err)
	}
	if n, err := s.Outstanding(t.Context(), ""); err != nil || n != 3 {
		t.Errorf("outstanding = %d, %v", n, err)
	}
	if got, err := s.Redeliver(t.Context(), 10); err != nil || len(got) != 0 {
		t.Errorf("redelivered before the deadline: %v, %v", got, err)
	}
	s.Exec(t, "UPDATE outbox_events SET lock_until = now() - interval '1 s' WHERE job_id = $1", ids[1])
	if got, err := s.Redeliver(t.Context(), 10); err != nil || !slices.Equal(got, ids[1:2]) {
		t.Errorf("redelivered %v, %v, want %v", got, err, ids[1:2])
	}
	sqltest.Claim(t, s, ids[0], "w1", 1) // a claimed job is not delivered again
	if n, err := s.RedeliverAll(t.Context()); err != nil || n != 1 {
		t.Errorf("redelivered all = %d, %v, want 1", n, err)
	}
	sqltest.Order(t, s, ids[1], ids[2])
}

func TestAFailedPublishBacksOffWithoutATry(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	paused := func() float64 {
		t.Helper()
		return sqltest.One[float64](t, s, `SELECT extract(epoch FROM o.not_before - e.at)::double precision
			FROM outbox_events o JOIN events e USING (job_id) WHERE job_id = $1 AND kind = 'publish_failed' ORDER BY e.id DESC LIMIT 1`, id)
	}
	sqltest.Pick(t, s, 1)
	if err := s.PublishFailed(t.Context(), "d1", []int64{id}, "redis is down"); err != nil {
		t.Fatal(err)
	}
	if p := paused(); p < 0.5 || p > 1 {
		t.Errorf("the first pause is %g s, want 0.5 to 1 s", p)
	}
	if v := sqltest.Status(t, s, id, judge.Pending); v.QueueState != "S" || v.Tries != 0 || v.Shown() != "PENDING" {
		t.Errorf("submission = %+v", v)
	}
	if d := sqltest.One[int32](t, s, "SELECT deliveries FROM outbox_events WHERE job_id = $1", id); d != 1 {
		t.Errorf("deliveries = %d, want 1", d)
	}
	s.Exec(t, "UPDATE outbox_events SET not_before = now() WHERE job_id = $1", id)
	if n, err := s.Promote(t.Context()); err != nil || n != 1 {
		t.Fatalf("promote = %d, %v", n, err)
	}
	for range 12 { // deliveries that were lost are no failures to publish
		sqltest.Pick(t, s, 1)
		if _, err := s.RedeliverAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec(t, "DELETE FROM single_events WHERE job_id = $1 AND kind IN ('dispatched', 'redelivered')", id)
	sqltest.Pick(t, s, 1)
	if err := s.Malformed(t.Context(), id, judge.ReasonMissingField); err != nil {
		t.Fatal(err)
	}
	if p := paused(); p < 1 || p > 2 {
		t.Errorf("the second pause is %g s, want 1 to 2 s", p)
	}
	sqltest.Status(t, s, id, judge.Pending)
	want := []string{"submitted", "publish_failed", "promoted", "dispatched", "publish_failed"}
	if got := sqltest.Kinds(t, s, id); !slices.Equal(got, want) {
		t.Errorf("events = %v, want %v", got, want)
	}
}

// A job that ends its worker, or stops it, is tried once more and then set aside,
// whatever tries are left. Judged again by staff, it begins anew.
func TestAJobThatTwoWorkersWereLostWithIsSetAside(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id, other := sqltest.Submit(t, s, sqltest.Sub("alice")), sqltest.Submit(t, s, sqltest.Sub("bob"))
	lose := func(n int, want judge.Status) {
		t.Helper()
		sqltest.Claim(t, s, id, "w1", n)
		sqltest.Expire(t, s, id)
		lost, err := s.Reap(t.Context(), 100, 15*time.Second, 2)
		if err != nil || len(lost) != 1 || lost[0].JobID != id || lost[0].Status != want {
			t.Fatalf("lost worker %d: %+v, %v, want %s", n, lost, err, want)
		}
	}
	lose(1, judge.Pending)
	lose(2, judge.Dead)
	l, err := s.DeadLetter(t.Context(), id)
	if err != nil || l.Reason != "worker_lost" || l.Tries != 2 {
		t.Fatalf("dead letter = %+v, %v", l, err)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, other, "w2", 1).Attempt, judge.AC)
	if _, err := s.Rejudge(t.Context(), []int64{id}, judge.LaneRejudge, "prof"); err != nil {
		t.Fatal(err)
	}
	lose(3, judge.Pending)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w3", 4).Attempt, judge.AC)
}

// Who cancelled a job and why is kept beside it, and goes with the undo.
func TestACancelledJobSaysWhoAndWhy(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	sqltest.Must(t, s.Withdraw(t.Context(), id, "prof", "wrong file"))
	if v := sqltest.Status(t, s, id, judge.Cancelled); v.Withdrawal() != (judge.Withdrawal{By: "prof", Why: "wrong file"}) {
		t.Errorf("it says %q", v.LastError)
	}
	sqltest.Must(t, s.Restore(t.Context(), id, "prof"))
	if v := sqltest.Status(t, s, id, judge.Pending); v.LastError != "" {
		t.Errorf("restored, it says %q", v.LastError)
	}
}
