package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// shelf is a delivery that keeps what is published, for tests that look at the
// dispatcher alone.
type shelf struct {
	mu      sync.Mutex
	jobs    []int64
	fail    error
	publish func(ctx context.Context) // called first
}

func (s *shelf) Publish(ctx context.Context, ts []judge.Ticket) ([]string, error) {
	if s.publish != nil {
		s.publish(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	entries := make([]string, len(ts))
	for i, t := range ts {
		s.jobs = append(s.jobs, t.JobID)
		entries[i] = entryOf(t.JobID)
	}
	return entries, nil
}

// entryOf is where a job lies on a shelf.
func entryOf(id int64) string { return fmt.Sprintf("%d-7", id) }

func (s *shelf) Receive(context.Context, int, time.Duration) ([]judge.Entry, error) { return nil, nil }

func (s *shelf) Ack(context.Context, ...judge.Entry) error { return nil }

func (s *shelf) published() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.jobs)
}

func (s *shelf) breakdown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func TestOnlyAWindowIsPublishedAndClaimsMakeRoom(t *testing.T) {
	t.Parallel()
	b, s := newBench(t), &shelf{}
	b.seen(2, "cpp")
	ids := b.submit(60)
	b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	const window = 2*2 + 32
	b.eventually("the window is full", func() bool { return len(s.published()) >= window })
	<-time.After(5 * windowAge) // would be long enough for more
	if got := s.published(); len(got) != window || !slices.Equal(got, ids[:window]) {
		t.Errorf("published %v, want the first %d in their order", got, window)
	}
	if _, _, err := b.Claim(t.Context(), ids[:10], "w", "00000000-0000-4000-8000-000000000001", time.Minute); err != nil {
		t.Fatal(err)
	}
	b.eventually("ten more are published and counted", func() bool {
		return len(s.published()) == window+10 && b.figure("api_outbox_dispatch_latency_seconds") >= window+10
	})
	if got := b.figure("api_outbox_dispatch_total", "status", statusOK); got != window+10 {
		t.Errorf("counted %v, want %d", got, window+10)
	}
	if got := b.figure("api_outbox_dispatch_latency_seconds"); got != window+10 {
		t.Errorf("%v latencies, want %d", got, window+10)
	}
	b.audited()
}

func TestNothingIsPublishedForNobody(t *testing.T) {
	t.Parallel()
	b, s := newBench(t), &shelf{}
	cpp := b.submit(1)
	b.submit(1, func(n *sql.NewJob) { n.Language = "rust" })
	b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	b.eventually("the dispatcher looked", func() bool {
		return b.figure("api_outbox_dispatch_total", "status", statusIdle, "reason", string(judge.ReasonNoLiveWorker)) > 0
	})
	if got := s.published(); len(got) != 0 {
		t.Errorf("published %v without a worker", got)
	}
	b.seen(1, "cpp")
	b.eventually("what can be served is published", func() bool { return len(s.published()) > 0 })
	if got := b.stats(); !slices.Equal(s.published(), cpp) || got.Pending != 1 {
		t.Errorf("published %v, %d wait; want %v, and the other language to wait", s.published(), got.Pending, cpp)
	}
}

func TestASubmitWakesTheDispatcher(t *testing.T) {
	t.Parallel()
	b, s := newBench(t), &shelf{}
	b.seen(1, "cpp")
	b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.PollInterval, c.WorkerAge = time.Hour, time.Hour }))
	for i := range 3 {
		b.submit(1)
		b.eventually("it is published long before the poll", func() bool { return len(s.published()) == i+1 })
	}
}

func TestTwoDispatchersPublishEachJobOnce(t *testing.T) {
	t.Parallel()
	b, s := newBench(t), &shelf{}
	b.seen(100, "cpp")
	ids := b.submit(150)
	for range 2 {
		b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.Batch, c.WorkerAge = 7, time.Hour }))
	}
	b.eventually("all are published", func() bool { return len(s.published()) >= len(ids) })
	if got := slices.Sorted(slices.Values(s.published())); !slices.Equal(got, ids) {
		t.Errorf("published %v, want each of %v once", got, ids)
	}
}

func TestABrokenQueueIsProbedWithSingleJobs(t *testing.T) {
	t.Parallel()
	b, s := newBench(t), &shelf{fail: errors.New("connection refused")}
	b.seen(50, "cpp")
	b.submit(100)
	r := b.redriver(nil, nil)
	d := b.dispatcher(s, func(c *DispatcherConfig) { c.WorkerAge = time.Hour; c.Batch = 10 })
	b.run(d)
	b.eventually("three tries failed", func() bool {
		return b.figure("api_outbox_dispatch_total", "status", statusError, "reason", string(reasonPublish)) >= 12
	})
	waiting := 0
	all, err := b.Submissions(t.Context(), sql.Filter{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		if j.QueueState == "R" {
			waiting++
		}
		if j.Tries != 0 {
			t.Errorf("job %d has %d tries; a broken queue is not its fault", j.JobID, j.Tries)
		}
	}
	if waiting < 100-15 { // the first batch of ten, and probes
		t.Errorf("only %d jobs keep their turn", waiting)
	}
	s.breakdown(nil)
	b.run(r)
	b.eventually("all are published", func() bool { return len(s.published()) == 100 })
	b.audited()
}

func TestAStopLeavesNothingPickedAndUnpublished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seen(50, "cpp")
	b.submit(5)
	began := make(chan struct{})
	s := &shelf{publish: func(ctx context.Context) {
		close(began)
		select {
		case <-ctx.Done():
			t.Error("a stop interrupts publishing")
		case <-time.After(300 * time.Millisecond):
		}
	}}
	stop := b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	<-began
	stop()
	if got := b.stats(); int64(len(s.published())) != got.Delivered {
		t.Errorf("%d published, %d marked as delivered", len(s.published()), got.Delivered)
	}
}

func TestWhatLiesInTheStreamIsNotedWithItsEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seen(50, "cpp")
	noted := func() string {
		return sqltest.One[string](t, b.Store, "SELECT coalesce(string_agg(job_id || ' at ' || stream_entry_id, ', ' ORDER BY job_id), '') FROM outbox_events WHERE state = 'D'")
	}
	want := func(ids ...int64) string {
		var all []string
		for _, id := range ids {
			all = append(all, fmt.Sprintf("%d at %s", id, entryOf(id)))
		}
		return strings.Join(all, ", ")
	}
	ids := b.submit(3)
	stop := b.run(b.dispatcher(&shelf{}, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	b.eventually("a running dispatcher notes the entries", func() bool { return noted() == want(ids...) })
	stop()

	// One that is told to stop as soon as it has published notes them, too.
	late := b.submit(2)
	s := &shelf{}
	stop = b.run(b.dispatcher(s, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	b.eventually("all are published", func() bool { return len(s.published()) == len(late) })
	stop()
	if got := noted(); got != want(append(ids, late...)...) {
		t.Errorf("after the stop %q is noted, want %q", got, want(append(ids, late...)...))
	}
}

// scripted is a database for tests in false time.
type scripted struct {
	err    error
	mu     sync.Mutex
	picks  int
	listen chan string
}

func (s *scripted) Pick(context.Context, jobs.PickRequest) ([]judge.Ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.picks++
	return nil, s.err
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.picks
}

func (s *scripted) Published(context.Context, string, []int64, []string) ([]int64, error) {
	return nil, nil
}

func (s *scripted) LeaseShards(context.Context, string, string, string, int, time.Duration) ([]int32, error) {
	return nil, nil
}

func (s *scripted) ReleaseShards(context.Context, string, string, string) error { return nil }

func (s *scripted) PublishFailed(context.Context, string, []int64, string) error { return nil }

func (s *scripted) Outstanding(context.Context, string) (int64, error) { return 0, nil }

func (s *scripted) Workers(context.Context, time.Duration) ([]judge.WorkerInfo, error) {
	return []judge.WorkerInfo{{Pool: judge.DefaultPool, Slots: 1}, {Pool: "gpu", Slots: 64}}, nil
}

func (s *scripted) Listen(ctx context.Context, _ string, fn func(string)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case p := <-s.listen:
			fn(p)
		}
	}
}

func TestTheDatabaseIsPolledOnceASecondAndLessOftenWhenItFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err         error
		least, most int // picks in a minute
	}{
		"well":   {nil, 50, 75},
		"broken": {errors.New("connection refused"), 10, 20},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{err: tt.err, listen: make(chan string)}
				b := bench{t: t, reg: prometheus.NewRegistry()}
				d, err := NewDispatcher(DispatcherConfig{Name: "test", Registerer: b.reg}, s, &shelf{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := d.Run(ctx); err != nil {
					t.Errorf("Run returned %v, want nil", err)
				}
				if n := s.count(); n < tt.least || n > tt.most {
					t.Errorf("%d picks in a minute, want %d to %d", n, tt.least, tt.most)
				}
				broken := b.figure("api_outbox_dispatch_total", "status", statusError, "reason", string(judge.ReasonDBError))
				if (broken > 0) != (tt.err != nil) {
					t.Errorf("%g picks are counted that got no answer", broken)
				}
			})
		})
	}
}

func TestSignalsAreFollowedAtOnceUnlessJobsAreHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{listen: make(chan string)}
		hold := false
		d, err := NewDispatcher(DispatcherConfig{Name: "test", PollInterval: time.Hour, Hold: func() bool { return hold }}, s, &shelf{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		synctest.Wait()
		if s.count() != 1 {
			t.Fatalf("%d picks at the start, want 1", s.count())
		}
		s.listen <- ""
		synctest.Wait()
		d.Wake()
		synctest.Wait()
		if s.count() != 3 {
			t.Errorf("%d picks after two signals, want 3", s.count())
		}
		hold = true
		d.Wake()
		synctest.Wait()
		if s.count() != 3 {
			t.Errorf("%d picks while jobs are held, want 3", s.count())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}

func TestConfigsNameEveryWrongField(t *testing.T) {
	t.Parallel()
	_, e1 := NewDispatcher(DispatcherConfig{Batch: -1, PollInterval: -1, WorkerAge: -1}, &scripted{}, &shelf{})
	_, e2 := NewReclaimer(ReclaimerConfig{Interval: -1, Count: -1, Grace: -1}, nil, nil)
	_, e3 := NewRedriver(RedriverConfig{Interval: -1, Limit: -1}, nil)
	_, e4 := NewSwitch(SwitchConfig{Interval: -1, Timeout: -1, Quiet: -1}, nil, nil)
	for err, fields := range map[error]string{
		e1: "Name Batch PollInterval WorkerAge", e2: "Interval Count Grace", e3: "Interval Limit", e4: "Interval Timeout Quiet",
	} {
		for f := range strings.FieldsSeq(fields) {
			if err == nil || !strings.Contains(err.Error(), f) {
				t.Errorf("%v does not name %s", err, f)
			}
		}
	}
}

func TestShardsOfAStoppedDispatcherGoToTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seen(100_000, "cpp")
	a, z := &shelf{}, &shelf{}
	sharded := func(c *DispatcherConfig) {
		c.WorkerAge, c.Shards, c.ShardLease, c.PollInterval = time.Hour, 8, 300*time.Millisecond, 20*time.Millisecond
	}
	stop := b.run(b.dispatcher(a, sharded))
	b.run(b.dispatcher(z, sharded))
	b.eventually("the shards are shared", func() bool {
		n := 0
		for _, s := range []*shelf{a, z} {
			b.submit(20)
			if len(s.published()) > 0 {
				n++
			}
		}
		return n == 2
	})
	stop()
	before := len(z.published())
	b.submit(20)
	b.eventually("all are published", func() bool { return b.stats().Pending == 0 && len(z.published()) >= before+20 })
	all := append(a.published(), z.published()...)
	slices.Sort(all)
	if n := len(all); n != len(slices.Compact(all)) {
		t.Errorf("%d jobs were published twice", n-len(slices.Compact(all)))
	}
	b.audited()
}
