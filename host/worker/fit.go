package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"deepoj/host/judge"
)

// Need is something without which nothing can be judged here. While it is away,
// the worker is unfit: it takes no jobs and gives back those that it has.
type Need struct {
	// Name names it for figures and people in one word, such as "blob_store".
	Name string

	// Probe uses the very thing that it names, and says why that fails. It
	// returns soon after its context has ended.
	Probe func(ctx context.Context) error

	// Spare says that some jobs can do without it, as with a bucket whose files may be near: it is probed only
	// after a job could not be judged, and then until it is back.
	Spare bool
}

// NeedSandbox is the name of the need that Config.Sandbox probes.
const NeedSandbox = "sandbox"

// UnfitError says what a worker lacks and that it therefore takes no jobs.
type UnfitError struct {
	Need string // the name of a [Need]
	Err  error  // what its probe said
}

func (e *UnfitError) Error() string { return e.Need + ": " + e.Err.Error() }

// Unwrap returns what the probe said.
func (e *UnfitError) Unwrap() error { return e.Err }

// The pace at which an unfit worker looks whether it has what it needs again.
const (
	firstLook  = time.Second
	latestLook = 15 * time.Second

	// probeTime bounds the probes of one look.
	probeTime = 3 * time.Minute
)

// probes looks at what the worker needs again and again until ctx is done: rarely
// while it has everything, and soon, then less often, while it lacks something.
func (w *Worker) probes(ctx context.Context) {
	wait := firstLook
	for {
		next := w.cfg.ProbeEvery
		if w.Unable() != nil {
			next = min(wait, next)
			next -= rand.N(next/4 + 1) //nolint:gosec // workers that lost the same thing should not ask in step
			wait = min(2*wait, latestLook)
		} else {
			wait = firstLook
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.lost: // something is lacking: look sooner
			timer.Stop()
			continue
		case <-w.look:
			timer.Stop()
		case <-timer.C:
		}
		w.probe(ctx)
	}
}

// LookAgain asks for a new probe of all that the worker needs, soon.
func (w *Worker) LookAgain() {
	select {
	case w.look <- struct{}{}:
	default:
	}
}

// examine looks at all that the worker needs after a failure at a time, and
// returns what it lacks. Several failures of one moment share a look.
func (w *Worker) examine(ctx context.Context, failed time.Time) error {
	w.probing.Lock()
	defer w.probing.Unlock()
	if !w.looked.After(failed) {
		w.lookAt(ctx, true)
	}
	return w.Unable()
}

// probe looks at all that the worker needs.
func (w *Worker) probe(ctx context.Context) {
	w.probing.Lock()
	defer w.probing.Unlock()
	w.lookAt(ctx, false)
}

// lookAt looks at tool chains and sandbox, and at all other needs. A worker that lacks one takes no jobs, but says what
// it could judge before: what is handed in meanwhile waits. After a failure it looks at what is spare, too. The caller
// holds probing.
func (w *Worker) lookAt(ctx context.Context, failure bool) {
	began := time.Now()
	lacked, _ := errors.AsType[*UnfitError](w.Unable())
	bounded, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var lack *UnfitError
	line, err := w.cfg.Sandbox(bounded)
	if err != nil {
		lack = &UnfitError{NeedSandbox, err}
	}
	for _, n := range w.cfg.Needs {
		if lack != nil {
			break
		}
		if n.Spare && !failure && (lacked == nil || lacked.Need != n.Name) {
			continue
		}
		if err := n.Probe(bounded); err != nil {
			lack = &UnfitError{n.Name, err}
		}
	}
	var languages []judge.Language
	if lack == nil {
		languages = w.cfg.Languages(bounded)
	}
	if ctx.Err() != nil {
		return // what a stop interrupted says nothing
	}
	if failure {
		w.looked = began
	}
	w.mu.Lock()
	if err == nil {
		w.sandbox = line
	} else {
		w.sandbox = "unavailable: " + err.Error()
	}
	if lack == nil {
		w.languages, w.said = languages, false
	}
	w.mu.Unlock()
	if lack == nil {
		w.setUnable(ctx, nil)
	} else {
		w.setUnable(ctx, lack)
	}
}

// setUnable says why no jobs are taken, or with nil that they are. That it is said in the log only after all others
// were told, for which they have twice answerTime; the jobs themselves do not wait for it.
func (w *Worker) setUnable(ctx context.Context, err error) {
	w.mu.Lock()
	was := w.unable
	w.unable = err
	line := w.sandbox
	w.mu.Unlock()
	if was != nil && err != nil && was.Error() == err.Error() {
		return // was said
	}
	now := ""
	if lack, ok := errors.AsType[*UnfitError](err); ok {
		now = lack.Need
	}
	for _, need := range w.needs() {
		w.m.unfit.WithLabelValues(need).Set(0)
	}
	if now != "" {
		w.m.unfit.WithLabelValues(now).Set(1)
	}
	switch {
	case err != nil:
		w.cfg.Log.ErrorContext(ctx, "nothing can be judged here; no jobs are taken", slog.String("reason", now), slog.Any("err", err))
	case was != nil:
		// Whoever reads the line may hand in at once: those who accept it know by now.
		w.beat(ctx)
		w.offer(ctx)
		w.cfg.Log.InfoContext(ctx, "jobs are taken", slog.String("worker", w.owner), slog.String("pool", w.cfg.Pool),
			slog.Int("slots", w.cfg.Slots), slog.Any("languages", w.Serving()), slog.String("sandbox", line))
	default:
		return
	}
	if err != nil {
		w.slots.release(err) // others may have what is lacking here
		w.beatSoon()
		select {
		case w.lost <- struct{}{}:
		default:
		}
	}
}

// needs returns the names of all that may be lacking.
func (w *Worker) needs() []string {
	names := []string{NeedSandbox}
	for _, n := range w.cfg.Needs {
		names = append(names, n.Name)
	}
	return names
}

// freeLosses is how often a job may find the sandbox gone here without counting a
// try: a program that breaks it each time must not do so for ever.
const freeLosses = 5

// maxLosers bounds how many jobs are remembered that lost the sandbox.
const maxLosers = 1024

// excused reports whether a job that failed for want of something is given back without counting a try.
func (w *Worker) excused(job int64, lack error) bool {
	if u, ok := errors.AsType[*UnfitError](lack); !ok || u.Need != NeedSandbox {
		return true // no program reaches that far
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.losses) >= maxLosers {
		clear(w.losses)
	}
	w.losses[job]++
	return w.losses[job] <= freeLosses
}

// judge executes r until it is decided what came of it: a result, an error, or with lack an error for want of something
// that is away. What was lost for a moment only is tried once more in the same attempt, at once and uncounted; if it is
// lost again, something about the job may be the cause.
func (w *Worker) judge(ctx context.Context, r *run, report *reporter, result *judge.Result) (lack, err error) {
	if lack := w.Unable(); lack != nil {
		return lack, lack // it was asked for before this was known
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err // it was lost while it waited for a slot
	}
	for again := false; ; again = true {
		progress := report.add
		if again {
			progress = report.skipping()
		}
		*result = judge.Result{}
		err = w.execute(ctx, r, progress, result)
		if _, bad := errors.AsType[*payloadError](err); err == nil || bad || ctx.Err() != nil || notHere(err) {
			return nil, err
		}
		if lack = w.examine(ctx, time.Now()); lack != nil || again || ctx.Err() != nil || !w.cfg.Passing(err) {
			return lack, err
		}
		w.m.again.Inc()
		r.log().WarnContext(ctx, "what judging needs was lost and is back; the job is judged again at once", slog.Any("err", err))
	}
}
