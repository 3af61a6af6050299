package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// world is one Deep-OJ with all that it needs, and what is known of it from
// outside.
type world struct {
	dir          string
	seed         uint64
	patience     time.Duration // with jobs that do not end
	shards       int           // that the schedulers share; order holds within one
	stepsPerLife int           // a worker dies at one of the first so many times at a step; 0 = at none
	deaths       []role        // that workers are to die at least once, by Step and Stops
	first        role          // whose Step and Stops are those of the only death, if set
	pg           *embedded.Postgres
	redis        *embedded.Redis
	pgPort       *proxy
	redisPort    *proxy
	store        *sqltest.Store // for the audit only, past the proxy
	packet       blob.Digest    // what every job needs of the blob store
	members      []*member
	parts        sync.WaitGroup // the fleet
	over         chan struct{}  // closed when nobody is to live any more
	calm         atomic.Bool    // nothing is broken any more
	log          *lockedBuffer

	mu       sync.Mutex
	rng      *rand.Rand
	told     map[string]int64 // by an api: key → job
	sets     map[string]int64 // rejudge sets, by an api: key → set
	setKeys  int              // that were used
	staff    map[int64]bool   // jobs that somebody wanted to cancel
	counts   map[string]int
	wrongs   []string
	schedule bytes.Buffer // what was drawn, with the second at which it was
	began    time.Time
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // the servers' account goes through it
		t.Fatal(err)
	}
	w := &world{
		dir: dir, seed: seed, stepsPerLife: 5, shards: 3, patience: patience, over: make(chan struct{}), log: &lockedBuffer{}, rng: rand.New(rand.NewPCG(seed, 0)),
		told: map[string]int64{}, sets: map[string]int64{}, staff: map[int64]bool{}, counts: map[string]int{}, began: time.Now(),
	}
	log := slog.New(slog.DiscardHandler)
	w.pg, err = embedded.StartPostgres(t.Context(), embedded.PostgresConfig{
		DataDir:     filepath.Join(dir, "pg"),
		TemplateDir: filepath.Join(os.TempDir(), fmt.Sprintf("deepoj-sqltest-template-%d", os.Getuid())),
		Settings:    map[string]string{"fsync": "off", "max_connections": "200"}, // processes die here, the machine does not
		Log:         log,
	})
	missing(t, err, embedded.ErrNoPostgres)
	w.redis, err = embedded.StartRedis(t.Context(), embedded.RedisConfig{DataDir: filepath.Join(dir, "redis"), Log: log})
	missing(t, err, embedded.ErrNoRedis)
	keep(t, w.pg.Run)
	keep(t, w.redis.Run)
	w.pgPort = newProxy(t, filepath.Join(w.pg.SockDir, ".s.PGSQL.5432"))
	w.redisPort = newProxy(t, w.redis.Socket)
	if w.store, err = sqltest.OpenWith(t.Context(), sql.Config{DSN: w.pg.DSN(), MaxConns: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.store.Close)
	if err := w.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.fillBlobs(t)
	q := judge.Queue{Name: judge.DefaultQueue, Redeliver: redeliver, MaxTries: maxTries, Spacing: 10 * time.Millisecond}
	if err := w.store.SaveQueue(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if err := w.store.SaveProblem(t.Context(), judge.Problem{Slug: "p", Title: "P", Version: "sha256:aa"}, "test"); err != nil {
		t.Fatal(err)
	}
	return w
}

// maxTries is more than any job can need here: a dead one is a lost one.
const maxTries = 100

// missing skips the test, or fails it where everything must be there.
func missing(t *testing.T, err, absent error) {
	t.Helper()
	if errors.Is(err, absent) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keep runs a server, which starts again when it dies, until the test ends.
func keep(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended // a server that had to be killed is none of this test's business
	})
}

// populate starts the fleet.
func (w *world) populate(workers int, mutant string) {
	dsn := url.URL{Scheme: "postgres", User: url.User("deepoj"), Host: w.pgPort.addr, Path: "/deepoj", RawQuery: "sslmode=disable"}
	base := role{Blobs: w.blobs(), Packet: w.packet, DSN: dsn.String(), Redis: "redis://" + w.redisPort.addr, Mutant: mutant, Shards: w.shards}
	add := func(kind string, n int) {
		for i := range n {
			r := base
			r.Kind, r.Name = kind, kind+strconv.Itoa(i)
			r.Socket = filepath.Join(w.dir, r.Name+".sock")
			w.add(r, uint64(1+len(w.members)))
		}
	}
	add("api", 2)
	add("scheduler", 2)
	add("worker", workers)
}

// of returns the members of a kind.
func (w *world) of(kind string) []*member {
	return slices.DeleteFunc(slices.Clone(w.members), func(m *member) bool { return m.role.Kind != kind })
}

func (w *world) intN(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

func (w *world) shuffle(n int, swap func(i, j int)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rng.Shuffle(n, swap)
}

func (w *world) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
}

// counted returns how often something happened.
func (w *world) counted(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

// say adds a line to the schedule.
func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.schedule, "%7.2f s  %s\n", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...))
}

// wrong notes a violation.
func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrongs = append(w.wrongs, fmt.Sprintf("%7.2f s  %s", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...)))
}

// violations returns what was noted.
func (w *world) violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrongs)
}

// sample audits again and again until ctx ends. A database that is away gives no
// sample.
func (w *world) sample(ctx context.Context, every time.Duration) {
	for pause(ctx, every) {
		c, cancel := context.WithTimeout(ctx, 30*time.Second)
		a, err := w.store.Audit(c)
		cancel()
		switch {
		case err != nil:
		case a.Zero():
			w.count("audits")
		default:
			w.wrong("audit %+v", a)
			return
		}
	}
}

// waiting is how many jobs have not ended.
func (w *world) waiting(ctx context.Context) (int64, error) {
	s, err := w.store.QueueStats(ctx)
	return s.Pending + s.Delivered + s.Running, err
}

// settle waits until every job has ended, at most patience long.
func (w *world) settle(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause(ctx, 50*time.Millisecond) {
		if n, err := w.waiting(ctx); err == nil && n == 0 {
			return
		}
	}
	n, err := w.waiting(context.WithoutCancel(ctx))
	w.wrong("%d jobs never end (%v)", n, err)
}

// pause waits for d and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// signalBackends has a part of PostgreSQL's processes end, which is what
// pg_terminate_backend does.
func (w *world) signalBackends(share int) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", w.pg.PID(), w.pg.PID()))
	if err != nil {
		return
	}
	for field := range bytes.FieldsSeq(children) {
		pid, err := strconv.Atoi(string(field))
		if err != nil {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !bytes.Contains(line, []byte(" deepoj deepoj ")) { // user and database: a backend
			continue
		}
		if w.intN(share) == 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}
