package contest

import (
	"time"

	"deepoj/host/judge"
)

// Clock turns times into those of a round.
type Clock struct {
	c    clock
	thaw time.Time // planned; zero = not
}

// ClockOf returns the clock of a round. What was given back counts as if it had not been removed.
func ClockOf(r *judge.Round) Clock {
	c := clock{round: Round{Freeze: r.Freeze, Thawed: r.Thawed != nil, Speed: r.Speed}}
	if r.Start != nil {
		c.round.Start = *r.Start
	}
	if r.Duration != nil {
		c.round.Duration = *r.Duration
	}
	for i, d := range r.Removed {
		c.remove(Removed{ID: int64(i), From: d.From, To: d.To, Undone: d.Undone != nil})
	}
	if r.Thaw != nil {
		return Clock{c, *r.Thaw}
	}
	return Clock{c: c}
}

// At returns the contest time of a moment, 0 before the start.
func (c Clock) At(t time.Time) time.Duration { return c.c.at(t) }

// End returns when the round ends, zero where it has no end or no start.
func (c Clock) End() time.Time { return c.c.end() }

// Freezes returns when the freeze begins, zero where there is none.
func (c Clock) Freezes() time.Time { return c.c.freezes() }

// Official reports whether what is handed in at a moment counts: from the start to the end.
func (c Clock) Official(t time.Time) bool { return c.begun(t) && c.c.official(c.At(t)) }

// Hides reports whether judgements of what is handed in at a moment are hidden.
func (c Clock) Hides(t time.Time) bool { return c.begun(t) && c.c.frozen(c.At(t)) }

// Started returns since when the round runs; nil = it has not begun.
func (c Clock) Started(now time.Time) *time.Time { return since(c.begun(now), c.c.round.Start) }

// Frozen returns since when the round is frozen, thawed or not; nil = it is not.
func (c Clock) Frozen(now time.Time) *time.Time { return since(c.frozen(now), c.Freezes()) }

// Ended returns since when the round is over; nil = it is not.
func (c Clock) Ended(now time.Time) *time.Time { return since(c.over(now), c.End()) }

func since(it bool, t time.Time) *time.Time {
	if !it {
		return nil
	}
	return &t
}

// Next returns the first moment after now at which time alone changes something: the start, the freeze, the end, the thaw. It is
// zero where there is none.
func (c Clock) Next(now time.Time) (next time.Time) {
	for _, t := range []time.Time{c.c.round.Start, c.Freezes(), c.End(), c.thaw} {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// Thaws reports whether it is time to show what was hidden, as planned: not before the end.
func (c Clock) Thaws(now time.Time) bool {
	return !c.c.round.Thawed && !c.thaw.IsZero() && !c.thaw.After(now) && (c.over(now) || c.End().IsZero())
}

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

// When returns the first moment at which the contest time is d, zero while no start is known.
func (c Clock) When(d time.Duration) time.Time { return c.c.when(d) }
