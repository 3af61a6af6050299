package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
)

// Finalize records the result of an attempt and completes its job. An expired
// lease that nobody reclaimed is renewed in the same transaction. Repeating a
// Finalize that succeeded is a success, so a lost reply may be answered by
// asking again.
//
// It returns a [*judge.RejectedError] that says why, having written nothing, if
// the attempt is not the newest or has lost its lease.
//
// Attempts that end at the same time share a transaction; each is decided by
// itself.
func (s *Store) Finalize(ctx context.Context, a judge.Attempt, r judge.Result) error {
	f := final{a, &r}
	if err := f.check(); err != nil {
		return err
	}
	_, err := s.finals.ask(ctx, f)
	return err
}

// FinalizeThen is [Store.Finalize] for those who do not wait: then is called
// once, soon, with what Finalize would return. It must not block. An end of ctx
// is not noticed, and r must stay as it is until then.
func (s *Store) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, then func(error)) {
	f := final{a, r}
	if err := f.check(); err != nil {
		then(err)
		return
	}
	s.finals.tell(ctx, f, func(x answered[struct{}]) { then(x.err) })
}

// final is an attempt with its result.
type final struct {
	attempt judge.Attempt
	result  *judge.Result
}

func (f final) check() error {
	if !f.result.Verdict.Final() {
		return fmt.Errorf("finalize job %d: %q is no verdict of a result", f.attempt.JobID, f.result.Verdict)
	}
	return nil
}

// finalizeTogether records the results of several attempts. A second one of the
// same job, of which one at least will be refused, goes by itself.
func (s *Store) finalizeTogether(ctx context.Context, fs []final) []answered[struct{}] {
	seen := make(map[int64]bool, len(fs))
	var first, second []int
	for i, f := range fs {
		if seen[f.attempt.JobID] {
			second = append(second, i)
			continue
		}
		seen[f.attempt.JobID] = true
		first = append(first, i)
	}
	if second == nil {
		return s.finalizeJobs(ctx, fs)
	}
	out := make([]answered[struct{}], len(fs))
	some := make([]final, len(first))
	for k, i := range first {
		some[k] = fs[i]
	}
	for k, a := range s.finalizeJobs(ctx, some) {
		out[first[k]] = a
	}
	for _, i := range second {
		out[i] = s.finalizeJobs(ctx, fs[i:i+1])[0]
	}
	return out
}

// finalizeJobs records the results of attempts of different jobs.
func (s *Store) finalizeJobs(ctx context.Context, fs []final) []answered[struct{}] {
	out := make([]answered[struct{}], len(fs))
	done, err := s.finalizeMany(ctx, fs, false)
	if err == nil && len(done) < len(fs) { // perhaps a lease has run out; that is rare
		rest := slices.DeleteFunc(slices.Clone(fs), func(f final) bool {
			return slices.Contains(done, completed{f.attempt.JobID, f.attempt.AttemptID})
		})
		var late []completed
		late, err = s.finalizeMany(ctx, rest, true)
		done = append(done, late...)
	}
	complete := make(map[completed]bool, len(done))
	for _, c := range done {
		complete[c] = true
	}
	var told []int64
	for i, f := range fs {
		switch {
		case err != nil && len(fs) > 1: // perhaps one of them is at fault; nothing was written
			out[i] = s.finalizeJobs(ctx, fs[i:i+1])[0]
		case err != nil:
			out[i].err = fmt.Errorf("finalize job %d: %w", f.attempt.JobID, err)
		case complete[completed{f.attempt.JobID, f.attempt.AttemptID}]:
			told = append(told, f.attempt.JobID)
		default:
			out[i].err = s.why(ctx, f.attempt)
		}
	}
	s.wake(eventsOf(told...)...)
	return out
}

// completed is a job that is complete now, and by which attempt.
type completed struct {
	JobID     int64
	AttemptID int32
}

// outcome is what is shown of a result.
type outcome struct {
	verdict judge.Verdict
	scored  bool
	score   float64
}

func outcomeOf(r *judge.Result) outcome {
	if r.Score == nil {
		return outcome{verdict: r.Verdict}
	}
	return outcome{r.Verdict, true, *r.Score}
}

// finalizeMany returns the jobs that are complete now. With late, leases that ran
// out are renewed before, in the same transaction.
func (s *Store) finalizeMany(ctx context.Context, fs []final, late bool) (done []completed, err error) {
	fs = slices.SortedFunc(slices.Values(fs), func(x, y final) int { return inTurn(x.attempt, y.attempt) })
	attempts := make([]judge.Attempt, len(fs))
	outcomes, results := make([]int32, len(fs)), make([][]byte, len(fs))
	var by numbered[outcome]
	for i, f := range fs {
		result := f.result.Named() // whoever judged
		attempts[i], outcomes[i] = f.attempt, by.number(outcomeOf(&result))
		if results[i], err = encode(&result); err != nil {
			return nil, err
		}
	}
	a := fence(attempts...)
	// A batch is one round trip and one transaction.
	var b pgx.Batch
	if late {
		renew := s.stmts["JobRenewExpired"]
		values, err := renew.bind(a)
		if err != nil {
			return nil, err
		}
		b.Queue(renew.text, values...)
	}
	verdicts, scores := make([]string, len(by.all)), make([]*float64, len(by.all))
	for i, o := range by.all {
		verdicts[i] = string(o.verdict)
		if o.scored {
			scores[i] = &o.score
		}
	}
	a["outcomes"], a["verdicts"], a["scores"] = outcomes, verdicts, scores
	a["results"], a["ends"] = joined(results)
	finalize := s.stmts["JobFinalize"]
	values, err := finalize.bind(a)
	if err != nil {
		return nil, err
	}
	b.Queue(finalize.text, values...).Query(func(rs pgx.Rows) error {
		done, err = pgx.CollectRows(rs, pgx.RowToStructByPos[completed])
		return err
	})
	return done, s.queue.SendBatch(ctx, &b).Close()
}

// Fail ends an attempt without a result. With counts, it is a failure of ours:
// the job is tried again after a backoff, or is dead after max_tries. Without,
// the job is given back at once and no try is counted.
//
// It returns a [*judge.RejectedError] if the attempt may no longer write.
func (s *Store) Fail(ctx context.Context, a judge.Attempt, why string, counts bool) (judge.Status, error) {
	e := jobError{Code: "failed", Message: why, Component: "worker"}
	if !counts {
		e.Code = "released"
	}
	return s.fail(ctx, a, e, counts, false)
}

// Bury ends an attempt of a job that cannot succeed in any try, such as one
// with an invalid payload: the job is dead at once.
func (s *Store) Bury(ctx context.Context, a judge.Attempt, reason judge.Reason, detail string) error {
	_, err := s.fail(ctx, a, jobError{Code: string(reason), Message: detail, Component: "worker"}, true, true)
	return err
}

// jobError is the error column of attempts and dead letters.
type jobError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Component string `json:"component"`
	Detail    string `json:"detail,omitempty"`
}

func (s *Store) fail(ctx context.Context, a judge.Attempt, e jobError, counts, buried bool) (judge.Status, error) {
	data, err := encode(e)
	if err != nil {
		return "", fmt.Errorf("fail job %d: %w", a.JobID, err)
	}
	status, found, err := row(ctx, s, s.queue, "JobFail", args{
		"job_id": a.JobID, "attempt_id": a.AttemptID, "owner": a.Owner, "token": a.Token,
		"buried": buried, "counts": counts, "error": data,
	}, pgx.RowTo[judge.Status])
	if err != nil {
		return "", fmt.Errorf("fail job %d: %w", a.JobID, err)
	}
	if !found {
		return "", s.why(ctx, a)
	}
	s.wake(eventsOf(a.JobID)...)
	if status == judge.Pending && !counts {
		s.wake(message{ChannelOutbox, ""})
	}
	return status, nil
}

// explained is what the database knows of an attempt that was refused.
type explained struct {
	JobID      int64
	Found      bool
	Generation int32
	AttemptID  int32
	Status     judge.Status
	State      judge.State
	LeaseOwner string
	LeaseUntil string
	Holds      bool // the asker holds the lease
	Wrote      bool // the asker has written this job's result
}

func (e explained) rejected(r judge.Reason) judge.RejectedError {
	return judge.RejectedError{
		JobID: e.JobID, Reason: r,
		DBAttemptID: e.AttemptID, DBStatus: e.Status, DBState: e.State, DBLeaseOwner: e.LeaseOwner, DBLeaseUntil: e.LeaseUntil,
	}
}

func (s *Store) explain(ctx context.Context, attempts []judge.Attempt) ([]explained, error) {
	return rows(ctx, s, s.queue, "JobExplain", fence(attempts...), pgx.RowToStructByPos[explained])
}

// why explains a fenced write that changed nothing. It returns nil if the
// attempt has written its result before.
func (s *Store) why(ctx context.Context, a judge.Attempt) error {
	es, err := s.explain(ctx, []judge.Attempt{a})
	if err != nil {
		return fmt.Errorf("job %d attempt %d was refused, and why is unknown: %w", a.JobID, a.AttemptID, err)
	}
	if len(es) != 1 {
		return errors.New("explain: no row")
	}
	if es[0].Wrote {
		return nil
	}
	r := es[0].rejected(reasonFor(a, es[0]))
	r.AttemptID = a.AttemptID
	return &r
}

// reasonFor decides why the attempt was refused.
func reasonFor(a judge.Attempt, e explained) judge.Reason {
	switch {
	case !e.Found:
		return judge.ReasonNotFound
	case e.Status == judge.Cancelled:
		return judge.ReasonCancelled
	case e.AttemptID > a.AttemptID:
		return judge.ReasonStaleAttempt
	case e.Status == judge.Finished || e.Status == judge.Dead:
		return judge.ReasonAlreadyFinished
	case e.Status != judge.Running || e.AttemptID < a.AttemptID:
		return judge.ReasonUnexpectedState
	default:
		return judge.ReasonOwnerMismatch
	}
}
