package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/queue"
	"deepoj/sql/jobs"
)

// reasonTaken is counted for jobs that were taken from a lost worker.
const reasonTaken = "claimed"

// Reaper takes jobs away from workers whose lease ran out; a [*jobs.Queue] does.
type Reaper interface {
	Reap(ctx context.Context, limit int, grace time.Duration, losses int) ([]jobs.Reaped, error)
	Standings(ctx context.Context, ids []int64) (map[int64]judge.Reason, error)
}

// Cleaner removes what lost workers left in the queue; a [*queue.Streams] does.
type Cleaner interface {
	Clean(ctx context.Context, decided func(ctx context.Context, ids []int64) ([]int64, error)) (queue.Cleaned, error)
}

// ReclaimerConfig sets the pace of a [Reclaimer].
type ReclaimerConfig struct {
	// Interval is the time between two looks (JOB_RECLAIM_INTERVAL_SEC). Defaults to 5 seconds.
	Interval time.Duration

	// Count is how many jobs one statement takes (JOB_RECLAIM_COUNT). More are
	// taken by repeating it. Defaults to 16.
	Count int

	// Grace is how long after its lease ran out a worker may still come back
	// (JOB_RECLAIM_GRACE_SEC). Defaults to 15 seconds.
	Grace time.Duration

	// Losses is with how many lost workers a job is set aside among the dead letters, because it may be what ends
	// or stops them (JOB_MAX_LOST_WORKERS). Defaults to 2.
	Losses int

	// Wake is called when jobs became ready. Defaults to nothing.
	Wake func()

	// Log gets every lost worker. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is out of range.
func (c ReclaimerConfig) Validate() error {
	return errors.Join(negative("Interval", c.Interval), negative("Count", c.Count), negative("Grace", c.Grace), negative("Losses", c.Losses))
}

func (c ReclaimerConfig) withDefaults() ReclaimerConfig {
	c.Interval = cmp.Or(c.Interval, 5*time.Second)
	c.Count = cmp.Or(c.Count, 16)
	c.Grace = cmp.Or(c.Grace, 15*time.Second)
	c.Losses = cmp.Or(c.Losses, 2)
	if c.Wake == nil {
		c.Wake = func() {}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Reclaimer gives the jobs of lost workers to others. The database says who is
// lost; what lies in the queue is only tidied up.
type Reclaimer struct {
	cfg     ReclaimerConfig
	store   Reaper
	cleaner Cleaner

	total    *prometheus.CounterVec
	latency  prometheus.Histogram
	inflight prometheus.Gauge

	// What Run knows of the database; used by its goroutine only.
	away   bool      // the last look failed
	well   time.Time // when the last look succeeded before an outage
	spared time.Time // until when leases that ran out in the outage are left alone
}

// NewReclaimer returns a reclaimer. A nil cleaner means that there is no queue to tidy up.
func NewReclaimer(cfg ReclaimerConfig, store Reaper, cleaner Cleaner) (*Reclaimer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("reclaimer: %w", err)
	}
	cfg = cfg.withDefaults()
	r := &Reclaimer{cfg: cfg, store: store, cleaner: cleaner}
	var err error
	r.total, err = telemetry.Register(cfg.Registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "worker_reclaim_total",
		Help: "Jobs taken from lost workers (ok goes to another worker, dead had its last try), and what old entries were for (reject).",
	}, []string{"status", "reason"}))
	if err != nil {
		return nil, err
	}
	r.latency, err = telemetry.Register(cfg.Registerer, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "worker_reclaim_latency_ms", Help: "Time of one look for lost workers.", Buckets: latencyMillis,
	}))
	if err != nil {
		return nil, err
	}
	r.inflight, err = telemetry.Register(cfg.Registerer, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "worker_reclaim_inflight", Help: "Looks for lost workers that are under way.",
	}))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Run looks for lost workers until ctx is done, then returns nil.
func (r *Reclaimer) Run(ctx context.Context) error {
	r.well = time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		r.look(ctx)
		timer.Reset(jitter(r.cfg.Interval))
	}
}

// grace returns how long after its lease a job may be taken. Leases that ran out while the database was away could not
// be renewed, and their workers may have results that nobody could take: once it is back, it is their turn for as long
// as the grace lasts.
func (r *Reclaimer) grace() time.Duration {
	if r.away || time.Now().Before(r.spared) {
		return r.cfg.Grace + time.Since(r.well)
	}
	return r.cfg.Grace
}

// answered notes whether the database was there.
func (r *Reclaimer) answered(ok bool) {
	now := time.Now()
	switch {
	case !ok:
		r.away = true
	case r.away:
		r.away, r.spared = false, now.Add(r.cfg.Grace)
	case !now.Before(r.spared):
		r.well = now
	}
}

// look takes every job that can be taken now.
func (r *Reclaimer) look(ctx context.Context) {
	r.inflight.Inc()
	defer r.inflight.Dec()
	for ctx.Err() == nil {
		began := time.Now()
		reaped, err := r.store.Reap(ctx, r.cfg.Count, r.grace(), r.cfg.Losses)
		r.latency.Observe(float64(time.Since(began).Microseconds()) / 1000)
		if err != nil {
			if ctx.Err() == nil {
				r.answered(false)
				r.total.WithLabelValues(statusError, string(judge.ReasonDBError)).Inc()
				r.cfg.Log.WarnContext(ctx, "lost workers cannot be looked for", slog.Any("err", err))
			}
			break
		}
		r.answered(true)
		for _, j := range reaped {
			r.note(ctx, j)
		}
		if len(reaped) > 0 {
			r.cfg.Wake()
		}
		if len(reaped) < r.cfg.Count {
			break
		}
	}
	r.clean(ctx)
}

func (r *Reclaimer) note(ctx context.Context, j jobs.Reaped) {
	status := statusOK
	if j.Status == judge.Dead {
		status = statusDead
	}
	r.total.WithLabelValues(status, reasonTaken).Inc()
	r.cfg.Log.WarnContext(ctx, "a worker was lost", slog.Int64("job_id", j.JobID), slog.Int64("attempt_id", int64(j.AttemptID)),
		slog.String("lease_owner", j.Owner), slog.String("status", string(j.Status)), slog.String("reason", string(j.Reason)))
}

// decided returns the jobs whose old entries are of no use, and counts why, and why others stay.
func (r *Reclaimer) decided(ctx context.Context, ids []int64) (useless []int64, err error) {
	standings, err := r.store.Standings(ctx, ids)
	if err != nil {
		r.total.WithLabelValues(statusError, string(judge.ReasonDBError)).Inc()
		return nil, err
	}
	for id, reason := range standings {
		r.total.WithLabelValues(statusReject, string(reason)).Inc()
		if reason != judge.ReasonLeaseStillValid {
			useless = append(useless, id)
		}
	}
	return useless, nil
}

func (r *Reclaimer) clean(ctx context.Context) {
	if r.cleaner == nil || ctx.Err() != nil {
		return
	}
	done, err := r.cleaner.Clean(ctx, r.decided)
	switch {
	case err != nil && ctx.Err() == nil:
		r.cfg.Log.WarnContext(ctx, "the queue cannot be tidied up", slog.Any("err", err))
	case done.Removed > 0 || done.Consumers > 0:
		r.cfg.Log.InfoContext(ctx, "the queue was tidied up",
			slog.Int64("entries", done.Removed), slog.Int64("consumers", done.Consumers))
	}
}
