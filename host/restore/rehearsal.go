package restore

import (
	"cmp"
	"slices"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// Afresh is the contest before anything was handed in, which begins at a moment and whose time passes faster.
func (c *Contest) Afresh(start time.Time, speed int) rounds.Past {
	p := c.Past
	r := p.Round
	r.Start, r.Speed = &start, speed
	r.Paused, r.Thaw, r.Thawed, r.Finalized, r.UpdatesEnd, r.Removed = nil, nil, nil, nil, nil, nil
	p.Round, p.Submissions, p.Clarifications, p.Awards, p.Log = r, nil, nil, nil, nil
	p.Adjustments = nil
	p.Extras = slices.DeleteFunc(slices.Clone(p.Extras), func(e rounds.Extra) bool { return e.Kind != string(contest.KindPerson) })
	p.Participants = slices.Clone(p.Participants)
	for i := range p.Participants {
		p.Participants[i].Status = judge.ParticipantActive // who was disqualified took part
	}
	return p
}

// Step is something that happened in a contest.
type Step struct {
	At         time.Duration // contest time
	Submission int           // its place among those of the contest
	Result     *judge.Result // how it was judged; nil = it was handed in
}

// Steps are what happened in the contest, in its order: each submission, and the judging of it that counts, when it was judged
// first.
func (c *Contest) Steps() []Step {
	clock := contest.ClockOf(&c.Past.Round)
	var out []Step
	for i := range c.Past.Submissions {
		s := &c.Past.Submissions[i]
		out = append(out, Step{At: clock.At(s.At), Submission: i})
		if len(s.Judgings) == 0 {
			continue
		}
		counts := len(s.Judgings) - 1
		for k, j := range s.Judgings {
			if j.Current {
				counts = k
			}
		}
		out = append(out, Step{At: max(clock.At(s.Judgings[0].End), clock.At(s.At)), Submission: i, Result: &s.Judgings[counts].Result})
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return out
}
