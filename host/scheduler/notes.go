package scheduler

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// noteAfter is how long a delivery waits to be noted. Nearly all are claimed by then, and a claim makes the note needless: noted
// at once, it would hold the row just when the worker claims it, which then waits for the note's commit.
const noteAfter = 100 * time.Millisecond

// notes are the stream entries of jobs that were published and are not noted in the database yet. They are for people:
// whoever looks for a job that lies in the stream finds its entry. Lost, they are missed by nobody.
type notes struct {
	mu      sync.Mutex
	entries map[int64]string // by job
	wake    chan struct{}
}

// add keeps what was published.
func (n *notes) add(ids []int64, entries []string) {
	n.mu.Lock()
	for i, id := range ids {
		n.entries[id] = entries[i]
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take returns what is to be noted, by the number of the job: claims of the same jobs lock them in that order, too. In
// any other, the database would have to break a deadlock.
func (n *notes) take() (ids []int64, entries []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids = slices.Sorted(maps.Keys(n.entries))
	for _, id := range ids {
		entries = append(entries, n.entries[id])
	}
	clear(n.entries)
	return ids, entries
}

// keepNotes notes deliveries until ctx is done.
func (d *Dispatcher) keepNotes(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.notes.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(noteAfter):
		}
		d.writeNotes(ctx)
	}
}

// writeNotes notes the deliveries that are kept.
func (d *Dispatcher) writeNotes(ctx context.Context) {
	ids, entries := d.notes.take()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	taken, err := d.store.Published(ctx, d.cfg.Name, ids, entries)
	if err != nil {
		// They are with the workers all the same; only the note is missing.
		d.cfg.Log.WarnContext(ctx, "published jobs cannot be marked", slog.Int("jobs", len(ids)), slog.Any("err", err))
	}
	if len(taken) > 0 {
		d.cfg.Log.WarnContext(ctx, "this dispatcher was late: another has picked its jobs meanwhile", slog.Int("jobs", len(taken)))
	}
}
