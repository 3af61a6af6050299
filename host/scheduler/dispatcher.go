package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/queue"
	"deepoj/sql/jobs"
)

// Outbox is what a [Dispatcher] asks of the database; a [*jobs.Queue] answers.
type Outbox interface {
	Pick(ctx context.Context, r jobs.PickRequest) ([]judge.Ticket, error)
	Published(ctx context.Context, dispatcher string, ids []int64, entryIDs []string) (taken []int64, err error)
	PublishFailed(ctx context.Context, dispatcher string, ids []int64, msg string) error
	LeaseShards(ctx context.Context, queue, pool, dispatcher string, shards int, lease time.Duration) ([]int32, error)
	ReleaseShards(ctx context.Context, queue, pool, dispatcher string) error
	Outstanding(ctx context.Context, queue string) (int64, error)
	Workers(ctx context.Context, maxAge time.Duration) ([]judge.WorkerInfo, error)
	Listen(ctx context.Context, channel string, fn func(payload string)) error
}

// DispatcherConfig sets the pace of a [Dispatcher]. Only Name is required.
type DispatcherConfig struct {
	// Name says who picked a job, in the database. A random boot id is appended.
	Name string

	// Queue and Pool are which jobs are published, and for whom. Default to the default queue and pool.
	Queue, Pool string

	// Batch is how many jobs are published at once at most. Defaults to 256.
	Batch int

	// Shards is how many parts the groups of a queue are divided into among its dispatchers (OUTBOX_SHARDS); all of
	// them must say the same. Defaults to 1: every dispatcher picks from everything.
	Shards int

	// ShardLease is how long a dispatcher that has vanished keeps its shards. Defaults to 10 seconds.
	ShardLease time.Duration

	// PollInterval is the longest a job waits when no signal arrives
	// (POLL_INTERVAL). It is jittered by a fifth. Defaults to 1 second.
	PollInterval time.Duration

	// WorkerAge is how long ago a worker was seen at most that is counted on. Defaults to 10 seconds.
	WorkerAge time.Duration

	// Live returns the workers that are counted on. Defaults to asking the database for those of WorkerAge.
	Live func(ctx context.Context) ([]judge.WorkerInfo, error)

	// Hold reports that jobs must stay where they are, because workers take
	// them straight from the database (see [Switch]). Defaults to never.
	Hold func() bool

	// Tracer makes the spans of dispatches. Defaults to none.
	Tracer *telemetry.Tracer

	// Log gets what goes wrong. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is missing or out of range.
func (c DispatcherConfig) Validate() error {
	var nameless error
	if c.Name == "" {
		nameless = errors.New("Name is empty")
	}
	return errors.Join(nameless, negative("Batch", c.Batch), negative("Shards", c.Shards), negative("ShardLease", c.ShardLease),
		negative("PollInterval", c.PollInterval), negative("WorkerAge", c.WorkerAge))
}

func (c DispatcherConfig) withDefaults() DispatcherConfig {
	c.Queue = cmp.Or(c.Queue, judge.DefaultQueue)
	c.Pool = cmp.Or(c.Pool, judge.DefaultPool)
	c.Batch = cmp.Or(c.Batch, 256)
	c.ShardLease = cmp.Or(c.ShardLease, 10*time.Second)
	c.PollInterval = cmp.Or(c.PollInterval, time.Second)
	c.WorkerAge = cmp.Or(c.WorkerAge, 10*time.Second)
	if c.Hold == nil {
		c.Hold = func() bool { return false }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// The pace of a dispatcher.
const (
	// fullPause and longestFullPause are how long a full window is left alone.
	fullPause        = 5 * time.Millisecond
	longestFullPause = 100 * time.Millisecond

	// longestBrokenPause is how long a broken queue is left alone at most.
	longestBrokenPause = 5 * time.Second

	// reasonPublish is counted for jobs that could not be published.
	reasonPublish judge.Reason = "xadd_error"

	// finishTime is how long marks in the database may take that a stop must not interrupt.
	finishTime = 5 * time.Second
)

// Dispatcher publishes ready jobs to the workers of one pool.
type Dispatcher struct {
	cfg      DispatcherConfig
	store    Outbox
	delivery queue.Delivery
	wake     chan struct{}

	total   *prometheus.CounterVec
	latency prometheus.Histogram
	notes   notes

	// What Run knows of the other side; used by its goroutine only.
	workers   pool
	room      int64 // how many more may be published
	roomAsked time.Time
	broken    int // failures to publish in a row
	shards    shardLease
}

// NewDispatcher returns a dispatcher from store to delivery.
func NewDispatcher(cfg DispatcherConfig, store Outbox, delivery queue.Delivery) (*Dispatcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	cfg = cfg.withDefaults()
	if cfg.Live == nil {
		cfg.Live = func(ctx context.Context) ([]judge.WorkerInfo, error) { return store.Workers(ctx, cfg.WorkerAge) }
	}
	cfg.Name = fmt.Sprintf("%s-%08x", cfg.Name, rand.Uint32()) //nolint:gosec // tells boots apart, no secret
	d := &Dispatcher{cfg: cfg, store: store, delivery: delivery, wake: make(chan struct{}, 1)}
	d.notes = notes{entries: map[int64]string{}, wake: make(chan struct{}, 1)}
	var err error
	d.total, err = telemetry.Register(cfg.Registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "api_outbox_dispatch_total",
		Help: "Jobs that were published, or not, by status and reason.",
	}, []string{"status", "reason"}))
	if err != nil {
		return nil, err
	}
	d.latency, err = telemetry.Register(cfg.Registerer, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "api_outbox_dispatch_latency_seconds",
		Help:    "Time from becoming ready to being published.",
		Buckets: latencySeconds,
	}))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Wake says that there may be something to publish. It never blocks.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run publishes until ctx is done, then returns nil. A job that was being
// published is either in both places or will be delivered again.
func (d *Dispatcher) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := d.store.Listen(ctx, jobs.ChannelOutbox, func(string) { d.Wake() }); err != nil && ctx.Err() == nil {
			return fmt.Errorf("dispatcher: listen for work: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		d.keepNotes(ctx)
		return nil
	})
	g.Go(func() error {
		d.loop(ctx)
		d.writeNotes(ctx)
		d.shards.release(ctx, &d.cfg, d.store)
		return nil
	})
	return g.Wait()
}

// outcome is how one round of dispatching ended.
type outcome int

const (
	idle   outcome = iota // nothing to publish: wait for a signal
	more                  // there may be more: go on at once
	full                  // the window is full: look again soon
	failed                // something is broken: leave it alone for a while
)

func (d *Dispatcher) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := fullPause
	for ctx.Err() == nil {
		end := d.dispatch(ctx)
		wait, wake := d.cfg.PollInterval, d.wake
		switch end {
		case more:
			pause = fullPause
			continue
		case idle:
			pause = fullPause
			wait = jitter(wait)
		case full: // claims make room, and nobody tells
			wait, wake = pause, nil
			pause = min(2*pause, longestFullPause, d.cfg.PollInterval)
		case failed: // signals would make us hurry
			wait, wake = jitter(min(d.cfg.PollInterval<<d.broken, longestBrokenPause)), nil
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
	}
}

// dispatch publishes one batch.
func (d *Dispatcher) dispatch(ctx context.Context) outcome {
	if d.cfg.Hold() {
		return idle
	}
	if held, err := d.shards.hold(ctx, &d.cfg, d.store); err != nil {
		return d.fail(ctx, judge.ReasonDBError, err)
	} else if !held {
		return idle // others hold everything
	}
	room, err := d.window(ctx)
	if err != nil {
		return d.fail(ctx, judge.ReasonDBError, err)
	}
	if d.workers.slots == 0 {
		d.total.WithLabelValues(statusIdle, string(judge.ReasonNoLiveWorker)).Inc()
		return idle
	}
	if room <= 0 {
		return full
	}
	limit := int(min(room, int64(d.cfg.Batch)))
	if d.broken > 0 {
		limit = 1 // a probe: the others keep their turn
	}
	// What is picked is marked as delivered, so a stop waits until it is.
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	tickets, err := d.store.Pick(finish, jobs.PickRequest{
		Queue: d.cfg.Queue, Pool: d.cfg.Pool, Dispatcher: d.cfg.Name, Languages: d.workers.languages, Limit: limit,
		Shards: d.cfg.Shards,
	})
	if err != nil {
		return d.fail(ctx, judge.ReasonDBError, err)
	}
	if len(tickets) == 0 {
		d.broken = 0
		return idle
	}
	d.room -= int64(len(tickets))
	if err := d.publish(finish, tickets); err != nil {
		return d.fail(ctx, reasonPublish, err)
	}
	probed := d.broken > 0
	d.broken = 0
	if len(tickets) < limit && !probed {
		return idle
	}
	return more
}

// publish hands tickets to the workers, and keeps where they lie for a note.
func (d *Dispatcher) publish(ctx context.Context, tickets []judge.Ticket) error {
	ids := make([]int64, len(tickets))
	for i, t := range tickets {
		ids[i] = t.JobID
	}
	n := float64(len(tickets))
	entries, err := d.delivery.Publish(ctx, tickets)
	if err == nil && len(entries) != len(ids) {
		err = fmt.Errorf("%d tickets became %d entries", len(ids), len(entries))
	}
	if err != nil {
		d.total.WithLabelValues(statusError, string(reasonPublish)).Add(n)
		if e := d.store.PublishFailed(ctx, d.cfg.Name, ids, err.Error()); e != nil {
			// Their deadline puts them back.
			return errors.Join(err, fmt.Errorf("put %d jobs back: %w", len(ids), e))
		}
		return err
	}
	d.total.WithLabelValues(statusOK, "").Add(n)
	for _, t := range tickets {
		d.cfg.Tracer.Dispatched(ctx, t.TraceID, t.JobID, t.Enqueued)
		if !t.Enqueued.IsZero() {
			d.latency.Observe(max(0, time.Since(t.Enqueued).Seconds()))
		}
	}
	d.notes.add(ids, entries)
	return nil
}

// fail notes that a round ended in an error. Jobs that could not be published are counted where that is known.
func (d *Dispatcher) fail(ctx context.Context, reason judge.Reason, err error) outcome {
	if ctx.Err() != nil {
		return idle // a stop is not a failure
	}
	d.broken = min(d.broken+1, 8)
	if reason == judge.ReasonDBError {
		d.total.WithLabelValues(statusError, string(reason)).Inc()
	}
	d.cfg.Log.WarnContext(ctx, "dispatcher is stuck", slog.String("reason", string(reason)),
		slog.String("queue", d.cfg.Queue), slog.String("pool", d.cfg.Pool), slog.Any("err", err))
	return failed
}
