package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
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
	"deepoj/host/simulation"
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

// role is one process: a scheduler, or a worker whose judge sleeps for as long as
// the source says.
type role struct {
	Kind, Name, DSN string
	Redis           string // "" = jobs come straight from PostgreSQL
	Slots           int
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
	store, err := sqltest.OpenWith(ctx, sql.Config{DSN: r.DSN})
	if err != nil {
		return err
	}
	defer store.Close()
	var delivery queue.Delivery = store.Delivery("", "", r.Name, nil)
	if r.Redis != "" {
		streams, err := queue.Open(ctx, queue.Config{URL: r.Redis, Consumer: r.Name})
		if err != nil {
			return err
		}
		defer func() { _ = streams.Close() }()
		delivery = streams
	}
	if r.Kind == "scheduler" {
		d, err := scheduler.NewDispatcher(scheduler.DispatcherConfig{Name: r.Name}, store, delivery)
		if err != nil {
			return err
		}
		return d.Run(ctx)
	}
	w, err := worker.New(worker.Config{
		Name: r.Name, Slots: r.Slots, Log: slog.New(slog.DiscardHandler),
		Languages: func(context.Context) []judge.Language { return []judge.Language{{ID: "cpp", Available: true}} },
	}, store, delivery, sleeper{}, liveness.NewPostgres(store.Queue, 0))
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.Run(ctx) })
	return g.Wait()
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
	if s.pg, err = embedded.StartPostgres(b.Context(), embedded.PostgresConfig{DataDir: filepath.Join(dir, "pg"), Settings: map[string]string{"max_connections": "300"}}); err != nil {
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

// start starts workers, and a scheduler if there are streams, and returns when all
// take jobs. Stop ends them.
func (s *system) start(workers, slots int, streams bool) (stop func()) {
	s.b.Helper()
	r := role{Kind: "worker", DSN: s.pg.DSN(), Slots: slots}
	if streams {
		r.Redis = s.redis.URL()
		s.run(role{Kind: "scheduler", Name: "scheduler", DSN: r.DSN, Redis: r.Redis})
	}
	for i := range workers {
		r.Name = "w" + strconv.Itoa(i)
		s.run(r)
	}
	s.until(func() bool {
		ws, err := s.store.Workers(s.b.Context(), time.Minute)
		return err == nil && len(ws) == workers
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

// within compares a prediction with what was measured.
func within(b *testing.B, what string, predicted, measured float64) {
	b.Helper()
	off := predicted/measured - 1
	b.Logf("%s: predicted %.4g, measured %.4g, %+.0f %%", what, predicted, measured, 100*off)
	if math.Abs(off) > 0.15 {
		b.Errorf("%s is predicted %.0f %% off; wanted is 15 %%", what, 100*off)
	}
}

// BenchmarkScale gives jobs that take no time to 1, 2, 4 and 8 worker processes,
// and simulates how it goes on up to 10,000. What the simulation must be told of
// this machine comes from the first and the last: how long a commit takes, and the
// work of a job. With what it says of the others one sees how well that fits; the
// rates of a machine that does other things too change by more from minute to
// minute.
func BenchmarkScale(b *testing.B) {
	counts := []int{1, 2, 4, 8}
	for _, delivery := range []string{"streams", "postgres"} {
		b.Run(delivery, func(b *testing.B) {
			var rates []float64
			for _, workers := range counts {
				rate := flood(b, workers, delivery == "streams")
				rates = append(rates, rate)
				b.ReportMetric(rate, fmt.Sprintf("jobs/s-with-%d", workers))
			}
			predict := fit(b, rates[0], rates[3])
			for i, workers := range counts[1:3] {
				b.Logf("%d workers: %.0f jobs per second are predicted, %.0f were measured", workers, predict(workers).Throughput, rates[i+1])
			}
			for workers := 16; workers <= 10_000; workers *= 5 {
				r := predict(workers)
				b.Logf("%d workers: %.0f jobs per second, %.0f %% of the database, bottleneck %s", workers, r.Throughput, 100*r.DatabaseUse, r.Bottleneck)
			}
		})
	}
}

const (
	floodJobs  = 6000
	floodSlots = 16
)

// flood returns how many jobs per second workers judge that have enough to do.
func flood(b *testing.B, workers int, streams bool) float64 {
	b.Helper()
	s := newSystem(b)
	if err := s.store.PauseQueue(b.Context(), judge.DefaultQueue, true, "bench"); err != nil {
		b.Fatal(err)
	}
	for batch := range slices.Chunk(submissions(floodJobs, func(int) time.Duration { return 0 }), 256) {
		if _, err := s.store.SubmitMany(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	stop := s.start(workers, floodSlots, streams)
	defer stop()
	servers, programs := s.use()
	began := time.Now()
	if err := s.store.PauseQueue(b.Context(), judge.DefaultQueue, false, "bench"); err != nil {
		b.Fatal(err)
	}
	s.drained()
	rate := floodJobs / time.Since(began).Seconds()
	serversNow, programsNow := s.use()
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / floodJobs }
	b.Logf("%d workers: %.0f jobs per second; CPU time of each: %.0f µs in the servers, %.0f µs in the workers", workers, rate, each(serversNow-servers), each(programsNow-programs))
	return rate
}

// fit returns a simulation of the flood that agrees with what was measured with
// one worker and with eight: the work of a job is what two cores can do with
// eight, and a commit takes what one worker then waits for.
func fit(b *testing.B, one, eight float64) func(workers int) simulation.Report {
	b.Helper()
	cores := runtime.NumCPU()
	run := func(workers int, commit time.Duration) simulation.Report {
		work := time.Duration(float64(cores) / eight / 2 * float64(time.Second))
		r, err := simulation.Run(simulation.Config{
			Workers: workers, Slots: floodSlots, Service: simulation.Service{Distribution: simulation.Fixed, Mean: time.Nanosecond},
			Arrivals: simulation.Arrivals{Times: make([]time.Duration, floodJobs)},
			Database: simulation.Database{Cores: cores, Commit: commit, Beat: 200 * time.Microsecond, Claim: simulation.Batch{Job: work}, Finalize: simulation.Batch{Job: work}},
		})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	least, most := time.Duration(0), time.Second
	for most-least > 10*time.Microsecond {
		if middle := (least + most) / 2; run(1, middle).Throughput > one {
			least = middle
		} else {
			most = middle
		}
	}
	b.Logf("a commit takes %v, it seems", most)
	return func(workers int) simulation.Report { return run(workers, most) }
}

// BenchmarkWaits hands in jobs at random moments, to workers that are busy for four
// fifths of their time, and compares waits with the simulation of the same jobs.
func BenchmarkWaits(b *testing.B) {
	const workers, slots, load, jobs = 2, 2, 0.8, 600
	mean := 300 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 1))
	var services, moments []time.Duration
	var at float64
	for range jobs {
		services = append(services, time.Duration(rng.ExpFloat64()*float64(mean)))
		moments = append(moments, time.Duration(at*float64(time.Second)))
		at += rng.ExpFloat64() * mean.Seconds() / (load * workers * slots)
	}
	s := newSystem(b)
	stop := s.start(workers, slots, true)
	defer stop()
	// What is beside the judging, when nothing waits.
	const quiet = 50
	var besides, pickups []time.Duration
	for _, n := range submissions(quiet, func(int) time.Duration { return mean / 10 }) {
		r, err := s.store.Submit(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		s.drained()
		sub, err := s.store.Submission(b.Context(), r.JobID)
		if err != nil {
			b.Fatal(err)
		}
		besides = append(besides, sub.Finished.Sub(*sub.Started)-mean/10)
		pickups = append(pickups, sub.Started.Sub(sub.Created))
	}
	slices.Sort(besides)
	slices.Sort(pickups)
	beside, pickup := besides[quiet/2], pickups[quiet/2]
	b.Logf("to take a job takes %v, and beside judging it takes %v", pickup, beside)
	began := time.Now()
	ids := make([]int64, jobs)
	var handed errgroup.Group
	for i, n := range submissions(jobs, func(i int) time.Duration { return services[i] }) {
		time.Sleep(time.Until(began.Add(moments[i])))
		handed.Go(func() error {
			r, err := s.store.Submit(context.WithoutCancel(b.Context()), n)
			ids[i] = r.JobID
			return err
		})
	}
	if err := handed.Wait(); err != nil {
		b.Fatal(err)
	}
	s.drained()
	// Waits begin with the commit, which is what the table has.
	type handedIn struct {
		created      time.Time
		service      time.Duration
		wait, result time.Duration
	}
	var all []handedIn
	for i, id := range ids {
		sub, err := s.store.Submission(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, handedIn{sub.Created, services[i], sub.Started.Sub(sub.Created), sub.Finished.Sub(sub.Created)})
	}
	slices.SortFunc(all, func(x, y handedIn) int { return x.created.Compare(y.created) })
	c := simulation.Config{Workers: workers, Slots: slots, Database: simulation.Database{Cores: workers * slots, Claim: simulation.Batch{Each: pickup}}}
	var waits, results []float64
	for _, h := range all {
		c.Arrivals.Times = append(c.Arrivals.Times, h.created.Sub(all[0].created))
		c.Service.Times = append(c.Service.Times, h.service+beside)
		waits, results = append(waits, h.wait.Seconds()), append(results, h.result.Seconds())
	}
	r, err := simulation.Run(c)
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name      string
		measured  []float64
		predicted simulation.Quantiles
	}{{"wait", waits, r.Wait}, {"time to the result", results, r.Turnaround}} {
		slices.Sort(x.measured)
		sum := 0.0
		for _, v := range x.measured {
			sum += v
		}
		within(b, "mean "+x.name, x.predicted.Mean, sum/jobs)
		within(b, "median "+x.name, x.predicted.P50, x.measured[jobs/2])
		within(b, x.name+" of 95 %", x.predicted.P95, x.measured[jobs*95/100])
	}
}
