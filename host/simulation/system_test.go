package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/scheduler"
	"deepoj/host/worker"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// roleEnv makes this test binary a process of the system; it holds a [role].
const roleEnv = "DEEPOJ_SCALE_ROLE"

func TestMain(m *testing.M) {
	if text := os.Getenv(roleEnv); text != "" {
		if err := play(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// role is one process: a scheduler, or workers whose judge sleeps for as long as
// the source says.
type role struct {
	Kind, DSN string
	Names     []string // of a scheduler, or of each worker
	Redis     string   // "" = jobs come straight from PostgreSQL
	Slots     int      // of each worker
}

type sleeper struct{}

func (sleeper) Judge(ctx context.Context, p judge.Payload, _ blob.Digest, _ func(judge.Progress)) (judge.Result, error) {
	d, err := time.ParseDuration(p.Sources[0].Text)
	if err != nil {
		return judge.Result{}, err
	}
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return judge.Result{}, ctx.Err()
		case <-t.C:
		}
	}
	return judge.Result{Verdict: judge.AC, Tests: []judge.TestResult{{Index: 1, Name: "sample/1", Verdict: judge.AC}}}, nil
}

func play(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, name := range r.Names {
		g.Go(func() error { return r.run(ctx, name) })
	}
	return g.Wait()
}

// run is one scheduler or worker, which has connections of its own.
func (r role) run(ctx context.Context, name string) error {
	store, err := sqltest.OpenWith(ctx, sql.Config{DSN: r.DSN})
	if err != nil {
		return err
	}
	defer store.Close()
	var delivery queue.Delivery = store.Delivery("", "", name, nil)
	if r.Redis != "" {
		streams, err := queue.Open(ctx, queue.Config{URL: r.Redis, Consumer: name})
		if err != nil {
			return err
		}
		defer func() { _ = streams.Close() }()
		delivery = streams
	}
	if r.Kind == "scheduler" {
		d, err := scheduler.NewDispatcher(scheduler.DispatcherConfig{Name: name}, store, delivery)
		if err != nil {
			return err
		}
		return d.Run(ctx)
	}
	w, err := worker.New(worker.Config{
		Name: name, Slots: r.Slots, Log: slog.New(slog.DiscardHandler),
		Languages: func(context.Context) []judge.Language { return []judge.Language{{ID: "cpp", Available: true}} },
	}, store, delivery, sleeper{}, liveness.NewPostgres(store.Queue, 0))
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// system is a database with a queue, and processes that come and go.
type system struct {
	b     *testing.B
	pg    *embedded.Postgres
	redis *embedded.Redis
	store *sqltest.Store
	procs []*exec.Cmd
}

func newSystem(b *testing.B) *system {
	b.Helper()
	dir, err := os.MkdirTemp("", "deepoj-scale-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // the servers' account goes through it
		b.Fatal(err)
	}
	s := &system{b: b}
	if s.pg, err = embedded.StartPostgres(b.Context(), embedded.PostgresConfig{DataDir: filepath.Join(dir, "pg"), Settings: map[string]string{"max_connections": "1000"}}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.pg.Close() })
	if s.redis, err = embedded.StartRedis(b.Context(), embedded.RedisConfig{DataDir: filepath.Join(dir, "redis")}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.redis.Close() })
	if s.store, err = sqltest.OpenWith(b.Context(), sql.Config{DSN: s.pg.DSN()}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.store.Close)
	if err := s.store.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := s.store.SaveProblem(b.Context(), judge.Problem{Slug: "p", Title: "P", Version: "sha256:aa"}, "bench"); err != nil {
		b.Fatal(err)
	}
	return s
}

// processes is the most processes that workers are spread over: more of them would take more of this machine's
// processors and memory than their work does.
const processes = 8

// start starts workers, and a scheduler if there are streams, and returns when all
// take jobs. Stop ends them.
func (s *system) start(workers, slots int, streams bool) (stop func()) {
	s.b.Helper()
	r := role{Kind: "worker", DSN: s.pg.DSN(), Slots: slots}
	if streams {
		r.Redis = s.redis.URL()
		s.run(role{Kind: "scheduler", Names: []string{"scheduler"}, DSN: r.DSN, Redis: r.Redis})
	}
	names := make([][]string, min(workers, processes))
	for i := range workers {
		names[i%len(names)] = append(names[i%len(names)], "w"+strconv.Itoa(i))
	}
	for _, r.Names = range names {
		s.run(r)
	}
	s.until(func() bool {
		ws, err := s.store.Workers(s.b.Context(), time.Minute)
		return err == nil && len(slices.DeleteFunc(ws, func(w judge.WorkerInfo) bool { return w.Slots == 0 })) == workers
	})
	return func() {
		for _, p := range s.procs {
			_ = p.Process.Signal(syscall.SIGTERM)
		}
		for _, p := range s.procs {
			_ = p.Wait()
		}
		s.procs = nil
	}
}

func (s *system) run(r role) {
	s.b.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		s.b.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.b.Fatal(err)
	}
	s.procs = append(s.procs, cmd)
}

func (s *system) until(ok func() bool) {
	s.b.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.b.Fatal("nothing happens for five minutes")
		}
	}
}

// drained waits until nothing is left to do.
func (s *system) drained() {
	s.b.Helper()
	s.until(func() bool {
		q, err := s.store.QueueStats(s.b.Context())
		return err == nil && q.Pending+q.Delivered+q.Running == 0
	})
}

func submissions(n int, service func(i int) time.Duration) (out []sql.NewJob) {
	for i := range n {
		out = append(out, sql.NewJob{
			Problem: "p", Language: "cpp", // of nobody: who came first goes first
			Sources: []judge.Source{{Name: "main.cpp", Text: service(i).String()}},
		})
	}
	return out
}

// own is what a process itself has used.
func own(b *testing.B, pid int) (total time.Duration) {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has ended
	}
	rest := string(data[strings.LastIndexByte(string(data), ')')+2:])
	for _, f := range strings.Fields(rest)[11:13] { // utime stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += time.Duration(n) * (time.Second / 100) // USER_HZ is 100 on every Linux of Go
	}
	return total
}

// cpu is what a process and its children have used.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	total := own(b, pid)
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		children, _ := os.ReadFile(f) // it may have ended
		for c := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(c); err == nil {
				total += cpu(b, n)
			}
		}
	}
	return total
}

// use is the CPU time of the servers and of the workers so far.
func (s *system) use() (servers, programs time.Duration) {
	self := os.Getpid()
	for _, p := range s.procs {
		programs += cpu(s.b, p.Process.Pid)
	}
	return cpu(s.b, self) - own(s.b, self) - programs, programs
}
