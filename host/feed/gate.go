package feed

import (
	"context"
	"sync"
)

// gate holds back what the source tells after a snapshot has begun until all of the snapshot is out.
//
// Records up to after came before the first snapshot of a row of failed ones and go out. Records behind it and before
// from came during snapshots that failed; what they say is in the snapshot that is under way, so they are passed over.
// Records from there on wait.
type gate struct {
	mu     sync.Mutex
	ctx    context.Context // of the feed
	now    hold
	cancel context.CancelFunc
}

// hold is a state of the gate.
type hold struct {
	closed      bool
	after, from uint64
	queue       *queue          // of the snapshot that is under way; nil if none is
	ctx         context.Context // ends when the gate has another state
}

func newGate(ctx context.Context, h hold) *gate {
	g := &gate{ctx: ctx, cancel: func() {}}
	g.set(h)
	return g
}

// set makes h the state of the gate.
func (g *gate) set(h hold) { g.change(func(now *hold) bool { *now = h; return true }) }

// change changes the state of the gate, if how says so.
func (g *gate) change(how func(*hold) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.now
	if !how(&h) {
		return
	}
	g.cancel()
	h.ctx, g.cancel = context.WithCancel(g.ctx)
	g.now = h
}

// state returns the state of the gate.
func (g *gate) state() hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// abandon drops the snapshot of q, unless the source has handed over all of it. What it holds back waits for the next
// one.
func (g *gate) abandon(q *queue) {
	g.change(func(h *hold) bool {
		if h.queue != q || q.whole.Load() {
			return false
		}
		h.queue = nil
		return true
	})
}

// open lets everything through, as the snapshot of q is out.
func (g *gate) open(q *queue) {
	g.change(func(h *hold) bool {
		if h.queue != q {
			return false
		}
		*h = hold{}
		return true
	})
}
