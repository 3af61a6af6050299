package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// PickRequest says who picks what.
type PickRequest struct {
	Queue      string   // "" = judge.DefaultQueue
	Pool       string   // "" = judge.DefaultPool
	Dispatcher string   // who picks; required
	Languages  []string // what the pool serves; nil = everything
	Limit      int      // at most so many
	Shards     int      // how many shards there are; above 1, only groups in shards that Dispatcher holds (see LeaseShards)
}

// Pick takes jobs that are ready, in the order of the queue, marks them delivered with a deadline for redelivery, and
// returns their tickets. Enqueued is when the job began to wait.
func (q *Queue) Pick(ctx context.Context, r PickRequest) ([]judge.Ticket, error) {
	if r.Dispatcher == "" {
		return nil, errors.New("pick: the dispatcher has no name")
	}
	if r.Limit <= 0 {
		return nil, nil
	}
	ts, err := pg.Rows(ctx, q.db, q.db.Queue, "OutboxPick", pg.Args{
		"queue": pg.OrDefault(r.Queue, judge.DefaultQueue), "pool": pg.OrDefault(r.Pool, judge.DefaultPool), "languages": r.Languages,
		"max": r.Limit, "dispatcher": r.Dispatcher, "shards": r.Shards,
	}, func(row pgx.CollectableRow) (t judge.Ticket, err error) {
		return t, row.Scan(&t.JobID, &t.TraceID, &t.PayloadRef, &t.Priority, &t.Enqueued)
	})
	if err != nil {
		return nil, fmt.Errorf("pick: %w", err)
	}
	if len(ts) > 0 {
		ids := make([]int64, len(ts))
		for i, t := range ts {
			ids[i] = t.JobID
		}
		q.db.WakeEvents(ids...)
	}
	return ts, nil
}

// Published records the stream entries of jobs that the dispatcher picked. A job that was claimed or delivered again
// meanwhile is left alone; those that another dispatcher has picked since are returned.
func (q *Queue) Published(ctx context.Context, dispatcher string, ids []int64, entryIDs []string) (taken []int64, err error) {
	if len(ids) != len(entryIDs) {
		return nil, fmt.Errorf("published: %d jobs but %d entries", len(ids), len(entryIDs))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return pg.Rows(ctx, q.db, q.db.Queue, "OutboxPublished", pg.Args{"dispatcher": dispatcher, "job_ids": ids, "entries": entryIDs}, pgx.RowTo[int64])
}

// PublishFailed puts jobs back that the dispatcher picked, to be tried again after a backoff (1 s · 2ⁿ with jitter, at
// most 5 min) that does not count as a try. A job that another dispatcher has picked since is left alone.
func (q *Queue) PublishFailed(ctx context.Context, dispatcher string, ids []int64, msg string) error {
	return q.moved(pg.Rows(ctx, q.db, q.db.Queue, "OutboxPublishFailed", pg.Args{"dispatcher": dispatcher, "job_ids": ids, "message": msg}, pgx.RowTo[int64]))
}

// moved tells listeners of the jobs that a statement moved.
func (q *Queue) moved(ids []int64, err error) error {
	if err == nil && len(ids) > 0 {
		q.db.WakeEvents(ids...)
	}
	return err
}

// Promote makes jobs ready whose time has come, and starts the rejudging of jobs
// whose key was submitted again while they ran. It returns how many are ready.
func (q *Queue) Promote(ctx context.Context) (int64, error) {
	ids, err := pg.Rows(ctx, q.db, q.db.Queue, "OutboxPromote", pg.Args{}, pgx.RowTo[int64])
	if err := q.moved(ids, err); err != nil {
		return 0, err
	}
	again, err := pg.Rows(ctx, q.db, q.db.Queue, "JobsToRepeat", pg.Args{}, pgx.RowTo[int64])
	if err != nil {
		return int64(len(ids)), err
	}
	if len(again) > 0 {
		_, moved, err := Rejudge(ctx, q.db, q.db.Queue, again, judge.LaneNormal, "job_key", nil, true)
		if err != nil {
			return int64(len(ids)), err
		}
		WakeRejudged(q.db, moved)
	}
	if len(ids) > 0 {
		q.db.Wake(pg.ChannelOutbox, "")
	}
	return int64(len(ids) + len(again)), nil
}

// Redeliver makes delivered jobs ready again that nobody claimed in time.
func (q *Queue) Redeliver(ctx context.Context, limit int) ([]int64, error) {
	return q.redeliver(ctx, limit, false)
}

// RedeliverAll makes all delivered but unclaimed jobs ready again, because the stream lost them.
func (q *Queue) RedeliverAll(ctx context.Context) (int64, error) {
	var total int64
	for {
		const batch = 1000
		ids, err := q.redeliver(ctx, batch, true)
		total += int64(len(ids))
		if err != nil || len(ids) < batch {
			return total, err
		}
	}
}

func (q *Queue) redeliver(ctx context.Context, limit int, all bool) ([]int64, error) {
	ids, err := pg.Rows(ctx, q.db, q.db.Queue, "OutboxRedeliver", pg.Args{"max": limit, "all": all}, pgx.RowTo[int64])
	if err := q.moved(ids, err); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		q.db.Wake(pg.ChannelOutbox, "")
	}
	return ids, nil
}

// Outstanding counts jobs of a queue that are delivered but not claimed.
func (q *Queue) Outstanding(ctx context.Context, queue string) (int64, error) {
	n, _, err := pg.Row(ctx, q.db, q.db.Queue, "OutboxOutstanding", pg.Args{"queue": pg.OrDefault(queue, judge.DefaultQueue)}, pgx.RowTo[int64])
	return n, err
}

// Malformed records that the queue delivered a malformed entry that names jobID. The entry proves nothing, so if the
// job waits for a delivery it is only delivered again, after a backoff.
func (q *Queue) Malformed(ctx context.Context, jobID int64, reason judge.Reason) error {
	return q.moved(pg.Rows(ctx, q.db, q.db.Queue, "JobMalformed", pg.Args{"job_id": jobID, "reason": string(reason)}, pgx.RowTo[int64]))
}
