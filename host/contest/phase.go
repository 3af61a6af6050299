package contest

import (
	"time"

	"deepoj/host/judge"
)

// Clock turns times into those of a round.
type Clock struct{ c clock }

// ClockOf returns the clock of a round. What was given back counts as if it had not been removed.
func ClockOf(r *judge.Round) Clock {
	c := clock{round: Round{Freeze: r.Freeze, Thawed: r.Thawed != nil}}
	if r.Start != nil {
		c.round.Start = *r.Start
	}
	if r.Duration != nil {
		c.round.Duration = *r.Duration
	}
	for i, d := range r.Removed {
		c.remove(Removed{ID: int64(i), From: d.From, To: d.To, Undone: d.Undone != nil})
	}
	return Clock{c}
}

// At returns the contest time of a moment, 0 before the start.
func (c Clock) At(t time.Time) time.Duration { return c.c.at(t) }

// End returns when the round ends, zero where it has no end or no start.
func (c Clock) End() time.Time { return c.c.end() }

// Freezes returns when the freeze begins, zero where there is none.
func (c Clock) Freezes() time.Time { return c.c.freezes() }

// begun reports whether the round has begun.
func (c Clock) begun(now time.Time) bool {
	return !c.c.round.Start.IsZero() && !c.c.round.Start.After(now)
}

// over reports whether the round has ended.
func (c Clock) over(now time.Time) bool { return c.begun(now) && !c.c.official(c.At(now)) }

// frozen reports whether the freeze has begun, thawed or not.
func (c Clock) frozen(now time.Time) bool {
	return c.begun(now) && c.c.round.Freeze != nil && c.At(now) >= *c.c.round.Freeze
}

// fresh returns the contest time from which on nothing is handed in yet: that of now, or the next where it stands still,
// so that earlier submissions have the same.
func (c Clock) fresh(now time.Time) time.Duration {
	d := c.At(now)
	if c.begun(now) && c.At(now.Add(-time.Millisecond)) == d && now.Sub(c.c.round.Start) >= time.Millisecond {
		d += time.Millisecond
	}
	return d
}

// Phase is where a round stands in its time.
type Phase string

// The phases of a round, in their order. Whether what was hidden is shown, and whether the result stands, are apart.
const (
	Unscheduled Phase = "unscheduled" // nobody knows when it begins
	Paused      Phase = "paused"      // the countdown was stopped
	Before      Phase = "before"
	Running     Phase = "running"
	Frozen      Phase = "frozen" // it runs, and judgements are hidden
	Over        Phase = "over"
)

// PhaseOf returns where a round stands at a moment.
func PhaseOf(r *judge.Round, now time.Time) Phase {
	c := ClockOf(r)
	switch {
	case r.Paused != nil:
		return Paused
	case r.Start == nil:
		return Unscheduled
	case !c.begun(now):
		return Before
	case c.over(now):
		return Over
	case c.frozen(now) && r.Thawed == nil:
		return Frozen
	}
	return Running
}
