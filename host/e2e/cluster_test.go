package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
)

// cluster is Deep-OJ as separate processes: one api, one scheduler and some
// workers against the same PostgreSQL, Redis and blobs.
type cluster struct {
	t      testing.TB
	dir    string
	roles  []*process // api and scheduler
	env    []string
	store  *sqltest.Store
	pg     *embedded.Postgres
	redis  *embedded.Redis
	url    string
	client *client.Client
}

// newCluster starts everything but the workers. Leases are short so that a test
// sees them run out.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	return newClusterOf(t, binary, nil)
}

// newClusterOf is newCluster for another version of deepoj, or with further
// settings of PostgreSQL or of all processes.
func newClusterOf(t testing.TB, program string, settings map[string]string, env ...string) *cluster {
	t.Helper()
	needRoot(t)
	ctx := t.Context()
	account, err := embedded.Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: filepath.Join(dir, "pg"), User: account, Superuser: true, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	redis, err := embedded.StartRedis(ctx, embedded.RedisConfig{DataDir: filepath.Join(dir, "redis"), User: account})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir, pg: pg, redis: redis}
	t.Cleanup(func() {
		if err := c.pg.Close(); err != nil {
			t.Error(err)
		}
		_ = redis.Close() // a fault test may have ended it
	})
	blobs := filepath.Join(dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	// The workers become the same account.
	if account != nil {
		if err := os.Chown(blobs, int(account.UID), int(account.GID)); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{
		"DATABASE_URL=" + pg.DSN(), "REDIS_URL=" + redis.URL(), "BLOB_DIR=" + blobs, "WORKER_SLOTS=1",
		"JOB_LEASE_SEC=3", "JOB_HEARTBEAT_SEC=1", "JOB_RECLAIM_INTERVAL_SEC=1", "JOB_RECLAIM_GRACE_SEC=1",
		"JOB_MAX_LOST_WORKERS=100", // it is not the jobs that end them
	}
	c.env = append(c.env, env...)
	c.url, c.client, c.roles = c.start(program)
	if out, errs, status := deepoj(t, c.env, "problem", "import", "--samples"); status != 0 {
		t.Fatalf("import the samples: %s%s", out, errs)
	}
	if c.store, err = sqltest.OpenWith(ctx, sql.Config{DSN: pg.DSN(), MaxConns: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.store.Close)
	return c
}

// start starts an api, on a free address, and a scheduler.
func (c *cluster) start(program string) (url string, _ *client.Client, roles []*process) {
	c.t.Helper()
	listen := freeAddress(c.t)
	api := startProgram(c.t, program, c.env, "api", "--listen", listen, "--auth", "guest")
	scheduler := startProgram(c.t, program, c.env, "scheduler")
	api.await("listening")
	scheduler.await("dispatching")
	to, err := client.New("http://" + listen)
	if err != nil {
		c.t.Fatal(err)
	}
	return "http://" + listen, to, []*process{api, scheduler}
}

// worker starts one more worker and waits until it takes jobs.
func (c *cluster) worker(i int) *process {
	c.t.Helper()
	return c.workerOf(binary, "worker-"+strconv.Itoa(i))
}

// workerOf is worker for another version of deepoj.
func (c *cluster) workerOf(program, name string) *process {
	c.t.Helper()
	p := startProgram(c.t, program, append([]string{"WORKER_ID=" + name}, c.env...), "worker", "--data", filepath.Join(c.dir, "worker"))
	p.await("jobs are taken")
	return p
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestKilledWorkersLoseAndDoubleNothing judges 300 mixed submissions on two
// workers of which one is killed with SIGKILL ten times on the way.
func TestKilledWorkersLoseAndDoubleNothing(t *testing.T) {
	const jobs, deaths = 300, 10
	c := newCluster(t)
	victim := c.worker(0)
	c.worker(1)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	programs := seldomEndless()
	want := map[int64]program{}
	for i := range jobs {
		p := programs[i%len(programs)]
		r, err := c.client.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: p.language, Sources: []judge.Source{{Name: p.file, Text: p.text}}})
		if err != nil {
			t.Fatal(err)
		}
		want[r.JobID] = p
	}
	// Kill while both workers hold a job, evenly over the work.
	for killed := 0; killed < deaths; {
		stats, err := c.store.QueueStats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		left := stats.Pending + stats.Delivered + stats.Running
		switch {
		case left == 0:
			t.Fatalf("all was judged after %d deaths, want %d: the mix is too light", killed, deaths)
		case stats.Running == 2 && jobs-left >= int64(killed*jobs/deaths/2):
			if err := syscall.Kill(victim.inner(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-victim.done
			killed++
			victim = c.worker(1 + killed)
		default:
			pause(ctx, t, 20*time.Millisecond)
		}
		c.checkAudit(ctx)
	}
	for id, p := range want {
		s, err := c.client.Wait(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != p.want {
			t.Errorf("submission %d (%s): %s, want %s", id, p.name, describe(s), p.want)
		}
	}
	c.checkAudit(ctx)
	t.Logf("%d submissions, %d workers killed", jobs, deaths)
}

// mixed returns the programs of every verdict that together keep two cores busy
// without taking for ever.
func mixed() []program {
	mix := append([]program{}, verdictPrograms...)
	for _, p := range languagePrograms {
		if p.language == "c" || p.language == "python" {
			mix = append(mix, p)
		}
	}
	return mix
}

// seldomEndless returns the programs of mixed, each several times and the endless
// loop once: a worker waits for its time limit for longer than it judges the others.
func seldomEndless() (programs []program) {
	for i := range 4 {
		for _, p := range mixed() {
			if p.want != judge.TLE || i == 0 {
				programs = append(programs, p)
			}
		}
	}
	return programs
}

func (c *cluster) checkAudit(ctx context.Context) {
	c.t.Helper()
	a, err := c.store.Audit(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	if !a.Zero() {
		c.t.Fatalf("the audit is not zero: %+v", a)
	}
}

func describe(s *client.Submission) string {
	if s.Result != nil {
		return fmt.Sprintf("%s %s", s.Result.Verdict, s.Result.Message)
	}
	if s.Error != nil {
		return s.Status + " " + *s.Error
	}
	return s.Status
}

// pause waits without holding up the end of the test.
func pause(ctx context.Context, t testing.TB, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	case <-timer.C:
	}
}
