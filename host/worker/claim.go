package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"deepoj/host/judge"
	"deepoj/queue"
)

// claim makes the jobs of entries ours, at most limit, and returns a run for each. Entries that the database has
// decided about are acknowledged; after an error none is, and redelivery heals.
func (w *Worker) claim(ctx context.Context, entries []judge.Entry, limit int) ([]*run, error) {
	// A stop must not leave a claim behind that nobody knows of.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	byJob := map[int64][]judge.Entry{}
	var ids []int64
	for _, e := range entries {
		switch {
		case e.Reason != "" || e.JobID <= 0:
			if err := w.malformed(ctx, e); err != nil {
				return nil, err
			}
			continue
		case byJob[e.JobID] != nil: // the same job twice
		case len(ids) == limit:
			continue // not ours to hoard: it will be delivered again
		default:
			ids = append(ids, e.JobID)
		}
		byJob[e.JobID] = append(byJob[e.JobID], e)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := w.giveBackTaken(ctx); err != nil {
		return nil, err
	}
	token := uuid.NewString()
	asked, jobs, rejected, err := w.ask(ctx, ids, token)
	if err != nil {
		w.doubtful = token
		w.m.claims.WithLabelValues(statusError, string(judge.ReasonDBError)).Add(float64(len(ids)))
		w.cfg.Log.WarnContext(ctx, "jobs cannot be claimed", slog.Int("jobs", len(ids)),
			slog.String("reason", string(judge.ReasonDBError)), slog.Any("err", err))
		return nil, err
	}
	var runs []*run
	for _, j := range jobs {
		w.m.claims.WithLabelValues(statusOK, "").Inc()
		runs = append(runs, w.newRun(j, byJob[j.JobID], asked))
		delete(byJob, j.JobID)
	}
	if len(runs) > 0 {
		w.cfg.Claimed()
	}
	why := map[int64]judge.RejectedError{}
	for _, r := range rejected {
		why[r.JobID] = r
	}
	for id, es := range byJob {
		r, said := why[id]
		if !said {
			r = judge.RejectedError{JobID: id, Reason: judge.ReasonClaimReject}
		}
		if r.DBStatus == judge.Running && r.DBLeaseOwner == w.owner {
			w.giveBackLost(ctx, judge.Attempt{JobID: id, AttemptID: r.DBAttemptID, Owner: w.owner, Token: token})
		}
		w.m.claims.WithLabelValues(statusReject, string(r.Reason)).Inc()
		w.cfg.Log.InfoContext(ctx, "a job is not to be claimed", slog.Int64("job_id", id), slog.String("reason", string(r.Reason)),
			slog.Int64("db_attempt_id", int64(r.DBAttemptID)), slog.String("db_status", string(r.DBStatus)),
			slog.String("db_lease_owner", r.DBLeaseOwner))
		w.ack(es...)
	}
	return runs, nil
}

// take claims at most limit jobs straight from a delivery that can do so, and returns a run for each.
func (w *Worker) take(ctx context.Context, from queue.Taker, limit int) ([]*run, error) {
	if err := w.giveBackTaken(ctx); err != nil {
		return nil, err
	}
	token := uuid.NewString()
	jobs, asked, err := from.Take(ctx, limit, w.cfg.ReceiveWait, w.owner, token, w.cfg.Lease)
	if err != nil {
		w.doubtful = token
		w.m.claims.WithLabelValues(statusError, string(judge.ReasonDBError)).Inc()
		return nil, err
	}
	w.m.claims.WithLabelValues(statusOK, "").Add(float64(len(jobs)))
	runs := make([]*run, len(jobs))
	for i, j := range jobs {
		runs[i] = w.newRun(j, nil, asked)
	}
	if len(runs) > 0 {
		w.cfg.Claimed()
	}
	return runs, nil
}

// giveBackTaken gives back what an earlier take or claim got whose answer was lost.
func (w *Worker) giveBackTaken(ctx context.Context) error {
	if w.doubtful == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	held, err := w.store.Held(ctx, w.owner, w.doubtful)
	if err != nil {
		return err
	}
	for _, a := range held {
		w.giveBackLost(ctx, a)
	}
	w.doubtful = ""
	return nil
}

// claimTries is how often a claim is tried. What cannot be claimed lies in the queue until it is delivered again, so
// one broken connection or one deadlock should not decide.
const claimTries = 3

// ask claims jobs, and returns when the request was sent that succeeded.
func (w *Worker) ask(ctx context.Context, ids []int64, token string) (asked time.Time, jobs []judge.Claim, rejected []judge.RejectedError, err error) {
	wait := shortestPause
	for range claimTries {
		asked = time.Now()
		jobs, rejected, err = w.store.Claim(ctx, ids, w.owner, token, w.cfg.Lease)
		if err == nil || !pause(ctx, wait) {
			break
		}
		wait *= 2
	}
	return asked, jobs, rejected, err
}

// giveBackLost gives back a job that an earlier try of the same claim got, whose answer was lost on the way: nobody
// works on it. The token proves that; with another one, the database refuses.
func (w *Worker) giveBackLost(ctx context.Context, a judge.Attempt) {
	_, err := w.store.Fail(ctx, a, "the answer to the claim was lost", false)
	if _, refused := errors.AsType[*judge.RejectedError](err); err != nil && !refused {
		w.cfg.Log.WarnContext(ctx, "a job is left to its lease", slog.Int64("job_id", a.JobID), slog.Any("err", err))
	}
}

// malformed deals with an entry that is not a ticket: the database notes it for
// the job that it names, if any, and the entry goes away.
func (w *Worker) malformed(ctx context.Context, e judge.Entry) error {
	reason := judge.Reason(e.Reason)
	reason = cmp.Or(reason, judge.ReasonMissingField)
	w.cfg.Log.WarnContext(ctx, "a malformed entry was received", slog.String("entry", e.ID),
		slog.Int64("job_id", e.JobID), slog.String("reason", string(reason)))
	if e.JobID > 0 {
		if err := w.store.Malformed(ctx, e.JobID, reason); err != nil {
			w.m.claims.WithLabelValues(statusError, string(judge.ReasonDBError)).Inc()
			return err
		}
	}
	w.m.claims.WithLabelValues(statusReject, string(reason)).Inc()
	w.ack(e)
	return nil
}

// ack has entries removed that the database has decided about.
func (w *Worker) ack(entries ...judge.Entry) {
	for _, e := range entries {
		w.acks <- e
	}
}

// acknowledge removes decided entries, as many at once as wait, until there are no more to come.
func (w *Worker) acknowledge(ctx context.Context) {
	for e := range w.acks {
		batch := []judge.Entry{e}
		for more := true; more && len(batch) < cap(w.acks); {
			select {
			case e, ok := <-w.acks:
				if more = ok; ok {
					batch = append(batch, e)
				}
			default:
				more = false
			}
		}
		w.acknowledgeBatch(ctx, batch)
	}
}

// acknowledgeBatch tries twice. An entry that stays does no harm: when it comes again its job cannot be claimed.
func (w *Worker) acknowledgeBatch(ctx context.Context, batch []judge.Entry) {
	var err error
	for range 2 {
		c, cancel := context.WithTimeout(ctx, answerTime/2)
		err = w.delivery.Ack(c, batch...)
		cancel()
		if err == nil {
			w.m.acks.WithLabelValues(statusOK, "").Add(float64(len(batch)))
			return
		}
	}
	w.m.acks.WithLabelValues(statusError, string(judge.ReasonAckError)).Add(float64(len(batch)))
	w.cfg.Log.WarnContext(ctx, "entries cannot be acknowledged", slog.String("reason", string(judge.ReasonAckError)),
		slog.Int("entries", len(batch)), slog.Any("err", err))
}
