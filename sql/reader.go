package sql

import (
	"context"

	"deepoj/host/judge"
)

// Reader reads jobs as somebody may see them. Staff see the whole; for everybody
// else nothing of a rejudge set is there before it is applied, nor of one that is
// cancelled: a submission stands as it stood when the set began, its events are
// those of other judgings, numbered as if there were no others, and the queue is
// counted without it. Once a set is applied, one event says so.
//
// The database decides which events those are, in its function event_seen, for
// webhooks too.
type Reader struct {
	s     *Store
	whole bool
}

// For returns the reader for staff, or for everybody else.
func (s *Store) For(staff bool) Reader { return Reader{s, staff} }

// The same, of the whole.

// Submission is [Reader.Submission] for staff.
func (s *Store) Submission(ctx context.Context, jobID int64) (*judge.Submission, error) {
	return s.For(true).Submission(ctx, jobID)
}

// Submissions is [Reader.Submissions] for staff.
func (s *Store) Submissions(ctx context.Context, f Filter) ([]judge.Submission, error) {
	return s.For(true).Submissions(ctx, f)
}

// Events is [Reader.Events] for staff.
func (s *Store) Events(ctx context.Context, jobID, after int64, limit int) ([]judge.Event, error) {
	return s.For(true).Events(ctx, jobID, after, limit)
}

// Place is [Reader.Place] for staff.
func (s *Store) Place(ctx context.Context, jobID int64) (judge.Place, error) {
	return s.For(true).Place(ctx, jobID)
}

// Places is [Reader.Places] for staff.
func (s *Store) Places(ctx context.Context, jobIDs []int64) (map[int64]judge.Place, error) {
	return s.For(true).Places(ctx, jobIDs)
}

// QueueStats is [Reader.QueueStats] for staff.
func (s *Store) QueueStats(ctx context.Context) (QueueStats, error) {
	return s.For(true).QueueStats(ctx)
}

// QueueFlow is [Reader.QueueFlow] for staff.
func (s *Store) QueueFlow(ctx context.Context) ([]Flow, error) {
	return s.For(true).QueueFlow(ctx)
}

// Waiting is [Reader.Waiting] for staff.
func (s *Store) Waiting(ctx context.Context, queue, group string, limit int) ([]judge.Waiting, error) {
	return s.For(true).Waiting(ctx, queue, group, limit)
}

// Ready is [Reader.Ready] for staff.
func (s *Store) Ready(ctx context.Context) (int64, error) {
	return s.For(true).Ready(ctx)
}
