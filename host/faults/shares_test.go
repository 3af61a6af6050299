package faults

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5" //nolint:depguard // the oracle reads the tables itself, past package sql

	"deepoj/host/judge"
	"deepoj/sql"
)

// TestTenThousandJobsAreSharedFairlyByFourWorkersThatRestart hands in 7,000 jobs of
// one person and then 1,000 each of three others. Meanwhile a worker is killed, or
// told to end, twice a second, and comes back. Nothing is lost or doubled, and while
// all four have something to wait for, each gets a quarter.
func TestTenThousandJobsAreSharedFairlyByFourWorkersThatRestart(t *testing.T) {
	const many, few, others = 7000, 1000, 3
	w := newWorld(t, 1)
	w.stepsPerLife, w.shards = 0, 1
	// Turns are as far apart as jobs take all together: nobody's clock runs ahead by
	// more than they handed in before the others came.
	if err := w.store.SaveQueue(t.Context(), judge.Queue{Name: judge.DefaultQueue, Redeliver: redeliver, MaxTries: maxTries, Spacing: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := w.store.PauseQueue(t.Context(), judge.DefaultQueue, true, "test"); err != nil {
		t.Fatal(err)
	}
	w.handIn(t, "greedy", 0, many)
	for i := range others {
		w.handIn(t, "modest"+strconv.Itoa(i), many+i*few, few)
	}
	if err := w.store.PauseQueue(t.Context(), judge.DefaultQueue, false, "test"); err != nil {
		t.Fatal(err)
	}
	w.populate(4, "")
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	for restarts := 0; pause(ctx, 500*time.Millisecond); restarts++ {
		n, err := w.waiting(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n < 500 { // the last go in peace
			break
		}
		w.signal("worker", []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[restarts%2])
		w.count("restarts")
	}
	w.calm.Store(true)
	w.settle(ctx, patience)
	w.dismiss(t)
	w.verify(context.WithoutCancel(ctx))
	w.verifyShares(context.WithoutCancel(ctx), few*9/10)
	if w.counted("restarts") < 4 {
		t.Errorf("workers were restarted %d times only", w.counted("restarts"))
	}
	for _, v := range w.violations() {
		t.Error(v)
	}
	w.report(t)
}

// handIn stores n jobs of somebody whose keys are numbers from first on.
func (w *world) handIn(t *testing.T, user string, first, n int) {
	t.Helper()
	const batch = 500
	for done := 0; done < n; done += batch {
		ns := make([]sql.NewJob, min(batch, n-done))
		for i := range ns {
			key := strconv.Itoa(first + done + i)
			ns[i] = sql.NewJob{
				Problem: "p", Language: "cpp", Author: user, GroupKey: user, IdempotencyKey: key, Sources: []judge.Source{{Name: "main.cpp", Text: key}},
			}
		}
		rs, err := w.store.SubmitMany(t.Context(), ns)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rs {
			w.told[ns[i].IdempotencyKey] = r.JobID
		}
	}
}

// verifyShares looks at the order in which jobs got their results, up to the moment
// at which somebody had enough of them: until then everybody's share is about the same.
func (w *world) verifyShares(ctx context.Context, enough int) {
	conn, err := pgx.Connect(ctx, w.pg.DSN())
	if err != nil {
		w.wrong("%v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "SELECT s.author FROM results r JOIN submissions s USING (job_id) ORDER BY r.created_at, r.job_id")
	if err != nil {
		w.wrong("%v", err)
		return
	}
	shares, most := map[string]int{}, 0
	var author string
	_, err = pgx.ForEachRow(rows, []any{&author}, func() error {
		if most < enough {
			shares[author]++
			most = max(most, shares[author])
		}
		return nil
	})
	if err != nil {
		w.wrong("%v", err)
	}
	for author, n := range shares {
		if n < enough*4/5 {
			w.wrong("%s had %d jobs judged while somebody else had %d: %v", author, n, enough, shares)
		}
	}
	w.say("shares: %s", fmt.Sprint(shares))
	if len(shares) != 4 {
		w.wrong("shares of %d people: %v", len(shares), shares)
	}
}
