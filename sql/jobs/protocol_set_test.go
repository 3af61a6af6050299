package jobs_test

import (
	"errors"
	"fmt"

	"deepoj/host/judge"
	"deepoj/sql"
)

// modelSet is a rejudge set as it must be.
type modelSet struct {
	id         int64
	members    map[*modelJob]int32 // their generation
	resolution string
}

func (m *modelSet) underWay(j *modelJob) bool {
	return j.generation == m.members[j] && (j.status == judge.Pending || j.status == judge.Running)
}

func (p *protocol) startSet() error {
	js, ids := p.some()
	p.note("%v", ids)
	m := &modelSet{members: map[*modelJob]int32{}}
	asked := map[*modelJob]bool{}
	for _, j := range js {
		asked[j] = true
	}
	for j := range asked {
		if j.status.Terminal() && j.live > 0 {
			j.again(judge.LaneBatch, true)
			m.members[j] = j.generation
		}
	}
	p.n++
	r := sql.RejudgeRequest{Key: fmt.Sprint("set", p.n), By: "staff", JobIDs: ids}
	set, err := p.s.StartRejudge(p.t.Context(), r)
	if err != nil {
		return err
	}
	n := int64(len(m.members))
	if set.Total != n || set.Waiting != n || int(set.Skipped) != len(asked)-len(m.members) || set.Resolution != "" {
		return fmt.Errorf("set %+v, want %d of %d jobs waiting", set, n, len(asked))
	}
	if again, err := p.s.StartRejudge(p.t.Context(), r); err != nil || again.ID != set.ID {
		return fmt.Errorf("the same request made set %d after %d: %w", again.ID, set.ID, err)
	}
	m.id = set.ID
	p.sets = append(p.sets, m)
	return nil
}

func (p *protocol) resolveSet() error {
	if len(p.sets) == 0 {
		return nil
	}
	m := p.sets[p.draw(len(p.sets), "set")]
	if err := p.checkSet(m); err != nil {
		return err
	}
	if p.draw(3, "how") == 0 {
		return p.cancelSet(m)
	}
	p.note("apply %d", m.id)
	err := p.s.ApplyRejudge(p.t.Context(), m.id, "staff")
	for j := range m.members {
		if m.resolution == "" && m.underWay(j) {
			return mustRefuse(err)
		}
	}
	switch m.resolution {
	case "cancelled":
		return mustRefuse(err)
	case "applied":
		return err
	}
	m.resolution = "applied"
	for j, generation := range m.members {
		if j.generation == generation && j.status == judge.Finished {
			j.live, j.inSet = generation, false
			j.event("applied")
		}
	}
	return err
}

func (p *protocol) cancelSet(m *modelSet) error {
	p.note("cancel %d", m.id)
	err := p.s.CancelRejudge(p.t.Context(), m.id, "staff")
	switch m.resolution {
	case "applied":
		return mustRefuse(err)
	case "cancelled":
		return err
	}
	m.resolution = "cancelled"
	for j := range m.members {
		if m.underWay(j) {
			j.status, j.queue, j.late, j.undo = judge.Cancelled, "", false, false
			j.event("cancelled")
		}
	}
	return err
}

// checkSet compares the progress that the database gives with the model.
func (p *protocol) checkSet(m *modelSet) error {
	want := sql.RejudgeSet{Total: int64(len(m.members)), Resolution: m.resolution}
	for j, generation := range m.members {
		_, judged := j.results[generation]
		switch {
		case judged:
			want.Judged++
		case j.generation > generation || j.status == judge.Cancelled:
			want.Left++
		case j.status == judge.Pending:
			want.Waiting++
		case j.status == judge.Running:
			want.Running++
		case j.status == judge.Dead:
			want.Dead++
		}
	}
	got, err := p.s.RejudgeSet(p.t.Context(), m.id)
	if err != nil {
		return err
	}
	figures := func(r sql.RejudgeSet) string {
		return fmt.Sprintf("%q: %d waiting, %d running, %d judged, %d dead, %d left of %d", r.Resolution, r.Waiting, r.Running, r.Judged, r.Dead, r.Left, r.Total)
	}
	if figures(got) != figures(want) {
		return fmt.Errorf("set %d is %s, want %s", m.id, figures(got), figures(want))
	}
	return nil
}

func mustRefuse(err error) error {
	if _, ok := errors.AsType[*judge.FieldError](err); !ok {
		return fmt.Errorf("not refused: %v", err)
	}
	return nil
}
