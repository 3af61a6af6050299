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

// offer says which languages can be handed in from now on, unless that was said
// since the last probe.
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

// info describes the worker as it is now. One that takes no jobs has no slots.
func (w *Worker) info() judge.WorkerInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := judge.WorkerInfo{
		Name: w.owner, Pool: w.cfg.Pool, Slots: w.cfg.Slots, Busy: w.count(), Languages: slices.Clone(w.languages),
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
