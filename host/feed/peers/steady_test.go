package peers

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

const rate = 2000 // events in a second

// steady writes events, each in a transaction of its own, at the rate until ctx ends, and counts them.
func (h *house) steady(ctx context.Context, b *testing.B, written *atomic.Int64) {
	conn, err := pgx.Connect(ctx, h.pg.DSN(b, ""))
	if err != nil {
		b.Error(err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		if ahead := time.Duration(n)*time.Second/rate - time.Since(began); ahead > 0 {
			time.Sleep(ahead)
		}
		// Not ended by ctx: what is under way is committed, and so counted.
		if _, err := conn.Exec(context.WithoutCancel(ctx), "INSERT INTO single_events (job_id, generation, attempt, kind, data, at) VALUES ($1, 1, 1, 'test', $2, clock_timestamp())",
			int64(n%jobs+1), data); err != nil {
			b.Error(err)
			return
		}
		written.Add(1)
	}
}

// follower reads the topic, and holds it against what was written.
type follower struct {
	client   *kgo.Client
	lags     []time.Duration
	last     map[string]int64 // the newest event of each job
	came     int64
	reversed int64 // that came after a later one of the same job
}

func follow(b *testing.B, address string) *follower {
	b.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	return &follower{client: client, last: map[string]int64{}}
}

// poll takes what is there.
func (f *follower) poll(ctx context.Context, b *testing.B) {
	b.Helper()
	fetches := f.client.PollFetches(ctx)
	now := time.Now()
	for _, e := range fetches.Errors() {
		if ctx.Err() == nil {
			b.Fatal(e.Err)
		}
	}
	fetches.EachRecord(func(r *kgo.Record) {
		var e struct {
			Seq int64     `json:"seq"`
			At  time.Time `json:"at"`
		}
		if err := json.Unmarshal(r.Value, &e); err != nil {
			b.Fatal(err)
		}
		f.came++
		f.lags = append(f.lags, now.Sub(e.At))
		if key := string(r.Key); f.last[key] >= e.Seq {
			f.reversed++
		} else {
			f.last[key] = e.Seq
		}
	})
}

// run starts a feed that goes on until the benchmark ends, on a slot that is there.
func (h *house) run(b *testing.B, address string) {
	b.Helper()
	spend(b, h.child(b, "feed", "steady", address, 0))
	cmd := h.child(b, "feed", "steady", address, -1)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		b.ReportMetric(float64(usedBy(cmd, 0).memory)/(1<<20), "MiB")
	})
}

// BenchmarkLag measures the time from the moment before a commit to the moment at which a consumer has the event.
func BenchmarkLag(b *testing.B) {
	h := newHouse(b)
	address, _ := h.broker(b)
	f := follow(b, address)
	h.run(b, address)
	var written atomic.Int64
	ctx, stop := context.WithTimeout(b.Context(), time.Duration(min(b.N, 6))*10*time.Second)
	defer stop()
	go h.steady(ctx, b, &written)
	for ctx.Err() == nil {
		f.poll(ctx, b)
	}
	for f.came < written.Load() {
		f.poll(b.Context(), b)
	}
	f.lags = f.lags[min(rate, len(f.lags)-1):] // the first second finds everything cold
	b.ReportMetric(float64(percentile(f.lags, .5).Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(percentile(f.lags, .99).Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(f.reversed), "reversed")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAway stops the broker for AWAY while events come, and lets it go on.
func BenchmarkAway(b *testing.B) {
	away, err := time.ParseDuration(os.Getenv("AWAY"))
	if err != nil {
		away = 5 * time.Minute
	}
	h := newHouse(b)
	address, broker := h.broker(b)
	f := follow(b, address)
	h.run(b, address)
	var written atomic.Int64
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); h.steady(ctx, b, &written) }()
	for f.came < rate {
		f.poll(b.Context(), b)
	}
	if err := broker.Signal(syscall.SIGSTOP); err != nil {
		b.Fatal(err)
	}
	var retained int64
	for until := time.Now().Add(away); time.Now().Before(until); time.Sleep(time.Second) {
		kept, err := strconv.ParseInt(h.pg.Ask(b, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), restart_lsn)::bigint FROM pg_replication_slots WHERE slot_name = 'steady'"), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		retained = max(retained, kept)
	}
	if err := broker.Signal(syscall.SIGCONT); err != nil {
		b.Fatal(err)
	}
	before, began := f.came, time.Now()
	for f.came == before {
		f.poll(b.Context(), b)
	}
	back := time.Since(began) // how long it took to notice that Kafka is there
	before, began = f.came, time.Now()
	for f.came < written.Load()-rate/10 {
		f.poll(b.Context(), b)
	}
	caughtUp := float64(f.came-before) / time.Since(began).Seconds()
	stop()
	<-done
	deadline, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for f.came < written.Load() && deadline.Err() == nil {
		f.poll(deadline, b)
	}
	b.Logf("%d events; Kafka was noticed after %s", written.Load(), back.Round(time.Millisecond))
	b.ReportMetric(float64(retained)/(1<<20), "MiB-retained")
	b.ReportMetric(caughtUp/rate, "of-the-rate")
	b.ReportMetric(float64(written.Load()-f.came), "lost")
	b.ReportMetric(float64(f.reversed), "reversed")
	b.ReportMetric(0, "ns/op")
	if f.came != written.Load() || f.reversed > 0 {
		b.Errorf("%d of %d events came, %d of them out of order", f.came, written.Load(), f.reversed)
	}
}
