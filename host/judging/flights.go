package judging

import (
	"context"
	"sync"
)

// flights lets one goroutine at a time work on what a key names; the others wait
// and then find the work done.
type flights struct {
	mu   *sync.Mutex
	keys map[string]*flight
}

type flight struct {
	turn  chan struct{}
	users int
}

func newFlights() flights { return flights{mu: &sync.Mutex{}, keys: map[string]*flight{}} }

// lock waits for the turn of a key.
func (f flights) lock(ctx context.Context, key string) (unlock func(), err error) {
	f.mu.Lock()
	l := f.keys[key]
	if l == nil {
		l = &flight{turn: make(chan struct{}, 1)}
		f.keys[key] = l
	}
	l.users++
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(f.keys, key)
		}
	}
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
