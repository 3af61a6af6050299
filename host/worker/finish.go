package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// errCannotWrite says that the database is well but does not take a write.
var errCannotWrite = errors.New("the database answers, but not to this")

// patience is how many renewals of the lease a write may fail through: so long
// is the database well, and the write is not.
const patience = 3

// finalize has a result recorded with the last of the progress, and calls over when that is decided. It does not wait: thousands of goroutines that
// did would be a burden for the collector of memory, which looks at the stack of each.
func (w *Worker) finalize(ctx context.Context, r *run, result *judge.Result, last []judge.Progress, over func()) {
	u := w.journal.expect(&r.job, result)
	ctx, span := telemetry.Start(ctx, "finalize")
	began, renewals := time.Now(), r.renewals()
	r.expect(func(err error) {
		if err == nil && len(r.entries) == 0 { // nothing that could block
			span.End(nil)
			w.recorded(ctx, r, u, began, nil)
			over()
			return
		}
		go func() {
			defer over()
			err := w.insist(ctx, r, renewals, resultFailure, err, func(ctx context.Context) error {
				return w.store.Finalize(ctx, r.job.Attempt, *result, last...)
			})
			span.End(err)
			w.recorded(ctx, r, u, began, err)
		}()
	})
	if err := ctx.Err(); err != nil {
		r.answered(err)
		return
	}
	w.store.FinalizeThen(ctx, r.job.Attempt, result, last, r.answered)
}

// resultFailure is what is logged of a result that the database does not take.
const resultFailure = "a result cannot be recorded"

// record asks until the result of u is answered, however long the database is away. One that is not, because the worker
// is being stopped, stays in the journal.
func (w *Worker) record(ctx context.Context, r *run, u *unanswered) {
	began := time.Now()
	err := w.settle(ctx, r, resultFailure, func(ctx context.Context) error {
		return w.store.Finalize(ctx, r.job.Attempt, *u.entry.Result)
	})
	w.recorded(ctx, r, u, began, err)
}

// recorded deals with what the database has said of the result of u, which it was asked at began.
func (w *Worker) recorded(ctx context.Context, r *run, u *unanswered, began time.Time, err error) {
	w.m.latency.Observe(float64(time.Since(began).Microseconds()) / 1000)
	if errors.Is(err, errCannotWrite) {
		u.forget()
		w.fail(ctx, r, err, true)
		return
	}
	if err != nil {
		if _, answered := errors.AsType[*judge.RejectedError](err); answered {
			u.forget()
		} else {
			u.keep()
		}
		w.refused(ctx, r, err)
		return
	}
	u.forget()
	w.m.finalized.WithLabelValues(statusOK).Inc()
	result := u.entry.Result
	w.m.verdicts.WithLabelValues(string(result.Verdict)).Inc()
	if w.cfg.Log.Enabled(ctx, slog.LevelInfo) {
		r.log().InfoContext(ctx, "judged", slog.String("verdict", string(result.Verdict)),
			slog.Int64("cpu_ms", result.Usage.CPUMillis),
			slog.Int64("cpu_us", result.Usage.CPU().Microseconds()), slog.Int64("memory_kib", result.Usage.MemoryKiB))
	}
	w.ack(r.entries...)
}

// fail ends an attempt without a result.
func (w *Worker) fail(ctx context.Context, r *run, why error, counts bool) {
	var status judge.Status
	err := w.settle(ctx, r, "a job cannot be given back", func(ctx context.Context) (err error) {
		status, err = w.store.Fail(ctx, r.job.Attempt, why.Error(), counts)
		return err
	})
	if err != nil {
		w.refused(ctx, r, err)
		return
	}
	label := statusRetry
	switch {
	case status == judge.Dead:
		label = statusDead
	case !counts:
		label = statusReleased
	}
	w.m.finalized.WithLabelValues(label).Inc()
	r.log().InfoContext(ctx, "job given back", slog.String("status", string(status)), slog.Bool("counts", counts))
	w.ack(r.entries...)
}

// giveBack gives back a job that waited for a slot because of why, which is no try at it. Over is called afterwards.
func (w *Worker) giveBack(ctx context.Context, r *run, why error, over func()) {
	defer over()
	defer w.leaveRun(r)
	ctx = w.cfg.Context(ctx, r.job)
	if lost := r.close(); errors.Is(lost, errLeaseLost) {
		// Another may have the job: no write, no acknowledgement.
		r.log().WarnContext(ctx, "a job was abandoned before it was judged", slog.String("reason", string(judge.ReasonLeaseLost)))
		return
	}
	w.fail(ctx, r, why, false)
}

// bury ends a job that cannot succeed in any try.
func (w *Worker) bury(ctx context.Context, r *run, reason judge.Reason, detail string) {
	err := w.settle(ctx, r, "a job cannot be given up", func(ctx context.Context) error {
		return w.store.Bury(ctx, r.job.Attempt, reason, detail)
	})
	if err != nil {
		w.refused(ctx, r, err)
		return
	}
	w.m.finalized.WithLabelValues(statusDead).Inc()
	w.m.claims.WithLabelValues(statusReject, string(reason)).Inc()
	w.ack(r.entries...)
}

// settle calls ask until the database has answered: with success, or with a [*judge.RejectedError]. Any other error
// means that ctx has ended, or it is an errCannotWrite: leases are renewed, but this write fails again and again.
func (w *Worker) settle(ctx context.Context, r *run, failure string, ask func(context.Context) error) (err error) {
	ctx, span := telemetry.Start(ctx, "finalize")
	defer func() { span.End(err) }()
	renewals := r.renewals()
	return w.insist(ctx, r, renewals, failure, soon(ctx, ask), ask)
}

// insist is settle after ask was called once, when the lease had been renewed so often, and said err.
func (w *Worker) insist(ctx context.Context, r *run, renewals int, failure string, err error, ask func(context.Context) error) error {
	for wait := shortestPause; ; wait = min(2*wait, longestPause) {
		if err == nil {
			return nil
		}
		if _, refused := errors.AsType[*judge.RejectedError](err); refused {
			return err
		}
		w.m.errors.Inc()
		r.log().WarnContext(ctx, "the database gives no answer; it is asked again", slog.String("failure", failure),
			slog.String("reason", string(judge.ReasonDBError)), slog.Any("err", err))
		if r.renewals() >= renewals+patience {
			return fmt.Errorf("%w: %w", errCannotWrite, err)
		}
		if !pause(ctx, wait) {
			return err
		}
		err = soon(ctx, ask)
	}
}

// soon calls ask, which has answerTime.
func soon(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return ask(ctx)
}

// refused deals with a write that changed nothing.
func (w *Worker) refused(ctx context.Context, r *run, err error) {
	why, ok := errors.AsType[*judge.RejectedError](err)
	if !ok { // we are being stopped, or the database does not take this write
		w.m.finalized.WithLabelValues(statusError).Inc()
		r.log().ErrorContext(ctx, "a job is left to its lease", slog.Any("err", err))
		return
	}
	w.m.finalized.WithLabelValues(statusReject).Inc()
	w.m.rejected.WithLabelValues(string(why.Reason)).Inc()
	if why.Reason == judge.ReasonStaleAttempt {
		w.m.stale.Inc()
	}
	r.log().WarnContext(ctx, "the database refused what came of a job", slog.String("reason", string(why.Reason)),
		slog.Int64("db_attempt_id", int64(why.DBAttemptID)), slog.String("db_status", string(why.DBStatus)),
		slog.String("db_state", string(why.DBState)), slog.String("db_lease_owner", why.DBLeaseOwner),
		slog.String("db_lease_until", why.DBLeaseUntil))
	w.ack(r.entries...)
}
