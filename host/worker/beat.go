package worker

import (
	"context"
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
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) beat(ctx context.Context) {
	c, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := w.dir.Beat(c, w.info()); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "nobody can be told that this worker lives", slog.Any("err", err))
	}
}

// info describes the worker as it is now. One that takes no jobs has no slots.
func (w *Worker) info() judge.WorkerInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := judge.WorkerInfo{
		Name: w.owner, Pool: w.cfg.Pool, Slots: w.cfg.Slots, Busy: w.count(), Languages: slices.Clone(w.languages),
		Version: w.cfg.Version, Calibration: w.cfg.Calibration, Sandbox: w.sandbox, Started: w.started, Seen: time.Now(),
	}
	if w.unable != nil || w.stopping {
		i.Slots = 0
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

// LookAgain asks for a new probe of the languages and the sandbox, soon.
func (w *Worker) LookAgain() {
	select {
	case w.look <- struct{}{}:
	default:
	}
}

// probes looks at tool chains and sandbox again and again until ctx is done.
func (w *Worker) probes(ctx context.Context) {
	tick := time.NewTicker(w.cfg.ProbeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.look:
		case <-tick.C:
		}
		w.probe(ctx)
	}
}

// probe looks at tool chains and sandbox. A worker without a sandbox takes no
// jobs, but says what it could judge before: what is handed in meanwhile waits.
func (w *Worker) probe(ctx context.Context) {
	line, err := w.cfg.Sandbox(ctx)
	var languages []judge.Language
	if err == nil {
		languages = w.cfg.Languages(ctx)
	}
	if ctx.Err() != nil {
		return // what a stop interrupted says nothing
	}
	w.mu.Lock()
	was := w.unable
	w.unable, w.sandbox = err, line
	if err == nil {
		w.languages = languages
	} else {
		w.sandbox = "unavailable: " + err.Error()
	}
	w.mu.Unlock()
	switch {
	case err != nil && was != nil && err.Error() == was.Error(): // was said
	case err != nil:
		w.cfg.Log.ErrorContext(ctx, "nothing can be judged here; no jobs are taken", slog.Any("err", err))
	case was != nil:
		w.cfg.Log.InfoContext(ctx, "jobs are taken", slog.String("worker", w.owner), slog.String("pool", w.cfg.Pool),
			slog.Int("slots", w.cfg.Slots), slog.Any("languages", w.Serving()), slog.String("sandbox", line))
	}
}
