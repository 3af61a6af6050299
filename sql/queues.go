package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// SaveQueue makes or changes a queue. Jobs that exist keep their max_tries and their place.
func (s *Site) SaveQueue(ctx context.Context, q judge.Queue) error {
	if err := q.Validate(); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	err := s.q.QueueSave(ctx, s.main, dbsqlc.QueueSaveParams{
		Name: q.Name, Paused: q.Paused, Ordering: pg.OrDefault(q.Ordering, judge.FIFO),
		MaxWait: pg.Interval(q.MaxWait, 15*time.Minute), Spacing: pg.Interval(q.Spacing, time.Second), Redeliver: pg.Interval(q.Redeliver, 30*time.Second),
		MaxTries: positive(q.MaxTries, 5), GroupLimit: int32(q.GroupLimit), MaxBacklog: int32(q.MaxBacklog),
	})
	if err != nil {
		return fmt.Errorf("save queue %s: %w", q.Name, err)
	}
	s.db.Wake(pg.ChannelOutbox, "")
	return nil
}

// SetQueue makes or changes a queue for somebody, which the audit log tells. A queue that is paused stays so.
func (s *Site) SetQueue(ctx context.Context, q judge.Queue, by string) error {
	if err := q.Validate(); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	_, _, err := pg.Row(ctx, s.db, s.main, "QueueSet", pg.Args{
		"name": q.Name, "ordering": pg.OrDefault(q.Ordering, judge.FIFO), "by": by,
		"max_wait": pg.Interval(q.MaxWait, 15*time.Minute), "spacing": pg.Interval(q.Spacing, time.Second), "redeliver": pg.Interval(q.Redeliver, 30*time.Second),
		"max_tries": positive(q.MaxTries, 5), "group_limit": int32(q.GroupLimit), "max_backlog": int32(q.MaxBacklog),
	}, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("set queue %s: %w", q.Name, err)
	}
	s.db.Wake(pg.ChannelOutbox, "")
	return nil
}

// Invariants counts violations of the protocol, on one snapshot: see [jobs.Queue.Audit].
func (s *Site) Invariants(ctx context.Context) (jobs.Audit, error) {
	return jobs.CountViolations(ctx, s.db)
}

// PauseQueue stops a queue from giving work, or lets it; [ErrNotFound] if there is none. What is running goes on.
func (s *Site) PauseQueue(ctx context.Context, name string, paused bool, by string) error {
	_, found, err := pg.Row(ctx, s.db, s.main, "QueuePause", pg.Args{"name": name, "paused": paused, "by": by}, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("pause queue %s: %w", name, err)
	}
	if !found {
		return fmt.Errorf("queue %s: %w", name, ErrNotFound)
	}
	s.db.Wake(pg.ChannelOutbox, "")
	return nil
}

// Queues returns all queues by name.
func (s *Site) Queues(ctx context.Context) ([]judge.Queue, error) {
	found, err := s.q.QueueList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	seconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	out := make([]judge.Queue, len(found))
	for i, q := range found {
		out[i] = judge.Queue{
			Name: q.Name, Paused: q.Paused, Ordering: q.Ordering,
			MaxWait: seconds(q.MaxWait), Spacing: seconds(q.Spacing), Redeliver: seconds(q.Redeliver),
			MaxTries: int(q.MaxTries), GroupLimit: int(q.GroupLimit), MaxBacklog: int(q.MaxBacklog),
		}
	}
	return out, nil
}

// Waiting returns what waits of a group's newest thousand jobs in a queue ("" is the default queue), in the order in
// which they go, behind the place where one of them is or was; the zero one is before all.
func (r Reader) Waiting(ctx context.Context, queue, group string, behind judge.Waiting, limit int) ([]judge.Waiting, error) {
	found, err := pg.Rows(ctx, r.s.db, r.s.queue, "JobsWaiting", pg.Args{
		"queue": pg.OrDefault(queue, judge.DefaultQueue), "group": group, "max": pg.Bounded(limit), "whole": r.whole, "behind": behind.JobID,
		"behind_state": behind.State, "behind_lane": behind.Lane.Number(), "behind_priority": behind.Priority, "behind_rank": behind.Rank,
	}, pgx.RowToStructByPos[judge.Waiting])
	if err != nil {
		return nil, fmt.Errorf("list what waits of %s: %w", group, err)
	}
	return found, nil
}

// QueueFront returns the first unfinished jobs of a queue and pool ("" are the default ones): what runs, what is
// delivered, what is ready in the order in which it goes, and what waits for its time.
func (s *Site) QueueFront(ctx context.Context, queue, pool string, limit int) ([]judge.QueueRow, error) {
	ids, err := pg.Rows(ctx, s.db, s.queue, "QueueFront",
		pg.Args{"queue": pg.OrDefault(queue, judge.DefaultQueue), "pool": pg.OrDefault(pool, judge.DefaultPool), "max": pg.Bounded(limit)}, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list the queue: %w", err)
	}
	return s.QueueRows(ctx, ids)
}

// QueueOf returns the unfinished of an author's newest thousand submissions, newest first.
func (s *Site) QueueOf(ctx context.Context, author string, limit int) ([]judge.QueueRow, error) {
	ids, err := pg.Rows(ctx, s.db, s.queue, "QueueOf", pg.Args{"author": author, "max": pg.Bounded(limit)}, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list what waits of %s: %w", author, err)
	}
	return s.QueueRows(ctx, ids)
}

// QueueRows returns the jobs of ids that are unfinished, in that order.
func (s *Site) QueueRows(ctx context.Context, ids []int64) ([]judge.QueueRow, error) {
	found, err := pg.Rows(ctx, s.db, s.queue, "QueueRows", pg.Args{"job_ids": ids}, pgx.RowToStructByPos[judge.QueueRow])
	if err != nil {
		return nil, fmt.Errorf("list rows of the queue: %w", err)
	}
	return found, nil
}

func positive(n, otherwise int) int32 {
	if n == 0 {
		n = otherwise
	}
	return int32(n)
}
