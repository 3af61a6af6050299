package feed

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause grows each time that something is tried again in vain, up to a bound.
type pause struct{ first, most, next time.Duration }

func newPause(o *Options) *pause { return &pause{first: o.Pause, most: o.MaxPause, next: o.Pause} }

// reset makes the next pause the first one again.
func (p *pause) reset() { p.next = p.first }

// length returns how long to wait now: between half of the pause and all of it, so that feeds do not come back together.
func (p *pause) length() time.Duration {
	d := p.next/2 + rand.N(p.next/2+1) //nolint:gosec // spreads pauses, hides nothing
	p.next = min(2*p.next, p.most)
	return d
}

// wait waits, and reports whether ctx has not ended.
func (p *pause) wait(ctx context.Context) bool {
	timer := time.NewTimer(p.length())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
