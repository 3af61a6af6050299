package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/queue"
)

// Bounds that are nobody's to set.
const (
	// answerTime is how long the database or the queue may take for an answer until it is asked again.
	answerTime = 10 * time.Second

	// giveBackTime is how long a stopping worker tries, after its grace, to give back what it could not finish.
	giveBackTime = 5 * time.Second

	// shortestPause and longestPause bound the time between two tries.
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
)

// Why the work on a job was stopped.
var (
	errLeaseLost = errors.New("the lease was lost")
	errFenced    = errors.New("the database was out of reach for as long as the lease lasts")
	errStopping  = errors.New("the worker is stopping")
)

// Worker judges jobs. One that has stopped cannot be run again.
type Worker struct {
	cfg      Config
	store    Store
	delivery queue.Delivery
	judger   Judger
	dir      Directory
	owner    string
	started  time.Time
	m        metrics
	journal  *journal

	slots *slots
	acks  chan judge.Entry // decided entries
	look  chan struct{}    // asks for a new look at all that is needed
	lost  chan struct{}    // says that something is lacking
	news  chan struct{}    // asks for a sign of life at once
	renew chan struct{}    // asks for the leases to be renewed

	doubtful string // token of a take whose answer was lost; "" = none

	probing sync.Mutex // held while all that is needed is looked at
	looked  time.Time  // when the last look began; probing guards it

	telling sync.Mutex // held while others are told how the worker is, so that the newest word is the last

	mu        sync.Mutex
	runs      map[int64][]*run // by job; more than one only while an older attempt ends
	languages []judge.Language
	sandbox   string
	losses    map[int64]int // how often jobs found the sandbox gone
	said      bool          // the database knows what the last look found
	offered   bool          // and has known some languages
	unable    error         // why no jobs are taken; nil = they are
	stopping  bool
}

// New returns a worker that receives from delivery, claims in store, judges with judger, and says in dir that it lives.
func New(cfg Config, store Store, delivery queue.Delivery, judger Judger, dir Directory) (*Worker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	cfg = cfg.withDefaults()
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w := &Worker{
		cfg: cfg, store: store, delivery: delivery, judger: judger, dir: dir, m: m,
		owner:  cfg.Name + "-" + randomHex(4),
		slots:  newSlots(cfg.Slots, cfg.Lease),
		acks:   make(chan judge.Entry, 1024),
		look:   make(chan struct{}, 1),
		lost:   make(chan struct{}, 1),
		news:   make(chan struct{}, 1),
		renew:  make(chan struct{}, 1),
		runs:   map[int64][]*run{},
		losses: map[int64]int{},
		unable: errors.New("not looked at yet"),
	}
	if w.journal, err = openJournal(cfg.Journal, m, cfg.Log); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	for _, need := range w.needs() {
		m.unfit.WithLabelValues(need)
	}
	return w, nil
}

// Owner returns the name under which this worker holds leases: its own with the boot id.
func (w *Worker) Owner() string { return w.owner }

// Serving returns the ids of the languages that can be judged here now.
func (w *Worker) Serving() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := []string{}
	for _, l := range w.languages {
		if l.Available {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// Unable returns why no jobs are taken, or nil.
func (w *Worker) Unable() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unable
}

// Offered reports whether the database knows what can be judged here.
func (w *Worker) Offered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offered
}

// Run works until ctx is done. Then it takes nothing more, goes on for the grace
// period with what it has begun, gives back the rest, and returns nil.
func (w *Worker) Run(ctx context.Context) error {
	w.started = time.Now()
	// What must outlive ctx: judging for the grace period, writing a bit longer.
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	judging, stopJudging := context.WithCancelCause(writing)
	defer stopWriting()
	defer stopJudging(nil)

	var acking, background sync.WaitGroup
	acking.Go(func() { w.acknowledge(writing) })
	// Whoever has judged waits for the next run: a new goroutine would have to grow its stack again.
	var running sync.WaitGroup // counts the runs, also those that wait for a slot, and who judges
	idle, received := make(chan *run), make(chan struct{})
	w.slots.start = func(r *run) {
		select {
		case idle <- r:
		default:
			running.Go(func() {
				for {
					w.work(judging, writing, r, running.Done)
					select {
					case r = <-idle:
					case <-received:
						return
					}
				}
			})
		}
	}
	w.slots.giveBack = func(waited []*run, why error) {
		for _, r := range waited {
			go w.giveBack(writing, r, why, running.Done)
		}
	}
	w.slots.waits = func(n int) { w.m.ahead.Add(float64(n)) }
	w.probe(ctx)
	background.Go(func() { w.probes(judging) })
	background.Go(func() { w.beats(writing) })
	background.Go(func() { w.heartbeats(writing) })
	background.Go(func() { w.replay(writing) })

	stopWaiting := context.AfterFunc(ctx, w.slots.stop)
	defer stopWaiting()
	w.receive(ctx, func(asked int, runs []*run) {
		running.Add(len(runs))
		w.slots.place(asked, runs)
	})
	w.slots.stop()
	close(received)

	if err := w.giveBackTaken(ctx); err != nil {
		w.cfg.Log.WarnContext(ctx, "jobs may be left to their leases", slog.Any("err", err))
	}
	w.setStopping()
	stopped := make(chan struct{})
	go func() {
		running.Wait()
		close(stopped)
	}()
	if !within(stopped, w.cfg.Grace) {
		stopJudging(errStopping)
		if !within(stopped, giveBackTime) {
			w.cfg.Log.ErrorContext(ctx, "jobs could not be given back; their leases will run out", slog.Int("jobs", w.busy()))
			stopWriting()
			for _, r := range w.active() { // nobody waits for the database any more
				r.answered(writing.Err())
			}
			<-stopped
		}
	}
	close(w.acks)
	acking.Wait()
	stopWriting()
	background.Wait()
	w.leave(ctx)
	return nil
}

// within reports whether done is closed within d.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// pause waits for d and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// receive takes as much work as there is room for until ctx is done, and has it placed: the runs that came of so many
// jobs that were asked for.
func (w *Worker) receive(ctx context.Context, place func(asked int, runs []*run)) {
	wait := shortestPause
	for {
		free := w.slots.reserve(ctx)
		if free == 0 {
			return
		}
		if w.Unable() != nil {
			w.slots.forgo(free)
			if !pause(ctx, w.cfg.ReceiveWait) {
				return
			}
			continue
		}
		runs, err := w.next(ctx, free)
		place(free, runs)
		if err == nil {
			wait = shortestPause
			continue
		}
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, longestPause)
	}
}

// next returns at most limit runs.
func (w *Worker) next(ctx context.Context, limit int) (runs []*run, err error) {
	if t, ok := w.delivery.(queue.Taker); ok && t.Taking() {
		runs, err = w.take(ctx, t, limit)
	} else {
		var entries []judge.Entry
		if entries, err = w.delivery.Receive(ctx, limit, w.cfg.ReceiveWait); err == nil {
			return w.claim(ctx, entries, limit)
		}
	}
	if err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "no work can be received", slog.Any("err", err))
		w.LookAgain()
	}
	return runs, err
}

func (w *Worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count()
}

// count returns how many runs are under way. The caller holds mu.
func (w *Worker) count() int {
	n := 0
	for _, rs := range w.runs {
		n += len(rs)
	}
	return n
}

// active returns the runs under way, oldest job first.
func (w *Worker) active() []*run {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*run, 0, len(w.runs))
	for _, rs := range w.runs {
		all = append(all, rs...)
	}
	slices.SortFunc(all, func(a, b *run) int { return int(a.job.JobID - b.job.JobID) })
	return all
}

func (w *Worker) setStopping() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
}

// randomHex returns n random bytes in hexadecimal digits.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
