package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// recorder is a delivery that notes what happens to it, and can put in entries
// of its own.
type recorder struct {
	queue.Delivery
	b bench

	mu     sync.Mutex
	extra  []judge.Entry
	acked  []judge.Entry
	before []judge.Status // status of each acknowledged job at that moment
}

func (r *recorder) Receive(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	r.mu.Lock()
	n := min(limit, len(r.extra))
	es := r.extra[:n]
	r.extra = r.extra[n:]
	r.mu.Unlock()
	if n > 0 {
		return es, nil
	}
	return r.Delivery.Receive(ctx, limit, wait)
}

func (r *recorder) Ack(ctx context.Context, es ...judge.Entry) error {
	for _, e := range es {
		var status judge.Status
		if s, err := r.b.Submission(ctx, e.JobID); err == nil {
			status = s.Status
		}
		r.mu.Lock()
		r.acked = append(r.acked, e)
		r.before = append(r.before, status)
		r.mu.Unlock()
	}
	return r.Delivery.Ack(ctx, es...)
}

// acks returns the status of a job at each acknowledgement of it.
func (r *recorder) acks(job int64) (at []judge.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range r.acked {
		if e.JobID == job {
			at = append(at, r.before[i])
		}
	}
	return at
}

func TestAJobIsJudgedRecordedAndThenAcknowledged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := &recorder{Delivery: b.direct(), b: b}
	h := b.start(quick(), d, judgeFunc(func(_ context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
		progress(judge.Progress{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true}, Total: 1})
		progress(judge.Progress{Kind: judge.EventTest, Test: &judge.TestResult{Index: 1, Verdict: judge.WA}, Total: 1})
		return judge.Result{Verdict: judge.WA, Message: p.Sources[0].Text}, nil
	}))
	id := b.submit()
	s := b.awaitStatus(id, judge.Finished)
	if s.Result.Verdict != judge.WA || s.Result.Message != "int main() {}" || s.Result.Worker != h.Owner() || s.Result.ProblemVersion != "sha256:aa" {
		t.Errorf("result = %+v", s.Result)
	}
	b.eventually("the entry is acknowledged", func() bool { return len(d.acks(id)) == 1 })
	if at := d.acks(id)[0]; at != judge.Finished {
		t.Errorf("acknowledged while the job was %s", at)
	}
	events, err := b.Events(t.Context(), id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	if got, want := strings.Join(kinds, " "), "submitted dispatched claimed compiled test finished"; got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
	for _, c := range []struct {
		name   string
		labels []string
	}{
		{"worker_claim_total", []string{"status", "ok"}},
		{"worker_finalize_total", []string{"status", "ok"}},
		{"judge_exec_total", []string{"result", "ok"}},
		{"judge_verdict_total", []string{"verdict", "WA"}},
	} {
		if n := h.count(t, c.name, c.labels...); n != 1 {
			t.Errorf("%s%v = %v, want 1", c.name, c.labels, n)
		}
	}
	lint(t, h.reg)
	b.audited()
}

func TestTheSameTicketTwiceIsJudgedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submit()
	ticket := judge.Ticket{JobID: id}
	d := &recorder{Delivery: b.direct(), b: b, extra: []judge.Entry{{Ticket: ticket, ID: "1-0"}, {Ticket: ticket, ID: "1-1"}, {Ticket: ticket, ID: "1-2"}}}
	var judged atomic.Int32
	cfg := quick()
	cfg.Slots = 2 // so that two come at once, and one later
	h := b.start(cfg, d, judgeFunc(func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
		judged.Add(1)
		return judge.Result{Verdict: judge.AC}, nil
	}))
	b.awaitStatus(id, judge.Finished)
	b.eventually("all three entries are acknowledged", func() bool { return len(d.acks(id)) == 3 })
	if judged.Load() != 1 {
		t.Errorf("judged %d times, want once", judged.Load())
	}
	if n := h.count(t, "worker_claim_total", "status", "reject", "reason", string(judge.ReasonClaimReject)); n != 1 {
		t.Errorf("%v claims were refused, want 1", n)
	}
	b.audited()
}

func TestAMalformedEntryIsNotedAndAcknowledged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submit()
	d := &recorder{Delivery: b.direct(), b: b, extra: []judge.Entry{
		{ID: "1-0", Reason: string(judge.ReasonMissingField)},
		{ID: "1-1", Reason: string(judge.ReasonPayload), Ticket: judge.Ticket{JobID: id}},
		{ID: "1-2", Ticket: judge.Ticket{JobID: 1 << 40}}, // a job that does not exist
	}}
	h := b.start(quick(), d, judgeFunc(accept))
	b.awaitStatus(id, judge.Finished)
	b.eventually("all entries are acknowledged", func() bool {
		return len(d.acks(0)) == 1 && len(d.acks(id)) == 2 && len(d.acks(1<<40)) == 1
	})
	for _, reason := range []judge.Reason{judge.ReasonMissingField, judge.ReasonPayload, judge.ReasonNotFound} {
		if n := h.count(t, "worker_claim_total", "status", "reject", "reason", string(reason)); n != 1 {
			t.Errorf("%v entries with reason %s, want 1", n, reason)
		}
	}
	b.audited()
}

func TestAFailureOfOursIsTriedAgainAndCounts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fail func() (judge.Result, error)
		want string
	}{
		"the sandbox broke": {func() (judge.Result, error) { return judge.Result{}, errors.New("the agent is gone") }, "the agent is gone"},
		"judging panicked":  {func() (judge.Result, error) { panic("index out of range") }, "index out of range"},
		"a system error is no verdict": {func() (judge.Result, error) {
			return judge.Result{Verdict: judge.SE, JudgeNote: "no cgroup"}, nil
		}, "no cgroup"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.tend(time.Hour)
			var tries atomic.Int32
			h := b.start(quick(), b.direct(), judgeFunc(func(ctx context.Context, p judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
				if tries.Add(1) == 1 {
					return tt.fail()
				}
				return accept(ctx, p, nil)
			}))
			id := b.submit()
			s := b.await(id, "the first try failed", func(s *judge.Submission) bool { return s.Tries == 1 })
			if !strings.Contains(s.LastError, tt.want) {
				t.Errorf("the reason is %q, want one with %q", s.LastError, tt.want)
			}
			if s = b.awaitStatus(id, judge.Finished); s.AttemptID != 2 || s.Result.Verdict != judge.AC {
				t.Errorf("attempt %d, verdict %s; want the second to be AC", s.AttemptID, s.Result.Verdict)
			}
			if n := h.count(t, "worker_finalize_total", "status", "retry"); n != 1 {
				t.Errorf("%v retries counted, want 1", n)
			}
			b.audited()
		})
	}
}

func TestAJobThatNoTryCanJudgeIsDeadAtOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*judge.Payload){
		"an unknown version":        func(p *judge.Payload) { p.SchemaVersion = 9 },
		"another type":              func(p *judge.Payload) { p.ContentType = "text/plain" },
		"no sources":                func(p *judge.Payload) { p.Sources = nil },
		"no language":               func(p *judge.Payload) { p.Language = "" },
		"no problem":                func(p *judge.Payload) { p.Problem = "" },
		"something that is no JSON": nil,
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			raw := rawPayload(change)
			if change == nil {
				raw = []byte("{")
			}
			d := &recorder{Delivery: b.direct(), b: b}
			h := b.startWith(quick(), forgedPayload{b.Store, raw}, d, judgeFunc(accept))
			id := b.submit()
			if s := b.awaitStatus(id, judge.Dead); s.LastError == "" || s.AttemptID != 1 {
				t.Errorf("dead after attempt %d because of %q, want the first, and a reason", s.AttemptID, s.LastError)
			}
			b.eventually("the entry is acknowledged", func() bool { return len(d.acks(id)) == 1 })
			if n := h.count(t, "worker_claim_total", "status", "reject", "reason", string(judge.ReasonPayload)); n != 1 {
				t.Errorf("%v payloads were refused, want 1", n)
			}
			b.audited()
		})
	}
}

// forgedPayload is a database that gives every job the same payload.
type forgedPayload struct {
	*sqltest.Store
	raw []byte
}

func (f forgedPayload) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	jobs, rejected, err := f.Store.Claim(ctx, ids, owner, token, lease)
	for i := range jobs {
		jobs[i].Payload = f.raw
	}
	return jobs, rejected, err
}

func TestAJobOfAnotherKindGoesToItsExecutor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	var got atomic.Pointer[judge.Claim]
	cfg.Others = map[judge.Kind]Execute{
		judge.KindVerify: func(_ context.Context, j judge.Claim, _ func(judge.Progress)) (judge.Result, error) {
			got.Store(&j)
			return judge.Result{Verdict: judge.AC}, nil
		},
	}
	b.start(cfg, b.direct(), judgeFunc(accept))
	verify := b.submit(func(n *sql.NewJob) { n.Kind, n.Payload = judge.KindVerify, []byte(`{"problem":"aplusb"}`) })
	unknown := b.submit(func(n *sql.NewJob) { n.Kind, n.Payload = judge.KindImport, []byte(`{}`) })
	b.eventually("the job was executed", func() bool { return got.Load() != nil })
	if j := got.Load(); j.JobID != verify || !strings.Contains(string(j.Payload), "aplusb") {
		t.Errorf("executed %+v", j)
	}
	b.eventually("the other one failed", func() bool {
		s, err := b.Submission(t.Context(), unknown)
		return err != nil || s.Tries == 1
	})
}

func TestALanguageThatIsMissingHereGoesBackUncounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	var looks atomic.Int32
	var mended atomic.Bool
	cfg.Languages = func(ctx context.Context) []judge.Language {
		looks.Add(1)
		ls := languages(ctx)
		ls[1].Available = mended.Load()
		return ls
	}
	h := b.start(cfg, b.direct(), judgeFunc(accept))
	id := b.submit(func(n *sql.NewJob) { n.Language = "rust" })
	s := b.await(id, "it was given back", func(s *judge.Submission) bool {
		return s.AttemptID >= 1 && h.count(t, "worker_finalize_total", "status", "released") >= 1
	})
	if s.Tries != 0 {
		t.Errorf("a try was counted: %d", s.Tries)
	}
	mended.Store(true) // and the worker looks again by itself
	if s = b.awaitStatus(id, judge.Finished); s.Tries != 0 || looks.Load() < 2 {
		t.Errorf("tries %d, looks %d", s.Tries, looks.Load())
	}
	b.audited()
}

func TestAWorkerWithoutASandboxTakesNoJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := quick()
	cfg.ProbeEvery = 50 * time.Millisecond
	var well atomic.Bool
	cfg.Sandbox = func(context.Context) (string, error) {
		if !well.Load() {
			return "", errors.New("no cgroup can be written")
		}
		return "v2", nil
	}
	h := b.start(cfg, b.direct(), judgeFunc(accept))
	id := b.submit()
	var info judge.WorkerInfo
	b.eventually("the worker is seen", func() bool {
		ws, err := b.Workers(t.Context(), time.Minute)
		if err != nil || len(ws) != 1 {
			return false
		}
		info = ws[0]
		return true
	})
	if info.Slots != 0 || !strings.Contains(info.Sandbox, "no cgroup can be written") {
		t.Errorf("it says of itself: %+v", info)
	}
	if h.Unable() == nil || b.job(id).Status != judge.Pending {
		t.Errorf("a worker without a sandbox took a job: %v, %s", h.Unable(), b.job(id).Status)
	}
	well.Store(true)
	b.awaitStatus(id, judge.Finished)
	b.eventually("it says that it is well", func() bool {
		ws, err := b.Workers(t.Context(), time.Minute)
		return err == nil && len(ws) == 1 && ws[0].Slots == 1 && ws[0].Sandbox == "v2" && len(ws[0].Languages) == 2
	})
	well.Store(false)
	h.LookAgain()
	b.eventually("it says that it is unwell again, and what it could judge", func() bool {
		ws, err := b.Workers(t.Context(), time.Minute)
		return err == nil && len(ws) == 1 && ws[0].Slots == 0 && len(ws[0].Languages) == 2
	})
	id = b.submit()
	well.Store(true)
	b.awaitStatus(id, judge.Finished)
	h.stop()
	if ws, err := b.Workers(t.Context(), time.Minute); err != nil || len(ws) != 0 {
		t.Errorf("after it stopped: %+v (%v)", ws, err)
	}
}
