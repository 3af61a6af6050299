package jobs

import (
	"context"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Delivery hands out work straight from PostgreSQL, without Redis. It has the methods of queue.Delivery and
// queue.Taker: receiving picks, taking claims as well, and there is nothing to publish or to acknowledge.
type Delivery struct {
	jobs               *Queue
	queue, pool, owner string
	languages          func() []string
}

// Delivery returns the delivery of a queue to the workers of a pool. Owner is who picks; languages says what it serves
// at the moment, nil meaning everything.
func (q *Queue) Delivery(queue, pool, owner string, languages func() []string) *Delivery {
	if languages == nil {
		languages = func() []string { return nil }
	}
	return &Delivery{q, queue, pool, owner, languages}
}

// Publish does nothing: jobs are in PostgreSQL already.
func (d *Delivery) Publish(_ context.Context, ts []judge.Ticket) ([]string, error) {
	return make([]string, len(ts)), nil
}

// Receive picks at most limit jobs. If there are none it waits until some may
// have come, at most wait, and looks once more.
func (d *Delivery) Receive(ctx context.Context, limit int, wait time.Duration) (es []judge.Entry, err error) {
	err = d.jobs.db.Look(ctx, pg.ChannelOutbox, wait, func() (bool, error) {
		ts, err := d.jobs.Pick(ctx, d.request(limit))
		for _, t := range ts {
			es = append(es, judge.Entry{Ticket: t})
		}
		return len(ts) > 0, err
	})
	return es, err
}

// Taking reports that jobs can be taken, which is always so.
func (d *Delivery) Taking() bool { return true }

// takeTime bounds a statement that takes jobs.
const takeTime = 10 * time.Second

// Take waits like Receive and claims what it finds for owner (see [Queue.Take]). Asked is when the last request was
// sent. The end of ctx ends the waiting, but no request: its answer would be lost.
func (d *Delivery) Take(ctx context.Context, limit int, wait time.Duration, owner, token string, lease time.Duration) (jobs []judge.Claim, asked time.Time, err error) {
	err = d.jobs.db.Look(ctx, pg.ChannelOutbox, wait, func() (bool, error) {
		c, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
		defer cancel()
		asked = time.Now()
		var err error
		jobs, err = d.jobs.Take(c, d.request(limit), owner, token, lease)
		return len(jobs) > 0, err
	})
	return jobs, asked, err
}

func (d *Delivery) request(limit int) PickRequest {
	return PickRequest{Queue: d.queue, Pool: d.pool, Dispatcher: d.owner, Languages: d.languages(), Limit: limit}
}

// Ack does nothing: the claim has taken the job.
func (d *Delivery) Ack(context.Context, ...judge.Entry) error { return nil }
