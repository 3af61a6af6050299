package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Finalize records the result of an attempt and completes its job. An expired lease that nobody reclaimed is renewed in
// the same transaction. Repeating a Finalize that succeeded is a success, so a lost reply may be answered by asking
// again.
//
// It returns a [*judge.RejectedError] that says why, having written nothing, if
// the attempt is not the newest or has lost its lease.
//
// Last is progress that was not stored yet: it goes into the same transaction, or nowhere.
//
// Attempts that end at the same time share a transaction; each is decided by itself.
func (q *Queue) Finalize(ctx context.Context, a judge.Attempt, r judge.Result, last ...judge.Progress) error {
	f := final{a, &r, last}
	if err := f.check(); err != nil {
		return err
	}
	_, err := q.finals.Ask(ctx, f)
	return err
}

// FinalizeThen is [Queue.Finalize] for those who do not wait: then is called once, soon, with what Finalize would
// return. It must not block. An end of ctx is not noticed, and r and last must stay as they are until then.
func (q *Queue) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	f := final{a, r, last}
	if err := f.check(); err != nil {
		then(err)
		return
	}
	q.finals.Tell(ctx, f, func(x pg.Answered[struct{}]) { then(x.Err) })
}

// final is an attempt with its result, and what of its progress is not stored.
type final struct {
	attempt judge.Attempt
	result  *judge.Result
	last    []judge.Progress
}

func (f final) check() error {
	if !f.result.Verdict.Final() {
		return fmt.Errorf("finalize job %d: %q is no verdict of a result", f.attempt.JobID, f.result.Verdict)
	}
	return nil
}

// finalizeTogether records the results of several attempts. A second one of the
// same job, of which one at least will be refused, goes by itself.
func (q *Queue) finalizeTogether(ctx context.Context, fs []final) []pg.Answered[struct{}] {
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
		return q.finalizeJobs(ctx, fs)
	}
	out := make([]pg.Answered[struct{}], len(fs))
	some := make([]final, len(first))
	for k, i := range first {
		some[k] = fs[i]
	}
	for k, a := range q.finalizeJobs(ctx, some) {
		out[first[k]] = a
	}
	for _, i := range second {
		out[i] = q.finalizeJobs(ctx, fs[i:i+1])[0]
	}
	return out
}

// finalizeJobs records the results of attempts of different jobs.
func (q *Queue) finalizeJobs(ctx context.Context, fs []final) []pg.Answered[struct{}] {
	out := make([]pg.Answered[struct{}], len(fs))
	done, err := q.finalizeMany(ctx, fs, false)
	if err == nil && len(done) < len(fs) { // perhaps a lease has run out; that is rare
		rest := slices.DeleteFunc(slices.Clone(fs), func(f final) bool {
			return slices.Contains(done, completed{f.attempt.JobID, f.attempt.AttemptID})
		})
		var late []completed
		late, err = q.finalizeMany(ctx, rest, true)
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
			out[i] = q.finalizeJobs(ctx, fs[i:i+1])[0]
		case err != nil:
			out[i].Err = fmt.Errorf("finalize job %d: %w", f.attempt.JobID, err)
		case complete[completed{f.attempt.JobID, f.attempt.AttemptID}]:
			told = append(told, f.attempt.JobID)
		default:
			out[i].Err = q.why(ctx, f.attempt)
		}
	}
	q.db.WakeEvents(told...)
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
func (q *Queue) finalizeMany(ctx context.Context, fs []final, late bool) (done []completed, err error) {
	fs = slices.SortedFunc(slices.Values(fs), func(x, y final) int { return inTurn(x.attempt, y.attempt) })
	attempts := make([]judge.Attempt, len(fs))
	outcomes, results := make([]int32, len(fs)), make([][]byte, len(fs))
	var by numbered[outcome]
	for i, f := range fs {
		result := f.result.Named() // whoever judged
		attempts[i], outcomes[i] = f.attempt, by.number(outcomeOf(&result))
		if results[i], err = pg.Encode(&result); err != nil {
			return nil, err
		}
	}
	a := fence(attempts...)
	// A batch is one round trip and one transaction.
	var b pgx.Batch
	queue := func(statement string, a pg.Args) (*pgx.QueuedQuery, error) {
		st := q.db.Statements[statement]
		values, err := st.Bind(a)
		if err != nil {
			return nil, err
		}
		return b.Queue(st.Text, values...), nil
	}
	if late {
		if _, err := queue("JobRenewExpired", a); err != nil {
			return nil, err
		}
	}
	if last, err := lastProgress(a, fs); err != nil {
		return nil, err
	} else if last != nil {
		if _, err := queue("JobProgressLast", last); err != nil {
			return nil, err
		}
	}
	verdicts, scores := make([]string, len(by.all)), make([]*float64, len(by.all))
	for i, o := range by.all {
		verdicts[i] = string(o.verdict)
		if o.scored {
			scores[i] = &o.score
		}
	}
	a["outcomes"], a["verdicts"], a["scores"] = outcomes, verdicts, scores
	a["results"], a["ends"] = pg.Joined(results)
	finalize, err := queue("JobFinalize", a)
	if err != nil {
		return nil, err
	}
	finalize.Query(func(rs pgx.Rows) error {
		done, err = pgx.CollectRows(rs, pgx.RowToStructByPos[completed])
		return err
	})
	return done, q.db.Queue.SendBatch(ctx, &b).Close()
}

// lastProgress returns the parameters of JobProgressLast for attempts that fence names, or nil if nothing is to be stored.
func lastProgress(fence pg.Args, fs []final) (pg.Args, error) {
	var whose []int32
	var kinds []string
	var data [][]byte
	for i, f := range fs {
		k, d, err := progressEvents(f.last)
		if err != nil {
			return nil, fmt.Errorf("progress of job %d: %w", f.attempt.JobID, err)
		}
		whose = append(whose, slices.Repeat([]int32{int32(i) + 1}, len(k))...) // there are at most 256
		kinds, data = append(kinds, k...), append(data, d...)
	}
	if whose == nil {
		return nil, nil
	}
	a := maps.Clone(fence)
	a["whose"], a["kinds"], a["data"] = whose, kinds, data
	return a, nil
}

// Fail ends an attempt without a result. With counts, it is a failure of ours: the job is tried again after a backoff,
// or is dead after max_tries. Without, the job is given back at once and no try is counted.
//
// It returns a [*judge.RejectedError] if the attempt may no longer write.
func (q *Queue) Fail(ctx context.Context, a judge.Attempt, why string, counts bool) (judge.Status, error) {
	e := jobError{Code: "failed", Message: why, Component: "worker"}
	if !counts {
		e.Code = "released"
	}
	return q.fail(ctx, a, e, counts, false)
}

// Bury ends an attempt of a job that cannot succeed in any try, such as one
// with an invalid payload: the job is dead at once.
func (q *Queue) Bury(ctx context.Context, a judge.Attempt, reason judge.Reason, detail string) error {
	_, err := q.fail(ctx, a, jobError{Code: string(reason), Message: detail, Component: "worker"}, true, true)
	return err
}

// jobError is the error column of attempts and dead letters.
type jobError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Component string `json:"component"`
	Detail    string `json:"detail,omitempty"`
}

func (q *Queue) fail(ctx context.Context, a judge.Attempt, e jobError, counts, buried bool) (judge.Status, error) {
	data, err := pg.Encode(e)
	if err != nil {
		return "", fmt.Errorf("fail job %d: %w", a.JobID, err)
	}
	status, found, err := pg.Row(ctx, q.db, q.db.Queue, "JobFail", pg.Args{
		"job_id": a.JobID, "attempt_id": a.AttemptID, "owner": a.Owner, "token": a.Token,
		"buried": buried, "counts": counts, "error": data,
	}, pgx.RowTo[judge.Status])
	if err != nil {
		return "", fmt.Errorf("fail job %d: %w", a.JobID, err)
	}
	if !found {
		return "", q.why(ctx, a)
	}
	q.db.WakeEvents(a.JobID)
	if status == judge.Pending && !counts {
		q.db.Wake(pg.ChannelOutbox, "")
	}
	return status, nil
}
