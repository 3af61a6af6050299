// Package recorder writes the logs of rounds: what happened in each, in an order, for those who may know of it.
//
// It looks at what happened since, of rounds and of submissions, and compares what is to be told of that with what was told.
// So the log does not depend on when it looks, nor how often: whatever ends it goes on where it was, and several of them
// write one log. Nothing is told before everything is committed that is older.
//
// Its files:
//
//	extras.go    persons, accounts and commentary
//	recorder.go  when it looks
//	plan.go      what is told, and whom
//	handed.go    what is told of what was handed in, and how it was judged
package recorder

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/telemetry"
	"deepoj/sql/rounds"
)

// Store is what a [Recorder] reads and writes; a [*rounds.Store] does it.
type Store interface {
	FeedJobs(ctx context.Context, limit int) (rounds.Fed, error)
	FeedChanges(ctx context.Context, limit int) (rounds.Fed, error)
	LookAtAll(ctx context.Context) error
	Timed(ctx context.Context) (bool, error)
	Record(ctx context.Context, except []int64, plan func(rounds.Seen) (rounds.Written, error)) (rounds.Recorded, error)
}

// Config sets the pace of a [Recorder].
type Config struct {
	// Busy is the time between two looks while a round with an end goes on. Defaults to 50 milliseconds.
	Busy time.Duration

	// Idle is the time between two looks at other times. Defaults to a second.
	Idle time.Duration

	// Wake says that there may be something at once. It is heard while a round with an end goes on, so that a judge
	// without one pays nothing for what happens in it. Defaults to none.
	Wake <-chan struct{}

	// Log gets what cannot be written. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Recorder writes the logs of rounds. Several may run at once.
type Recorder struct {
	cfg   Config
	store Store
	apart map[int64]time.Time // rounds that could not be written, and until when they are left alone

	lines    prometheus.Counter
	time     prometheus.Histogram
	failures prometheus.Counter
}

// gap is the least time between two looks, however often it is woken.
const gap = 5 * time.Millisecond

// feedLimit is how many events are looked at in one statement.
const feedLimit = 1000

// New returns a recorder that is not running.
func New(cfg Config, store Store) (*Recorder, error) {
	cfg.Busy, cfg.Idle = cmp.Or(cfg.Busy, 50*time.Millisecond), cmp.Or(cfg.Idle, time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Recorder{cfg: cfg, store: store, apart: map[int64]time.Time{}}
	var err error
	r.lines, err = telemetry.Register(cfg.Registerer, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "contest_log_lines_total", Help: "Lines written to the logs of rounds.",
	}))
	if err != nil {
		return nil, err
	}
	r.failures, err = telemetry.Register(cfg.Registerer, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "contest_log_failures_total", Help: "Looks at rounds that failed, and are made again.",
	}))
	if err != nil {
		return nil, err
	}
	r.time, err = telemetry.Register(cfg.Registerer, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "contest_log_seconds", Help: "Time in which what was due of one round was written to its log.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
	}))
	return r, err
}

// Run writes logs until ctx is done, then returns nil. What it cannot write now it writes later.
func (r *Recorder) Run(ctx context.Context) error {
	begun := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	var wake <-chan struct{} // nil = it is not heard
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
			timer.Reset(gap)
			wake = nil
			continue
		case <-timer.C:
		}
		err := r.look(ctx, &begun)
		pause := r.cfg.Idle
		wake = nil
		if err == nil {
			var timed bool
			if timed, err = r.store.Timed(ctx); timed {
				pause, wake = r.cfg.Busy, r.cfg.Wake
			}
		}
		if err != nil && ctx.Err() == nil {
			r.failures.Inc()
			r.cfg.Log.WarnContext(ctx, "the logs of rounds cannot be written on; they will be", slog.Any("err", err))
		}
		timer.Reset(pause)
	}
}

// look begins with a look at everything, as there may be things that nothing is left of that tells of them.
func (r *Recorder) look(ctx context.Context, begun *bool) error {
	if !*begun {
		if err := r.store.LookAtAll(ctx); err != nil {
			return err
		}
		*begun = true
	}
	return r.Look(ctx)
}

// apartFor is how long a round that cannot be written is left alone, so that it holds up no other.
const apartFor = 5 * time.Second

// Look writes down everything that has happened. A round that cannot be written holds up no other.
func (r *Recorder) Look(ctx context.Context) error {
	for more := true; more; {
		fed, err := r.store.FeedJobs(ctx, feedLimit)
		if err != nil {
			return err
		}
		more = fed.More
		for changes := true; changes; {
			fed, err := r.store.FeedChanges(ctx, feedLimit)
			if err != nil {
				return err
			}
			changes = fed.More
		}
		if fed.Restored {
			r.cfg.Log.WarnContext(ctx, "the database was restored elsewhere: all rounds are looked at again")
		}
		if err := r.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write writes down what is due.
func (r *Recorder) write(ctx context.Context) error {
	for {
		start := time.Now()
		done, err := r.store.Record(ctx, r.leftAlone(start), Plan)
		if err != nil && done.Round != 0 && ctx.Err() == nil {
			r.apart[done.Round] = start.Add(apartFor)
			r.failures.Inc()
			r.cfg.Log.WarnContext(ctx, "the log of a round cannot be written on; it will be tried again", slog.String("round", done.Code), slog.Any("err", err))
			continue
		}
		if err != nil {
			return err
		}
		if done.Round == 0 {
			return nil
		}
		r.time.Observe(time.Since(start).Seconds())
		r.lines.Add(float64(done.Lines))
		r.cfg.Log.DebugContext(ctx, "round recorded", slog.String("round", done.Code), slog.Int64("seq", done.Seq), slog.Int("lines", done.Lines))
	}
}

// leftAlone are the rounds that could not be written a short time ago.
func (r *Recorder) leftAlone(now time.Time) []int64 {
	out := []int64{}
	for id, until := range r.apart {
		if now.After(until) {
			delete(r.apart, id)
			continue
		}
		out = append(out, id)
	}
	return out
}
