package worker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

// numbered changes a submission into the i-th one, which a judger knows by its source.
func numbered(i int) func(*sql.NewJob) {
	return func(n *sql.NewJob) {
		n.Sources = []judge.Source{{Name: "main.cpp", Text: fmt.Sprint("// ", i)}}
	}
}

// tally judges a submission at once, except for those in long, which go on until their channel is closed. It counts.
type tally struct {
	mu     sync.Mutex
	judged map[string]int
	long   map[string]chan struct{}
	begun  chan string // the long ones, as they begin
}

func (c *tally) Judge(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
	source := p.Sources[0].Text
	c.mu.Lock()
	c.judged[source]++
	c.mu.Unlock()
	if let := c.long[source]; let != nil {
		c.begun <- source
		select {
		case <-ctx.Done():
			return judge.Result{}, ctx.Err()
		case <-let:
		}
	}
	return judge.Result{Verdict: judge.AC}, nil
}

func newTally(long ...int) *tally {
	c := &tally{judged: map[string]int{}, long: map[string]chan struct{}{}, begun: make(chan string, len(long))}
	for _, i := range long {
		c.long[fmt.Sprint("// ", i)] = make(chan struct{})
	}
	return c
}

// times returns how often the i-th was judged.
func (c *tally) times(i int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.judged[fmt.Sprint("// ", i)]
}

func TestTinyJobsAreEachJudgedOnceWhileWorkersStopAndOthersCome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Hour)
	const jobs, slots = 600, 4
	var ids []int64
	for i := range jobs {
		ids = append(ids, b.submit(numbered(i)))
	}
	c := newTally()
	cfg := quick()
	cfg.Slots = slots
	b.start(cfg, b.direct(), judgeFunc(c.Judge))
	finished := func() (n int) {
		for _, id := range ids {
			if b.job(id).Status == judge.Finished {
				n++
			}
		}
		return n
	}
	for part := 1; finished() < jobs; part++ {
		h := b.start(cfg, b.direct(), judgeFunc(c.Judge))
		time.Sleep(30 * time.Millisecond)
		h.stop()
		if n := h.count(t, "worker_claimed_ahead"); n != 0 || h.busy() != 0 {
			t.Fatalf("worker %d has stopped with %v jobs that wait, and %d claimed", part, n, h.busy())
		}
	}
	for i, id := range ids {
		if s := b.job(id); s.Tries != 0 || c.times(i) != 1 {
			t.Errorf("job %d was judged %d times and has %d tries; want once and none", id, c.times(i), s.Tries)
		}
	}
	b.audited()
}

// The first seven of the jobs are for one worker of one slot, of which the last takes long.
func TestAnotherWorkerJudgesWhatWaitedBehindAJobThatTakesLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []int64
	for i := range 8 {
		ids = append(ids, b.submit(numbered(i)))
	}
	c := newTally(6)
	first := b.start(quick(), b.direct(), judgeFunc(c.Judge))
	<-c.begun
	b.eventually("another job waits behind it", func() bool { return b.job(ids[7]).AttemptID > 0 })
	second := b.start(quick(), b.direct(), judgeFunc(c.Judge))
	s := b.awaitStatus(ids[7], judge.Finished)
	if s.Result.Worker != second.Owner() || s.Tries != 0 {
		t.Errorf("judged by %s with %d tries, want by %s with none", s.Result.Worker, s.Tries, second.Owner())
	}
	b.eventually("one job is given back", func() bool { return first.count(t, "worker_finalize_total", "status", statusReleased) == 1 })
	if s := b.job(ids[6]); s.Status != judge.Running {
		t.Errorf("the job that takes long is %s, want running", s.Status)
	}
	close(c.long["// 6"])
	b.awaitStatus(ids[6], judge.Finished)
	b.audited()
}

func TestAJobThatIsCancelledWhileItWaitsForASlotIsNeverJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []int64
	for i := range 8 {
		ids = append(ids, b.submit(numbered(i)))
	}
	c := newTally(6)
	h := b.start(quick(), b.direct(), judgeFunc(c.Judge))
	<-c.begun
	if err := b.Cancel(t.Context(), ids[7], "ann", ""); err != nil {
		t.Fatal(err)
	}
	h.Renew()
	b.eventually("only the job that takes long is claimed", func() bool { return h.busy() == 1 })
	close(c.long["// 6"])
	b.awaitStatus(ids[6], judge.Finished)
	b.eventually("nothing is claimed", func() bool { return h.busy() == 0 })
	if s := b.job(ids[7]); s.Status != judge.Cancelled || s.Result != nil || c.times(7) != 0 {
		t.Errorf("the job is %s with result %v, judged %d times; want cancelled, none, never", s.Status, s.Result, c.times(7))
	}
	b.audited()
}
