package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
)

// Reaped is a job whose worker was lost.
type Reaped struct {
	JobID     int64
	AttemptID int32        // the attempt that was lost
	Owner     string       // who had it
	Status    judge.Status // pending again, or dead
	Reason    judge.Reason // lease_lost
}

// Reap takes jobs away from workers whose lease ran out more than grace ago: a
// lost worker counts as a try. A job with which workers were lost so many times in
// one generation is dead, whatever tries are left: it may be what ends them.
func (s *Store) Reap(ctx context.Context, limit int, grace time.Duration, losses int) ([]Reaped, error) {
	lost, err := rows(ctx, s, s.queue, "JobReap", args{"grace": grace, "max": limit, "losses": losses}, func(r pgx.CollectableRow) (x Reaped, err error) {
		x.Reason = judge.ReasonLeaseLost
		return x, r.Scan(&x.JobID, &x.AttemptID, &x.Owner, &x.Status)
	})
	if err != nil {
		return nil, fmt.Errorf("reap: %w", err)
	}
	for _, l := range lost {
		s.wake(eventsOf(l.JobID)...)
		if l.Status == judge.Pending {
			s.wake(message{ChannelOutbox, ""})
		}
	}
	return lost, nil
}

// Standings says what a stream entry that nobody acknowledged is still good for,
// by job: judge.ReasonLeaseStillValid while a worker has the job,
// judge.ReasonNotFound if there is none, and judge.ReasonDoneOrStale where the
// database has decided, or delivers the job again by itself.
func (s *Store) Standings(ctx context.Context, ids []int64) (map[int64]judge.Reason, error) {
	attempts := make([]judge.Attempt, len(ids))
	for i, id := range ids {
		attempts[i] = judge.Attempt{JobID: id, Token: noToken}
	}
	es, err := s.explain(ctx, attempts)
	if err != nil {
		return nil, fmt.Errorf("look up %d jobs: %w", len(ids), err)
	}
	out := make(map[int64]judge.Reason, len(es))
	for _, e := range es {
		switch {
		case !e.Found:
			out[e.JobID] = judge.ReasonNotFound
		case e.Status == judge.Running:
			out[e.JobID] = judge.ReasonLeaseStillValid
		default:
			out[e.JobID] = judge.ReasonDoneOrStale
		}
	}
	return out, nil
}

// Cancel withdraws a job that is not finished, for a reason in somebody's words or
// "". A running one loses its lease, of which its worker is told at once. It returns
// a [*judge.RejectedError] if the job is over already; its reason is not_found if
// there is none.
func (s *Store) Cancel(ctx context.Context, jobID int64, by, why string) error {
	return s.cancel(ctx, jobID, by, why, false)
}

// Withdraw cancels a job that still waits; one that runs is a
// [*judge.RejectedError]. [Store.Restore] undoes it.
func (s *Store) Withdraw(ctx context.Context, jobID int64, by, why string) error {
	return s.cancel(ctx, jobID, by, why, true)
}

func (s *Store) cancel(ctx context.Context, jobID int64, by, why string, waiting bool) error {
	err := s.control(ctx, "JobCancel", jobID, args{"job_id": jobID, "by": by, "why": why, "only_pending": waiting})
	if err == nil {
		s.wake(message{ChannelStops, ""})
	}
	return err
}

// Restore puts a job that was cancelled while it waited back to its old place.
// It returns a [*judge.RejectedError] if there is nothing to undo.
func (s *Store) Restore(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobRestore", jobID, args{"job_id": jobID, "by": by})
	if err == nil {
		s.wake(message{ChannelOutbox, ""})
	}
	return err
}

// Release puts a waiting job before all others, also before those that were
// released earlier. It returns a [*judge.RejectedError] if the job does not
// wait, or has been delivered already.
func (s *Store) Release(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobRelease", jobID, args{"job_id": jobID, "by": by})
	if err == nil {
		s.wake(message{ChannelOutbox, ""})
	}
	return err
}

// Hasten puts a waiting job where it would be had it been submitted as immediate
// just now: into the first lane, behind what is there. It returns a
// [*judge.RejectedError] if the job does not wait, has been delivered already, or
// is in that lane.
func (s *Store) Hasten(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobImmediate", jobID, args{"job_id": jobID, "by": by})
	if err == nil {
		s.wake(message{ChannelOutbox, ""})
		return nil
	}
	return s.inFirstLane(ctx, jobID, err)
}

// Delay puts a waiting job behind all others of its lane and returns its new
// rank. An immediate job is a [*judge.RejectedError] with reason
// immediate_cannot_move.
func (s *Store) Delay(ctx context.Context, jobID int64, by string) (time.Time, error) {
	rank, found, err := row(ctx, s, s.queue, "JobDelay", args{"job_id": jobID, "by": by}, pgx.RowTo[time.Time])
	if err != nil {
		return time.Time{}, fmt.Errorf("delay job %d: %w", jobID, err)
	}
	if !found {
		return time.Time{}, s.inFirstLane(ctx, jobID, s.refused(ctx, jobID))
	}
	s.wake(eventsOf(jobID)...)
	return rank, nil
}

// inFirstLane gives a refusal the reason immediate_cannot_move, if it is that.
func (s *Store) inFirstLane(ctx context.Context, jobID int64, refused error) error {
	r, ok := errors.AsType[*judge.RejectedError](refused)
	if !ok || r.DBStatus != judge.Pending {
		return refused
	}
	lane, movable, err := row(ctx, s, s.queue, "JobLane", args{"job_id": jobID}, pgx.RowTo[judge.Lane])
	if err != nil {
		return fmt.Errorf("job %d was refused, and why is unknown: %w", jobID, err)
	}
	if movable && lane == judge.LaneStaff {
		r.Reason = judge.ReasonImmediateCantMov
	}
	return refused
}

// Move puts a waiting job right before another one that is ready, in whose lane
// it is from now on. It returns a [*judge.RejectedError] if the job does not
// wait, and a [*judge.FieldError] if the other one is not ready in the same
// queue and pool.
func (s *Store) Move(ctx context.Context, jobID, before int64, by string) error {
	err := s.control(ctx, "JobMove", jobID, args{"job_id": jobID, "before": before, "by": by})
	if r, ok := errors.AsType[*judge.RejectedError](err); ok && r.DBStatus == judge.Pending {
		return &judge.FieldError{
			Field: "before", Reason: "not_ready",
			Remedy: fmt.Sprintf("name a job that is ready in the same queue and pool as job %d; job %d is not, or job %d is delivered already", jobID, before, jobID),
		}
	}
	if err == nil {
		s.wake(message{ChannelOutbox, ""})
	}
	return err
}

// Undo takes back the newest release, immediate, delay, move or cancelling of a
// job that waits, or waited until it was cancelled, and returns its name. Undoing again
// takes back the one before. It returns a [*judge.RejectedError] if there is
// nothing to undo: also when the job was claimed or rejudged since.
func (s *Store) Undo(ctx context.Context, jobID int64, by string) (string, error) {
	action, found, err := row(ctx, s, s.queue, "JobUndo", args{"job_id": jobID, "by": by}, pgx.RowTo[string])
	switch {
	case err != nil:
		return "", fmt.Errorf("undo for job %d: %w", jobID, err)
	case found:
		s.wake(eventsOf(jobID)...)
		s.wake(message{ChannelOutbox, ""})
		return action, nil
	default:
		return "cancel", s.Restore(ctx, jobID, by)
	}
}

// control runs a statement that moves one job, and explains if it did not.
func (s *Store) control(ctx context.Context, name string, jobID int64, a args) error {
	_, found, err := row(ctx, s, s.queue, name, a, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("job %d: %w", jobID, err)
	}
	if !found {
		return s.refused(ctx, jobID)
	}
	s.wake(eventsOf(jobID)...)
	return nil
}

// refused says why a job could not be moved.
func (s *Store) refused(ctx context.Context, jobID int64) error {
	es, err := s.explain(ctx, []judge.Attempt{{JobID: jobID, Token: noToken}})
	if err != nil {
		return fmt.Errorf("job %d was refused, and why is unknown: %w", jobID, err)
	}
	e := es[0]
	reason := judge.ReasonUnexpectedState
	switch {
	case !e.Found:
		reason = judge.ReasonNotFound
	case e.Status == judge.Cancelled:
		reason = judge.ReasonCancelled
	case e.Status.Terminal():
		reason = judge.ReasonAlreadyFinished
	}
	r := e.rejected(reason)
	return &r
}

// noToken is a lease token that nobody holds.
const noToken = "00000000-0000-0000-0000-000000000000"
