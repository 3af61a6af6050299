package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/worker"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// bench is a database with a problem, and what tests do with it.
type bench struct {
	*sqltest.Store
	t   *testing.T
	log *slog.Logger
	reg *prometheus.Registry
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{
		Store: sqltest.DB(t), t: t, reg: prometheus.NewRegistry(),
		log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	p := judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:aa", CPUMillis: 1000, MemoryMiB: 256, OutputMiB: 8, CodeKiB: 64}
	if err := b.SaveProblem(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	return b
}

// submit hands in n programs and returns their jobs.
func (b bench) submit(n int, change ...func(*sql.NewJob)) []int64 {
	b.t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		s := sql.NewJob{
			Problem: "aplusb", Language: "cpp", Author: "ann", GroupKey: fmt.Sprintf("g%d", i),
			Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
		}
		for _, c := range change {
			c(&s)
		}
		r, err := b.Submit(b.t.Context(), s)
		if err != nil {
			b.t.Fatal(err)
		}
		ids[i] = r.JobID
	}
	return ids
}

func (b bench) stats() judge.QueueStats {
	b.t.Helper()
	s, err := b.QueueStats(context.WithoutCancel(b.t.Context()))
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b bench) eventually(what string, is func() bool) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			b.t.Fatalf("waited a minute in vain: %s; the queue holds %+v", what, b.stats())
		case <-tick.C:
		}
	}
}

// allFinished waits until every job has its result.
func (b bench) allFinished(ids []int64) {
	b.t.Helper()
	b.eventually("all jobs are finished", func() bool {
		s := b.stats()
		return s.Pending+s.Delivered+s.Running == 0
	})
	for _, id := range ids {
		s, err := b.Submission(b.t.Context(), id)
		if err != nil {
			b.t.Fatal(err)
		}
		if s.Status != judge.Finished || s.Result == nil || s.Result.Verdict != judge.AC {
			b.t.Errorf("job %d is %s with result %+v, want finished and AC", id, s.Status, s.Result)
		}
	}
	b.audited()
}

// audited fails the test when the database finds a violation.
func (b bench) audited() {
	b.t.Helper()
	a, err := b.Audit(context.WithoutCancel(b.t.Context()))
	if err != nil {
		b.t.Fatal(err)
	}
	if !a.Zero() {
		b.t.Errorf("the audit found %+v", a.Rows())
	}
}

// run runs something until the test ends, or until stop is called.
func (b bench) run(r interface{ Run(context.Context) error }) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("Run returned %v, want nil", err)
		}
	})
	b.t.Cleanup(stop)
	return stop
}

// dispatcher returns a dispatcher to d at a pace for tests.
func (b bench) dispatcher(d queue.Delivery, change ...func(*DispatcherConfig)) *Dispatcher {
	b.t.Helper()
	cfg := DispatcherConfig{Name: "test", PollInterval: 100 * time.Millisecond, Log: b.log, Registerer: b.reg}
	for _, c := range change {
		c(&cfg)
	}
	disp, err := NewDispatcher(cfg, b.Store, d)
	if err != nil {
		b.t.Fatal(err)
	}
	return disp
}

func (b bench) redriver(changed <-chan struct{}, wake func()) *Redriver {
	b.t.Helper()
	r, err := NewRedriver(RedriverConfig{Interval: 100 * time.Millisecond, Changed: changed, Wake: wake, Log: b.log, Registerer: b.reg}, b.Store)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// seen has the database believe in a worker without running one.
func (b bench) seen(slots int, languages ...string) {
	b.t.Helper()
	w := judge.WorkerInfo{Name: "w", Pool: judge.DefaultPool, Slots: slots, Started: time.Now()}
	for _, l := range languages {
		w.Languages = append(w.Languages, judge.Language{ID: l, Available: true})
	}
	if err := b.WorkerBeat(b.t.Context(), w); err != nil {
		b.t.Fatal(err)
	}
}

type judgeFunc func(ctx context.Context) (judge.Result, error)

func (f judgeFunc) Judge(ctx context.Context, _ judge.Payload, _ blob.Digest, _ func(judge.Progress)) (judge.Result, error) {
	return f(ctx)
}

func accept(context.Context) (judge.Result, error) { return judge.Result{Verdict: judge.AC}, nil }

// worker returns a worker that receives from d.
func (b bench) worker(d queue.Delivery, slots int, j judgeFunc, wake func()) *worker.Worker {
	b.t.Helper()
	w, err := worker.New(worker.Config{
		Name: "w", Slots: slots, Lease: 3 * time.Second, Heartbeat: 500 * time.Millisecond, BeatEvery: 200 * time.Millisecond,
		ReceiveWait: 200 * time.Millisecond, Grace: 10 * time.Second, Claimed: wake, Log: b.log,
		Languages: func(context.Context) []judge.Language { return []judge.Language{{ID: "cpp", Available: true}} },
	}, b.Store, d, j, liveness.NewPostgres(b.Queue, 0))
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// redis is a private Redis that a test may stop and start again.
type redis struct {
	t   *testing.T
	dir string
	*embedded.Redis
}

func newRedis(t *testing.T) *redis {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-scheduler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &redis{t: t, dir: dir}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *redis) start() {
	r.t.Helper()
	s, err := embedded.StartRedis(context.WithoutCancel(r.t.Context()), embedded.RedisConfig{
		DataDir: r.dir, SocketDir: filepath.Join(r.dir, "run"),
	})
	if errors.Is(err, embedded.ErrNoRedis) && os.Getenv("DEEPOJ_TEST") != "require" {
		r.t.Skip(err)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.Redis = s
}

func (r *redis) stop() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
}

// streams opens the delivery over this Redis.
func (r *redis) streams() *queue.Streams {
	r.t.Helper()
	s, err := queue.Open(r.t.Context(), queue.Config{URL: r.URL(), WatchEvery: 100 * time.Millisecond, MinIdle: time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return s
}

// figure returns a figure of the registry, or 0.
func (b bench) figure(name string, labels ...string) float64 {
	b.t.Helper()
	families, err := b.reg.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			for i := 0; i < len(labels); i += 2 {
				found := false
				for _, l := range m.GetLabel() {
					found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
				}
				if !found {
					continue metrics
				}
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return 0
}
