package worker

import (
	"context"
	"log/slog"
	"time"

	"deepoj/host/judge"
)

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

// Renew asks for the leases to be renewed now: some may have been taken away, and
// what was is stopped.
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
		}
	}
}
