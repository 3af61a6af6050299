package job

import (
	"context"
	"time"
)

// How often the jobs that are watched are looked at. Looking takes a part of one connection's time, whoever watches.
const (
	lookSoon = 25 * time.Millisecond  // after events have come
	lookLate = 100 * time.Millisecond // when none came for lookRest
	lookRest = 2 * time.Second
	lookPart = 20 // one look takes at most such a part of the time
)

// follow looks at the jobs that are watched, and wakes the streams of those that have new events, until ctx ends. While
// nobody watches, it asks nothing.
func (h *hub) follow(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	known, moved := map[int64]string{}, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		ids := h.Watched()
		if len(ids) == 0 {
			clear(known)
			select {
			case <-ctx.Done():
				return
			case <-h.Begun():
				moved = time.Now()
				pause.Reset(0)
				continue
			}
		}
		began := time.Now()
		looking, cancel := context.WithTimeout(ctx, LookTime)
		now, err := h.stamps(looking, ids)
		cancel()
		next := lookLate
		if err == nil { // otherwise the streams say so: they look by themselves, if seldom
			if h.wakeMoved(known, now) {
				moved = time.Now()
			}
			known = now
			if time.Since(moved) < lookRest {
				next = lookSoon
			}
		}
		pause.Reset(max(next, lookPart*time.Since(began)))
	}
}

// wakeMoved wakes the streams of jobs that have another stamp than the one that was known, or none that was, and
// reports whether there are any.
func (h *hub) wakeMoved(known, now map[int64]string) (moved bool) {
	for id, stamp := range now {
		if known[id] != stamp {
			h.Wake(id)
			moved = true
		}
	}
	return moved
}
