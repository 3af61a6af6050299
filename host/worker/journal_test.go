package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/platform"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// journalEnv is the journal of a worker in another process (see lifeEnv), which
// judges everything as WA as soon as its standard input ends.
const journalEnv = "DEEPOJ_WORKER_JOURNAL"

func judgeWhenTold(dsn, dir string) {
	ctx := context.Background()
	s, err := sqltest.OpenWith(ctx, sql.Config{DSN: dsn})
	if err != nil {
		panic(err)
	}
	cfg := quick()
	cfg.Lease, cfg.Name, cfg.Journal = time.Hour, "doomed", dir
	told := sync.OnceFunc(func() { _, _ = io.Copy(io.Discard, os.Stdin) })
	j := judgeFunc(func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
		told()
		return judge.Result{Verdict: judge.WA}, nil
	})
	w, err := New(cfg, s, s.Delivery("", "", "doomed", nil), j, liveness.NewPostgres(s.Queue, 0))
	if err != nil {
		panic(err)
	}
	panic(w.Run(ctx))
}

// never fails the test when anything is judged.
func never(t *testing.T) judgeFunc {
	return func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
		t.Error("the job was judged again")
		return judge.Result{}, errors.New("not here")
	}
}

// entries returns the names of what lies in a journal.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAResultOutlivesItsWorkerAndAnOutage(t *testing.T) {
	t.Parallel()
	dsn, dir := sqltest.DSN(t), t.TempDir()
	b := bench{sqltest.Open(t, dsn), t}
	b.problem()
	doomed := exec.Command("/proc/self/exe")
	doomed.Env = append(os.Environ(), lifeEnv+"="+dsn, journalEnv+"="+dir)
	doomed.Stderr = os.Stderr
	doomed.SysProcAttr = &syscall.SysProcAttr{}
	platform.DieWithParent(doomed.SysProcAttr, syscall.SIGKILL)
	tell, err := doomed.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	id := b.submit()
	b.awaitStatus(id, judge.Running)
	restore := sqltest.Cut(t, dsn)
	if err := tell.Close(); err != nil {
		t.Fatal(err)
	}
	b.eventually("the result is written down", func() bool { return len(entries(t, dir)) == 1 })
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := doomed.Wait(); err == nil {
		t.Error("the worker ended by itself")
	}
	restore()
	b = bench{sqltest.Open(t, dsn), t} // the connections of the other are broken
	cfg := quick()
	cfg.Journal = dir
	h := b.start(cfg, b.direct(), never(t))
	s := b.awaitStatus(id, judge.Finished)
	if s.AttemptID != 1 || s.Tries != 0 || s.Result == nil || s.Result.Verdict != judge.WA {
		t.Errorf("attempt %d, tries %d, result %+v; want the result of the first attempt", s.AttemptID, s.Tries, s.Result)
	}
	b.eventually("the journal is empty", func() bool { return len(entries(t, dir)) == 0 })
	b.eventually("the result is counted", func() bool { return h.count(t, "worker_finalize_total", "status", "ok") == 1 })
	b.audited()
}

func TestAStoppedWorkerLeavesAnUnansweredResultToTheNext(t *testing.T) {
	t.Parallel()
	dsn, dir := sqltest.DSN(t), t.TempDir()
	b := bench{sqltest.Open(t, dsn), t}
	b.problem()
	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quick()
	cfg.Lease, cfg.Journal = time.Hour, dir
	h := b.start(cfg, b.direct(), judgeFunc(func(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		close(began)
		<-finish
		return accept(ctx, p, nil)
	}))
	id := b.submit()
	<-began
	restore := sqltest.Cut(t, dsn)
	close(finish)
	b.eventually("the result is written down", func() bool { return len(entries(t, dir)) == 1 })
	h.stop()
	restore()
	b = bench{sqltest.Open(t, dsn), t} // the connections of the other are broken
	b.start(cfg, b.direct(), never(t))
	if s := b.awaitStatus(id, judge.Finished); s.AttemptID != 1 {
		t.Errorf("attempt %d finished the job, want the first", s.AttemptID)
	}
	b.eventually("the journal is empty", func() bool { return len(entries(t, dir)) == 0 })
	b.audited()
}

func TestAJournalForgetsWhatIsFencedOrCannotBeRead(t *testing.T) {
	t.Parallel()
	b, dir := newBench(t), t.TempDir()
	id := b.submit()
	jobs, _, err := b.Claim(t.Context(), []int64{id}, "gone", uuid.NewString(), time.Minute)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claim: %v, %v", jobs, err)
	}
	if err := b.Cancel(t.Context(), id, "ann", ""); err != nil {
		t.Fatal(err)
	}
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(dir, m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	j.expect(&jobs[0], &judge.Result{Verdict: judge.AC}).keep()
	for name, text := range map[string]string{"cut.json": `{"version":1,"att`, "new.json": `{"version":99}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := quick()
	cfg.Journal = dir
	h := b.start(cfg, b.direct(), never(t))
	b.eventually("the journal is empty", func() bool { return len(entries(t, dir)) == 0 })
	b.eventually("the refusal is counted", func() bool {
		return h.count(t, "worker_finalize_rejected_total", "reason", string(judge.ReasonCancelled)) == 1
	})
	if n := h.count(t, "worker_journal_total", "status", journalUnreadable); n != 2 {
		t.Errorf("%v unreadable entries counted, want 2", n)
	}
	if s := b.job(id); s.Status != judge.Cancelled || s.Result != nil {
		t.Errorf("the job is %s with result %v", s.Status, s.Result)
	}
	b.audited()
}

func TestAResultThatIsAnsweredSoonIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(dir, m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	u := j.expect(&judge.Claim{Attempt: judge.Attempt{JobID: 7, AttemptID: 1, Token: uuid.NewString()}}, &judge.Result{Verdict: judge.AC})
	u.forget()
	u.keep() // a timer that fires too late
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("the journal holds %v", got)
	}
}
