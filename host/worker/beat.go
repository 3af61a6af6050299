package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"deepoj/host/judge"
)

// beats says that the worker lives until ctx is done.
func (w *Worker) beats(ctx context.Context) {
	tick := time.NewTicker(w.cfg.BeatEvery)
	defer tick.Stop()
	for {
		w.beat(ctx)
		w.offer(ctx)
		select {
		case <-ctx.Done():
			return
		case <-w.news:
		case <-tick.C:
		}
	}
}

// beatSoon has the next sign of life given at once.
func (w *Worker) beatSoon() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// offer says which languages can be handed in from now on, unless that was said since the last probe.
func (w *Worker) offer(ctx context.Context) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.mu.Lock()
	languages, said := slices.Clone(w.languages), w.said || len(w.languages) == 0
	w.mu.Unlock()
	if said {
		return
	}
	c, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := w.store.OfferLanguages(c, languages); err != nil {
		if ctx.Err() == nil {
			w.cfg.Log.WarnContext(ctx, "the languages of this worker cannot be offered", slog.Any("err", err))
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said, w.offered = true, true
}

// beat gives one sign of life.
func (w *Worker) beat(ctx context.Context) {
	w.telling.Lock()
	defer w.telling.Unlock()
	c, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := w.dir.Beat(c, w.info()); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "nobody can be told that this worker lives", slog.Any("err", err))
	}
}

// info describes the worker as it is now. One that takes no jobs has no slots. What it has claimed beyond its slots
// occupies none.
func (w *Worker) info() judge.WorkerInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := judge.WorkerInfo{
		Name: w.owner, Pool: w.cfg.Pool, Slots: w.cfg.Slots, Busy: min(w.count(), w.cfg.Slots), Languages: slices.Clone(w.languages),
		Version: w.cfg.Version, Calibration: w.cfg.Calibration, Sandbox: w.sandbox, Started: w.started, Seen: time.Now(),
	}
	if w.cfg.Compilers != nil {
		i.Compilers = w.cfg.Compilers()
	}
	if w.unable != nil || w.stopping {
		i.Slots = 0
	}
	if lack, ok := errors.AsType[*UnfitError](w.unable); ok {
		i.Unfit, i.UnfitWhy = lack.Need, lack.Err.Error()
	}
	return i
}

// leave says that the worker has stopped.
func (w *Worker) leave(ctx context.Context) {
	c, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	if err := w.dir.Gone(c, w.owner); err != nil {
		w.cfg.Log.WarnContext(ctx, "nobody can be told that this worker stopped", slog.Any("err", err))
	}
}

// heartbeats renews the leases of all runs until ctx is done.
func (w *Worker) heartbeats(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.renew:
		}
		w.heartbeat(ctx)
	}
}

// Renew asks for the leases to be renewed now: some may have been taken away, and what was is stopped.
func (w *Worker) Renew() {
	select {
	case w.renew <- struct{}{}:
	default: // it is asked already
	}
}

// heartbeat renews the leases once. A lease that is not renewed because the
// database cannot be asked ends by the run's own clock (see [run.renewed]).
func (w *Worker) heartbeat(ctx context.Context) {
	runs := w.active()
	if len(runs) == 0 {
		return
	}
	attempts := make([]judge.Attempt, len(runs))
	for i, r := range runs {
		attempts[i] = r.job.Attempt
	}
	c, cancel := context.WithTimeout(ctx, w.cfg.Heartbeat)
	defer cancel()
	asked := time.Now()
	alive, err := w.store.Heartbeat(c, attempts, w.cfg.Lease)
	if err != nil {
		if ctx.Err() == nil {
			w.m.heartbeats.WithLabelValues(statusError, string(judge.ReasonHeartbeatError)).Add(float64(len(runs)))
			w.cfg.Log.WarnContext(ctx, "leases cannot be renewed", slog.String("reason", string(judge.ReasonHeartbeatError)),
				slog.Int("jobs", len(runs)), slog.Any("err", err))
		}
		return
	}
	ours := make(map[int64]bool, len(alive))
	for _, id := range alive {
		ours[id] = true
	}
	for _, r := range runs {
		if ours[r.job.JobID] {
			w.m.heartbeats.WithLabelValues(statusOK, "").Inc()
			r.renewed(asked)
			continue
		}
		// A result that is being written is none of our business: the
		// database is about to say what became of it.
		if r.lose(errLeaseLost) {
			w.m.heartbeats.WithLabelValues(statusReject, string(judge.ReasonLeaseLost)).Inc()
			r.log().WarnContext(ctx, "the lease was lost; the run is stopped", slog.String("reason", string(judge.ReasonLeaseLost)))
			w.slots.withdraw(r, errLeaseLost)
		}
	}
}
