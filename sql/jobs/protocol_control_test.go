package jobs_test

import (
	"errors"
	"fmt"
	"slices"

	"deepoj/host/judge"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func (p *protocol) reap() error {
	lost, err := p.s.Reap(p.t.Context(), 100, 0, 100)
	if err != nil {
		return err
	}
	n := 0
	for _, j := range p.jobs {
		if j.queue != "L" || !j.late {
			continue
		}
		n++
		j.tries++
		j.late, j.early = false, false
		if j.tries == maxTries {
			j.status, j.queue = judge.Dead, ""
			j.event("dead")
		} else {
			j.status, j.queue, j.lane = judge.Pending, "R", min(j.lane, judge.LaneRetry)
			j.event("worker_lost")
		}
	}
	if len(lost) != n {
		return fmt.Errorf("reaped %+v, want %d jobs", lost, n)
	}
	return nil
}

func (p *protocol) redeliver() error {
	everything := p.draw(2, "everything") == 1
	var got int
	if everything {
		n, err := p.s.RedeliverAll(p.t.Context())
		if err != nil {
			return err
		}
		got = int(n)
	} else {
		ids, err := p.s.Redeliver(p.t.Context(), 100)
		if err != nil {
			return err
		}
		got = len(ids)
	}
	want := 0
	for _, j := range p.jobs {
		if j.queue == "D" && (everything || j.late) {
			want++
			j.queue, j.late = "R", false
			j.event("redelivered")
		}
	}
	if got != want {
		return fmt.Errorf("redelivered %d, want %d", got, want)
	}
	return nil
}

func (p *protocol) publishFails() error {
	js, ids := p.some()
	p.note("%v", ids)
	var err error
	if p.draw(2, "why") == 0 {
		err = p.s.PublishFailed(p.t.Context(), "d1", ids, "no redis")
	} else {
		js, ids = js[:1], ids[:1]
		err = p.s.Malformed(p.t.Context(), ids[0], judge.ReasonMissingField)
	}
	for _, j := range js {
		if j.queue == "D" {
			j.queue, j.late = "S", false
			j.event("publish_failed")
			p.backOff(j)
		}
	}
	return err
}

func (p *protocol) promote() error {
	n, err := p.s.Promote(p.t.Context())
	if err != nil {
		return err
	}
	want := int64(0)
	for _, j := range p.jobs {
		if j.queue == "S" && j.late {
			want++
			j.queue, j.late = "R", false
			j.event("promoted")
		}
	}
	if n != want {
		return fmt.Errorf("promoted %d, want %d", n, want)
	}
	return nil
}

func (p *protocol) cancel() error {
	j := p.job()
	p.note("job %d", j.id)
	waiting := p.draw(2, "only if it waits") == 1
	var err error
	if waiting {
		err = p.s.Withdraw(p.t.Context(), j.id, "staff", "")
	} else {
		err = p.s.Cancel(p.t.Context(), j.id, "staff", "")
	}
	if j.status.Terminal() || waiting && j.status == judge.Running {
		return mustReject(err)
	}
	j.undo, j.undoEarly = j.status == judge.Pending, j.early
	j.status, j.queue, j.late = judge.Cancelled, "", false
	j.event("cancelled")
	return err
}

func (p *protocol) restore() error {
	j := p.job()
	p.note("job %d", j.id)
	err := p.s.Restore(p.t.Context(), j.id, "staff")
	if j.status != judge.Cancelled || !j.undo {
		return mustReject(err)
	}
	p.restored(j)
	return err
}

func (p *protocol) restored(j *modelJob) {
	j.status, j.queue, j.late, j.early = judge.Pending, "R", false, j.undoEarly
	if j.early {
		j.queue = "S"
	}
	j.event("restored")
}

func (p *protocol) rejudge() error {
	js, ids := p.some()
	p.note("%v", ids)
	gens, err := p.s.Rejudge(p.t.Context(), append(ids, -1), judge.LaneRejudge, "staff")
	if err != nil {
		return err
	}
	slices.Sort(ids)
	if len(gens) != len(slices.Compact(ids)) {
		return fmt.Errorf("generations = %v", gens)
	}
	seen := map[*modelJob]bool{}
	for _, j := range js {
		if !seen[j] && (j.status != judge.Pending || j.tries > 0 || j.inSet) {
			j.again(judge.LaneRejudge, false)
		}
		seen[j] = true
		if gens[j.id] != j.generation {
			return fmt.Errorf("job %d has generation %d, want %d", j.id, gens[j.id], j.generation)
		}
	}
	return nil
}

// again is a new generation.
func (j *modelJob) again(lane judge.Lane, inSet bool) {
	j.generation++
	j.status, j.queue, j.tries, j.late, j.early, j.lane, j.inSet = judge.Pending, "R", 0, false, false, lane, inSet
	j.event("rejudge")
}

// modelPlace is where a job stood before somebody moved it.
type modelPlace struct {
	lane                judge.Lane
	queue               string
	late                bool
	generation, attempt int32
}

func (j *modelJob) leavePlace() {
	j.places = append(j.places, modelPlace{j.lane, j.queue, j.late, j.generation, j.attempt})
}

func (p *protocol) reorder() error {
	j := p.job()
	how := p.draw(5, "how")
	p.note("job %d, %d", j.id, how)
	waits := j.queue == "R" || j.queue == "S"
	switch how {
	case 0:
		err := p.s.Release(p.t.Context(), j.id, "staff")
		if !waits {
			return mustReject(err)
		}
		j.leavePlace()
		j.queue, j.early, j.late, j.lane = "R", false, false, judge.LaneStaff
		j.event("moved")
		return err
	case 1:
		_, err := p.s.Delay(p.t.Context(), j.id, "staff")
		if !waits || j.lane == judge.LaneStaff {
			return mustReject(err)
		}
		j.leavePlace()
		j.event("moved")
		return err
	case 2:
		return p.move(j, p.job())
	case 3:
		err := p.s.Hasten(p.t.Context(), j.id, "staff")
		if !waits || j.lane == judge.LaneStaff {
			return mustReject(err)
		}
		j.leavePlace()
		j.queue, j.early, j.late, j.lane = "R", false, false, judge.LaneStaff
		j.event("moved")
		return err
	default:
		return p.undo(j)
	}
}

func (p *protocol) move(j, before *modelJob) error {
	err := p.s.Move(p.t.Context(), j.id, before.id, "staff")
	switch {
	case j.status != judge.Pending:
		return mustReject(err)
	case j.queue == "D" || before == j || before.queue != "R":
		return mustRefuse(err)
	}
	j.leavePlace()
	j.queue, j.early, j.late, j.lane = "R", false, false, before.lane
	j.event("moved")
	return err
}

func (p *protocol) undo(j *modelJob) error {
	_, err := p.s.Undo(p.t.Context(), j.id, "staff")
	if j.status == judge.Cancelled && j.undo {
		p.restored(j)
		return err
	}
	for i, at := range slices.Backward(j.places) {
		if (j.queue == "R" || j.queue == "S") && at.generation == j.generation && at.attempt == j.attempt {
			j.places = slices.Delete(j.places, i, i+1)
			j.lane, j.queue, j.early, j.late = at.lane, "R", false, false
			if at.queue == "S" && !at.late {
				j.queue, j.early = "S", true
			}
			j.event("moved")
			return err
		}
	}
	return mustReject(err)
}

// heldBack chooses the events of a job before its newest move that stay because
// they are in a batch with a move that stays.
const heldBack = `SELECT e.kind FROM events_of($1) e JOIN event_batches b ON b.xid = e.xid AND b.id = e.id
	WHERE e.id < (SELECT max(id) FROM events_of($1) WHERE kind IN ('finished', 'cancelled', 'dead'))
	AND EXISTS (
		SELECT 1 FROM unnest(b.job_ids, b.generations) u(job_id, generation) JOIN jobs j ON j.job_id = u.job_id
		WHERE j.status IN ('pending', 'running') OR b.kind IN ('finished', 'imported') AND j.generation = u.generation)
	ORDER BY e.id`

// retire deletes events as if all retention were over: the newest move of a job
// stays, and what came after it.
func (p *protocol) retire() error {
	var from jobs.RetireCursor
	for more := true; more; {
		r, err := p.s.RetireEvents(p.t.Context(), 0, from, 3)
		if err != nil {
			return err
		}
		from, more = r.Next, r.More
	}
	for _, j := range p.jobs {
		if !j.status.Terminal() {
			continue
		}
		for i, kind := range slices.Backward(j.events) {
			if moves := []string{"finished", "cancelled", "dead"}; slices.Contains(moves, kind) {
				j.events = append(sqltest.All[string](p.t, p.s, heldBack, j.id), j.events[i:]...)
				break
			}
		}
	}
	return nil
}

// check compares the database with the model.
func (p *protocol) check() error {
	for _, j := range p.jobs {
		v, err := p.s.Submission(p.t.Context(), j.id)
		if err != nil {
			return err
		}
		shown := j.status
		if j.inSet {
			shown = judge.Finished
			if got := sqltest.One[judge.Status](p.t, p.s, "SELECT status FROM jobs WHERE job_id = $1", j.id); got != j.status {
				return fmt.Errorf("job %d is %s, want %s", j.id, got, j.status)
			}
		}
		if v.Status != shown || v.QueueState != j.queue || v.Generation != j.generation || v.AttemptID != j.attempt || v.Tries != j.tries {
			return fmt.Errorf("job %d is %s %s, generation %d, attempt %d, tries %d; want %s %s, %d, %d, %d", j.id,
				v.Status, v.QueueState, v.Generation, v.AttemptID, v.Tries, shown, j.queue, j.generation, j.attempt, j.tries)
		}
		if err := j.checkResult(v); err != nil {
			return err
		}
		es, err := p.s.Events(p.t.Context(), j.id, 0, 0)
		if err != nil {
			return err
		}
		var got []string
		for _, e := range es {
			got = append(got, string(e.Kind))
		}
		if !slices.Equal(got, j.events) {
			return fmt.Errorf("job %d has events %v, want %v", j.id, got, j.events)
		}
	}
	a, err := p.s.Audit(p.t.Context())
	if err != nil {
		return err
	}
	if !a.Zero() {
		return fmt.Errorf("audit %+v", a)
	}
	return nil
}

// checkResult compares the shown verdict with that of the live generation.
func (j *modelJob) checkResult(v *judge.Submission) error {
	want := j.results[j.live]
	switch {
	case v.Result == nil && want != "":
		return fmt.Errorf("job %d shows no verdict, want %s", j.id, want)
	case v.Result != nil && v.Result.Verdict != want:
		return fmt.Errorf("job %d shows %s, want %q", j.id, v.Result.Verdict, want)
	default:
		return nil
	}
}

// checkResults compares all stored results with the model, once at the end.
func (p *protocol) checkResults() error {
	// What is found of one job is what is found of it among all.
	strays := sqltest.All[int64](p.t, p.s, `SELECT j.job_id FROM jobs j
		WHERE ARRAY(SELECT e.id FROM events e WHERE e.job_id = j.job_id ORDER BY e.id) <> ARRAY(SELECT e.id FROM events_of(j.job_id) e ORDER BY e.id)`)
	if len(strays) > 0 {
		return fmt.Errorf("events_of does not have all events of jobs %d", strays)
	}
	want := 0
	for _, j := range p.jobs {
		want += len(j.results)
	}
	rows := sqltest.All[string](p.t, p.s, "SELECT job_id || ' ' || generation || ' ' || verdict FROM results")
	if len(rows) != want {
		return fmt.Errorf("%d results, want %d", len(rows), want)
	}
	for _, j := range p.jobs {
		for g, v := range j.results {
			if !slices.Contains(rows, fmt.Sprintf("%d %d %s", j.id, g, v)) {
				return errors.Join(fmt.Errorf("no result %s of job %d generation %d", v, j.id, g))
			}
		}
	}
	return nil
}
