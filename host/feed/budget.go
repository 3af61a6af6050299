package feed

import (
	"context"
	"sync"
)

// budget bounds the bytes that are in flight. What is larger than the whole budget is let through when nothing else is
// under way.
type budget struct {
	mu      sync.Mutex
	most    int64
	used    int64
	waiting int
	changed chan struct{} // closed and made anew when something was given back and somebody waits
}

func newBudget(most int64) *budget { return &budget{most: most, changed: make(chan struct{})} }

// try takes n bytes if there is room.
func (b *budget) try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(n)
}

// fits takes n bytes if there is room; b.mu is held.
func (b *budget) fits(n int64) bool {
	if b.used > 0 && b.used+n > b.most {
		return false
	}
	b.used += n
	return true
}

// take waits for room and takes n bytes.
func (b *budget) take(ctx context.Context, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.fits(n) {
		changed := b.changed
		b.waiting++
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-changed:
		}
		b.mu.Lock()
		b.waiting--
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// add takes n more bytes without waiting, or gives back -n: what was taken turned out to be of another size.
func (b *budget) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	if n < 0 && b.waiting > 0 {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}
