package peers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverArgs is a job of River with the same load.
type riverArgs struct {
	Source string `json:"source"`
	Sent   int64  `json:"sent,omitempty"` // for latencies: when it was handed in
}

func (riverArgs) Kind() string { return "judge" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	do func(riverArgs)
}

func (w *riverWorker) Work(_ context.Context, job *river.Job[riverArgs]) error {
	w.do(job.Args)
	return nil
}

// rivers is River on PostgreSQL.
type rivers struct {
	dsn  string
	pool *pgxpool.Pool
}

func newRiver(b *testing.B, dsn string) *rivers {
	b.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		b.Fatal(err)
	}
	cfg.MaxConns = 16 // as many as ours has in its two pools
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := m.Migrate(b.Context(), rivermigrate.DirectionUp, nil); err != nil {
		b.Fatal(err)
	}
	return &rivers{dsn, pool}
}

func (r *rivers) settle(b *testing.B) { b.Helper(); settle(b, r.dsn) }

// start runs a client. Its default fetches at most ten times a second, which
// would measure that; quick takes what its documentation allows at most.
func (r *rivers) start(b *testing.B, do func(riverArgs), quick bool) (*river.Client[pgx.Tx], func()) {
	b.Helper()
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{do: do})
	cfg := &river.Config{
		Logger: slog.New(slog.DiscardHandler), Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: slots}},
	}
	if quick {
		cfg.FetchCooldown, cfg.FetchPollInterval = 2*time.Millisecond, 20*time.Millisecond
	}
	client, err := river.NewClient(riverpgxv5.New(r.pool), cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.WithoutCancel(b.Context())
	if err := client.Start(ctx); err != nil {
		b.Fatal(err)
	}
	return client, func() {
		if err := client.Stop(ctx); err != nil {
			b.Error(err)
		}
	}
}

func (r *rivers) round(b *testing.B, n int) {
	b.Helper()
	var worked atomic.Int64
	over := make(chan struct{})
	client, stop := r.start(b, func(riverArgs) {
		if worked.Add(1) == int64(n) {
			close(over)
		}
	}, true)
	defer stop()
	submitAll(b, n, func(ctx context.Context, _, n int) error {
		jobs := make([]river.InsertManyParams, n)
		for i := range jobs {
			jobs[i].Args = riverArgs{Source: source}
		}
		_, err := client.InsertManyFast(ctx, jobs)
		return err
	})
	await(b, over)
	// The last results are written a moment later.
	eventually(b, func() bool {
		var left int
		if err := r.pool.QueryRow(b.Context(), "SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&left); err != nil {
			b.Fatal(err)
		}
		return left == 0
	})
}
