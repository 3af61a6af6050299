package worker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

// thing is something that jobs need and that may be away.
type thing struct{ away, probes atomic.Int64 }

var errAway = errors.New("nobody answers")

func (x *thing) use(context.Context) error {
	if x.away.Load() != 0 {
		return errAway
	}
	return nil
}

func (x *thing) need() Need {
	return Need{Name: "blob_store", Probe: func(ctx context.Context) error {
		x.probes.Add(1)
		return x.use(ctx)
	}}
}

func (x *thing) judge(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
	if err := x.use(ctx); err != nil {
		return judge.Result{}, err
	}
	return judge.Result{Verdict: judge.AC}, nil
}

// TestAWorkerThatLacksSomethingTakesNothingUntilItIsBack takes away what jobs need:
// none of them may lose a try, and the worker has to say what it lacks and to find
// by itself that it is back.
func TestAWorkerThatLacksSomethingTakesNothingUntilItIsBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Minute)
	var store thing
	cfg := quick()
	cfg.Slots, cfg.Needs = 2, []Need{store.need()}
	h := b.start(cfg, b.direct(), judgeFunc(store.judge))
	b.awaitStatus(b.submit(), judge.Finished)

	store.away.Store(1)
	var ids []int64
	for range 6 {
		ids = append(ids, b.submit())
	}
	b.eventually("the worker says what it lacks", func() bool {
		lack, ok := errors.AsType[*UnfitError](h.Unable())
		return ok && lack.Need == "blob_store"
	})
	if n := h.count(t, "worker_unfit", "reason", "blob_store"); n != 1 {
		t.Errorf("worker_unfit is %g, want 1", n)
	}
	b.eventually("others are told", func() bool {
		ws, err := b.Workers(t.Context(), time.Minute)
		return err == nil && len(ws) == 1 && ws[0].Slots == 0 && ws[0].Unfit == "blob_store" && strings.Contains(ws[0].UnfitWhy, "nobody answers")
	})
	if p, err := b.Place(t.Context(), ids[5]); err != nil || p.Why != string(judge.ReasonUnfitWorkers) {
		t.Errorf("place %+v, %v; want it to wait for workers that are fit", p, err)
	}
	seen := store.probes.Load()
	b.eventually("it looks again by itself", func() bool { return store.probes.Load() >= seen+2 })

	store.away.Store(0)
	for _, id := range ids {
		s := b.awaitStatus(id, judge.Finished)
		if s.Tries != 0 || s.AttemptID > 4 { // some were asked for before it was known
			t.Errorf("job %d has %d tries and %d attempts, want no try, and no running round", id, s.Tries, s.AttemptID)
		}
	}
	if h.Unable() != nil || h.count(t, "worker_unfit", "reason", "blob_store") != 0 {
		t.Errorf("the worker still lacks something: %v", h.Unable())
	}
	b.audited()
}

// TestWhatMayBeSparedIsMissedOnlyByThoseWhoNeedIt takes away a store while jobs can be
// judged without it: they are, however often the worker looks around.
func TestWhatMayBeSparedIsMissedOnlyByThoseWhoNeedIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var store thing
	store.away.Store(1)
	need := store.need()
	need.Spare = true
	cfg := quick()
	cfg.Needs, cfg.ProbeEvery = []Need{need}, 20*time.Millisecond
	var needed atomic.Bool
	h := b.start(cfg, b.direct(), judgeFunc(func(ctx context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
		if needed.Load() {
			return store.judge(ctx, p, progress)
		}
		return accept(ctx, p, progress)
	}))
	for range 5 {
		b.awaitStatus(b.submit(), judge.Finished)
	}
	if n := store.probes.Load(); n != 0 || h.Unable() != nil {
		t.Errorf("it was probed %d times (%v), though nothing failed", n, h.Unable())
	}
	needed.Store(true)
	id := b.submit()
	b.eventually("the worker misses it", func() bool { return h.Unable() != nil })
	store.away.Store(0)
	if s := b.awaitStatus(id, judge.Finished); s.Tries != 0 {
		t.Errorf("%d tries, want none", s.Tries)
	}
}

// TestOthersGoOnWhileOneWorkerLacksSomething has two workers, one of which lacks
// something.
func TestOthersGoOnWhileOneWorkerLacksSomething(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Minute)
	var broken, well thing
	for i, x := range []*thing{&broken, &well} {
		cfg := quick()
		cfg.Name, cfg.Needs = []string{"broken", "well"}[i], []Need{x.need()}
		b.start(cfg, b.direct(), judgeFunc(x.judge))
	}
	broken.away.Store(1)
	for range 10 {
		if s := b.awaitStatus(b.submit(), judge.Finished); s.Tries != 0 {
			t.Errorf("job %d has %d tries, want none", s.JobID, s.Tries)
		}
	}
	b.audited()
}

// TestAFailureThatNothingExplainsCounts fails while all that is needed is well, as
// for a file that a healthy store lacks: the job has to be dead in the end.
func TestAFailureThatNothingExplainsCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var store thing
	cfg := quick()
	cfg.Needs = []Need{store.need()}
	h := b.start(cfg, b.direct(), judgeFunc(func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
		return judge.Result{}, errors.New("no such blob")
	}))
	id := b.submit()
	s := b.await(id, "the try counts", func(s *judge.Submission) bool { return s.Tries == 1 })
	if h.Unable() != nil || s.AttemptID != 1 {
		t.Errorf("attempt %d, unable %v; want the first, and a fit worker", s.AttemptID, h.Unable())
	}
}

// TestWhatWasLostForAMomentIsJudgedAgainAtOnceButNotForEver loses the sandbox in
// mid-run, once and then always: as a program does that kills it.
func TestWhatWasLostForAMomentIsJudgedAgainAtOnceButNotForEver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Minute)
	errLost := errors.New("the agent is gone")
	var times atomic.Int64
	cfg := quick()
	cfg.Passing = func(err error) bool { return errors.Is(err, errLost) }
	h := b.start(cfg, b.direct(), judgeFunc(func(_ context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
		progress(judge.Progress{Kind: judge.EventCompiled, Total: 2})
		if times.Add(1) == 1 || p.Sources[0].Name == "killer.cpp" {
			return judge.Result{}, errLost
		}
		progress(judge.Progress{Kind: judge.EventTest})
		return judge.Result{Verdict: judge.AC}, nil
	}))
	id := b.submit()
	if s := b.awaitStatus(id, judge.Finished); s.AttemptID != 1 || s.Tries != 0 {
		t.Errorf("attempt %d, tries %d; want the same attempt, and no try", s.AttemptID, s.Tries)
	}
	es, err := b.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, e := range es {
		told[string(e.Kind)]++
	}
	if told["compiled"] != 1 || told["test"] != 1 {
		t.Errorf("told %v, want each step once", told)
	}
	times.Store(1)
	killer := b.submit(func(n *sql.NewJob) { n.Sources[0].Name = "killer.cpp" })
	s := b.await(killer, "the second loss counts", func(s *judge.Submission) bool { return s.Tries == 1 })
	if n := times.Load() - 1; n != 2 || s.AttemptID != 1 {
		t.Errorf("it ran %d times in %d attempts, want twice in one", n, s.AttemptID)
	}
	if n := h.count(t, "worker_judged_again_total"); n != 2 {
		t.Errorf("%g judgings were repeated, want 2", n)
	}
	b.audited()
}

// TestAProgramThatBreaksTheSandboxEachTimeDoesNotGoOnForEver has a job after which the
// sandbox is gone for a moment, every time.
func TestAProgramThatBreaksTheSandboxEachTimeDoesNotGoOnForEver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Minute)
	var gone atomic.Bool
	var times atomic.Int64
	cfg := quick()
	cfg.ProbeEvery = 20 * time.Millisecond
	cfg.Sandbox = func(context.Context) (string, error) {
		if gone.Swap(false) {
			return "", errors.New("the sandbox is gone")
		}
		return "well", nil
	}
	h := b.start(cfg, b.direct(), judgeFunc(func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
		times.Add(1)
		gone.Store(true)
		return judge.Result{}, errors.New("the agent is gone")
	}))
	id := b.submit()
	b.await(id, "a try counts", func(s *judge.Submission) bool { return s.Tries == 1 })
	h.stop()
	if n := times.Load(); n <= 2 || n > 2*freeLosses {
		t.Errorf("it ran %d times until a try counted, want more than twice and a bound", n)
	}
	b.audited()
}

// TestAnOutageOfTheDatabaseCountsNoTry lets the lease of a job run out because the
// database does not answer.
func TestAnOutageOfTheDatabaseCountsNoTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.heartbeat = func([]judge.Attempt) ([]int64, error) { return nil, errors.New("connection refused") }
		_, stop := s.run(t, Config{}, o, func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
			<-ctx.Done()
			return judge.Result{}, ctx.Err()
		})
		<-time.After(2 * time.Minute)
		stop()
		if fails := s.asked("fail"); len(fails) != 1 || !strings.Contains(fails[0], "counts=false") {
			t.Errorf("asked %q, want the job given back once, uncounted", fails)
		}
	})
}
