package sql

import (
	"context"
	"time"

	"deepoj/host/judge"
)

// Delivery hands out work straight from PostgreSQL, without Redis. It has the
// methods of queue.Delivery: receiving picks, and there is nothing to publish
// or to acknowledge.
type Delivery struct {
	store              *Store
	queue, pool, owner string
	languages          func() []string
}

// Delivery returns the delivery of a queue to the workers of a pool. Owner is
// who picks; languages says what it serves at the moment, nil meaning
// everything.
func (s *Store) Delivery(queue, pool, owner string, languages func() []string) *Delivery {
	if languages == nil {
		languages = func() []string { return nil }
	}
	return &Delivery{s, queue, pool, owner, languages}
}

// Publish does nothing: jobs are in PostgreSQL already.
func (d *Delivery) Publish(_ context.Context, ts []judge.Ticket) ([]string, error) {
	return make([]string, len(ts)), nil
}

// Receive picks at most limit jobs. If there are none it waits until some may
// have come, at most wait, and looks once more.
func (d *Delivery) Receive(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	sub := d.store.hub.subscribe(ChannelOutbox)
	defer d.store.hub.unsubscribe(sub)
	sub.quiet() // the first look is now
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for last := false; ; {
		es, err := d.pick(ctx, limit)
		if err != nil || len(es) > 0 || last {
			return es, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-sub.signal:
			sub.take()
		case <-timer.C:
			last = true
		}
	}
}

func (d *Delivery) pick(ctx context.Context, limit int) ([]judge.Entry, error) {
	ts, err := d.store.Pick(ctx, PickRequest{Queue: d.queue, Pool: d.pool, Dispatcher: d.owner, Languages: d.languages(), Limit: limit})
	if err != nil {
		return nil, err
	}
	es := make([]judge.Entry, len(ts))
	for i, t := range ts {
		es[i] = judge.Entry{Ticket: t}
	}
	return es, nil
}

// Ack does nothing: the claim has taken the job.
func (d *Delivery) Ack(context.Context, ...judge.Entry) error { return nil }
