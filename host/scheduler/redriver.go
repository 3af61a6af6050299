package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/telemetry"
)

// Redelivery is what a [Redriver] asks of the database; a [*jobs.Queue] answers.
type Redelivery interface {
	Promote(ctx context.Context) (int64, error)
	Redeliver(ctx context.Context, limit int) ([]int64, error)
	RedeliverAll(ctx context.Context) (int64, error)
}

// RedriverConfig sets the pace of a [Redriver].
type RedriverConfig struct {
	// Interval is the time between two looks, jittered by a fifth (POLL_INTERVAL). Defaults to 1 second.
	Interval time.Duration

	// Limit is how many lost deliveries one statement takes. More are taken by repeating it. Defaults to 200.
	Limit int

	// Changed delivers a value when the queue has lost its data or may have
	// (see queue.Streams.Changed). Defaults to never.
	Changed <-chan struct{}

	// Wake is called when jobs became ready. Defaults to nothing.
	Wake func()

	// Log gets what was lost. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is out of range.
func (c RedriverConfig) Validate() error {
	return errors.Join(negative("Interval", c.Interval), negative("Limit", c.Limit))
}

func (c RedriverConfig) withDefaults() RedriverConfig {
	c.Interval = cmp.Or(c.Interval, time.Second)
	c.Limit = cmp.Or(c.Limit, 200)
	if c.Wake == nil {
		c.Wake = func() {}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Redriver makes jobs ready whose time has come, and jobs again that were delivered and that nobody claimed in time.
type Redriver struct {
	cfg   RedriverConfig
	store Redelivery
	total *prometheus.CounterVec
	lost  chan struct{}
}

// Why a job was made ready.
const (
	madePromoted    = "due"
	madeRedelivered = "unclaimed"
	madeLost        = "queue_lost"
)

// NewRedriver returns a redriver.
func NewRedriver(cfg RedriverConfig, store Redelivery) (*Redriver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("redriver: %w", err)
	}
	cfg = cfg.withDefaults()
	total, err := telemetry.Register(cfg.Registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "outbox_redrive_total",
		Help: "Jobs made ready: due after a delay, unclaimed in time, or lost with the queue.",
	}, []string{"reason"}))
	if err != nil {
		return nil, err
	}
	return &Redriver{cfg: cfg, store: store, total: total, lost: make(chan struct{}, 1)}, nil
}

// Resend has all unclaimed jobs delivered again, because the way that they were delivered is gone. It never blocks.
func (r *Redriver) Resend() {
	select {
	case r.lost <- struct{}{}:
	default:
	}
}

// Run makes jobs ready until ctx is done, then returns nil.
func (r *Redriver) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	lost := false // the queue lost its data and not everything was sent again yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.cfg.Changed:
			lost = true
		case <-r.lost:
			lost = true
		case <-timer.C:
		}
		if lost {
			lost = !r.resend(ctx)
		}
		r.look(ctx)
		timer.Reset(jitter(r.cfg.Interval))
	}
}

// resend makes everything ready that was delivered, and reports whether that could be done.
func (r *Redriver) resend(ctx context.Context) bool {
	n, err := r.store.RedeliverAll(ctx)
	if err != nil {
		r.complain(ctx, err)
		return false
	}
	r.note(madeLost, n)
	if n > 0 { // a new queue is empty too, and no news
		r.cfg.Log.WarnContext(ctx, "the queue may have lost its data; unclaimed jobs are sent again", slog.Int64("jobs", n))
	}
	return true
}

// look makes ready what is due.
func (r *Redriver) look(ctx context.Context) {
	n, err := r.store.Promote(ctx)
	if err != nil {
		r.complain(ctx, err)
		return
	}
	r.note(madePromoted, n)
	for ctx.Err() == nil {
		ids, err := r.store.Redeliver(ctx, r.cfg.Limit)
		if err != nil {
			r.complain(ctx, err)
			return
		}
		r.note(madeRedelivered, int64(len(ids)))
		if len(ids) > 0 {
			r.cfg.Log.InfoContext(ctx, "jobs were delivered but not claimed; they are sent again", slog.Int("jobs", len(ids)))
		}
		if len(ids) < r.cfg.Limit {
			return
		}
	}
}

func (r *Redriver) note(reason string, n int64) {
	if n > 0 {
		r.total.WithLabelValues(reason).Add(float64(n))
		r.cfg.Wake()
	}
}

func (r *Redriver) complain(ctx context.Context, err error) {
	if ctx.Err() == nil {
		r.cfg.Log.WarnContext(ctx, "jobs cannot be made ready", slog.Any("err", err))
	}
}
