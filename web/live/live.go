// Package live wakes streams when what they watch has changed, and bounds how many there are.
package live

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Why nobody more may watch.
var (
	ErrStopping = errors.New("the server is stopping")
	ErrTooMany  = errors.New("too many open streams")
	ErrYours    = errors.New("too many open streams of this client")
)

// Hub knows who watches what, by number. A stream reads what it watches itself, so that a missed or doubled wake-up does no
// harm and no stream waits for another. It is safe for concurrent use.
type Hub struct {
	limit, perClient int
	done             chan struct{}

	mu      sync.Mutex
	closed  bool
	open    int
	clients map[string]int
	watched map[int64]map[*Watch]struct{}
	begun   chan struct{} // holds a value when somebody began to watch
}

// Watch is one stream's interest in one thing.
type Watch struct {
	hub    *Hub
	key    int64
	client string
	woken  chan struct{} // holds at most one wake-up
	last   atomic.Pointer[time.Time]
}

// New makes a hub for so many streams in all, and of one client.
func New(limit, perClient int) *Hub {
	return &Hub{
		limit: limit, perClient: perClient, done: make(chan struct{}), clients: map[string]int{}, watched: map[int64]map[*Watch]struct{}{}, begun: make(chan struct{}, 1),
	}
}

// Watch begins to watch something for a client. The caller ends it with Leave.
func (h *Hub) Watch(key int64, client string) (*Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, ErrStopping
	case h.open >= h.limit:
		return nil, ErrTooMany
	case h.clients[client] >= h.perClient:
		return nil, ErrYours
	}
	w := &Watch{hub: h, key: key, client: client, woken: make(chan struct{}, 1)}
	h.open++
	h.clients[client]++
	if h.watched[key] == nil {
		h.watched[key] = map[*Watch]struct{}{}
	}
	h.watched[key][w] = struct{}{}
	select {
	case h.begun <- struct{}{}:
	default:
	}
	return w, nil
}

// Leave ends the watch. It may be called once.
func (w *Watch) Leave() {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	if h.clients[w.client]--; h.clients[w.client] == 0 {
		delete(h.clients, w.client)
	}
	delete(h.watched[w.key], w)
	if len(h.watched[w.key]) == 0 {
		delete(h.watched, w.key)
	}
}

// Woken holds a value when there may be something to see. On no watch nobody is woken.
func (w *Watch) Woken() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.woken
}

// Since is when the last wake-up was: whatever it told of had happened by then, so those whom it woke may share what one of them reads.
func (w *Watch) Since() time.Time {
	if at := w.last.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Wake wakes the streams that watch something.
func (h *Hub) Wake(key int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wake(h.watched[key], time.Now())
}

// WakeAll wakes every stream.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, watches := range h.watched {
		wake(watches, now)
	}
}

func wake(watches map[*Watch]struct{}, now time.Time) {
	for w := range watches {
		w.last.Store(&now)
		select {
		case w.woken <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// Watched are the numbers of what is watched.
func (h *Hub) Watched() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.watched))
}

// Begun holds a value when somebody has begun to watch.
func (h *Hub) Begun() <-chan struct{} { return h.begun }

// Open is how many streams there are.
func (h *Hub) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// Close ends every stream, as the server stops. Each is woken, too.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.done)
	}
	h.mu.Unlock()
	h.WakeAll()
}

// Done is closed when streams have to end.
func (h *Hub) Done() <-chan struct{} { return h.done }

// Stopping reports whether streams have to end.
func (h *Hub) Stopping() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}
