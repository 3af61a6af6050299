package jobs_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// protocol drives a store with random operations and knows what must come of
// each: it is the specification that the statements are compared with. Every
// attempt that was ever given out keeps trying to write.
type protocol struct {
	t    *testing.T
	s    *sqltest.Store
	draw func(n int, what string) int // 0 … n-1
	jobs []*modelJob
	sets []*modelSet
	all  []issued // every attempt ever given out
	n    int      // of tokens and keys

	// later has sets and retention among the operations, and fewer others.
	later bool
	log   []string // what was done
}

// modelJob is a job as it must be.
type modelJob struct {
	id         int64
	key        string
	status     judge.Status
	queue      string // R, S, D, L or ""
	generation int32
	attempt    int32
	tries      int32
	late       bool                    // its sqltest.Lease, delivery or waiting time has run out
	early      bool                    // it may not be claimed yet
	lane       judge.Lane              // as far as it matters: the first cannot be delayed
	places     []modelPlace            // where it stood before it was moved
	undo       bool                    // it waited when it was cancelled
	undoEarly  bool                    // and may not have been claimed then
	live       int32                   // generation whose verdict is shown; 0 = none
	inSet      bool                    // its judging belongs to a rejudge set
	results    map[int32]judge.Verdict // by generation
	events     []string
}

type issued struct {
	job *modelJob
	judge.Attempt
	wrote bool // its finalize succeeded
}

// maxTries is small, so that random runs use them up.
const maxTries = 2

func newProtocol(t *testing.T, s *sqltest.Store, draw func(n int, what string) int) *protocol {
	t.Helper()
	return &protocol{t: t, s: s, draw: draw}
}

// reset empties the database between runs.
func reset(t *testing.T, s *sqltest.Store) {
	t.Helper()
	s.Exec(t, "TRUNCATE jobs, job_payloads, outbox_events, results, attempts, dead_letters, single_events, event_batches, groups, audit_log, rejudge_sets, rejudge_set_jobs")
}

// operation is something that anybody may do at any moment.
type operation struct {
	name string
	do   func() error
}

// run performs steps random operations and checks everything after each.
func (p *protocol) run(steps int) error {
	ops := []operation{
		{"submit", p.submit},
		{"pick", p.pick},
		{"take", p.take},
		{"claim", p.claim},
		{"claim", p.claim},
		{"claim", p.claim},
		{"heartbeat", p.heartbeat},
		{"progress", p.progress},
		{"finalize", p.finalize},
		{"finalize", p.finalize},
		{"fail", p.fail},
		{"fail", p.fail},
		{"time passes", p.timePasses},
		{"time passes", p.timePasses},
		{"reap", p.reap},
		{"redeliver", p.redeliver},
		{"publish fails", p.publishFails},
		{"promote", p.promote},
		{"cancel", p.cancel},
		{"restore", p.restore},
		{"rejudge", p.rejudge},
		{"reorder", p.reorder},
		{"reorder", p.reorder},
	}
	if p.later { // what happens to jobs that have ended needs many that do
		ops = []operation{
			{"submit", p.submit},
			{"claim", p.claim},
			{"claim", p.claim},
			{"finalize", p.finalize},
			{"finalize", p.finalize},
			{"finalize", p.finalize},
			{"fail", p.fail},
			{"time passes", p.timePasses},
			{"cancel", p.cancel},
			{"restore", p.restore},
			{"rejudge", p.rejudge},
			{"rejudge a set", p.startSet},
			{"rejudge a set", p.startSet},
			{"resolve a set", p.resolveSet},
			{"resolve a set", p.resolveSet},
			{"retire", p.retire},
		}
	}
	if err := p.submit(); err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	for range steps {
		op := ops[p.draw(len(ops), "operation")]
		p.log = append(p.log, op.name)
		if err := op.do(); err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("after %s: %w", op.name, err)
		}
	}
	return nil
}

func (p *protocol) note(format string, a ...any) {
	p.log[len(p.log)-1] += fmt.Sprintf(" "+format, a...)
}

func (p *protocol) job() *modelJob { return p.jobs[p.draw(len(p.jobs), "job")] }

// some draws a few jobs, with repetitions.
func (p *protocol) some() ([]*modelJob, []int64) {
	js := make([]*modelJob, 1+p.draw(3, "how many"))
	ids := make([]int64, len(js))
	for i := range js {
		js[i] = p.job()
		ids[i] = js[i].id
	}
	return js, ids
}

func (p *protocol) submit() error {
	n := sqltest.Sub(fmt.Sprint("user", p.draw(2, "author")))
	old := p.draw(3, "old key") == 0 && len(p.jobs) > 0
	if old {
		j := p.job()
		n.Author, n.IdempotencyKey = j.key[:5], j.key
		r, err := p.s.Submit(p.t.Context(), n)
		if err != nil || r != (sql.Receipt{JobID: j.id, Existing: true}) {
			return fmt.Errorf("key of job %d gave %+v, %v", j.id, r, err)
		}
		return nil
	}
	if len(p.jobs) >= 4 {
		return nil
	}
	p.n++
	j := &modelJob{
		key: fmt.Sprintf("%s-%d", n.Author, p.n), status: judge.Pending, queue: "R", generation: 1, lane: judge.LaneNormal,
		results: map[int32]judge.Verdict{}, events: []string{"submitted"},
	}
	n.IdempotencyKey = j.key
	switch p.draw(6, "how") {
	case 0:
		n.Delay, j.queue, j.early = time.Hour, "S", true
	case 1:
		n.Lane, j.lane = judge.LaneStaff, judge.LaneStaff
	}
	r, err := p.s.Submit(p.t.Context(), n)
	if err != nil || r.Existing {
		return fmt.Errorf("%+v, %w", r, err)
	}
	j.id = r.JobID
	p.jobs = append(p.jobs, j)
	return nil
}

func (p *protocol) pick() error {
	limit := 1 + p.draw(4, "limit")
	ready := 0
	for _, j := range p.jobs {
		if j.queue == "R" {
			ready++
		}
	}
	ts, err := p.s.Pick(p.t.Context(), jobs.PickRequest{Dispatcher: "d1", Limit: limit})
	if err != nil {
		return err
	}
	if len(ts) != min(limit, ready) {
		return fmt.Errorf("picked %d of %d ready jobs, limit %d", len(ts), ready, limit)
	}
	for _, ticket := range ts {
		i := slices.IndexFunc(p.jobs, func(j *modelJob) bool { return j.id == ticket.JobID })
		if i < 0 || p.jobs[i].queue != "R" {
			return fmt.Errorf("picked job %d, which is not ready", ticket.JobID)
		}
		p.jobs[i].queue, p.jobs[i].late = "D", false
		p.jobs[i].event("dispatched")
	}
	return nil
}

func (p *protocol) take() error {
	limit := 1 + p.draw(3, "limit")
	ready := 0
	for _, j := range p.jobs {
		if j.queue == "R" && !j.early {
			ready++
		}
	}
	p.n++
	got, err := p.s.Take(p.t.Context(), jobs.PickRequest{Limit: limit}, "w1", sqltest.Token(p.n), time.Hour)
	if err != nil {
		return err
	}
	if len(got) != min(limit, ready) {
		return fmt.Errorf("took %d of %d ready jobs, limit %d", len(got), ready, limit)
	}
	held, err := p.s.Held(p.t.Context(), "w1", sqltest.Token(p.n))
	if err != nil || len(held) != len(got) {
		return fmt.Errorf("took %d jobs and holds %d, %w", len(got), len(held), err)
	}
	for i, g := range got {
		at := slices.IndexFunc(p.jobs, func(j *modelJob) bool { return j.id == g.JobID })
		if at < 0 || p.jobs[at].queue != "R" {
			return fmt.Errorf("took job %d, which is not ready", g.JobID)
		}
		if held[i] != g.Attempt {
			return fmt.Errorf("took %+v and holds %+v", g.Attempt, held[i])
		}
		if err := p.claimed(p.jobs[at], g); err != nil {
			return err
		}
	}
	return nil
}

// claimed notes that j was claimed, with the answer g.
func (p *protocol) claimed(j *modelJob, g judge.Claim) error {
	j.attempt++
	j.status, j.queue, j.late = judge.Running, "L", false
	j.event("claimed")
	if g.AttemptID != j.attempt || g.Generation != j.generation || g.Tries != j.tries {
		return fmt.Errorf("claimed %+v, want attempt %d of generation %d with %d tries", g.Attempt, j.attempt, j.generation, j.tries)
	}
	p.all = append(p.all, issued{job: j, Attempt: g.Attempt})
	return nil
}

func (p *protocol) claim() error {
	js, ids := p.some()
	p.n++
	p.note("%v", ids)
	got, refused, err := p.s.Claim(p.t.Context(), ids, "w1", sqltest.Token(p.n), time.Hour)
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for _, j := range js {
		if seen[j.id] {
			continue
		}
		seen[j.id] = true
		i := slices.IndexFunc(got, func(g judge.Claim) bool { return g.JobID == j.id })
		if j.status != judge.Pending || j.early {
			if i >= 0 {
				return fmt.Errorf("claimed job %d, which is %s", j.id, j.status)
			}
			continue
		}
		if i < 0 {
			return fmt.Errorf("job %d was refused: %+v", j.id, refused)
		}
		if err := p.claimed(j, got[i]); err != nil {
			return err
		}
	}
	if len(got)+len(refused) != len(seen) {
		return fmt.Errorf("%d jobs, %d claimed, %d refused", len(seen), len(got), len(refused))
	}
	return nil
}

// anAttempt draws an attempt that was ever given out; the newest are likelier.
func (p *protocol) anAttempt() *issued {
	if len(p.all) == 0 {
		return nil
	}
	back := p.draw(min(len(p.all), 6), "attempt, from the newest")
	a := &p.all[len(p.all)-1-back]
	p.note("job %d attempt %d", a.JobID, a.AttemptID)
	return a
}

// holds reports whether the attempt may write.
func (a *issued) holds() bool {
	return a.job.status == judge.Running && a.job.attempt == a.AttemptID
}

func (p *protocol) heartbeat() error {
	a := p.anAttempt()
	if a == nil {
		return nil
	}
	alive, err := p.s.Heartbeat(p.t.Context(), []judge.Attempt{a.Attempt}, time.Hour)
	if err != nil {
		return err
	}
	if (len(alive) == 1) != a.holds() {
		return fmt.Errorf("alive = %v, holds = %t", alive, a.holds())
	}
	if a.holds() && a.job.late {
		a.job.late = false
		return p.reap() // which must look at the sqltest.Lease, not at the hint
	}
	return nil
}

func (p *protocol) progress() error {
	a := p.anAttempt()
	if a == nil {
		return nil
	}
	err := p.s.Progress(p.t.Context(), a.Attempt, []judge.Progress{{Kind: judge.EventTest, Test: &judge.TestResult{Index: 1}}})
	if a.holds() {
		a.job.event("test")
		return err
	}
	if a.wrote {
		return err
	}
	return mustReject(err)
}

func (p *protocol) finalize() error {
	a := p.anAttempt()
	if a == nil {
		return nil
	}
	v := []judge.Verdict{judge.AC, judge.WA, judge.JE}[p.draw(3, "verdict")]
	err := p.s.Finalize(p.t.Context(), a.Attempt, judge.Result{Verdict: v})
	switch {
	case a.holds():
		if err != nil {
			return err
		}
		a.wrote = true
		a.job.status, a.job.queue = judge.Finished, ""
		a.job.results[a.job.generation] = v
		if !a.job.inSet {
			a.job.live = a.job.generation
		}
		a.job.event("finished")
		return nil
	case a.wrote:
		return err // asking again is a success, and changes nothing
	default:
		return mustReject(err)
	}
}

func (p *protocol) fail() error {
	a := p.anAttempt()
	if a == nil {
		return nil
	}
	how := p.draw(6, "how") // 0 buries, 1 gives back, the rest count
	var got judge.Status
	var err error
	if how == 0 {
		got, err = judge.Dead, p.s.Bury(p.t.Context(), a.Attempt, judge.ReasonPayload, "test")
	} else {
		got, err = p.s.Fail(p.t.Context(), a.Attempt, "test", how > 1)
	}
	j := a.job
	if !a.holds() {
		if a.wrote {
			return err
		}
		return mustReject(err)
	}
	if err != nil {
		return err
	}
	if how != 1 {
		j.tries = min(j.tries+1, maxTries)
	}
	want := judge.Pending
	switch {
	case how == 0 || how > 1 && j.tries == maxTries:
		want, j.queue = judge.Dead, ""
		j.event("dead")
	case how == 1:
		j.queue, j.early = "R", false
		if j.lane <= judge.LaneNormal { // of those after it, many that waited for a worker may come back
			j.lane = min(j.lane, judge.LaneRetry)
		}
		j.event("released")
	default:
		j.queue, j.early, j.late, j.lane = "S", true, false, min(j.lane, judge.LaneRetry)
		j.event("retry")
	}
	j.status = want
	if got != want {
		return fmt.Errorf("job %d is %s, want %s", j.id, got, want)
	}
	p.backOff(j)
	return nil
}

// backOff has a scheduled job wait for timePasses, however slow the machine is.
func (p *protocol) backOff(j *modelJob) {
	if j.queue == "S" && !j.late {
		p.s.Exec(p.t, "UPDATE outbox_events SET not_before = now() + interval '1 h' WHERE job_id = $1 AND state = 'S'", j.id)
	}
	if j.queue == "S" && j.early {
		p.s.Exec(p.t, "UPDATE jobs SET not_before = now() + interval '1 h' WHERE job_id = $1 AND status = 'pending'", j.id)
	}
}

// timePasses lets the waiting of some jobs end: leases, deliveries, backoffs.
func (p *protocol) timePasses() error {
	js, ids := p.some()
	p.note("%v", ids)
	for _, j := range js {
		switch j.queue {
		case "L":
			sqltest.Expire(p.t, p.s, j.id)
			j.late = true
		case "D":
			p.s.Exec(p.t, "UPDATE outbox_events SET lock_until = now() - interval '1 s' WHERE job_id = $1", j.id)
			j.late = true
		case "S":
			p.s.Exec(p.t, "UPDATE jobs SET not_before = now() WHERE job_id = $1", j.id)
			p.s.Exec(p.t, "UPDATE outbox_events SET not_before = now() WHERE job_id = $1", j.id)
			j.late, j.early = true, false
		}
	}
	if p.draw(2, "reap at once") == 0 {
		return p.reap()
	}
	return nil
}

func mustReject(err error) error {
	if _, ok := errors.AsType[*judge.RejectedError](err); !ok {
		return fmt.Errorf("not rejected: %v", err)
	}
	return nil
}

func (j *modelJob) event(kind string) { j.events = append(j.events, kind) }
