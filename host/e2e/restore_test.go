package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
)

// TestARestoreToAMomentHasEverythingOfThatMomentAndGoesOn loses the disk of
// PostgreSQL and restores a base backup and the archived log to a moment T. All
// else goes on running: the api, the scheduler, a worker, and Redis with
// messages of a time after T that is no more.
func TestARestoreToAMomentHasEverythingOfThatMomentAndGoesOn(t *testing.T) {
	saved := folder(t)
	give(t, saved)
	archive := map[string]string{
		"archive_mode":    "on",
		"archive_command": fmt.Sprintf("test ! -f %s/%%f && cp %%p %[1]s/%%f", saved),
	}
	c := newClusterOf(t, binary, archive)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	base := c.baseBackup(filepath.Join(saved, "base"))

	// Before T: some are judged, one is under way, some wait.
	c.worker(0)
	c.ready(ctx)
	before := map[int64]*judge.Submission{}
	for _, p := range []program{verdictPrograms[0], verdictPrograms[1], verdictPrograms[5]} {
		s := submitAndWait(ctx, t, c.client, "aplusb", p)
		before[s.JobID] = nil
	}
	const lease = 10 * time.Minute
	hold := func(paused bool) {
		t.Helper()
		if err := c.store.PauseQueue(ctx, judge.DefaultQueue, paused, "test"); err != nil {
			t.Fatal(err)
		}
	}
	hand := func(n int) (ids []int64) {
		t.Helper()
		good := mixed()[0]
		for range n {
			r, err := c.client.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: good.language, Sources: []judge.Source{{Name: good.file, Text: good.text}}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.JobID)
		}
		return ids
	}
	hold(true)
	waiting := hand(4)
	underway, contested := waiting[0], waiting[1]
	held := c.claim(ctx, underway, "worker-of-before", lease)
	for id := range before {
		before[id] = c.submission(ctx, id)
	}
	moment := c.ask(ctx, "SELECT clock_timestamp()::text")

	// After T: all of it is judged, more is handed in, and an attempt begins whose
	// number will be given once more.
	if err := c.store.Finalize(ctx, held, judge.Result{Verdict: judge.WA}); err != nil {
		t.Fatal(err)
	}
	ghost := c.claim(ctx, contested, "worker-of-after", lease)
	hold(false)
	lost := hand(3)
	for _, id := range lost {
		c.awaitVerdict(ctx, id)
	}
	last := c.ask(ctx, "SELECT pg_walfile_name(pg_switch_wal())")
	c.eventually(ctx, "the log is archived", func() bool {
		return c.ask(ctx, "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver") >= last
	})
	c.loseDatabase()
	c.publish(ctx, append(append([]int64{}, waiting...), lost...))
	c.restore(ctx, base, moment, saved)

	// Everything of T is there as it was, and nothing of later.
	for id, want := range before {
		if got := c.submission(ctx, id); !reflect.DeepEqual(got, want) {
			t.Errorf("submission %d was %+v and is %+v", id, want, got)
		}
	}
	for _, id := range lost {
		if _, err := c.store.Submission(ctx, id); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("submission %d was made after %s and is there: %v", id, moment, err)
		}
	}
	c.checkAudit(ctx)

	// A restore takes longer than a lease.
	c.ask(ctx, "UPDATE jobs SET lease_until = now() - interval '1 s' WHERE status = 'running'")
	c.ask(ctx, "UPDATE outbox_events SET lock_until = now() - interval '1 s' WHERE state = 'L'")

	// What was under way and what waited is judged, anew, and an attempt of the
	// time that is no more writes nothing although its number is given again.
	refused := func() {
		t.Helper()
		err := c.store.Finalize(ctx, ghost, judge.Result{Verdict: judge.RE})
		if _, ok := errors.AsType[*judge.RejectedError](err); !ok {
			t.Errorf("the finalize of an attempt that began after the moment: %v, want a refusal", err)
		}
	}
	refused()
	hold(false)
	for _, id := range waiting {
		if s := c.awaitVerdict(ctx, id); s.Result.Verdict != judge.AC {
			t.Errorf("submission %d: %s", id, s.Result.Verdict)
		}
	}
	refused()
	if s := c.submission(ctx, contested); s.AttemptID != ghost.AttemptID || s.Result.Worker == ghost.Owner {
		t.Errorf("attempt %d of %s is the result, want number %d of another worker", s.AttemptID, s.Result.Worker, ghost.AttemptID)
	}
	if s := c.submission(ctx, underway); s.AttemptID <= held.AttemptID {
		t.Errorf("what was under way has the result of attempt %d", s.AttemptID)
	}

	// It goes on, whether Redis has messages or none.
	c.ready(ctx)
	fresh := hand(8)
	c.flushRedis()
	for _, id := range fresh {
		if s := c.awaitVerdict(ctx, id); s.Result.Verdict != judge.AC {
			t.Errorf("submission %d: %s", id, s.Result.Verdict)
		}
	}
	c.checkAudit(ctx)
	for _, command := range [][]string{{"audit"}, {"blob", "fsck"}} {
		if out, errs, status := deepoj(t, c.env, command...); status != 0 {
			t.Errorf("deepoj %s: status %d\n%s%s", strings.Join(command, " "), status, out, errs)
		}
	}
}

// ready waits until the api takes submissions, and sees a worker for them.
func (c *cluster) ready(ctx context.Context) {
	c.t.Helper()
	c.eventually(ctx, "the api is ready", func() bool {
		res, err := http.Get(c.url + "/readyz")
		if err != nil {
			c.t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return err == nil && res.StatusCode == http.StatusOK && strings.Contains(string(body), `"missing":[]`)
	})
}

// baseBackup copies the running PostgreSQL to dir.
func (c *cluster) baseBackup(dir string) string {
	c.t.Helper()
	copied := exec.CommandContext(c.t.Context(), filepath.Join(c.pg.Binaries.Dir, "pg_basebackup"),
		"--dbname="+c.pg.SuperuserDSN("deepoj"), "--checkpoint=fast", "--wal-method=fetch", "--pgdata="+dir)
	if out, err := copied.CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// claim makes owner the owner of a job that waits.
func (c *cluster) claim(ctx context.Context, id int64, owner string, lease time.Duration) judge.Attempt {
	c.t.Helper()
	jobs, rejected, err := c.store.Claim(ctx, []int64{id}, owner, uuid.NewString(), lease)
	if err != nil || len(jobs) != 1 {
		c.t.Fatalf("claim of job %d: %v, %v", id, rejected, err)
	}
	return jobs[0].Attempt
}

func (c *cluster) submission(ctx context.Context, id int64) *judge.Submission {
	c.t.Helper()
	s, err := c.store.Submission(ctx, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// awaitVerdict waits until a submission has a result. It asks the database, which
// may come back meanwhile.
func (c *cluster) awaitVerdict(ctx context.Context, id int64) (s *judge.Submission) {
	c.t.Helper()
	c.eventually(ctx, fmt.Sprintf("submission %d is judged", id), func() bool {
		s = c.submission(ctx, id)
		return s.Result != nil
	})
	return s
}

func (c *cluster) eventually(ctx context.Context, what string, done func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("it never came that "+what))
	defer cancel()
	for !done() {
		if ctx.Err() != nil {
			c.t.Fatal(context.Cause(ctx))
		}
		pause(context.WithoutCancel(ctx), c.t, 20*time.Millisecond)
	}
}

// ask runs a statement as an operator would, and returns the value that it has.
func (c *cluster) ask(ctx context.Context, statement string) string {
	c.t.Helper()
	psql := exec.CommandContext(ctx, filepath.Join(c.pg.Binaries.Dir, "psql"), "--no-psqlrc", "--tuples-only", "--no-align", "--dbname="+c.pg.SuperuserDSN("deepoj"), "--command="+statement)
	out, err := psql.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v: %s", statement, err, out)
	}
	return strings.TrimSpace(string(out))
}

// loseDatabase stops PostgreSQL and removes its files.
func (c *cluster) loseDatabase() {
	c.t.Helper()
	if err := errors.Join(c.pg.Close(), os.RemoveAll(filepath.Join(c.dir, "pg", "cluster"))); err != nil {
		c.t.Fatal(err)
	}
}

// restore starts PostgreSQL anew at the same address, with a base backup and the
// archived log up to a moment. The store of c has fresh connections afterwards.
func (c *cluster) restore(ctx context.Context, base, moment, archived string) {
	c.t.Helper()
	dir := filepath.Join(c.dir, "restored")
	err := errors.Join(os.Mkdir(dir, 0o700), os.Rename(base, filepath.Join(dir, "cluster")),
		os.WriteFile(filepath.Join(dir, "cluster", "recovery.signal"), nil, 0o600))
	if err != nil {
		c.t.Fatal(err)
	}
	give(c.t, dir)
	account, err := embedded.Unprivileged("")
	if err != nil {
		c.t.Fatal(err)
	}
	c.pg, err = embedded.StartPostgres(ctx, embedded.PostgresConfig{
		DataDir: dir, SocketDir: c.pg.SockDir, User: account, Superuser: true,
		Settings: map[string]string{
			"restore_command":        fmt.Sprintf("cp %s/%%f %%p", archived),
			"recovery_target_time":   moment,
			"recovery_target_action": "promote",
		},
	})
	if err == nil {
		c.store, err = sqltest.OpenWith(ctx, sql.Config{DSN: c.pg.DSN(), MaxConns: 2})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(c.store.Close)
	c.eventually(ctx, "the recovery ends", func() bool { return c.ask(ctx, "SELECT pg_is_in_recovery()::text") == "false" })
}

// publish sends messages for jobs, as a dispatcher does.
func (c *cluster) publish(ctx context.Context, ids []int64) {
	c.t.Helper()
	streams, err := queue.Open(ctx, queue.Config{URL: c.redis.URL(), Consumer: "nobody"})
	if err != nil {
		c.t.Fatal(err)
	}
	var tickets []judge.Ticket
	for _, id := range ids {
		tickets = append(tickets, judge.Ticket{JobID: id, PayloadRef: fmt.Sprintf("pg:%d", id), Enqueued: time.Now()})
	}
	_, err = streams.Publish(ctx, tickets)
	if err := errors.Join(err, streams.Close()); err != nil {
		c.t.Fatal(err)
	}
}

// flushRedis takes everything from Redis.
func (c *cluster) flushRedis() {
	c.t.Helper()
	conn, err := net.Dial("unix", c.redis.Socket)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	const done = "+OK\r\n"
	answer := make([]byte, len(done))
	_, err = io.WriteString(conn, "FLUSHALL\r\n")
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil || string(answer) != done {
		c.t.Fatalf("FLUSHALL: %q, %v", answer, err)
	}
}
