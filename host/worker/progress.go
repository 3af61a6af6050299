package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deepoj/host/judge"
)

// reporter stores what judging reports, in batches: the first reports after a moment,
// the next ones together when the pace allows.
type reporter struct {
	w *Worker
	r *run

	ctx    context.Context    // for all that is written of the run
	cancel context.CancelFunc // ends the pauses of the loop, and so the loop; nil before it begins
	kick   chan struct{}
	shown  chan struct{} // takes the first test's report, which somebody waits for; nil where nobody does
	loops  sync.WaitGroup

	mu      sync.Mutex
	waiting []judge.Progress
	told    int // how many reports there were
	looping bool
}

// newReporter returns a reporter of r that works until stop, or ctx is done.
func (w *Worker) newReporter(ctx context.Context, r *run) *reporter {
	p := &reporter{w: w, r: r, ctx: ctx, kick: make(chan struct{}, 1)}
	if time.Since(r.job.Created).Abs() < justNow {
		p.shown = make(chan struct{}, 1)
	}
	return p
}

// add is what judging calls. It does not wait for the database.
func (p *reporter) add(x judge.Progress) {
	if x.Kind == judge.EventCompiled {
		p.w.slots.compiled(p.r)
	}
	p.mu.Lock()
	p.told++
	p.waiting = append(p.waiting, x)
	if !p.looping {
		p.looping = true
		var ctx context.Context
		ctx, p.cancel = context.WithCancel(p.ctx)
		p.loops.Go(func() { p.loop(ctx) })
	}
	p.mu.Unlock()
	p.again()
	if x.Test != nil && x.Total > 1 { // otherwise the result says it
		select {
		case p.shown <- struct{}{}:
		default:
		}
	}
}

// skipping returns what a judging calls that is repeated: what was told before is
// left out, because judging reports its steps in the same order.
func (p *reporter) skipping() func(judge.Progress) {
	p.mu.Lock()
	left := p.told
	p.mu.Unlock()
	return func(x judge.Progress) {
		if left > 0 {
			left--
			return
		}
		p.add(x)
	}
}

// firstReport is how long the first report waits for others. What is judged by then costs no statement of its own: its
// reports go with the result. Only the first test of a job that had not to wait is reported at once: whoever handed it in
// just now looks at it, and no other job waits for the statement.
const (
	firstReport = 40 * time.Millisecond
	justNow     = 200 * time.Millisecond // a job that is older had to wait
)

// gather waits for reports that go with the first one, and reports whether they are to be stored.
func (p *reporter) gather(ctx context.Context) bool {
	over := time.NewTimer(min(firstReport, p.w.cfg.ProgressEvery))
	defer over.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-p.shown:
	case <-over.C:
	}
	return true
}

func (p *reporter) loop(ctx context.Context) {
	wait := p.w.cfg.ProgressEvery
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
		}
		if first && !p.gather(ctx) {
			return
		}
		if p.flush(p.ctx) {
			wait = p.w.cfg.ProgressEvery
		} else {
			wait = min(2*wait, longestPause)
			p.again()
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// again has the loop look once more.
func (p *reporter) again() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// stop ends the loop, and returns what waits: it is for the result to take along. What is on its way to the database is
// waited for, at most answerTime: nobody knows whether a statement that was given up is carried out, so what it told would
// be told twice, or behind the result.
func (p *reporter) stop() []judge.Progress {
	p.mu.Lock()
	p.looping = true // too late to begin
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	p.loops.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}

// flush stores what waits, and reports whether nothing was left to try again.
// What cannot be stored waits on; the result has it all in the end.
func (p *reporter) flush(ctx context.Context) bool {
	p.mu.Lock()
	batch := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	if len(batch) == 0 {
		return true
	}
	c, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := p.w.store.Progress(c, p.r.job.Attempt, batch)
	if err == nil {
		return true
	}
	if why, refused := errors.AsType[*judge.RejectedError](err); refused {
		if p.r.lose(errLeaseLost) {
			p.w.m.heartbeats.WithLabelValues(statusReject, string(judge.ReasonLeaseLost)).Inc()
			p.r.log().WarnContext(ctx, "progress was refused; the run is stopped", slog.String("reason", string(why.Reason)))
		}
		return true
	}
	if ctx.Err() == nil {
		p.r.log().WarnContext(ctx, "progress cannot be stored", slog.Any("err", err))
	}
	p.mu.Lock()
	p.waiting = append(batch, p.waiting...)
	p.mu.Unlock()
	return false
}
