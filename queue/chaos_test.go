package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// chaos runs the protocol on a real database and a real Redis, with workers
// that die at every step, while the stream is flushed and trimmed, connections
// are cut, and jobs are cancelled and rejudged. What happened is written down
// beside the system and compared with it at the end.
type chaos struct {
	t       *testing.T
	url     string
	server  *server
	store   *sqltest.Store
	streams *queue.Streams // the dispatcher's
	calm    chan struct{}  // closed when nothing breaks any more

	mu       sync.Mutex
	rng      *rand.Rand
	accepted map[int64]string        // by the clients: job → author
	issued   map[[2]int64]string     // by the workers: job, attempt → token
	written  map[[2]int64]journalled // by the workers: job, generation → result
	staff    map[int64]bool          // jobs that were cancelled or rejudged
	counts   map[string]int          // what broke, for the log
}

type journalled struct {
	attempt int32
	verdict judge.Verdict
}

const (
	chaosLease = 400 * time.Millisecond
	chaosGrace = 100 * time.Millisecond
)

func TestNothingIsLostOrDoubledWhileEverythingBreaks(t *testing.T) {
	for name, direct := range map[string]bool{"streams": false, "postgres": true} {
		t.Run(name, func(t *testing.T) {
			jobs, seed := 300, uint64(time.Now().UnixNano())
			if v := os.Getenv("DEEPOJ_EFFORT"); v != "" {
				times, err := strconv.Atoi(v)
				must(t, err)
				jobs *= times
			}
			if v := os.Getenv("SEED"); v != "" {
				var err error
				seed, err = strconv.ParseUint(v, 10, 64)
				must(t, err)
			}
			t.Logf("SEED=%d", seed)
			newChaos(t, seed).run(jobs, direct)
		})
	}
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	s := newServer(t)
	c := &chaos{
		t: t, server: s, url: s.URL(), store: sqltest.DB(t), streams: s.open(t), calm: make(chan struct{}),
		rng:      rand.New(rand.NewPCG(seed, 1)),
		accepted: map[int64]string{}, issued: map[[2]int64]string{}, written: map[[2]int64]journalled{},
		staff: map[int64]bool{}, counts: map[string]int{},
	}
	must(t, c.store.SaveProblem(t.Context(), judge.Problem{Slug: "p", Version: "v"}, "test"))
	q := judge.Queue{Name: judge.DefaultQueue, Redeliver: 500 * time.Millisecond, MaxTries: 4, Spacing: time.Second}
	must(t, c.store.SaveQueue(t.Context(), q))
	return c
}

func (c *chaos) run(jobs int, direct bool) {
	ctx, stop := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer stop()
	var parts, breaking sync.WaitGroup
	parts.Go(func() { c.sweep(ctx) })
	if !direct {
		parts.Go(func() { c.dispatch(ctx) })
	}
	for w := range 4 {
		parts.Go(func() { c.worker(ctx, fmt.Sprint("w", w), direct) })
	}
	breaking.Go(func() { c.breakThings(ctx) })
	c.submitAll(ctx, jobs)
	c.pause(ctx, 500*time.Millisecond)
	close(c.calm)
	breaking.Wait() // the last of it may be a rejudge
	for ctx.Err() == nil && !c.over(ctx) {
		c.pause(ctx, 20*time.Millisecond)
	}
	if ctx.Err() != nil {
		c.t.Error("some jobs never end")
	}
	stop()
	parts.Wait()
	c.verify()
	c.t.Logf("%d jobs, %v", len(c.accepted), c.counts)
}

// chance is true once in n times, and never when it is calm.
func (c *chaos) chance(n int, what string) bool {
	select {
	case <-c.calm:
		return false
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rng.IntN(n) != 0 {
		return false
	}
	c.counts[what]++
	return true
}

func (c *chaos) intN(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

func (c *chaos) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (c *chaos) wrong(format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Errorf(format, a...)
}

// submitAll submits with keys, and again when the answer was an error.
func (c *chaos) submitAll(ctx context.Context, jobs int) {
	for i := range jobs {
		author := fmt.Sprint("user", i%5)
		n := sql.NewJob{
			Problem: "p", Language: "c", Author: author, IdempotencyKey: strconv.Itoa(i),
			Sources: []judge.Source{{Name: "main.c", Text: "int main;"}},
		}
		for ctx.Err() == nil {
			r, err := c.store.Submit(ctx, n)
			if err != nil {
				continue
			}
			c.mu.Lock()
			c.accepted[r.JobID] = author
			c.mu.Unlock()
			break
		}
		if c.chance(5, "pause between submits") {
			c.pause(ctx, time.Duration(c.intN(20))*time.Millisecond)
		}
	}
}

// dispatch moves tickets to the stream, and dies between the steps.
func (c *chaos) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		ts, err := c.store.Pick(ctx, jobs.PickRequest{Dispatcher: "d", Limit: 1 + c.intN(10)})
		if err != nil || len(ts) == 0 {
			c.pause(ctx, 5*time.Millisecond)
			continue
		}
		if c.chance(30, "dispatcher died before adding") {
			continue
		}
		ids := make([]int64, len(ts))
		for i, t := range ts {
			ids[i] = t.JobID
		}
		entries, err := c.streams.Publish(ctx, ts)
		if err != nil {
			_ = c.store.PublishFailed(ctx, "d", ids, err.Error())
			continue
		}
		if c.chance(20, "added twice") {
			_, _ = c.streams.Publish(ctx, ts)
		}
		if !c.chance(20, "dispatcher died after adding") {
			_, _ = c.store.Published(ctx, "d", ids, entries)
		}
	}
}

// sweep does what the reclaimer and the redriver do.
func (c *chaos) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = c.store.Promote(ctx)
		_, _ = c.store.Redeliver(ctx, 100)
		_, _ = c.store.Reap(ctx, 100, chaosGrace, 100)
		select {
		case <-c.streams.Changed():
			_, _ = c.store.RedeliverAll(ctx)
		default:
		}
		if a, err := c.store.Audit(ctx); err == nil && !a.Zero() {
			c.wrong("audit %+v", a)
		}
		c.pause(ctx, 50*time.Millisecond)
	}
}

// worker lives again and again.
func (c *chaos) worker(ctx context.Context, name string, direct bool) {
	for life := 0; ctx.Err() == nil; life++ {
		me := fmt.Sprintf("%s-%d", name, life)
		var d queue.Delivery = c.store.Delivery("", "", me, nil)
		stop := func() {}
		if !direct {
			q, err := queue.Open(ctx, queue.Config{URL: c.url, Consumer: me, MinIdle: chaosLease, WatchEvery: 50 * time.Millisecond})
			if err != nil {
				c.wrong("open: %v", err)
				return
			}
			d, stop = q, func() { _ = q.Close() }
			if _, err := q.Clean(ctx, nil); err != nil {
				c.pause(ctx, time.Millisecond)
			}
		}
		for ctx.Err() == nil && c.live(ctx, d, me) {
		}
		stop()
	}
}

// live takes and does some work; false means that the worker died.
func (c *chaos) live(ctx context.Context, d queue.Delivery, me string) bool {
	es, err := d.Receive(ctx, 1+c.intN(4), 20*time.Millisecond)
	if err != nil || len(es) == 0 {
		c.pause(ctx, time.Millisecond)
		return true
	}
	if c.chance(40, "worker died after reading") {
		return false
	}
	ids := make([]int64, 0, len(es))
	for _, e := range es {
		ids = append(ids, e.JobID)
	}
	token := fmt.Sprintf("%08x-0000-4000-8000-%012x", c.intN(1<<31), c.intN(1<<40))
	jobs, _, err := c.store.Claim(ctx, ids, me, token, chaosLease)
	if err != nil {
		return true // no answer: no acknowledgement
	}
	for _, j := range jobs {
		c.mu.Lock()
		at := [2]int64{j.JobID, int64(j.AttemptID)}
		if before, twice := c.issued[at]; twice {
			c.t.Errorf("job %d attempt %d was given out twice: %s, %s", j.JobID, j.AttemptID, before, token)
		}
		c.issued[at] = token
		c.mu.Unlock()
	}
	for _, j := range jobs {
		if c.chance(40, "worker died while judging") {
			return false
		}
		if !c.work(ctx, j) {
			return false
		}
	}
	if c.chance(40, "worker died before acknowledging") {
		return false
	}
	_ = d.Ack(ctx, es...)
	return true
}

// work judges one job; false means that the worker died.
func (c *chaos) work(ctx context.Context, j judge.Claim) bool {
	if c.chance(40, "worker paused beyond its lease") {
		c.pause(ctx, chaosLease+chaosGrace+time.Duration(c.intN(100))*time.Millisecond)
	}
	if c.chance(60, "sandbox failed") {
		_, _ = c.store.Fail(ctx, j.Attempt, "chaos", true)
		return true
	}
	if c.chance(30, "worker gave back") {
		_, _ = c.store.Fail(ctx, j.Attempt, "chaos", false)
		return true
	}
	verdict := []judge.Verdict{judge.AC, judge.WA, judge.TLE}[c.intN(3)]
	for ctx.Err() == nil {
		err := c.store.Finalize(ctx, j.Attempt, judge.Result{Verdict: verdict})
		if _, refused := errors.AsType[*judge.RejectedError](err); refused {
			return true
		}
		if err != nil {
			c.pause(ctx, time.Millisecond)
			continue // no answer: ask again
		}
		c.mu.Lock()
		at := [2]int64{j.JobID, int64(j.Generation)}
		if before, twice := c.written[at]; twice {
			c.t.Errorf("job %d generation %d was finished twice: %+v and by attempt %d", j.JobID, j.Generation, before, j.AttemptID)
		}
		c.written[at] = journalled{j.AttemptID, verdict}
		c.mu.Unlock()
		return true
	}
	return true
}

// breakThings until it is calm.
func (c *chaos) breakThings(ctx context.Context) {
	acts := []struct {
		name string
		do   func() error
	}{
		{"flushed", func() error { return c.server.raw.FlushAll(ctx).Err() }},
		{"trimmed", func() error { return c.server.raw.XTrimMaxLen(ctx, stream, 1).Err() }},
		{"group destroyed", func() error { return c.server.raw.XGroupDestroy(ctx, stream, group).Err() }},
		{"redis connections cut", func() error { return c.server.raw.ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes").Err() }},
		{"forged entry", c.forge(ctx)},
		{"job cancelled", func() error { return c.withJob(func(id int64) error { return c.store.Cancel(ctx, id, "staff", "") }) }},
		{"job rejudged", func() error {
			return c.withJob(func(id int64) error {
				_, err := c.store.Rejudge(ctx, []int64{id}, judge.LaneRejudge, "staff")
				return err
			})
		}},
	}
	for ctx.Err() == nil {
		c.pause(ctx, time.Duration(5+c.intN(40))*time.Millisecond)
		act := acts[c.intN(len(acts))]
		if !c.chance(1, act.name) {
			return
		}
		_ = act.do() // what fails has broken something else
	}
}

// forge adds an entry that names a random job, perhaps one that does not exist.
func (c *chaos) forge(ctx context.Context) func() error {
	return func() error {
		ts := tickets(1, 1)
		ts[0].JobID = int64(c.intN(1000))
		_, err := c.streams.Publish(ctx, ts)
		return err
	}
}

// withJob does something with a job that was accepted.
func (c *chaos) withJob(do func(id int64) error) error {
	c.mu.Lock()
	var id int64
	for id = range c.accepted {
		break
	}
	c.staff[id] = true
	c.mu.Unlock()
	if id == 0 {
		return nil
	}
	return do(id)
}

// over reports whether every job has ended.
func (c *chaos) over(ctx context.Context) bool {
	st, err := c.store.QueueStats(ctx)
	return err == nil && st.Pending+st.Delivered+st.Running == 0
}

// verify compares what was written down with what the database says.
func (c *chaos) verify() {
	a, err := c.store.Audit(c.t.Context())
	if err != nil || !a.Zero() {
		c.t.Errorf("audit %+v, %v", a, err)
	}
	for id := range c.accepted {
		v, err := c.store.Submission(c.t.Context(), id)
		if err != nil {
			c.t.Errorf("job %d was accepted: %v", id, err)
			continue
		}
		if !v.Status.Terminal() {
			c.t.Errorf("job %d is %s", id, v.Status)
		}
		if v.Tries > v.MaxTries {
			c.t.Errorf("job %d had %d tries", id, v.Tries)
		}
		if v.Status == judge.Cancelled && !c.staff[id] {
			c.t.Errorf("job %d is cancelled and nobody did it", id)
		}
		w, journal := c.written[[2]int64{id, int64(v.Generation)}]
		switch {
		case v.Status == judge.Finished && !journal:
			c.t.Errorf("job %d is finished and no worker did it", id)
		case journal && v.Status != judge.Finished:
			c.t.Errorf("job %d is %s and was finished by attempt %d", id, v.Status, w.attempt)
		case journal && (v.Result.Verdict != w.verdict || v.AttemptID != w.attempt):
			c.t.Errorf("job %d shows %s of attempt %d, the worker wrote %+v", id, v.Result.Verdict, v.AttemptID, w)
		}
	}
}
