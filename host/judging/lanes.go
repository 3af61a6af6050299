package judging

import (
	"context"
	"sync"
	"time"
)

// Each job that is judged or run has one lane of its own, which runs its tests one after the other, and further ones as
// long as cores are left when each has as many. A lane costs a box, so one that would be for a moment only is not opened.

// crowd knows how many jobs are judged or run.
type crowd struct {
	cores int

	mu      sync.Mutex
	all     int
	changed chan struct{} // closed when all changes
}

func newCrowd(cores int) *crowd { return &crowd{cores: cores, changed: make(chan struct{})} }

// enter says that there is one more, until leave is called.
func (c *crowd) enter() (leave func()) {
	c.add(1)
	return func() { c.add(-1) }
}

func (c *crowd) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all += n
	close(c.changed)
	c.changed = make(chan struct{})
}

// room reports whether there is room for the lane k of each evaluation, counted from
// 0, and returns a channel that is closed when that may have changed.
func (c *crowd) room(k int) (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k == 0 || c.all*(k+1) <= c.cores, c.changed
}

// settled is for how long there must be room for a further lane before it is opened:
// longer than from the end of one evaluation to the beginning of the next one.
const settled = 5 * time.Millisecond

// wait waits for room for the lane k, and reports whether there is any before ctx ends.
func (c *crowd) wait(ctx context.Context, k int) bool {
	if k == 0 {
		return true
	}
	for {
		is, changed := c.room(k)
		var long <-chan time.Time
		if is {
			long = time.After(settled)
		}
		select {
		case <-long:
			return true
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
