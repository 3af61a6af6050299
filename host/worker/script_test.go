package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
)

// script is a database that does what a test says, at times of its choosing, so
// that time can be false. The tests against a real one are in worker_test.go.
type script struct {
	began time.Time

	mu        sync.Mutex
	log       []string // what was asked, with the second at which it was
	heartbeat func(as []judge.Attempt) ([]int64, error)
	progress  func(n int) error
	slow      func(ctx context.Context) error // if set, what storing progress begins with
	finalize  func(n int) error
	late      chan struct{} // if set, when a result is answered that was not waited for
	finals    int
	flushes   int
	last      int // progress that came with the last result
	created   time.Time
}

func newScript() *script {
	return &script{
		began: time.Now(),
		heartbeat: func(as []judge.Attempt) (ids []int64, err error) {
			for _, a := range as {
				ids = append(ids, a.JobID)
			}
			return ids, nil
		},
		progress: func(int) error { return nil },
		finalize: func(int) error { return nil },
	}
}

func (s *script) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%.2fs ", time.Since(s.began).Seconds())+fmt.Sprintf(format, args...))
}

// asked returns what was asked that begins with prefix, such as "progress".
func (s *script) asked(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.log), func(l string) bool {
		_, what, _ := strings.Cut(l, " ")
		return !strings.HasPrefix(what, prefix)
	})
}

func (s *script) Claim(_ context.Context, ids []int64, owner, token string, _ time.Duration) (jobs []judge.Claim, rejected []judge.RejectedError, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("claim %v", ids)
	for _, id := range ids {
		jobs = append(jobs, judge.Claim{
			Attempt: judge.Attempt{JobID: id, AttemptID: 1, Owner: owner, Token: token}, Kind: judge.KindSubmission, Created: s.created,
			Payload: rawPayload(nil), ProblemVersion: "sha256:aa",
		})
	}
	return jobs, nil, nil
}

func (s *script) Heartbeat(_ context.Context, as []judge.Attempt, _ time.Duration) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("heartbeat")
	return s.heartbeat(as)
}

func (s *script) Progress(ctx context.Context, _ judge.Attempt, ps []judge.Progress) error {
	if s.slow != nil {
		if err := s.slow(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("progress %d", len(ps))
	s.flushes++
	return s.progress(s.flushes)
}

func (s *script) Finalize(_ context.Context, _ judge.Attempt, _ judge.Result, last ...judge.Progress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("finalize")
	s.finals++
	s.last = len(last)
	return s.finalize(s.finals)
}

func (s *script) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	go func() {
		if s.late != nil {
			<-s.late
		}
		then(s.Finalize(ctx, a, *r, last...))
	}()
}

func (s *script) Fail(_ context.Context, _ judge.Attempt, why string, counts bool) (judge.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("fail counts=%t %s", counts, why)
	return judge.Pending, nil
}

func (s *script) Bury(context.Context, judge.Attempt, judge.Reason, string) error { return nil }

func (s *script) Held(context.Context, string, string) ([]judge.Attempt, error) { return nil, nil }

func (s *script) Malformed(context.Context, int64, judge.Reason) error { return nil }

func (s *script) OfferLanguages(context.Context, []judge.Language) error { return nil }

func (s *script) Beat(context.Context, judge.WorkerInfo) error { return nil }

func (s *script) Gone(context.Context, string) error { return nil }

// once is a delivery that gives each of its jobs once.
type once struct {
	mu   sync.Mutex
	jobs []int64
	max  []int // how many were asked for
	acks []int64
}

func (o *once) Publish(context.Context, []judge.Ticket) ([]string, error) { return nil, nil }

func (o *once) Receive(ctx context.Context, limit int, wait time.Duration) (es []judge.Entry, err error) {
	o.mu.Lock()
	n := min(limit, len(o.jobs))
	for _, id := range o.jobs[:n] {
		es = append(es, judge.Entry{Ticket: judge.Ticket{JobID: id}, ID: "1-1"})
	}
	o.jobs = o.jobs[n:]
	if n > 0 {
		o.max = append(o.max, limit)
	}
	o.mu.Unlock()
	if n == 0 {
		pause(ctx, wait)
	}
	return es, nil
}

func (o *once) Ack(_ context.Context, es ...judge.Entry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range es {
		o.acks = append(o.acks, e.JobID)
	}
	return nil
}

// run runs a worker with the pace of production on s until stop is called.
func (s *script) run(t *testing.T, cfg Config, o *once, j judgeFunc) (w *Worker, stop func()) {
	t.Helper()
	return runOn(t, s, cfg, s, o, j)
}

// runOn is run on another store beside s.
func runOn(t *testing.T, store Store, cfg Config, s *script, o *once, j judgeFunc) (w *Worker, stop func()) {
	t.Helper()
	cfg.Name, cfg.Languages = "w", languages
	w, err := New(cfg, store, o, j, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return w, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	}
}
