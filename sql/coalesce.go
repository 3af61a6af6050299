package sql

import (
	"context"
	"sync"
	"time"
)

// coalescer puts what several callers ask at the same time into one statement.
// A caller that finds nobody before it is served at once, alone; those that come
// while statements are under way go together with the next. So nobody waits for
// company, and a crowd costs little more than one.
type coalescer[Q, A any] struct {
	// do serves all of qs, and answers each.
	do func(ctx context.Context, qs []Q) []answered[A]

	// together says whether q may go with first. Defaults to always.
	together func(first, q Q) bool

	lanes int // statements at the same time
	limit int // callers that are served by one

	mu      sync.Mutex
	working int // lanes that are taken
	waiting []*asked[Q, A]
}

// answered is the answer to one caller.
type answered[A any] struct {
	answer A
	err    error
}

// asked is a caller that waits.
type asked[Q, A any] struct {
	q    Q
	done chan answered[A] // of one
}

// statementTime bounds a statement that serves several callers, none of which
// decides how long it may take.
const statementTime = 30 * time.Second

// ask serves q, alone or together with others. When ctx ends first, q may be
// served or not, as with any statement whose answer is lost.
func (c *coalescer[Q, A]) ask(ctx context.Context, q Q) (A, error) {
	c.mu.Lock()
	if c.working < c.lanes {
		c.working++
		c.mu.Unlock()
		a := c.do(ctx, []Q{q})[0]
		c.next(ctx)
		return a.answer, a.err
	}
	mine := &asked[Q, A]{q, make(chan answered[A], 1)}
	c.waiting = append(c.waiting, mine)
	c.mu.Unlock()
	select {
	case a := <-mine.done:
		return a.answer, a.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// next serves those who wait, without the caller, or gives the lane back.
func (c *coalescer[Q, A]) next(ctx context.Context) {
	crowd := c.take()
	if crowd == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		for ; crowd != nil; crowd = c.take() {
			qs := make([]Q, len(crowd))
			for i, one := range crowd {
				qs[i] = one.q
			}
			served, cancel := context.WithTimeout(ctx, statementTime)
			for i, a := range c.do(served, qs) {
				crowd[i].done <- a
			}
			cancel()
		}
	}()
}

// take returns those who are served next, or gives the lane back and returns
// nil.
func (c *coalescer[Q, A]) take() []*asked[Q, A] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.working--
		return nil
	}
	first := c.waiting[0]
	crowd := []*asked[Q, A]{first}
	var rest []*asked[Q, A]
	for _, one := range c.waiting[1:] {
		if len(crowd) < c.limit && (c.together == nil || c.together(first.q, one.q)) {
			crowd = append(crowd, one)
		} else {
			rest = append(rest, one)
		}
	}
	c.waiting = rest
	return crowd
}
