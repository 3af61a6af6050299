package build

import (
	"context"
	"sync"
)

// keyLocks lets one goroutine at a time work on what a key names; the others wait and then find the work done.
type keyLocks struct {
	mu   *sync.Mutex
	keys map[string]*keyLock
}

type keyLock struct {
	turn  chan struct{}
	users int
}

func newKeyLocks() keyLocks { return keyLocks{mu: &sync.Mutex{}, keys: map[string]*keyLock{}} }

// lock waits for the turn of a key.
func (k keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.keys[key]
	if l == nil {
		l = &keyLock{turn: make(chan struct{}, 1)}
		k.keys[key] = l
	}
	l.users++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.keys, key)
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
