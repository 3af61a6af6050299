package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	perRound   = 20_000 // of one round
	batch      = 256    // handed in at once, where that is possible
	submitters = 2
	slots      = 2000 // jobs under way at once, of each
)

// onlyEnv, if set, holds the names of those that take part.
const onlyEnv = "ONLY"

// contestant is a queue under measurement.
type contestant struct {
	name, database string
	system
	rates, costs []float64 // of each round: jobs per second, CPU-µs per job
	parts        []spent
}

type system interface {
	settle(b *testing.B)       // before a round, not measured
	round(b *testing.B, n int) // brings n jobs from submit to result
}

// BenchmarkThroughput has every contestant bring the same load of jobs that do
// nothing from submit to result. They take turns, b.N rounds of it, so that all
// of them see the same machine: ratios hold from machine to machine, times do
// not.
func BenchmarkThroughput(b *testing.B) {
	unused := make([]byte, 32<<20) // as in every role of deepoj, so that memory is collected as rarely; for all contestants
	defer runtime.KeepAlive(unused)
	h := newHouse(b)
	// Those who are compared come one after the other.
	const river, asynq = 1, 4
	cs := []*contestant{
		{name: "full, PostgreSQL", database: "full_postgres"},
		{name: "River", database: "river"},
		{name: "lean, PostgreSQL", database: "lean_postgres"},
		{name: "full, streams", database: "full_streams"},
		{name: "asynq"},
		{name: "lean, streams", database: "lean_streams"},
	}
	for i, c := range cs {
		full := strings.HasPrefix(c.name, "full")
		switch {
		case i == asynq:
			c.system = newAsynq(h.redis.Socket)
		case i == river:
			c.system = newRiver(b, h.database(b, c.database))
		case strings.HasSuffix(c.name, "streams"):
			c.system = newOurs(b, h.database(b, c.database), h.redis.URL(), full)
		default:
			c.system = newOurs(b, h.database(b, c.database), "", full)
		}
	}
	n := perRound
	if b.N == 1 { // once is only to see that it works
		n = perRound / 10
	}
	for round := range b.N + 1 { // the first fills caches
		for _, c := range cs {
			if only := os.Getenv(onlyEnv); only != "" && !strings.Contains(only, c.name) {
				continue
			}
			c.settle(b)
			before, began := h.cpu(b), time.Now()
			c.round(b, n)
			wall, used := time.Since(began), h.cpu(b).minus(before)
			if round > 0 {
				c.rates = append(c.rates, float64(n)/wall.Seconds())
				c.costs = append(c.costs, micros(used.total(), n))
				c.parts = append(c.parts, used)
			}
		}
	}
	if b.N == 1 {
		return
	}
	describe()
	fmt.Printf("%-20s %9s %9s %6s %6s %6s %10s %10s\n", "no-op jobs", "jobs/s", "µs/job", "Go", "pg", "redis", "× River", "× asynq")
	for i, c := range cs {
		if len(c.rates) == 0 {
			continue
		}
		p := c.part(n)
		fmt.Printf("%-20s %9.0f %9.1f %6.1f %6.1f %6.1f %9.2f× %9.2f×\n", c.name, median(c.rates), median(c.costs), p[0], p[1], p[2],
			against(c, cs[river]), against(c, cs[asynq]))
		if i != river && i != asynq {
			b.ReportMetric(against(c, cs[river]), strings.NewReplacer(" ", "_", ",", "").Replace(c.name)+"_x_river")
		}
	}
	if counted() {
		for _, c := range cs {
			if c.database != "" {
				h.statements(b, c.database)
			}
		}
	}
	fmt.Println("wanted: full at least 1.0× River and 0.8× asynq, lean at least 1.3× River")
}

// against is the median, over the rounds, of how many times as many jobs per
// second c did as d in the same round.
func against(c, d *contestant) float64 {
	var xs []float64
	for i := range min(len(c.rates), len(d.rates)) {
		xs = append(xs, c.rates[i]/d.rates[i])
	}
	return median(xs)
}

// part is the median CPU-µs per job of this process, PostgreSQL and Redis.
func (c *contestant) part(n int) [3]float64 {
	var self, pg, redis []float64
	for _, p := range c.parts {
		self, pg, redis = append(self, micros(p.self, n)), append(pg, micros(p.postgres, n)), append(redis, micros(p.redis, n))
	}
	return [3]float64{median(self), median(pg), median(redis)}
}

func micros(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(n) }

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}

// submitAll hands in n jobs, in batches by several at once.
func submitAll(b *testing.B, n int, submit func(ctx context.Context, first, n int) error) {
	b.Helper()
	var all sync.WaitGroup
	for s := range submitters {
		all.Go(func() {
			for first := s * batch; first < n; first += submitters * batch {
				if err := submit(b.Context(), first, min(batch, n-first)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// eventually waits until is.
func eventually(b *testing.B, is func() bool) {
	b.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	patience := time.After(time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-patience:
			b.Fatal("waited a minute in vain")
		}
	}
}

// describe says what was measured on.
func describe() {
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output()
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\ncommit %s, %s, Linux %s, %d cores, load %s", strings.TrimSpace(string(commit)), runtime.Version(),
		strings.TrimSpace(string(kernel)), runtime.NumCPU(), load)
}
