package peers

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// BenchmarkBacklog compares one job's way through an empty queue with its way
// through one in which a million wait (BACKLOG says another number), in turn.
func BenchmarkBacklog(b *testing.B) {
	backlog := 1_000_000
	if v := os.Getenv("BACKLOG"); v != "" {
		var err error
		if backlog, err = strconv.Atoi(v); err != nil {
			b.Fatal(err)
		}
	}
	if b.N == 1 {
		backlog = 1000 // once is only to see that it works
	}
	h := newHouse(b)
	empty := newOurs(b, h.database(b, "queue_empty"), "", true)
	full := newOurs(b, h.database(b, "queue_long"), "", true)
	began := time.Now()
	full.fill(b, backlog)
	filled := time.Since(began)
	empty.settle(b)
	full.settle(b)
	steps := []string{"submit", "position", "pick", "claim", "finalize"}
	took := map[string][2][]float64{}
	for i := range 100 * b.N {
		for side, o := range []*ours{empty, full} {
			for step, d := range o.oneJob(b, i) {
				t := took[steps[step]]
				t[side] = append(t[side], float64(d.Nanoseconds())/1000)
				took[steps[step]] = t
			}
		}
	}
	if b.N == 1 {
		return
	}
	describe()
	fmt.Printf("%d jobs wait; they were handed in within %.0f s\n%-10s %10s %12s %8s %8s\n", backlog, filled.Seconds(), "p50 µs", "empty", "with backlog", "ratio", "below")
	for _, step := range steps {
		t := took[step]
		e, f := median(t[0]), median(t[1])
		fmt.Printf("%-10s %10.0f %12.0f %7.2f× %8s\n", step, e, f, f/e, "1.50×")
		b.ReportMetric(f/e, step+"_x")
	}
}

// fill hands in n jobs of a thousand people.
func (o *ours) fill(b *testing.B, n int) {
	b.Helper()
	const size = 1000
	var all sync.WaitGroup
	for s := range submitters {
		all.Go(func() {
			for first := s * size; first < n; first += submitters * size {
				ns := make([]sql.NewJob, min(size, n-first))
				for i := range ns {
					ns[i] = sql.NewJob{
						Problem: "aplusb", Language: "cpp", Author: "user" + strconv.Itoa(i),
						Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
					}
				}
				if _, err := o.store.SubmitMany(b.Context(), ns); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// oneJob submits a job, asks where it stands, and brings the first of the queue
// to its result. It returns how long each of the five took.
func (o *ours) oneJob(b *testing.B, i int) (took [5]time.Duration) {
	b.Helper()
	ctx := b.Context()
	step := func(n int, f func(ctx context.Context) error) {
		began := time.Now()
		err := f(ctx)
		took[n] = time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
	}
	var mine sql.Receipt
	var tickets []judge.Ticket
	var claimed []judge.Claim
	step(0, func(ctx context.Context) (err error) { mine, err = o.store.Submit(ctx, o.submission(i)); return err })
	step(1, func(ctx context.Context) error { _, err := o.store.Place(ctx, mine.JobID); return err })
	step(2, func(ctx context.Context) (err error) {
		tickets, err = o.store.Pick(ctx, jobs.PickRequest{Dispatcher: "bench", Languages: []string{"cpp"}, Limit: 1})
		return err
	})
	if len(tickets) != 1 {
		b.Fatalf("picked %d jobs", len(tickets))
	}
	step(3, func(ctx context.Context) (err error) {
		claimed, _, err = o.store.Claim(ctx, []int64{tickets[0].JobID}, "bench", "00000000-0000-4000-8000-000000000001", time.Minute)
		return err
	})
	if len(claimed) != 1 {
		b.Fatalf("claimed %d jobs", len(claimed))
	}
	step(4, func(ctx context.Context) error {
		r, _ := accept(judge.Payload{})
		return o.store.Finalize(ctx, claimed[0].Attempt, r)
	})
	return took
}
