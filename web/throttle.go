package web

import (
	"sync"
	"time"
)

// How many failed logins are taken in a window, per name and per address.
const (
	loginWindow    = 5 * time.Minute
	loginsPerName  = 10
	loginsPerPlace = 50
	loginKeys      = 10_000 // the most names and addresses that are remembered
)

// throttle slows down guessing of passwords. It is per process and forgets.
type throttle struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]*failures
}

type failures struct {
	count int
	until time.Time
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, seen: map[string]*failures{}}
}

// wait returns how long the next login has to wait; 0 = not at all.
func (t *throttle) wait(name, client string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(t.left("name "+name, loginsPerName), t.left("from "+client, loginsPerPlace))
}

// left must be called with the lock held.
func (t *throttle) left(key string, limit int) time.Duration {
	f := t.seen[key]
	if f == nil || f.count < limit {
		return 0
	}
	return max(0, f.until.Sub(t.now()))
}

// failed counts a failed login.
func (t *throttle) failed(name, client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for key := range t.seen {
		if len(t.seen) < loginKeys {
			break
		}
		delete(t.seen, key) // any: who floods us is slowed down by the address
	}
	for _, key := range []string{"name " + name, "from " + client} {
		f := t.seen[key]
		if f == nil || !now.Before(f.until) {
			f = &failures{until: now.Add(loginWindow)}
			t.seen[key] = f
		}
		f.count++
	}
}

// succeeded forgets the failures of a name.
func (t *throttle) succeeded(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, "name "+name)
}
