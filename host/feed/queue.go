package feed

import (
	"context"
	"slices"
	"sync/atomic"

	"deepoj/host/feed/event"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

// queue has the records of one snapshot on their way from the source to the sender.
type queue struct {
	epoch  uint32
	at     wal.Position // what the snapshot is of
	budget *budget
	ready  chan entry
	whole  atomic.Bool // the source has handed over all of it, and what is left of it is here
	held   *entry      // was taken, and comes next
	counts *counts
}

// entry is a record of a snapshot, or a marker.
type entry struct {
	record kafka.Record
	marker event.Marker // empty for a record
	size   int64        // that was taken of the budget
}

// queued is how many records are in a queue at most.
const queued = 1024

func newQueue(epoch uint32, at wal.Position, bytes int64, c *counts) *queue {
	return &queue{epoch: epoch, at: at, budget: newBudget(bytes), ready: make(chan entry, queued), counts: c}
}

// emit copies a record into the queue, and waits for room.
func (q *queue) emit(ctx context.Context, topic string, out Out) error {
	q.counts.snapshotRead.Add(1)
	if !out.Keep {
		q.counts.snapshotFiltered.Add(1)
		return nil
	}
	e := entry{size: int64(len(out.Key) + len(out.Value) + perRecord)}
	if err := q.budget.take(ctx, e.size); err != nil {
		return err
	}
	e.record = kafka.Record{Topic: topic, Key: slices.Clone(out.Key), Value: slices.Clone(out.Value), ID: out.ID}
	if err := q.put(ctx, e); err != nil {
		return err
	}
	q.counts.snapshotQueued.Add(1)
	return nil
}

func (q *queue) put(ctx context.Context, e entry) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case q.ready <- e:
		return nil
	}
}

// mark puts a marker into the queue.
func (q *queue) mark(ctx context.Context, m event.Marker) error { return q.put(ctx, entry{marker: m}) }

// take waits for an entry, and returns it with what is ready behind it, up to some bytes. A marker is alone. It is for
// one goroutine.
func (q *queue) take(ctx context.Context, into []entry) (got []entry, err error) {
	got = into[:0]
	if q.held != nil {
		got, q.held = append(got, *q.held), nil
		return got, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case e := <-q.ready:
		got = append(got, e)
	}
	for bytes := got[0].size; got[0].marker == "" && len(got) < cap(got) && bytes < batchBytes; {
		select {
		case e := <-q.ready:
			if e.marker != "" {
				q.held = &e
				return got, nil
			}
			got = append(got, e)
			bytes += e.size
		default:
			return got, nil
		}
	}
	return got, nil
}
