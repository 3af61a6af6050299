package capacity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/worker"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// Commits measures how many small transactions per second the database commits,
// one after the other and from eight clients at once. It leaves a row behind.
func Commits(ctx context.Context, queue *jobs.Queue, during time.Duration) (figures []Figure, err error) {
	for _, clients := range []int{1, 8} {
		rate, took, err := each(ctx, clients, during, func(ctx context.Context, i int) error {
			return queue.WorkerBeat(ctx, judge.WorkerInfo{Name: fmt.Sprint("capacity-", i), Pool: "capacity"})
		})
		if err != nil {
			return figures, err
		}
		figures = append(figures, Figure{fmt.Sprintf("PostgreSQL commits, %d at once", clients), rate, "1/s", described(took)})
	}
	return figures, nil
}

// Jobs measures how many jobs per second pass from handing in to the stored result when judging takes no time, through
// a worker of this process straight from the database. The database must be empty but for its schema.
func Jobs(ctx context.Context, db *sql.DB, n int) ([]Figure, error) {
	const slug, language, batch, slots = "capacity", "none", 256, 16
	if err := db.Site.SaveProblem(ctx, judge.Problem{Slug: slug, Title: slug, Version: "sha256:00"}, slug); err != nil {
		return nil, err
	}
	idle := idle{left: n, done: make(chan struct{})}
	w, err := worker.New(worker.Config{
		Name: slug, Slots: slots,
		Languages: func(context.Context) []judge.Language { return []judge.Language{{ID: language, Available: true}} },
	}, &stored{db.Queue, &idle}, db.Queue.Delivery("", "", slug, nil), &idle, liveness.NewPostgres(db.Queue, 0))
	if err != nil {
		return nil, err
	}
	submissions := make([]sql.NewJob, n)
	for i := range submissions {
		submissions[i] = sql.NewJob{Problem: slug, Language: language, Sources: []judge.Source{{Name: "a", Text: "a"}}}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- w.Run(ctx) }()
	for some := range slices.Chunk(submissions, batch) {
		if _, err := db.Site.SubmitMany(ctx, some); err != nil {
			stop()
			return nil, errors.Join(err, <-ended)
		}
	}
	select {
	case <-idle.done:
	case <-ctx.Done():
	}
	rate := float64(n) / time.Since(began).Seconds()
	cut := ctx.Err()
	stop()
	if err := <-ended; err != nil {
		return nil, err
	}
	return []Figure{{"jobs through the queue", rate, "1/s", fmt.Sprintf("%d jobs with nothing to judge, %d slots", n, slots)}}, cut
}

// idle judges nothing, and counts results that are stored.
type idle struct {
	mu   sync.Mutex
	left int
	done chan struct{}
}

// Judge implements [worker.Judger].
func (*idle) Judge(context.Context, judge.Payload, blob.Digest, func(judge.Progress)) (judge.Result, error) {
	return judge.Result{Verdict: judge.AC}, nil
}

func (i *idle) one() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.left--; i.left == 0 {
		close(i.done)
	}
}

// stored is a queue that tells of results.
type stored struct {
	*jobs.Queue
	idle *idle
}

// FinalizeThen implements [worker.Store].
func (s *stored) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	s.Queue.FinalizeThen(ctx, a, r, last, func(err error) {
		if err == nil {
			s.idle.one()
		}
		then(err)
	})
}

// Finalize implements [worker.Store].
func (s *stored) Finalize(ctx context.Context, a judge.Attempt, r judge.Result, last ...judge.Progress) error {
	err := s.Queue.Finalize(ctx, a, r, last...)
	if err == nil {
		s.idle.one()
	}
	return err
}
