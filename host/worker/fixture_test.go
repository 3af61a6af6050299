package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(lifeEnv); dsn != "" {
		liveUntilKilled(dsn)
		return
	}
	os.Exit(sqltest.Main(m))
}

// judgeFunc is a judger as a function.
type judgeFunc func(ctx context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error)

func (f judgeFunc) Judge(ctx context.Context, p judge.Payload, _ blob.Digest, progress func(judge.Progress)) (judge.Result, error) {
	return f(ctx, p, progress)
}

// accept judges everything as right.
func accept(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
	return judge.Result{Verdict: judge.AC}, nil
}

// languages of a worker that has C++ and lacks Rust.
func languages(context.Context) []judge.Language {
	return []judge.Language{
		{ID: "cpp", Name: "C++", Available: true},
		{ID: "rust", Name: "Rust", Unavailable: "rustc is missing"},
	}
}

// bench is a database with a problem, and what tests do with it.
type bench struct {
	*sqltest.Store
	t *testing.T
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{sqltest.DB(t), t}
	b.problem()
	return b
}

func (b bench) problem() {
	b.t.Helper()
	p := judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:aa", CPUMillis: 1000, MemoryMiB: 256, OutputMiB: 8, CodeKiB: 64}
	if err := b.SaveProblem(b.t.Context(), p, "test"); err != nil {
		b.t.Fatal(err)
	}
}

// submit hands in a program and returns the job.
func (b bench) submit(change ...func(*sql.NewJob)) int64 {
	b.t.Helper()
	n := sql.NewJob{
		Problem: "aplusb", Language: "cpp", Author: "ann", GroupKey: "ann",
		Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
	}
	for _, c := range change {
		c(&n)
	}
	r, err := b.Submit(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.JobID
}

func (b bench) job(id int64) *judge.Submission {
	b.t.Helper()
	s, err := b.Submission(context.WithoutCancel(b.t.Context()), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// await waits until a job is as wanted.
func (b bench) await(id int64, what string, is func(*judge.Submission) bool) *judge.Submission {
	b.t.Helper()
	var s *judge.Submission
	b.eventually(what, func() bool {
		s = b.job(id)
		return is(s)
	})
	return s
}

func (b bench) awaitStatus(id int64, want judge.Status) *judge.Submission {
	b.t.Helper()
	return b.await(id, "job is "+string(want), func(s *judge.Submission) bool { return s.Status == want })
}

func (b bench) eventually(what string, is func() bool) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			b.t.Fatalf("waited a minute in vain: %s", what)
		case <-tick.C:
		}
	}
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

// tend does what a scheduler does, until the test ends: it makes jobs ready
// again that failed or were lost.
func (b bench) tend(grace time.Duration) {
	ctx, stop := context.WithCancel(b.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			_, e1 := b.Promote(ctx)
			_, e2 := b.Redeliver(ctx, 100)
			_, e3 := b.Reap(ctx, 100, grace, 100)
			if err := errors.Join(e1, e2, e3); err != nil && ctx.Err() == nil {
				b.t.Log(err) // a database that is away is part of some tests
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	b.t.Cleanup(func() {
		stop()
		<-done
	})
}

// hand is a worker under test.
type hand struct {
	*Worker
	reg  *prometheus.Registry
	stop func() // ends Run and waits for it
}

// quick is a worker's configuration at a pace for tests.
func quick() Config {
	return Config{
		Name: "w", Languages: languages, Lease: 3 * time.Second, Heartbeat: 100 * time.Millisecond, BeatEvery: 100 * time.Millisecond,
		ReceiveWait: 200 * time.Millisecond, Grace: 100 * time.Millisecond,
	}
}

// start runs a worker until the test ends.
func (b bench) start(cfg Config, d queue.Delivery, j Judger) hand {
	b.t.Helper()
	return b.startWith(cfg, b.Store, d, j)
}

func (b bench) startWith(cfg Config, s Store, d queue.Delivery, j Judger) hand {
	b.t.Helper()
	reg := prometheus.NewRegistry()
	cfg.Registerer = reg
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(b.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	w, err := New(cfg, s, d, j, liveness.NewPostgres(b.Queue, 0))
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	h := hand{w, reg, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("Run returned %v, want nil", err)
		}
	})}
	b.t.Cleanup(h.stop)
	return h
}

// direct is the delivery straight from the database.
func (b bench) direct() *jobs.Delivery { return b.Delivery("", "", "test", nil) }

// count returns a figure of the worker.
func (h hand) count(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := h.reg.Gather()
	if err != nil {
		t.Fatal(err)
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
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}

// lint fails the test for a metric that breaks the rules of names.
func lint(t *testing.T, reg prometheus.Gatherer) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Metric != "worker_finalize_latency_ms" { // the name is part of the contract
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// rawPayload is a payload as the database would give it.
func rawPayload(change func(*judge.Payload)) json.RawMessage {
	p := judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: "aplusb", Language: "cpp",
		Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
	}
	if change != nil {
		change(&p)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return raw
}
