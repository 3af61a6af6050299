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
	"deepoj/sql/jobs"
)

// Retention is what a [Retirer] asks of the database; a [*jobs.Queue] answers.
type Retention interface {
	RetireEvents(ctx context.Context, age time.Duration, from jobs.RetireCursor, limit int) (jobs.Retired, error)
	RetireJobs(ctx context.Context, submissions bool, age time.Duration, from jobs.RetireCursor, limit int) (jobs.Retired, error)
	RetireDeliveries(ctx context.Context, age time.Duration, limit int) (jobs.Retired, error)
	RetireGroups(ctx context.Context) (int64, error)
}

// RetirerConfig says how long things are kept after the end of their job. Zero keeps them for ever.
type RetirerConfig struct {
	// Events is how long the events of a job are kept, but for its newest move, and
	// what webhooks were told (RETAIN_EVENTS).
	Events time.Duration

	// Jobs is how long jobs are kept that are no submissions, such as runs on custom input (RETAIN_JOBS).
	Jobs time.Duration

	// Submissions is how long submissions are kept, with sources and results (RETAIN_SUBMISSIONS).
	Submissions time.Duration

	// Interval is the time between two sweeps, jittered by a fifth. Defaults to 10 minutes. Once a day a sweep
	// begins anew and finds what was under way when an earlier one came by.
	Interval time.Duration

	// Batch is how many rows one statement looks at. Defaults to 1000.
	Batch int

	// Log gets what was deleted and what goes wrong. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is out of range.
func (c RetirerConfig) Validate() error {
	return errors.Join(negative("Events", c.Events), negative("Jobs", c.Jobs), negative("Submissions", c.Submissions),
		negative("Interval", c.Interval), negative("Batch", c.Batch))
}

const (
	// retireAnew is how long sweeps go on where the last one ended.
	retireAnew = 24 * time.Hour

	// retirePause is how long a sweep rests between two statements, so that deleting never crowds out judging.
	retirePause = 50 * time.Millisecond
)

// Retirer deletes what is past its retention.
type Retirer struct {
	cfg     RetirerConfig
	store   Retention
	deleted *prometheus.CounterVec
	sweeps  []*sweep
}

// sweep goes through one kind of thing, statement by statement.
type sweep struct {
	what  string
	step  func(ctx context.Context, from jobs.RetireCursor) (jobs.Retired, error)
	from  jobs.RetireCursor
	began time.Time // when it was last at the beginning
}

// NewRetirer returns a retirer.
func NewRetirer(cfg RetirerConfig, store Retention) (*Retirer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("retirer: %w", err)
	}
	cfg.Interval = cmp.Or(cfg.Interval, 10*time.Minute)
	cfg.Batch = cmp.Or(cfg.Batch, 1000)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	deleted, err := telemetry.Register(cfg.Registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "retention_deleted_total", Help: "Rows past their retention that were deleted: events, deliveries (what webhooks were told), jobs, submissions or groups.",
	}, []string{"what"}))
	if err != nil {
		return nil, err
	}
	r := &Retirer{cfg: cfg, store: store, deleted: deleted}
	r.sweeps = []*sweep{{what: "groups", step: func(ctx context.Context, _ jobs.RetireCursor) (jobs.Retired, error) {
		n, err := store.RetireGroups(ctx)
		return jobs.Retired{Deleted: n}, err
	}}}
	ended := func(what string, age time.Duration) {
		if age > 0 {
			r.sweeps = append(r.sweeps, &sweep{what: what, step: func(ctx context.Context, from jobs.RetireCursor) (jobs.Retired, error) {
				return store.RetireJobs(ctx, what == "submissions", age, from, cfg.Batch)
			}})
		}
	}
	ended("jobs", cfg.Jobs)
	ended("submissions", cfg.Submissions)
	if cfg.Events > 0 {
		r.sweeps = append(r.sweeps, &sweep{what: "events", step: func(ctx context.Context, from jobs.RetireCursor) (jobs.Retired, error) {
			return store.RetireEvents(ctx, cfg.Events, from, cfg.Batch)
		}}, &sweep{what: "deliveries", step: func(ctx context.Context, _ jobs.RetireCursor) (jobs.Retired, error) {
			return store.RetireDeliveries(ctx, cfg.Events, cfg.Batch)
		}})
	}
	return r, nil
}

// Run deletes until ctx is done, then returns nil.
func (r *Retirer) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		for _, s := range r.sweeps {
			r.run(ctx, s)
		}
		timer.Reset(jitter(r.cfg.Interval))
	}
}

// run goes on with a sweep until it has seen everything past its age.
func (r *Retirer) run(ctx context.Context, s *sweep) {
	if time.Since(s.began) >= retireAnew {
		s.from, s.began = jobs.RetireCursor{}, time.Now()
	}
	var total int64
	for ctx.Err() == nil {
		done, err := s.step(ctx, s.from)
		if err != nil {
			if ctx.Err() == nil {
				r.cfg.Log.WarnContext(ctx, "what is past its retention cannot be deleted", slog.String("what", s.what), slog.Any("err", err))
			}
			break
		}
		total += done.Deleted
		r.deleted.WithLabelValues(s.what).Add(float64(done.Deleted))
		s.from = done.Next
		if !done.More {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(retirePause):
		}
	}
	if total > 0 {
		r.cfg.Log.InfoContext(ctx, "what was past its retention is deleted", slog.String("what", s.what), slog.Int64("rows", total))
	}
}
