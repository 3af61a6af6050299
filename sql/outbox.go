package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
)

// PickRequest says who picks what.
type PickRequest struct {
	Queue      string   // "" = DefaultQueue
	Pool       string   // "" = DefaultPool
	Dispatcher string   // who picks; required
	Languages  []string // what the pool serves; nil = everything
	Limit      int      // at most so many
	Shards     int      // how many shards there are; above 1, only groups in shards that Dispatcher holds (see LeaseShards)
}

// Pick takes jobs that are ready, in the order of the queue, marks them
// delivered with a deadline for redelivery, and returns their tickets. Enqueued
// is when the job began to wait.
func (s *Store) Pick(ctx context.Context, r PickRequest) ([]judge.Ticket, error) {
	if r.Dispatcher == "" {
		return nil, errors.New("pick: the dispatcher has no name")
	}
	if r.Limit <= 0 {
		return nil, nil
	}
	ts, err := rows(ctx, s, s.queue, "OutboxPick", args{
		"queue": orDefault(r.Queue, DefaultQueue), "pool": orDefault(r.Pool, DefaultPool), "languages": r.Languages,
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
		s.wake(eventsOf(ids...)...)
	}
	return ts, nil
}

// Published records the stream entries of jobs that the dispatcher picked. A job
// that was claimed or delivered again meanwhile is left alone; those that
// another dispatcher has picked since are returned.
func (s *Store) Published(ctx context.Context, dispatcher string, ids []int64, entryIDs []string) (taken []int64, err error) {
	if len(ids) != len(entryIDs) {
		return nil, fmt.Errorf("published: %d jobs but %d entries", len(ids), len(entryIDs))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return rows(ctx, s, s.queue, "OutboxPublished", args{"dispatcher": dispatcher, "job_ids": ids, "entries": entryIDs}, pgx.RowTo[int64])
}

// PublishFailed puts jobs back that the dispatcher picked, to be tried again
// after a backoff (1 s · 2ⁿ with jitter, at most 5 min) that does not count as a
// try. A job that another dispatcher has picked since is left alone.
func (s *Store) PublishFailed(ctx context.Context, dispatcher string, ids []int64, msg string) error {
	return s.moved(rows(ctx, s, s.queue, "OutboxPublishFailed", args{"dispatcher": dispatcher, "job_ids": ids, "message": msg}, pgx.RowTo[int64]))
}

// moved tells listeners of the jobs that a statement moved.
func (s *Store) moved(ids []int64, err error) error {
	if err == nil && len(ids) > 0 {
		s.wake(eventsOf(ids...)...)
	}
	return err
}

// Promote makes jobs ready whose time has come, and starts the rejudging of jobs
// whose key was submitted again while they ran. It returns how many are ready.
func (s *Store) Promote(ctx context.Context) (int64, error) {
	ids, err := rows(ctx, s, s.queue, "OutboxPromote", args{}, pgx.RowTo[int64])
	if err := s.moved(ids, err); err != nil {
		return 0, err
	}
	again, err := rows(ctx, s, s.queue, "JobsToRepeat", args{}, pgx.RowTo[int64])
	if err != nil {
		return int64(len(ids)), err
	}
	if len(again) > 0 {
		if _, err := s.Rejudge(ctx, again, judge.LaneNormal, "job_key"); err != nil {
			return int64(len(ids)), err
		}
	}
	if len(ids) > 0 {
		s.wake(message{ChannelOutbox, ""})
	}
	return int64(len(ids) + len(again)), nil
}

// Redeliver makes delivered jobs ready again that nobody claimed in time.
func (s *Store) Redeliver(ctx context.Context, limit int) ([]int64, error) {
	return s.redeliver(ctx, limit, false)
}

// RedeliverAll makes all delivered but unclaimed jobs ready again, because the
// stream lost them.
func (s *Store) RedeliverAll(ctx context.Context) (int64, error) {
	var total int64
	for {
		const batch = 1000
		ids, err := s.redeliver(ctx, batch, true)
		total += int64(len(ids))
		if err != nil || len(ids) < batch {
			return total, err
		}
	}
}

func (s *Store) redeliver(ctx context.Context, limit int, all bool) ([]int64, error) {
	ids, err := rows(ctx, s, s.queue, "OutboxRedeliver", args{"max": limit, "all": all}, pgx.RowTo[int64])
	if err := s.moved(ids, err); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		s.wake(message{ChannelOutbox, ""})
	}
	return ids, nil
}

// Outstanding counts jobs of a queue that are delivered but not claimed.
func (s *Store) Outstanding(ctx context.Context, queue string) (int64, error) {
	n, _, err := row(ctx, s, s.queue, "OutboxOutstanding", args{"queue": orDefault(queue, DefaultQueue)}, pgx.RowTo[int64])
	return n, err
}

// Malformed records that the queue delivered a malformed entry that names jobID.
// The entry proves nothing, so if the job waits for a delivery it is only
// delivered again, after a backoff.
func (s *Store) Malformed(ctx context.Context, jobID int64, reason judge.Reason) error {
	return s.moved(rows(ctx, s, s.queue, "JobMalformed", args{"job_id": jobID, "reason": string(reason)}, pgx.RowTo[int64]))
}
