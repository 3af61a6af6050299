package scheduler

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/queue"
	"deepoj/sql/jobs"
)

func TestALostWorkersJobsGoToAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.submit(20)
	if _, _, err := b.Claim(t.Context(), ids, "lost", "00000000-0000-4000-8000-000000000001", 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	d := b.dispatcher(&shelf{})
	r, err := NewReclaimer(ReclaimerConfig{
		Interval: 100 * time.Millisecond, Count: 3, Grace: time.Millisecond, Wake: d.Wake, Log: b.log, Registerer: b.reg,
	}, b.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.run(r)
	b.eventually("all are ready again", func() bool { return b.stats().Pending == 20 })
	b.eventually("the reclaims are counted", func() bool { // which follows the statement
		return b.figure("worker_reclaim_total", "status", statusOK, "reason", "claimed") >= 20 && b.figure("worker_reclaim_latency_ms") > 0
	})
	if got := b.figure("worker_reclaim_total", "status", statusOK, "reason", "claimed"); got != 20 {
		t.Errorf("%v reclaims counted, want 20", got)
	}
	for _, id := range ids {
		s, err := b.Submission(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Tries != 1 {
			t.Errorf("job %d has %d tries, want 1: a lost worker counts", id, s.Tries)
		}
	}
	b.run(b.worker(b.Delivery("", "", "w", nil), 4, accept, nil))
	b.allFinished(ids)
}

func TestEntriesOfLostWorkersAreTidiedUp(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	lost, well := r.streams(), r.streams()
	ids := b.submit(2)
	ids = append(ids, 999) // there is no such job
	for _, id := range ids {
		if _, err := lost.Publish(t.Context(), []judge.Ticket{{JobID: id, PayloadRef: "pg:1"}}); err != nil {
			t.Fatal(err)
		}
	}
	if es, err := lost.Receive(t.Context(), 3, time.Second); err != nil || len(es) != 3 {
		t.Fatalf("received %v (%v)", es, err)
	}
	jobs, _, err := b.Claim(t.Context(), ids[:1], "slow", "00000000-0000-4000-8000-000000000001", time.Hour)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %v (%v)", jobs, err)
	}
	c, err := NewReclaimer(ReclaimerConfig{Interval: 200 * time.Millisecond, Log: b.log, Registerer: b.reg}, b.Store, well)
	if err != nil {
		t.Fatal(err)
	}
	b.run(c)
	left := func(n int64) func() bool {
		return func() bool {
			s, err := well.Stats(t.Context())
			return err == nil && s.Pending == n && s.Length == n
		}
	}
	b.eventually("only the entry of the job that a worker has is left", left(1))
	b.eventually("it was looked at", func() bool {
		return b.figure("worker_reclaim_total", "reason", string(judge.ReasonLeaseStillValid)) > 0
	})
	for _, reason := range []judge.Reason{judge.ReasonDoneOrStale, judge.ReasonNotFound} {
		b.eventually("it is counted", func() bool { return b.figure("worker_reclaim_total", "reason", string(reason)) > 0 })
		if n := b.figure("worker_reclaim_total", "reason", string(reason)); n != 1 {
			t.Errorf("%v entries were removed because of %s, want 1", n, reason)
		}
	}
	if err := b.Finalize(t.Context(), jobs[0].Attempt, judge.Result{Verdict: judge.AC}); err != nil {
		t.Fatal(err)
	}
	b.eventually("nothing is left of them", left(0))
}

// ledger is a database for redrivers in false time.
type ledger struct {
	mu        sync.Mutex
	promoted  int
	redeliver []int // how many each call returns
	all       []time.Duration
	began     time.Time
	failing   func() bool
}

// sent returns when everything was to be sent again.
func (l *ledger) sent() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func (l *ledger) Promote(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.promoted++
	return 0, nil
}

func (l *ledger) Redeliver(_ context.Context, _ int) ([]int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.redeliver) == 0 {
		return nil, nil
	}
	n := l.redeliver[0]
	l.redeliver = l.redeliver[1:]
	return make([]int64, n), nil
}

func (l *ledger) RedeliverAll(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, time.Since(l.began))
	if l.failing() {
		return 0, errors.New("connection refused")
	}
	return 3, nil
}

func TestALostQueueIsSentAgainAtOnceAndUntilThatWorked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{began: time.Now()}
		l.failing = func() bool { return time.Since(l.began) < 15*time.Second }
		changed := make(chan struct{})
		var woken atomic.Int32
		r, err := NewRedriver(RedriverConfig{Changed: changed, Wake: func() { woken.Add(1) }}, l)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-time.After(10 * time.Second)
		synctest.Wait()
		if all := l.sent(); len(all) != 0 {
			t.Errorf("everything was sent again for no reason: %v", all)
		}
		changed <- struct{}{}
		synctest.Wait()
		if all := l.sent(); len(all) != 1 || all[0] != 10*time.Second {
			t.Errorf("sent again at %v, want at 10s", all)
		}
		<-time.After(20 * time.Second)
		synctest.Wait()
		if all := l.sent(); len(all) < 4 || len(all) > 8 || all[len(all)-1] > 17*time.Second {
			t.Errorf("sent again at %v, want about every second until it worked at 15s", all)
		}
		if n := woken.Load(); n != 1 {
			t.Errorf("the dispatcher was woken %d times, want once", n)
		}
		r.Resend()
		synctest.Wait()
		all := l.sent()
		if last := all[len(all)-1]; last != 30*time.Second {
			t.Errorf("asked for at 30s, sent again at %s", last)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}

func TestLostDeliveriesAreTakenInPortionsUntilNoneIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{began: time.Now(), redeliver: []int{10, 10, 4, 7}}
		woken := 0
		r, err := NewRedriver(RedriverConfig{Limit: 10, Wake: func() { woken++ }}, l)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		if len(l.redeliver) != 1 || woken != 3 || l.promoted != 1 {
			t.Errorf("%d portions left, woken %d times, promoted %d times; want 1, 3, 1", len(l.redeliver), woken, l.promoted)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}

// reaper is a database for reclaimers in false time.
type reaper struct{ calls int }

func (r *reaper) Reap(context.Context, int, time.Duration, int) ([]jobs.Reaped, error) {
	r.calls++
	return nil, errors.New("connection refused")
}

func (r *reaper) Standings(context.Context, []int64) (map[int64]judge.Reason, error) {
	return nil, errors.New("connection refused")
}

func (r *reaper) Clean(context.Context, func(context.Context, []int64) ([]int64, error)) (queue.Cleaned, error) {
	return queue.Cleaned{}, errors.New("connection refused")
}

func TestAReclaimerOutlivesEveryOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &reaper{}
		b := bench{t: t, reg: prometheus.NewRegistry()}
		r, err := NewReclaimer(ReclaimerConfig{Registerer: b.reg}, db, db)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
		if db.calls < 10 || db.calls > 16 {
			t.Errorf("%d looks in a minute, want one about every 5 s", db.calls)
		}
		if n := b.figure("worker_reclaim_total", "status", statusError, "reason", string(judge.ReasonDBError)); n != float64(db.calls) {
			t.Errorf("%g looks are counted that got no answer, want all %d", n, db.calls)
		}
	})
}

// outage is a database that is away for some time, in false time.
type outage struct {
	from, to time.Time
	graces   []time.Duration // asked for since it is back
}

func (o *outage) Reap(_ context.Context, _ int, grace time.Duration, _ int) ([]jobs.Reaped, error) {
	switch now := time.Now(); {
	case now.Before(o.from):
	case now.Before(o.to):
		return nil, errors.New("connection refused")
	default:
		o.graces = append(o.graces, grace)
	}
	return nil, nil
}

func (o *outage) Standings(context.Context, []int64) (map[int64]judge.Reason, error) { return nil, nil }

func TestAfterAnOutageWorkersHaveTheGraceToRecordTheirResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const long, grace = 10 * time.Minute, 15 * time.Second
		now := time.Now()
		db := &outage{from: now.Add(time.Minute), to: now.Add(time.Minute + long)}
		r, err := NewReclaimer(ReclaimerConfig{Grace: grace}, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+long)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
		if len(db.graces) < 8 {
			t.Fatalf("%d looks after the outage, want one about every 5 s", len(db.graces))
		}
		if first := db.graces[0]; first < long+grace {
			t.Errorf("the first look after the outage takes jobs %s after their lease, want none whose lease ran out in the outage", first)
		}
		if last := db.graces[len(db.graces)-1]; last != grace {
			t.Errorf("a minute later jobs are taken %s after their lease, want %s", last, grace)
		}
	})
}
