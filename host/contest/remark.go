package contest

import (
	"slices"

	"deepoj/host/judge"
)

// Remarks says what is worth saying of a contest of the format icpc as its entries come in: that somebody takes the lead,
// or gets among those who have medals, or would if something is accepted that was just handed in. It knows what the viewer
// of its state knows.
type Remarks struct {
	state *State
	best  prizes
}

// Remark is what something that was handed in, or was accepted, means for who leads and who has medals.
type Remark struct {
	Submission Submission
	Accepted   bool     // otherwise it was handed in, and may be
	Solved     int      // problems by then
	Leads      bool     // whoever handed in leads then, and did not, or not with the same others
	Shares     bool     // with others
	Medal      string   // the award that whoever handed in has then, and had not, or not with the same others; "" = none
	Tags       []string // those of the Contest API
}

// prizes are the ids of participants in the places of awards.
type prizes map[string][]int64

// The awards that are remarked on, as the Contest API calls them. Of the medals everybody who gets one is among those of medal.
const (
	winner = "winner"
	medal  = "medal"
)

var remarked = []string{winner, medal, "gold-medal", "silver-medal", "bronze-medal"}

// NewRemarks returns remarks about a state that goes on with [Remarks.Apply] alone.
func NewRemarks(s *State) *Remarks { return &Remarks{s, s.prizes()} }

// Apply takes an entry in as [State.Apply] does, and returns what is worth saying about it; nil = nothing.
func (r *Remarks) Apply(e Entry) (*Remark, error) {
	change, err := r.state.Apply(e)
	if err != nil {
		return nil, err
	}
	was := r.best
	if r.matters(change) {
		r.best = r.state.prizes()
	}
	if r.state.cfg.Format != ICPC {
		return nil, nil
	}
	switch e := e.(type) {
	case Submission:
		return r.stakes(e)
	case Judgement:
		sub := r.state.submissions[e.Submission]
		if e.Current && e.Verdict == judge.AC && sub.known {
			return r.remark(sub.Submission, was, true), nil
		}
	}
	return nil, nil
}

// matters reports whether a change may be one of who leads or has a medal.
func (r *Remarks) matters(c Change) bool {
	m := r.state.cfg.ICPC.Medals
	last := max(m.Gold+m.Silver+m.Bronze+r.state.cfg.ICPC.B, 1)
	in := func(rank int) bool { return rank > 0 && rank <= last }
	return c.All || c.Participant != 0 && (len(m.Groups) > 0 || in(c.Was) || in(c.Rank))
}

// stakes has something accepted that was just handed in, looks, and takes it back.
func (r *Remarks) stakes(e Submission) (*Remark, error) {
	sub := r.state.submissions[e.ID]
	if len(sub.judgements) > 0 || sub.ignored {
		return nil, nil
	}
	c, err := r.state.Apply(Judgement{Submission: e.ID, Generation: 1, Current: true, Verdict: judge.AC})
	if err != nil {
		return nil, err
	}
	var out *Remark
	if r.matters(c) {
		now := r.best
		r.best = r.state.prizes()
		out = r.remark(e, now, false)
		r.best = now
	}
	sub.judgements = nil
	_, err = r.state.Apply(Judgement{Submission: e.ID, Generation: 1})
	sub.judgements = nil
	return out, err
}

// remark compares who leads and has medals with who did.
func (r *Remarks) remark(e Submission, was prizes, accepted bool) *Remark {
	out := &Remark{Submission: e, Accepted: accepted, Tags: []string{"submission"}}
	if accepted {
		out.Tags[0] = "accepted"
	}
	for _, name := range remarked {
		if slices.Equal(was[name], r.best[name]) {
			continue
		}
		out.Tags = append(out.Tags, out.Tags[0]+"-"+name)
		if !slices.Contains(r.best[name], e.Participant) {
			continue
		}
		switch name {
		case winner:
			out.Leads, out.Shares = true, len(r.best[name]) > 1
		case medal:
		default:
			out.Medal = name
		}
	}
	if len(out.Tags) == 1 {
		return nil
	}
	if row := r.state.rows[e.Participant]; row != nil {
		out.Solved = row.sum.solved
	}
	return out
}

// prizes are who leads and who is in the places of medals, by id.
func (s *State) prizes() prizes {
	a := awards{}
	a.add(winner, "", atRank(s.ranking(), 1)...)
	if s.cfg.Format == ICPC {
		s.medals(&a)
	}
	out := prizes{}
	for _, one := range a.all {
		if one.ID != winner {
			out[medal] = append(out[medal], one.Participants...)
		}
		out[one.ID] = one.Participants
	}
	for _, ids := range out {
		slices.Sort(ids)
	}
	return out
}

// Rescore has everything counted in another way.
func (r *Remarks) Rescore(cfg Config) {
	r.state.Rescore(cfg)
	r.best = r.state.prizes()
}
