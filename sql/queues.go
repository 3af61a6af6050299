package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// The orders within a group of a queue.
const (
	FIFO = "fifo"
	LIFO = "lifo" // the newest first, unless an older one has waited for MaxWait
)

// Queue is how a queue behaves. Zero fields have the defaults of the queue
// "default".
type Queue struct {
	Name       string
	Paused     bool          // gives no work
	Ordering   string        // within one group: FIFO (default) or LIFO
	MaxWait    time.Duration // a job that waited longer keeps its place in a LIFO queue; default 15 minutes
	Spacing    time.Duration // step of a group's virtual clock; default 1 second
	Redeliver  time.Duration // deadline of a delivery that nobody claims; default 30 seconds
	MaxTries   int           // default 5
	GroupLimit int           // delivered or running jobs per group; 0 = no limit
	MaxBacklog int           // waiting jobs; 0 = no limit
}

// CoursePreset returns the settings for a course: everybody's newest submission
// first, and turns that are a minute apart.
func CoursePreset(name string) Queue {
	return Queue{Name: name, Ordering: LIFO, Spacing: time.Minute}
}

// Validate reports every field that is out of range.
func (q Queue) Validate() error {
	var errs []error
	if q.Name == "" {
		errs = append(errs, errors.New("Name is empty"))
	}
	if q.Ordering != "" && q.Ordering != FIFO && q.Ordering != LIFO {
		errs = append(errs, fmt.Errorf("Ordering %q is neither fifo nor lifo", q.Ordering))
	}
	for name, d := range map[string]time.Duration{"MaxWait": q.MaxWait, "Spacing": q.Spacing, "Redeliver": q.Redeliver} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s %s is negative", name, d))
		}
	}
	for name, n := range map[string]int{"MaxTries": q.MaxTries, "GroupLimit": q.GroupLimit, "MaxBacklog": q.MaxBacklog} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s %d is negative", name, n))
		}
	}
	return errors.Join(errs...)
}

// SaveQueue makes or changes a queue. Jobs that exist keep their max_tries and
// their place.
func (s *Store) SaveQueue(ctx context.Context, q Queue) error {
	if err := q.Validate(); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	err := s.q.QueueSave(ctx, s.main, dbsqlc.QueueSaveParams{
		Name: q.Name, Paused: q.Paused, Ordering: orDefault(q.Ordering, FIFO),
		MaxWait: interval(q.MaxWait, 15*time.Minute), Spacing: interval(q.Spacing, time.Second), Redeliver: interval(q.Redeliver, 30*time.Second),
		MaxTries: positive(q.MaxTries, 5), GroupLimit: int32(q.GroupLimit), MaxBacklog: int32(q.MaxBacklog),
	})
	if err != nil {
		return fmt.Errorf("save queue %s: %w", q.Name, err)
	}
	s.wake(message{ChannelOutbox, ""})
	return nil
}

// PauseQueue stops a queue from giving work, or lets it; [ErrNotFound] if there
// is none. What is running goes on.
func (s *Store) PauseQueue(ctx context.Context, name string, paused bool, by string) error {
	_, found, err := row(ctx, s, s.main, "QueuePause", args{"name": name, "paused": paused, "by": by}, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("pause queue %s: %w", name, err)
	}
	if !found {
		return fmt.Errorf("queue %s: %w", name, ErrNotFound)
	}
	s.wake(message{ChannelOutbox, ""})
	return nil
}

// Queues returns all queues by name.
func (s *Store) Queues(ctx context.Context) ([]Queue, error) {
	found, err := s.q.QueueList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	seconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	out := make([]Queue, len(found))
	for i, q := range found {
		out[i] = Queue{
			Name: q.Name, Paused: q.Paused, Ordering: q.Ordering,
			MaxWait: seconds(q.MaxWait), Spacing: seconds(q.Spacing), Redeliver: seconds(q.Redeliver),
			MaxTries: int(q.MaxTries), GroupLimit: int(q.GroupLimit), MaxBacklog: int(q.MaxBacklog),
		}
	}
	return out, nil
}

// Waiting is a job that waits in a queue.
type Waiting struct {
	JobID     int64
	State     string // R ready, S scheduled, D delivered and not claimed
	Lane      judge.Lane
	Priority  int32
	Since     time.Time
	NotBefore time.Time // it is not taken earlier
	Delayed   bool      // put back by hand
}

// Waiting returns what waits of a group's newest thousand jobs in a queue ("" is
// the default queue), in the order in which they go.
func (r Reader) Waiting(ctx context.Context, queue, group string, limit int) ([]Waiting, error) {
	found, err := rows(ctx, r.s, r.s.queue, "JobsWaiting", args{"queue": orDefault(queue, DefaultQueue), "group": group, "max": bounded(limit), "whole": r.whole},
		pgx.RowToStructByPos[Waiting])
	if err != nil {
		return nil, fmt.Errorf("list what waits of %s: %w", group, err)
	}
	return found, nil
}

// QueueRow is an unfinished job in the queue, for staff.
type QueueRow struct {
	JobID     int64
	Kind      judge.Kind
	Author    string
	Problem   string // "" for kinds without one
	Title     string // of the problem
	Language  string
	Lane      judge.Lane
	Priority  int32
	State     string    // R ready, S scheduled, D delivered, L running
	Rank      time.Time // its turn within lane and priority
	NotBefore time.Time // it is not taken earlier
	Since     time.Time // when it began to wait
	Delayed   bool      // put back by hand
	AttemptID int32
	Tries     int32
	InSet     bool   // judged for a rejudge set
	Worker    string // who has it; "" unless it runs
	LastError string
}

// Shown returns the state as the HTTP API spells it, as [judge.Submission.Shown]
// does.
func (r QueueRow) Shown() string {
	switch {
	case r.State == "L":
		return "RUNNING"
	case r.State == "D":
		return "DISPATCHED"
	case r.Tries > 0:
		return "RETRYING"
	}
	return "PENDING"
}

// QueueFront returns the first unfinished jobs of a queue and pool ("" are the
// default ones): what runs, what is delivered, what is ready in the order in
// which it goes, and what waits for its time.
func (s *Store) QueueFront(ctx context.Context, queue, pool string, limit int) ([]QueueRow, error) {
	ids, err := rows(ctx, s, s.queue, "QueueFront",
		args{"queue": orDefault(queue, DefaultQueue), "pool": orDefault(pool, DefaultPool), "max": bounded(limit)}, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list the queue: %w", err)
	}
	return s.QueueRows(ctx, ids)
}

// QueueOf returns the unfinished of an author's newest thousand submissions, newest
// first.
func (s *Store) QueueOf(ctx context.Context, author string, limit int) ([]QueueRow, error) {
	ids, err := rows(ctx, s, s.queue, "QueueOf", args{"author": author, "max": bounded(limit)}, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list what waits of %s: %w", author, err)
	}
	return s.QueueRows(ctx, ids)
}

// QueueRows returns the jobs of ids that are unfinished, in that order.
func (s *Store) QueueRows(ctx context.Context, ids []int64) ([]QueueRow, error) {
	found, err := rows(ctx, s, s.queue, "QueueRows", args{"job_ids": ids}, pgx.RowToStructByPos[QueueRow])
	if err != nil {
		return nil, fmt.Errorf("list rows of the queue: %w", err)
	}
	return found, nil
}

func interval(d, otherwise time.Duration) pgtype.Interval {
	if d == 0 {
		d = otherwise
	}
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}

func positive(n, otherwise int) int32 {
	if n == 0 {
		n = otherwise
	}
	return int32(n)
}
