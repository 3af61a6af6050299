package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// perSecond is how many jobs are handed in, evenly.
const perSecond = 100

// BenchmarkLatency hands in 100 jobs per second, one by one, b.N seconds long,
// and measures from the return of the submit, which is after its commit, to the
// claim; for the others, to the beginning of the work.
func BenchmarkLatency(b *testing.B) {
	h := newHouse(b)
	if b.N > 1 {
		describe()
		fmt.Printf("%-44s %9s %9s %9s %9s\n", "submit to claimed, 100 jobs/s", "p50 ms", "p90", "p99", "p50 at most")
	}
	ours := func(name, redisURL string, apart bool, most float64) {
		o := newOurs(b, h.database(b, "d"+strconv.Itoa(len(name))), redisURL, true)
		c := newClock()
		stop := o.work(b, o.store, 16, func(job int64) { c.begun(strconv.FormatInt(job, 10)) })
		defer stop()
		submitter := o.store
		if apart {
			submitter = openStore(b, o.dsn)
		}
		c.measure(b, name, most, func(ctx context.Context, i int) (string, error) {
			r, err := submitter.Submit(ctx, o.submission(i))
			return strconv.FormatInt(r.JobID, 10), err
		})
	}
	const postgresMost, streamsMost = 1.5, 3
	ours("PostgreSQL, one process", "", false, postgresMost)
	ours("PostgreSQL, submitted elsewhere", "", true, postgresMost)
	ours("streams, one process", h.redis.URL(), false, streamsMost)
	ours("streams and PostgreSQL, submitted elsewhere", h.redis.URL(), true, streamsMost)
	river := newRiver(b, h.database(b, "river"))
	for _, quick := range []bool{true, false} {
		c := newClock()
		client, stop := river.start(b, func(a riverArgs) { c.begun(a.Source) }, quick)
		c.measure(b, map[bool]string{true: "River, fetching every 2 ms", false: "River as it comes"}[quick], 0, func(ctx context.Context, i int) (string, error) {
			key := strconv.Itoa(i)
			_, err := client.Insert(ctx, riverArgs{Source: key}, nil)
			return key, err
		})
		stop()
	}
	c := newClock()
	client, stop := newAsynq(h.redis.Socket).start(b, func(p []byte) {
		var a riverArgs
		if err := json.Unmarshal(p, &a); err != nil {
			b.Error(err)
		}
		c.begun(a.Source)
	})
	defer stop()
	c.measure(b, "asynq as it comes", 0, func(ctx context.Context, i int) (string, error) {
		key := strconv.Itoa(i)
		p, err := json.Marshal(riverArgs{Source: key})
		if err == nil {
			_, err = client.EnqueueContext(ctx, asynq.NewTask("judge", p))
		}
		return key, err
	})
}

// clock remembers when jobs were handed in and when their work began.
type clock struct {
	mu    sync.Mutex
	start map[string]time.Time
	sent  map[string]time.Time
}

func newClock() *clock {
	return &clock{start: map[string]time.Time{}, sent: map[string]time.Time{}}
}

func (c *clock) begun(job string) {
	now := time.Now()
	c.mu.Lock()
	c.start[job] = now
	c.mu.Unlock()
}

func (c *clock) measure(b *testing.B, name string, most float64, submit func(ctx context.Context, i int) (job string, err error)) {
	b.Helper()
	var counted []string
	n := b.N * perSecond
	const warm = perSecond / 2 // not counted
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range warm + n {
		<-tick.C
		job, err := submit(b.Context(), i)
		now := time.Now()
		if err != nil {
			b.Fatal(err)
		}
		c.mu.Lock()
		c.sent[job] = now
		c.mu.Unlock()
		if i >= warm {
			counted = append(counted, job)
		}
	}
	eventually(b, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.start) == warm+n
	})
	if b.N == 1 {
		return
	}
	var took []float64
	for _, key := range counted {
		// Work may begin before its submit has returned.
		took = append(took, float64(max(0, c.start[key].Sub(c.sent[key])).Microseconds())/1000)
	}
	slices.Sort(took)
	bound := ""
	if most > 0 {
		bound = fmt.Sprintf("%.1f", most)
	}
	fmt.Printf("%-44s %9.2f %9.2f %9.2f %9s\n", name, took[n/2], took[n*9/10], took[n*99/100], bound)
}
