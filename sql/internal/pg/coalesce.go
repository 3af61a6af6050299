package pg

import (
	"context"
	"sync"
	"time"
)

// Coalescer puts what several callers ask at the same time into one statement. A caller that finds nobody before it is
// served at once, alone; those that come while statements are under way go together with the next. So nobody waits for
// company, and a batch costs little more than one.
type Coalescer[Q, A any] struct {
	// Do serves all of qs, and answers each.
	Do func(ctx context.Context, qs []Q) []Answered[A]

	// Together says whether q may go with first. Defaults to always.
	Together func(first, q Q) bool

	Lanes int           // statements at the same time
	Limit int           // callers that are served by one
	Time  time.Duration // a statement may take that serves several callers, none of which decides about it

	mu      sync.Mutex
	working int // lanes that are taken
	waiting []asked[Q, A]
}

// Answered is the answer to one caller.
type Answered[A any] struct {
	Answer A
	Err    error
}

// asked is a caller that waits.
type asked[Q, A any] struct {
	q    Q
	then func(Answered[A])
}

// Ask serves q, alone or together with others. When ctx ends first, q may be
// served or not, as with any statement whose answer is lost.
func (c *Coalescer[Q, A]) Ask(ctx context.Context, q Q) (A, error) {
	done := make(chan Answered[A], 1)
	if c.enter(asked[Q, A]{q, func(a Answered[A]) { done <- a }}) {
		a := c.Do(ctx, []Q{q})[0]
		if batch := c.take(); batch != nil {
			go c.serve(context.WithoutCancel(ctx), batch)
		}
		return a.Answer, a.Err
	}
	select {
	case a := <-done:
		return a.Answer, a.Err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// Tell has q served and returns at once. Then is called with the answer, and must
// not block: others wait behind it for theirs.
func (c *Coalescer[Q, A]) Tell(ctx context.Context, q Q, then func(Answered[A])) {
	if mine := (asked[Q, A]{q, then}); c.enter(mine) {
		go c.serve(context.WithoutCancel(ctx), []asked[Q, A]{mine})
	}
}

// enter takes a lane if one is free, and has a wait otherwise.
func (c *Coalescer[Q, A]) enter(a asked[Q, A]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.working < c.Lanes {
		c.working++
		return true
	}
	c.waiting = append(c.waiting, a)
	return false
}

// serve serves a batch and those who come meanwhile, and gives the lane back.
func (c *Coalescer[Q, A]) serve(ctx context.Context, batch []asked[Q, A]) {
	for ; batch != nil; batch = c.take() {
		qs := make([]Q, len(batch))
		for i, one := range batch {
			qs[i] = one.q
		}
		served, cancel := context.WithTimeout(ctx, c.Time)
		for i, a := range c.Do(served, qs) {
			batch[i].then(a)
		}
		cancel()
	}
}

// take returns those who are served next, or gives the lane back and returns nil.
func (c *Coalescer[Q, A]) take() []asked[Q, A] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.working--
		c.waiting = nil
		return nil
	}
	if c.Together == nil {
		n := min(c.Limit, len(c.waiting))
		batch := c.waiting[:n:n]
		c.waiting = c.waiting[n:]
		return batch
	}
	batch := c.waiting[:1:1]
	var rest []asked[Q, A]
	for _, one := range c.waiting[1:] {
		if len(batch) < c.Limit && c.Together(batch[0].q, one.q) {
			batch = append(batch, one)
		} else {
			rest = append(rest, one)
		}
	}
	c.waiting = rest
	return batch
}
