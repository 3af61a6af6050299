package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/queue"
	"deepoj/sql/sqltest"
)

// The steps of a worker at which it may end or stop.
const (
	stepReceived  = "received"  // entries have come, nothing is claimed
	stepClaimed   = "claimed"   // the claim is committed
	stepJudging   = "judging"   // in the middle of the work
	stepBeating   = "beating"   // about to renew its leases
	stepJudged    = "judged"    // about to hand in the result
	stepFinalized = "finalized" // the result is committed, nothing is acknowledged
	stepAcked     = "acked"     // the entry is gone
)

var steps = []string{stepReceived, stepClaimed, stepJudging, stepBeating, stepJudged, stepFinalized, stepAcked}

// notedAway is the line of a job that is given back for want of the blob store, and
// does not count it as a try.
const notedAway = "uncounted"

// Defects that the oracle must find.
const (
	mutantNoFence      = "a refused result is written all the same"
	mutantAckFirst     = "entries are acknowledged before the commit"
	mutantNoRedelivery = "lost deliveries are not sent again"
	mutantNoReaper     = "lost leases are not taken away"
	mutantNoKeys       = "idempotency keys are ignored"
	mutantAnswerFirst  = "a submit is answered and not stored"
	mutantShowsSets    = "judgings of a rejudge set are shown before it is applied"
)

// jobKey finds the job of a judging in its context.
type jobKey struct{}

// journal is what one worker did, line by line in a file that outlives it. It
// also brings the worker's end about.
type journal struct {
	role  role
	file  *os.File
	blobs *blob.Dir

	mu    sync.Mutex
	times int // that it came to its last step
}

func openJournal(r role) (*journal, error) {
	f, err := os.OpenFile(r.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &journal{role: r, file: f}, err
}

// note writes one line: one write, which a SIGKILL cannot cut.
func (j *journal) note(format string, args ...any) {
	if _, err := fmt.Fprintf(j.file, format+"\n", args...); err != nil {
		fmt.Fprintln(os.Stderr, "journal:", err)
		os.Exit(1)
	}
}

// at ends or stops this process if its time has come. One that has stopped and
// was continued ends when it has come there as often again.
func (j *journal) at(step string) {
	if step != j.role.Step {
		return
	}
	j.mu.Lock()
	j.times++
	times := j.times
	j.mu.Unlock()
	if times == j.role.Nth {
		j.note("at %s", step)
	}
	switch {
	case times == j.role.Nth && j.role.Stops:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case times == j.role.Nth, times == 2*j.role.Nth && !j.role.Once:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

// verdictOf is how a source with this key is judged: a function of what was
// handed in, so that a result that went astray shows.
func verdictOf(key string) judge.Verdict {
	sum := 0
	for _, digit := range key {
		sum += int(digit)
	}
	return []judge.Verdict{judge.AC, judge.WA, judge.TLE, judge.RE}[sum%4]
}

// compileTime is how long a program is compiled: for a third of the time longer than what is short, see the worker's
// slots, so that jobs are claimed ahead in both ways.
func compileTime() time.Duration {
	if time.Now().Unix()/5%3 == 0 {
		return lease/10 + 20*time.Millisecond
	}
	return 0
}

// Judge answers after a few milliseconds, or those of compiling besides.
func (j *journal) Judge(ctx context.Context, p judge.Payload, _ blob.Digest, progress func(judge.Progress)) (judge.Result, error) {
	j.at(stepJudging)
	if _, err := blob.ReadAll(ctx, j.blobs, j.role.Packet, 1<<10); err != nil {
		return judge.Result{}, fmt.Errorf("the problem: %w", err)
	}
	if !pause(ctx, compileTime()) {
		return judge.Result{}, ctx.Err()
	}
	progress(judge.Progress{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true}})
	if !pause(ctx, 5*time.Millisecond) {
		return judge.Result{}, ctx.Err()
	}
	job, ok := ctx.Value(jobKey{}).(judge.Claim)
	if !ok {
		return judge.Result{}, errors.New("no job")
	}
	key := p.Sources[0].Text
	return judge.Result{Verdict: verdictOf(key), Message: key, JudgeNote: job.Token}, nil
}

// journalledStore writes down what is claimed and how it ends.
type journalledStore struct {
	*sqltest.Store
	j *journal
}

func (s *journalledStore) Claim(ctx context.Context, ids []int64, owner, token string, d time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	jobs, rejected, err := s.Store.Claim(ctx, ids, owner, token, d)
	for _, r := range rejected {
		s.j.note("decided %d", r.JobID)
	}
	s.j.claimed(jobs)
	return jobs, rejected, err
}

func (j *journal) claimed(jobs []judge.Claim) {
	for _, job := range jobs {
		j.note("claimed %d %d %d %s", job.JobID, job.Generation, job.AttemptID, job.Token)
	}
	if len(jobs) > 0 {
		j.at(stepClaimed)
	}
}

func (s *journalledStore) Heartbeat(ctx context.Context, as []judge.Attempt, d time.Duration) ([]int64, error) {
	s.j.at(stepBeating)
	return s.Store.Heartbeat(ctx, as, d)
}

func (s *journalledStore) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	s.judged(a, *r)
	s.Store.FinalizeThen(ctx, a, r, last, func(err error) {
		go func() { then(s.decided(ctx, a, *r, err)) }()
	})
}

func (s *journalledStore) Finalize(ctx context.Context, a judge.Attempt, r judge.Result, last ...judge.Progress) error {
	s.judged(a, r)
	return s.decided(ctx, a, r, s.Store.Finalize(ctx, a, r, last...))
}

func (s *journalledStore) judged(a judge.Attempt, r judge.Result) {
	s.j.at(stepJudged)
	s.j.note("finalizing %d %d %d %s %s", a.JobID, a.Generation, a.AttemptID, a.Token, r.Verdict)
}

// decided notes what the database has said of a result.
func (s *journalledStore) decided(ctx context.Context, a judge.Attempt, r judge.Result, err error) error {
	_, refused := errors.AsType[*judge.RejectedError](err)
	if refused && s.j.role.Mutant == mutantNoFence {
		err, refused = overwrite(ctx, s.j.role.DSN, a, r), false
	}
	if err == nil && s.j.role.Mutant == mutantShowsSets {
		err = show(ctx, s.j.role.DSN, a, r)
	}
	switch {
	case err == nil:
		s.j.note("finalized %d %d %d %s %s", a.JobID, a.Generation, a.AttemptID, a.Token, r.Verdict)
		s.j.note("decided %d", a.JobID)
		s.j.at(stepFinalized)
	case refused:
		s.j.note("decided %d", a.JobID)
	}
	return err
}

func (s *journalledStore) Fail(ctx context.Context, a judge.Attempt, why string, counts bool) (judge.Status, error) {
	status, err := s.Store.Fail(ctx, a, why, counts)
	if err == nil && !counts && strings.HasPrefix(why, needBlobs) {
		s.j.note("%s %d", notedAway, a.JobID)
	}
	if _, refused := errors.AsType[*judge.RejectedError](err); err == nil || refused {
		s.j.note("decided %d", a.JobID)
	}
	return status, err
}

func (s *journalledStore) Malformed(ctx context.Context, jobID int64, reason judge.Reason) error {
	err := s.Store.Malformed(ctx, jobID, reason)
	if err == nil {
		s.j.note("decided %d", jobID)
	}
	return err
}

// journalledDelivery writes down what is acknowledged.
type journalledDelivery struct {
	queue.Delivery
	j *journal
}

func (d *journalledDelivery) Receive(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	es, err := d.Delivery.Receive(ctx, limit, wait)
	if len(es) > 0 {
		d.j.at(stepReceived)
		if d.j.role.Mutant == mutantAckFirst {
			_ = d.Ack(ctx, es...)
		}
	}
	return es, err
}

func (d *journalledDelivery) Taking() bool {
	t, ok := d.Delivery.(queue.Taker)
	return ok && t.Taking()
}

func (d *journalledDelivery) Take(ctx context.Context, limit int, wait time.Duration, owner, token string, lease time.Duration) ([]judge.Claim, time.Time, error) {
	t, ok := d.Delivery.(queue.Taker)
	if !ok {
		return nil, time.Time{}, errors.New("this delivery claims nothing")
	}
	jobs, asked, err := t.Take(ctx, limit, wait, owner, token, lease)
	d.j.claimed(jobs)
	return jobs, asked, err
}

func (d *journalledDelivery) Ack(ctx context.Context, es ...judge.Entry) error {
	for _, e := range es {
		if e.JobID > 0 && e.ID != "" {
			d.j.note("acked %d", e.JobID)
		}
	}
	err := d.Delivery.Ack(ctx, es...)
	d.j.at(stepAcked)
	return err
}
