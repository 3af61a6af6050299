package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/platform"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// untilStopped judges until its context ends, and says when it began.
func untilStopped(began chan<- struct{}) judgeFunc {
	return func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		return judge.Result{}, ctx.Err()
	}
}

func TestAStoppingWorkerGivesBackWhatItCannotFinish(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	began := make(chan struct{}, 1)
	d := &recorder{Delivery: b.direct(), b: b}
	h := b.start(quick(), d, untilStopped(began))
	id := b.submit()
	<-began
	h.stop()
	s := b.job(id)
	if s.Status != judge.Pending || s.Tries != 0 || s.QueueState != "R" {
		t.Errorf("the job is %s with %d tries and queue state %s, want pending, 0, R", s.Status, s.Tries, s.QueueState)
	}
	if at := d.acks(id); len(at) != 1 || at[0] != judge.Pending {
		t.Errorf("acknowledged at %v, want once when given back", at)
	}
	b.start(quick(), b.direct(), judgeFunc(accept))
	if s := b.awaitStatus(id, judge.Finished); s.AttemptID != 2 || s.Tries != 0 {
		t.Errorf("attempt %d, tries %d; want 2 and 0", s.AttemptID, s.Tries)
	}
	b.audited()
}

func TestAStoppingWorkerFinishesWhatItCan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quick()
	cfg.Grace = time.Minute
	h := b.start(cfg, b.direct(), judgeFunc(func(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		close(began)
		<-finish
		return accept(ctx, p, nil)
	}))
	id := b.submit()
	<-began
	later := b.submit() // must stay where it is
	stopped := make(chan struct{})
	go func() {
		h.stop()
		close(stopped)
	}()
	b.eventually("the worker says that it stops", func() bool {
		ws, err := b.Workers(t.Context(), time.Minute)
		return err == nil && len(ws) == 1 && ws[0].Slots == 0
	})
	close(finish)
	<-stopped
	if s := b.job(id); s.Status != judge.Finished {
		t.Errorf("the job is %s, want finished", s.Status)
	}
	if s := b.job(later); s.Status != judge.Pending || s.AttemptID != 0 {
		t.Errorf("a stopping worker took a job: %s, attempt %d", s.Status, s.AttemptID)
	}
	b.audited()
}

// lateReply is a database whose reply to a claim comes after the worker was told
// to stop, and is lost if the worker does not wait for it.
type lateReply struct {
	*sqltest.Store
	stop func()
}

func (l lateReply) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	jobs, rejected, err := l.Store.Claim(context.WithoutCancel(ctx), ids, owner, token, lease)
	l.stop()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return jobs, rejected, err
}

func TestAStopDuringAClaimLeavesNoJobBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := New(quick(), lateReply{b.Store, cancel}, &recorder{Delivery: b.direct(), b: b}, untilStopped(make(chan struct{}, 1)), liveness.NewPostgres(b.Queue, 0))
	if err != nil {
		t.Fatal(err)
	}
	id := b.submit()
	if err := w.Run(ctx); err != nil {
		t.Errorf("Run returned %v, want nil", err)
	}
	if s := b.job(id); s.Status != judge.Pending || s.AttemptID != 1 || s.Tries != 0 {
		t.Errorf("the job is %s after attempt %d with %d tries; want it given back", s.Status, s.AttemptID, s.Tries)
	}
	b.audited()
}

// lostReply is a database whose first replies to a claim get lost: the first
// before anything was done, the second after it was.
type lostReply struct {
	*sqltest.Store
	claims atomic.Int32
}

func (l *lostReply) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	n := l.claims.Add(1)
	if n == 1 {
		return nil, nil, errors.New("connection reset by peer")
	}
	jobs, rejected, err := l.Store.Claim(ctx, ids, owner, token, lease)
	if n == 2 {
		return nil, nil, errors.Join(err, errors.New("connection reset by peer"))
	}
	return jobs, rejected, err
}

func TestAClaimWhoseReplyIsLostCostsNeitherALeaseNorATry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	cfg.Lease, cfg.Heartbeat = time.Hour, time.Minute
	d := &recorder{Delivery: b.direct(), b: b}
	b.startWith(cfg, &lostReply{Store: b.Store}, d, judgeFunc(accept))
	id := b.submit()
	if s := b.awaitStatus(id, judge.Finished); s.AttemptID != 2 || s.Tries != 0 {
		t.Errorf("attempt %d, tries %d; want the second attempt and no try counted", s.AttemptID, s.Tries)
	}
	b.audited()
}

// lostTake is a delivery whose first replies to a take get lost: the first before
// anything was done, the second after it was.
type lostTake struct {
	*jobs.Delivery
	takes int
}

func (l *lostTake) Take(ctx context.Context, limit int, wait time.Duration, owner, token string, lease time.Duration) ([]judge.Claim, time.Time, error) {
	l.takes++
	if l.takes == 1 {
		return nil, time.Time{}, errors.New("connection reset by peer")
	}
	jobs, asked, err := l.Delivery.Take(ctx, limit, wait, owner, token, lease)
	if l.takes == 2 {
		return nil, asked, errors.Join(err, errors.New("connection reset by peer"))
	}
	return jobs, asked, err
}

func TestATakeWhoseReplyIsLostCostsNeitherALeaseNorATry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	cfg.Lease, cfg.Heartbeat = time.Hour, time.Minute
	id := b.submit()
	b.start(cfg, &lostTake{Delivery: b.direct()}, judgeFunc(accept))
	if s := b.awaitStatus(id, judge.Finished); s.AttemptID != 2 || s.Tries != 0 {
		t.Errorf("attempt %d, tries %d; want the second attempt and no try counted", s.AttemptID, s.Tries)
	}
	b.audited()
}

func TestAStopAfterALostTakeLeavesNoJobBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	cfg.Lease, cfg.Heartbeat = time.Hour, time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	d := &lastTake{b.direct(), cancel}
	w, err := New(cfg, b.Store, d, untilStopped(make(chan struct{}, 1)), liveness.NewPostgres(b.Queue, 0))
	if err != nil {
		t.Fatal(err)
	}
	id := b.submit()
	if err := w.Run(ctx); err != nil {
		t.Errorf("Run returned %v, want nil", err)
	}
	if s := b.job(id); s.Status != judge.Pending || s.AttemptID != 1 || s.Tries != 0 {
		t.Errorf("the job is %s after attempt %d with %d tries; want it given back", s.Status, s.AttemptID, s.Tries)
	}
	b.audited()
}

// lastTake is a delivery that loses the reply to a take, and stops the worker.
type lastTake struct {
	*jobs.Delivery
	stop func()
}

func (l *lastTake) Take(ctx context.Context, limit int, wait time.Duration, owner, token string, lease time.Duration) ([]judge.Claim, time.Time, error) {
	_, asked, err := l.Delivery.Take(ctx, limit, wait, owner, token, lease)
	l.stop()
	return nil, asked, errors.Join(err, errors.New("connection reset by peer"))
}

func TestACancelledJobIsStoppedWithinAHeartbeat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	began := make(chan struct{}, 1)
	d := &recorder{Delivery: b.direct(), b: b}
	h := b.start(quick(), d, untilStopped(began))
	id := b.submit()
	<-began
	if err := b.Cancel(t.Context(), id, "ann", ""); err != nil {
		t.Fatal(err)
	}
	b.eventually("the run is stopped", func() bool { return h.busy() == 0 })
	if s := b.job(id); s.Status != judge.Cancelled || s.Result != nil {
		t.Errorf("the job is %s with result %v", s.Status, s.Result)
	}
	if n := h.count(t, "worker_lease_heartbeat_total", "status", "reject", "reason", string(judge.ReasonLeaseLost)); n != 1 {
		t.Errorf("%v lost leases counted, want 1", n)
	}
	if at := d.acks(id); len(at) != 0 {
		t.Errorf("acknowledged after the lease was lost: %v", at)
	}
	b.audited()
}

// Who cancels a job does so in another process. The worker is told by the database,
// though it would not renew its leases for an hour.
func TestTheSlotOfACancelledJobIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	b := bench{sqltest.Open(t, dsn), t}
	b.problem()
	began := make(chan struct{}, 1)
	cfg := quick()
	cfg.Heartbeat, cfg.Lease = time.Hour, 3*time.Hour
	h := b.start(cfg, &recorder{Delivery: b.direct(), b: b}, untilStopped(began))
	go func() { _ = b.Listen(t.Context(), sql.ChannelStops, func(string) { h.Renew() }) }()
	id := b.submit()
	<-began
	if err := sqltest.Open(t, dsn).Cancel(t.Context(), id, "ann", ""); err != nil {
		t.Fatal(err)
	}
	b.eventually("the slot is free", func() bool { return h.busy() == 0 })
	b.audited()
}

func TestALateResultIsRefusedAndExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quick()
	cfg.Heartbeat, cfg.Lease = time.Hour, 3*time.Hour // it does not learn of the cancellation
	d := &recorder{Delivery: b.direct(), b: b}
	h := b.start(cfg, d, judgeFunc(func(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		close(began)
		<-finish
		return accept(ctx, p, nil)
	}))
	id := b.submit()
	<-began
	if err := b.Cancel(t.Context(), id, "ann", ""); err != nil {
		t.Fatal(err)
	}
	close(finish)
	b.eventually("the entry is acknowledged", func() bool { return len(d.acks(id)) == 1 })
	if n := h.count(t, "worker_finalize_rejected_total", "reason", string(judge.ReasonCancelled)); n != 1 {
		t.Errorf("%v refusals with reason cancelled, want 1", n)
	}
	if s := b.job(id); s.Status != judge.Cancelled || s.Result != nil {
		t.Errorf("the job is %s with result %v", s.Status, s.Result)
	}
	b.audited()
}

// lifeEnv makes this test binary a worker on the database that it names, which
// never finishes a job.
const lifeEnv = "DEEPOJ_WORKER_LIFE"

func liveUntilKilled(dsn string) {
	if dir := os.Getenv(journalEnv); dir != "" {
		judgeWhenTold(dsn, dir)
	}
	ctx := context.Background()
	s, err := sqltest.OpenWith(ctx, sql.Config{DSN: dsn})
	if err != nil {
		panic(err)
	}
	cfg := quick()
	cfg.Lease = 400 * time.Millisecond
	cfg.Name = "doomed"
	w, err := New(cfg, s, s.Delivery("", "", "doomed", nil), untilStopped(make(chan struct{}, 1000)), liveness.NewPostgres(s.Queue, 0))
	if err != nil {
		panic(err)
	}
	panic(w.Run(ctx))
}

func TestAKilledWorkerCostsOneLeaseAndOneTry(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	b := bench{sqltest.Open(t, dsn), t}
	b.problem()
	doomed := exec.Command("/proc/self/exe")
	doomed.Env = append(os.Environ(), lifeEnv+"="+dsn)
	doomed.Stderr = os.Stderr
	doomed.SysProcAttr = &syscall.SysProcAttr{}
	platform.DieWithParent(doomed.SysProcAttr, syscall.SIGKILL)
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	id := b.submit()
	b.awaitStatus(id, judge.Running)
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := doomed.Wait(); err == nil {
		t.Error("the worker ended by itself")
	}
	b.start(quick(), b.direct(), judgeFunc(accept))
	b.tend(time.Millisecond)
	s := b.awaitStatus(id, judge.Finished)
	if s.AttemptID != 2 || s.Tries != 1 {
		t.Errorf("attempt %d, tries %d; want 2 and 1", s.AttemptID, s.Tries)
	}
	b.audited()
}

func TestAResultSurvivesACrashOfTheDatabase(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "deepoj-worker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	pg, err := embedded.StartPostgres(t.Context(), embedded.PostgresConfig{DataDir: dir})
	if errors.Is(err, embedded.ErrNoPostgres) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Close(); err != nil {
			t.Error(err)
		}
	})
	store, err := sqltest.OpenWith(t.Context(), sql.Config{DSN: pg.DSN()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := bench{store, t}
	b.problem()

	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quick()
	cfg.Lease = time.Minute
	h := b.start(cfg, b.direct(), judgeFunc(func(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		close(began)
		<-finish
		return accept(ctx, p, nil)
	}))
	id := b.submit()
	<-began
	pid := pg.PID()
	// A backend may outlive its server by a moment and take the result, so all
	// of them are killed.
	backends, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for field := range strings.FieldsSeq(string(backends)) {
		backend, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(backend, syscall.SIGKILL) // unless it was quicker
	}
	b.eventually("the database is away", func() bool { return b.Ping(t.Context()) != nil })
	close(finish)
	b.eventually("the database was asked in vain", func() bool { return h.count(t, "worker_finalize_errors_total") >= 1 })
	// Only now somebody starts it again.
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- pg.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b.eventually("the server is back", func() bool { return pg.PID() != pid })
	b.eventually("the result is there", func() bool {
		s, err := b.Submission(t.Context(), id)
		return err == nil && s.Status == judge.Finished && s.AttemptID == 1
	})
	b.audited()
}
