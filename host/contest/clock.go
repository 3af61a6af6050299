package contest

import (
	"cmp"
	"slices"
	"time"
)

// clock turns times into those of a contest.
type clock struct {
	round   Round
	removed map[int64]Removed
	spans   []Removed // of those that are not undone, the union, by time
}

// remove takes an interval in, or out.
func (c *clock) remove(r Removed) {
	if c.removed == nil {
		c.removed = map[int64]Removed{}
	}
	c.removed[r.ID] = r
	all := make([]Removed, 0, len(c.removed))
	for _, r := range c.removed {
		if !r.Undone && r.From.Before(r.To) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Removed) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	c.spans = c.spans[:0]
	for _, r := range all {
		if n := len(c.spans); n > 0 && !r.From.After(c.spans[n-1].To) {
			if r.To.After(c.spans[n-1].To) {
				c.spans[n-1].To = r.To
			}
			continue
		}
		c.spans = append(c.spans, r)
	}
}

// at returns the contest time of t in whole milliseconds: what has passed since the start, without what was removed.
// Before the start it is 0, and so it is while no start is known.
func (c *clock) at(t time.Time) time.Duration {
	if c.round.Start.IsZero() || !t.After(c.round.Start) {
		return 0
	}
	passed := t.Sub(c.round.Start)
	for _, r := range c.spans {
		from, to := r.From, r.To
		if from.Before(c.round.Start) {
			from = c.round.Start
		}
		if to.After(t) {
			to = t
		}
		if from.Before(to) {
			passed -= to.Sub(from)
		}
	}
	return (passed * c.speed()).Truncate(time.Millisecond)
}

// speed is how fast contest time passes.
func (c *clock) speed() time.Duration { return time.Duration(max(c.round.Speed, 1)) }

// official reports whether a submission of contest time t counts: it is handed in before the end.
func (c *clock) official(t time.Duration) bool { return c.round.Duration == 0 || t < c.round.Duration }

// frozen reports whether judgements of a submission of contest time t are hidden from those who see the frozen board.
func (c *clock) frozen(t time.Duration) bool {
	return c.round.Freeze != nil && !c.round.Thawed && t >= *c.round.Freeze
}

// End returns when the contest ends: removed time moves the end. It is zero where it has no end or no start.
func (s *State) End() time.Time { return s.clock.end() }

func (c *clock) end() time.Time {
	if c.round.Duration == 0 {
		return time.Time{}
	}
	return c.when(c.round.Duration)
}

// FrozenAt returns when the freeze begins, zero where there is none.
func (s *State) FrozenAt() time.Time { return s.clock.freezes() }

func (c *clock) freezes() time.Time {
	if c.round.Freeze == nil {
		return time.Time{}
	}
	return c.when(*c.round.Freeze)
}

// when returns the first time at which the contest time is d, zero while no start is known.
func (c *clock) when(d time.Duration) time.Time {
	if c.round.Start.IsZero() {
		return time.Time{}
	}
	passed := d / c.speed()
	if grain := passed.Truncate(time.Microsecond); grain*c.speed() < d {
		passed = grain + time.Microsecond // the first, which is the grain of the database, at which it is no less
	}
	t := c.round.Start.Add(passed)
	for _, r := range c.spans {
		from := r.From
		if from.Before(c.round.Start) {
			from = c.round.Start
		}
		if from.Before(t) && from.Before(r.To) {
			t = t.Add(r.To.Sub(from))
		}
	}
	return t
}
