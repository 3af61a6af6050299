package replica

import (
	"sync"
	"time"

	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// acks are the acknowledgements that a master expects: one for each message of items.
type acks struct {
	wake chan struct{}

	mu      sync.Mutex
	session int32
	open    []pending // in the order of positions
	due     []wire.Ack
	since   time.Time // when the oldest of due came
}

type pending struct {
	from, to wal.Position
	came     time.Time
}

func (a *acks) init(session int32) {
	a.wake = make(chan struct{}, 1)
	a.session = session
}

// expect says that items came, of which the first and the last end there.
func (a *acks) expect(from, to wal.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, pending{from, to, time.Now()})
}

// durable makes due what ends at or before a position.
func (a *acks) durable(at wal.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for ; n < len(a.open) && a.open[n].to.Compare(at) <= 0; n++ {
		p := a.open[n]
		if len(a.due) == 0 {
			a.since = p.came
		}
		a.due = append(a.due, wire.Ack{From: p.from, To: p.to, Session: a.session})
	}
	if n == 0 {
		return
	}
	a.open = a.open[:copy(a.open, a.open[n:])]
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// take returns what is due, and how long the oldest has waited.
func (a *acks) take() (due []wire.Ack, waited time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	due, a.due = a.due, nil
	return due, time.Since(a.since)
}
