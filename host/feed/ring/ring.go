// Package ring puts what many workers finish back into the order in which it came.
//
// There is a slot for each number, and a bound on slots. A number is claimed only when it is the next one, so that
// whoever gives out records, as they come or from the log, leaves none out and gives none twice. What is ready is taken
// from the head only.
package ring

import (
	"context"
	"fmt"
	"sync"
)

// Ring has slots for records in flight. Its methods may be called at the same time; Take is for one goroutine.
type Ring[T any] struct {
	mu      sync.Mutex
	slots   []slot[T]
	head    uint64 // number that is taken next
	next    uint64 // number that can be claimed next
	changed chan struct{}
	waiting int // goroutines that wait for changed
	err     error
}

type slot[T any] struct {
	value T
	ready bool
}

// New returns a ring whose first number is next.
func New[T any](slots int, next uint64) *Ring[T] {
	return &Ring[T]{slots: make([]slot[T], max(slots, 1)), head: next, next: next, changed: make(chan struct{})}
}

// at returns the slot of seq; r.mu is held.
func (r *Ring[T]) at(seq uint64) *slot[T] { return &r.slots[seq%uint64(len(r.slots))] }

// notify wakes whoever waits; r.mu is held.
func (r *Ring[T]) notify() {
	if r.waiting > 0 {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// room reports whether a slot is free; r.mu is held.
func (r *Ring[T]) room() bool { return r.next-r.head < uint64(len(r.slots)) }

// TryClaim takes the slot of seq, if that is the next number and there is room. It never waits.
func (r *Ring[T]) TryClaim(seq uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || seq != r.next || !r.room() {
		return false
	}
	r.claim()
	return true
}

func (r *Ring[T]) claim() {
	r.next++
	r.notify()
}

// Claim takes the slot of seq, and waits for room. It is not the caller's if somebody else has claimed that number
// before; a number behind the next one is a mistake.
func (r *Ring[T]) Claim(ctx context.Context, seq uint64) (mine bool, err error) {
	err = r.wait(ctx, func() (bool, error) {
		switch {
		case seq < r.next:
			return true, nil
		case r.err != nil:
			return false, r.err
		case seq > r.next:
			return false, fmt.Errorf("record %d is claimed before record %d", seq, r.next)
		case !r.room():
			return false, nil
		}
		r.claim()
		mine = true
		return true, nil
	})
	return mine, err
}

// Put fills the slot of a number that was claimed, once, in any order.
func (r *Ring[T]) Put(seq uint64, v T) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq < r.head || seq >= r.next {
		return fmt.Errorf("record %d was not claimed, or was taken: %d to %d are in flight", seq, r.head, r.next)
	}
	s := r.at(seq)
	if s.ready {
		return fmt.Errorf("record %d is finished twice", seq)
	}
	s.value, s.ready = v, true
	if seq == r.head {
		r.notify()
	}
	return nil
}

// Take waits for the head to be ready, and takes it with all that is ready behind it into the room of into, which is
// emptied first. It returns the number of the first one.
func (r *Ring[T]) Take(ctx context.Context, into []T) (first uint64, got []T, err error) {
	if cap(into) == 0 {
		into = make([]T, 0, 1)
	}
	got = into[:0]
	err = r.wait(ctx, func() (bool, error) {
		first = r.head
		for len(got) < cap(got) && r.head < r.next && r.at(r.head).ready {
			s := r.at(r.head)
			got = append(got, s.value)
			*s = slot[T]{}
			r.head++
		}
		if len(got) > 0 {
			r.notify()
			return true, nil
		}
		return false, r.err
	})
	return first, got, err
}

// wait calls so, with r.mu held, until it is true or fails.
func (r *Ring[T]) wait(ctx context.Context, so func() (bool, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if done, err := so(); done || err != nil {
			return err
		}
		changed := r.changed
		r.waiting++
		r.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-changed:
		}
		r.mu.Lock()
		r.waiting--
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// Next is the number that can be claimed next.
func (r *Ring[T]) Next() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Head is the number that Take returns next.
func (r *Ring[T]) Head() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Len is how many numbers are claimed and not taken.
func (r *Ring[T]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.next - r.head)
}

// Close ends waiting: Claim returns err, and so does Take when the head is not ready.
func (r *Ring[T]) Close(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.notify()
}
