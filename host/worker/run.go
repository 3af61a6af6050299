package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// run is a claimed job on its way to a result.
type run struct {
	job     judge.Claim
	payload judge.Payload // of a submission
	unread  error         // why the payload cannot be read
	entries []judge.Entry // acknowledged when the database has decided
	lease   time.Duration
	asked   time.Time    // when the claim was sent
	claimed time.Time    // when it was answered
	logger  *slog.Logger // of the worker

	mu     sync.Mutex
	until  time.Time   // end of the lease by our monotonic clock
	beats  int         // how often the database renewed it
	lost   error       // why it is not to be judged, as became known while it waited; nil = it is
	fence  *time.Timer // ends the judging then; nil before and after it
	cancel context.CancelCauseFunc
	over   bool        // it was judged, or is not going to be: only the database decides what becomes of the job
	answer func(error) // is called when the database has answered about the result; nil before it is asked and after
}

// newRun returns the run of a job that was claimed by a request sent at asked.
func (w *Worker) newRun(job judge.Claim, entries []judge.Entry, asked time.Time) *run {
	if job.TraceID == "" {
		job.TraceID = randomHex(16)
	}
	r := &run{
		job: job, entries: entries, lease: w.cfg.Lease, until: asked.Add(w.cfg.Lease), asked: asked, claimed: time.Now(),
		logger: w.cfg.Log,
	}
	if job.Kind == judge.KindSubmission {
		// Here, where one stack grows deep, and not in the goroutine of each run.
		r.payload, r.unread = readPayload(job.Payload)
		r.job.Payload = nil
	}
	w.enter(r)
	return r
}

// enter has the lease of r renewed from now on.
func (w *Worker) enter(r *run) {
	job := &r.job
	w.mu.Lock()
	others := slices.Clone(w.runs[job.JobID])
	w.runs[job.JobID] = append(w.runs[job.JobID], r)
	w.mu.Unlock()
	for _, o := range others {
		if o.job.AttemptID < job.AttemptID { // a newer attempt is the proof that its lease is gone
			o.lose(errLeaseLost)
		}
	}
}

// log returns a logger that says which job and attempt it is about. Most runs log a line or none.
func (r *run) log() *slog.Logger {
	return r.logger.With(slog.Int64("job_id", r.job.JobID), slog.Int64("attempt_id", int64(r.job.AttemptID)), slog.String("trace_id", r.job.TraceID))
}

// leaveRun says that nothing is left to do for r.
func (w *Worker) leaveRun(r *run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := slices.DeleteFunc(w.runs[r.job.JobID], func(o *run) bool { return o == r })
	if len(rest) > 0 {
		w.runs[r.job.JobID] = rest
	} else {
		delete(w.runs, r.job.JobID)
	}
}

// begin returns the context of the judging. It ends when the lease does.
func (r *run) begin(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = cancel
	left := time.Until(r.until)
	if r.lost == nil && left <= 0 { // it waited in vain
		r.lost = errFenced
	}
	if r.lost != nil {
		cancel(r.lost)
		return ctx
	}
	r.fence = time.AfterFunc(left, func() { r.lose(errFenced) })
	return ctx
}

// renewed moves the end of the lease: it was renewed by a request sent at asked.
func (r *run) renewed(asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = asked.Add(r.lease)
	r.beats++
	if r.fence != nil {
		r.fence.Reset(time.Until(r.until))
	}
}

// renewals returns how often the lease was renewed.
func (r *run) renewals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.beats
}

// lose stops the judging because of why, or has it not begin, and reports whether there was any to stop.
func (r *run) lose(why error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.lost != nil {
		return false
	}
	r.lost = why
	if r.fence != nil {
		r.fence.Stop()
		r.fence = nil
		r.cancel(why)
	}
	return true
}

// close says that r is not going to be judged, and returns why it was lost, or nil. From now on only the database
// decides what becomes of the job.
func (r *run) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.lost
}

// end says that the judging is over, and returns why it was stopped, or nil.
// From now on only the database decides what becomes of the job.
func (r *run) end(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := context.Cause(ctx)
	r.over = true
	if r.fence != nil {
		r.fence.Stop()
		r.fence = nil
	}
	r.cancel(nil)
	return why
}

// expect has answer called with what the database says of the result.
func (r *run) expect(answer func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// answered tells who expects it. Only the first answer counts.
func (r *run) answered(err error) {
	r.mu.Lock()
	answer := r.answer
	r.answer = nil
	r.mu.Unlock()
	if answer != nil {
		answer(err)
	}
}

// work judges r, which has a slot, and has recorded what came of it. Over is called when nothing is left to do, which
// may be later.
func (w *Worker) work(judging, writing context.Context, r *run, over func()) {
	ctx, attempt := w.cfg.Tracer.Attempt(w.cfg.Context(judging, r.job), r.job.TraceID, r.job.JobID, r.job.AttemptID, r.asked)
	attempt.Text("worker", w.owner)
	_, claim := telemetry.StartAt(ctx, "claim", r.asked)
	claim.EndAt(r.claimed)
	ctx = r.begin(ctx)
	writing = attempt.Below(w.cfg.Context(writing, r.job))

	report := w.newReporter(writing, r)
	began := time.Now()
	w.m.execRunning.Inc()
	result := new(judge.Result)
	lack, err := w.judge(ctx, r, report, result)
	w.m.execRunning.Dec()
	stopped := r.end(ctx)
	last := report.stop()
	attempt.Text("verdict", string(result.Verdict))
	took := time.Since(began)
	w.slots.judged(r, took, cmp.Or(stopped, err) == nil)
	end := func(early bool) {
		attempt.End(cmp.Or(stopped, err))
		w.leaveRun(r)
		w.slots.answered(early)
		over()
	}

	kind := classify(err, stopped)
	w.m.execTime.WithLabelValues(kind).Observe(took.Seconds())
	w.m.execTotal.WithLabelValues(kind).Inc()

	switch {
	case errors.Is(stopped, errLeaseLost):
		// Another may have the job: no write, no acknowledgement.
		r.log().WarnContext(ctx, "judging was abandoned", slog.String("reason", string(judge.ReasonLeaseLost)), slog.Any("err", stopped))
	case errors.Is(stopped, errFenced):
		w.m.heartbeats.WithLabelValues(statusReject, string(judge.ReasonLeaseLost)).Inc()
		r.log().WarnContext(ctx, "judging was abandoned", slog.String("reason", string(judge.ReasonLeaseLost)), slog.Any("err", stopped))
		// The outage of the database is not the job's fault. If another has the job
		// by then, the database refuses this.
		w.fail(writing, r, stopped, false)
	case err == nil:
		early := w.slots.handOver()
		w.finalize(writing, r, result, last, func() { end(early) })
		return
	case errors.Is(stopped, errStopping):
		w.fail(writing, r, errStopping, false)
	case lack != nil:
		r.log().WarnContext(ctx, "a job cannot be judged now and is given back", slog.Any("lack", lack), slog.Any("err", err))
		w.fail(writing, r, lack, !errors.Is(err, lack) && !w.excused(r.job.JobID, lack)) // with both the same, nothing was run
	default:
		w.mishap(judging, writing, r, err)
	}
	end(false)
}

// classify says how a judging ended, for the figures.
func classify(err, stopped error) string {
	switch {
	case errors.Is(stopped, errLeaseLost) || errors.Is(stopped, errFenced):
		return statusReject
	case err == nil:
		return statusOK
	case errors.Is(err, context.DeadlineExceeded):
		return resultTimeout
	default:
		return statusError
	}
}

// mishap gives a job back that could not be judged for a reason of ours.
func (w *Worker) mishap(judging, writing context.Context, r *run, err error) {
	if bad, ok := errors.AsType[*payloadError](err); ok {
		r.log().ErrorContext(judging, "a payload cannot be read", slog.String("reason", string(judge.ReasonPayload)), slog.Any("err", bad.err))
		w.bury(writing, r, judge.ReasonPayload, bad.err.Error())
		return
	}
	if !notHere(err) {
		r.log().ErrorContext(judging, "judging failed", slog.Any("err", err))
		w.fail(writing, r, err, true)
		return
	}
	r.log().WarnContext(judging, "a job cannot be judged here", slog.Any("err", err))
	w.LookAgain()
	// It goes back to the head of the queue, and may well come here again:
	// the slot waits a moment, so that this does not spin.
	pause(judging, w.cfg.ReceiveWait)
	w.fail(writing, r, err, false)
}

// execute does what the job asks for, which gives result. A panic is an error.
func (w *Worker) execute(ctx context.Context, r *run, progress func(judge.Progress), result *judge.Result) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log().ErrorContext(ctx, "judging panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("judging panicked: %v", p)
		}
	}()
	if r.job.Kind != judge.KindSubmission {
		do := w.cfg.Others[r.job.Kind]
		if do == nil {
			return fmt.Errorf("no worker executes jobs of kind %q", r.job.Kind)
		}
		*result, err = do(ctx, r.job, progress)
		return err
	}
	if r.unread != nil {
		return r.unread
	}
	payload := &r.payload
	if !w.serves(payload.Language) {
		return fmt.Errorf("language %s: %w", payload.Language, ErrNotHere)
	}
	version := r.job.ProblemVersion // as it was active at the claim
	if version == "" {
		return fmt.Errorf("problem %s does not exist any more", payload.Problem)
	}
	*result, err = w.judger.Judge(ctx, *payload, blob.Digest(version), progress)
	if err != nil {
		return err
	}
	if !result.Verdict.Final() {
		return fmt.Errorf("judging ended without a verdict (%q): %s", result.Verdict, result.JudgeNote)
	}
	result.ProblemVersion = cmp.Or(result.ProblemVersion, version)
	result.Worker = w.owner
	return nil
}

// serves reports whether a language can be judged here.
func (w *Worker) serves(language string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.languages {
		if l.ID == language {
			return l.Available
		}
	}
	return false
}

// payloadError says that no try can succeed.
type payloadError struct{ err error }

func (e *payloadError) Error() string { return "payload: " + e.err.Error() }

// readPayload returns the payload of a submission; the error is a [*payloadError].
func readPayload(raw []byte) (judge.Payload, error) {
	p, err := judge.DecodePayload(raw)
	switch {
	case err != nil:
	case p.SchemaVersion != judge.PayloadVersion:
		err = fmt.Errorf("schema_version %d is unknown", p.SchemaVersion)
	case p.ContentType != judge.PayloadType:
		err = fmt.Errorf("content_type %q is unknown", p.ContentType)
	case p.Problem == "":
		err = errors.New("problem is missing")
	case p.Language == "":
		err = errors.New("language is missing")
	case len(p.Sources) == 0:
		err = errors.New("sources are missing")
	}
	if err != nil {
		return p, &payloadError{err}
	}
	return p, nil
}
