package peers

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/scheduler"
	"deepoj/host/worker"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// ours is Deep-OJ's queue: store, worker and, with streams, dispatcher.
type ours struct {
	dsn      string
	redisURL string // "" = straight from PostgreSQL
	full     bool   // with idempotency and fairness; otherwise without key and group
	store    *sqltest.Store
	rounds   int
}

func newOurs(b *testing.B, dsn, redisURL string, full bool) *ours {
	b.Helper()
	o := &ours{dsn: dsn, redisURL: redisURL, full: full, store: openStore(b, dsn)}
	if err := o.store.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := o.store.SaveProblem(b.Context(), judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:aa"}, "bench"); err != nil {
		b.Fatal(err)
	}
	return o
}

func openStore(b *testing.B, dsn string) *sqltest.Store {
	b.Helper()
	s, err := sqltest.OpenWith(b.Context(), sql.Config{DSN: dsn})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

func (o *ours) settle(b *testing.B) { b.Helper(); settle(b, o.dsn) }

// counting counts results that the database has taken.
type counting struct {
	*sqltest.Store
	done atomic.Int64
	all  int64
	over chan struct{}
}

func (c *counting) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	c.Store.FinalizeThen(ctx, a, r, last, func(err error) {
		c.count(err)
		then(err)
	})
}

func (c *counting) Finalize(ctx context.Context, a judge.Attempt, r judge.Result, last ...judge.Progress) error {
	err := c.Store.Finalize(ctx, a, r, last...)
	c.count(err)
	return err
}

func (c *counting) count(err error) {
	if err == nil && c.done.Add(1) == c.all {
		close(c.over)
	}
}

// judgeFunc is a judger as a function.
type judgeFunc func(p judge.Payload) (judge.Result, error)

func (f judgeFunc) Judge(_ context.Context, p judge.Payload, _ blob.Digest, _ func(judge.Progress)) (judge.Result, error) {
	return f(p)
}

// accept judges nothing.
func accept(judge.Payload) (judge.Result, error) {
	return judge.Result{
		Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 12, WallMillis: 14, MemoryKiB: 2048},
		Tests: []judge.TestResult{{Index: 1, Name: "sample/1", Group: "sample", Verdict: judge.AC}},
	}, nil
}

// submission is the i-th of a round.
func (o *ours) submission(i int) sql.NewJob {
	n := sql.NewJob{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: source}}}
	if o.full {
		n.Author = "user" + strconv.Itoa(i%50)
		n.IdempotencyKey = fmt.Sprintf("%d-%d", o.rounds, i)
	}
	return n
}

func (o *ours) submit(ctx context.Context, first, n int) error {
	ns := make([]sql.NewJob, n)
	for i := range ns {
		ns[i] = o.submission(first + i)
	}
	_, err := o.store.SubmitMany(ctx, ns)
	return err
}

// round brings n jobs from submit to result.
func (o *ours) round(b *testing.B, n int) {
	b.Helper()
	o.rounds++
	c := &counting{Store: o.store, all: int64(n), over: make(chan struct{})}
	stop := o.work(b, c, slots, func(int64) {})
	defer stop()
	submitAll(b, n, o.submit)
	await(b, c.over)
}

// work runs a worker, and with streams a dispatcher, until stop. Claimed is told
// of each job that the worker has claimed.
func (o *ours) work(b *testing.B, store worker.Store, slots int, claimed func(jobID int64)) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	var delivery queue.Delivery = o.store.Delivery("", "", "bench", nil)
	var runs []func(context.Context) error
	var closing []func()
	wake := func() {}
	if o.redisURL != "" {
		for _, name := range []string{"dispatcher", "worker"} {
			s, err := queue.Open(ctx, queue.Config{URL: o.redisURL, Consumer: name})
			if err != nil {
				b.Fatal(err)
			}
			closing = append(closing, func() { s.Close() })
			if name == "worker" {
				delivery = s
				continue
			}
			d, err := scheduler.NewDispatcher(scheduler.DispatcherConfig{Name: "bench"}, o.store, s)
			if err != nil {
				b.Fatal(err)
			}
			runs, wake = append(runs, d.Run), d.Wake
		}
	}
	w, err := worker.New(worker.Config{
		Name: "bench", Slots: slots, Claimed: wake,
		Context: func(ctx context.Context, j judge.Claim) context.Context {
			claimed(j.JobID)
			return ctx
		},
		Languages: func(context.Context) []judge.Language { return []judge.Language{{ID: "cpp", Available: true}} },
	}, store, delivery, judgeFunc(accept), liveness.NewPostgres(o.store.Queue, 0))
	if err != nil {
		b.Fatal(err)
	}
	return run(ctx, b, cancel, append(runs, w.Run), closing)
}

// run starts what runs until its context ends, and returns what ends it.
func run(ctx context.Context, b *testing.B, cancel func(), runs []func(context.Context) error, closing []func()) (stop func()) {
	b.Helper()
	ended := make(chan error, len(runs))
	for _, r := range runs {
		go func() { ended <- r(ctx) }()
	}
	return func() {
		b.Helper()
		cancel()
		for range runs {
			if err := <-ended; err != nil {
				b.Error(err)
			}
		}
		for _, c := range closing {
			c()
		}
	}
}

// await waits for the end of a round.
func await(b *testing.B, over <-chan struct{}) {
	b.Helper()
	patience := time.NewTimer(10 * time.Minute)
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
		b.Fatal("a round does not end")
	}
}
