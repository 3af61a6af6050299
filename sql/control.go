package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// Cancel withdraws a job that is not finished, for a reason in somebody's words or "". A running one loses its lease,
// of which its worker is told at once. It returns a [*judge.RejectedError] if the job is over already; its reason is
// not_found if there is none.
func (s *Site) Cancel(ctx context.Context, jobID int64, by, why string) error {
	return s.cancel(ctx, jobID, by, why, false)
}

// Withdraw cancels a job that still waits; one that runs is a [*judge.RejectedError]. [Site.Restore] undoes it.
func (s *Site) Withdraw(ctx context.Context, jobID int64, by, why string) error {
	return s.cancel(ctx, jobID, by, why, true)
}

func (s *Site) cancel(ctx context.Context, jobID int64, by, why string, waiting bool) error {
	err := s.control(ctx, "JobCancel", jobID, pg.Args{"job_id": jobID, "by": by, "why": why, "only_pending": waiting})
	if err == nil {
		s.db.Wake(pg.ChannelStops, "")
	}
	return err
}

// Restore puts a job that was cancelled while it waited back to its old place.
// It returns a [*judge.RejectedError] if there is nothing to undo.
func (s *Site) Restore(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobRestore", jobID, pg.Args{"job_id": jobID, "by": by})
	if err == nil {
		s.db.Wake(pg.ChannelOutbox, "")
	}
	return err
}

// Release puts a waiting job before all others, also before those that were released earlier. It returns a
// [*judge.RejectedError] if the job does not wait, or has been delivered already.
func (s *Site) Release(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobRelease", jobID, pg.Args{"job_id": jobID, "by": by})
	if err == nil {
		s.db.Wake(pg.ChannelOutbox, "")
	}
	return err
}

// Hasten puts a waiting job where it would be had it been submitted as immediate just now: into the first lane, behind
// what is there. It returns a [*judge.RejectedError] if the job does not wait, has been delivered already, or is in
// that lane.
func (s *Site) Hasten(ctx context.Context, jobID int64, by string) error {
	err := s.control(ctx, "JobImmediate", jobID, pg.Args{"job_id": jobID, "by": by})
	if err == nil {
		s.db.Wake(pg.ChannelOutbox, "")
		return nil
	}
	return s.inFirstLane(ctx, jobID, err)
}

// Delay puts a waiting job behind all others of its lane and returns its new rank. An immediate job is a
// [*judge.RejectedError] with reason immediate_cannot_move.
func (s *Site) Delay(ctx context.Context, jobID int64, by string) (time.Time, error) {
	rank, found, err := pg.Row(ctx, s.db, s.queue, "JobDelay", pg.Args{"job_id": jobID, "by": by}, pgx.RowTo[time.Time])
	if err != nil {
		return time.Time{}, fmt.Errorf("delay job %d: %w", jobID, err)
	}
	if !found {
		return time.Time{}, s.inFirstLane(ctx, jobID, jobs.Refused(ctx, s.db, jobID))
	}
	s.db.WakeEvents(jobID)
	return rank, nil
}

// inFirstLane gives a refusal the reason immediate_cannot_move, if it is that.
func (s *Site) inFirstLane(ctx context.Context, jobID int64, refused error) error {
	r, ok := errors.AsType[*judge.RejectedError](refused)
	if !ok || r.DBStatus != judge.Pending {
		return refused
	}
	lane, movable, err := pg.Row(ctx, s.db, s.queue, "JobLane", pg.Args{"job_id": jobID}, pgx.RowTo[judge.Lane])
	if err != nil {
		return fmt.Errorf("job %d was refused, and why is unknown: %w", jobID, err)
	}
	if movable && lane == judge.LaneStaff {
		r.Reason = judge.ReasonImmediateCantMov
	}
	return refused
}

// Move puts a waiting job right before another one that is ready, in whose lane it is from now on. It returns a
// [*judge.RejectedError] if the job does not wait, and a [*judge.FieldError] if the other one is not ready in the same
// queue and pool.
func (s *Site) Move(ctx context.Context, jobID, before int64, by string) error {
	err := s.control(ctx, "JobMove", jobID, pg.Args{"job_id": jobID, "before": before, "by": by})
	if r, ok := errors.AsType[*judge.RejectedError](err); ok && r.DBStatus == judge.Pending {
		return judge.Wrong("before", "not_ready",
			"name a job that is ready in the same queue and pool as job %[1]d; job %[2]d is not, or job %[1]d is delivered already", jobID, before)
	}
	if err == nil {
		s.db.Wake(pg.ChannelOutbox, "")
	}
	return err
}

// Undo takes back the newest release, immediate, delay, move or cancelling of a job that waits, or waited until it was
// cancelled, and returns its name. Undoing again takes back the one before. It returns a [*judge.RejectedError] if
// there is nothing to undo: also when the job was claimed or rejudged since.
func (s *Site) Undo(ctx context.Context, jobID int64, by string) (string, error) {
	action, found, err := pg.Row(ctx, s.db, s.queue, "JobUndo", pg.Args{"job_id": jobID, "by": by}, pgx.RowTo[string])
	switch {
	case err != nil:
		return "", fmt.Errorf("undo for job %d: %w", jobID, err)
	case found:
		s.db.WakeEvents(jobID)
		s.db.Wake(pg.ChannelOutbox, "")
		return action, nil
	default:
		return "cancel", s.Restore(ctx, jobID, by)
	}
}

// control runs a statement that moves one job, and explains if it did not.
func (s *Site) control(ctx context.Context, name string, jobID int64, a pg.Args) error {
	_, found, err := pg.Row(ctx, s.db, s.queue, name, a, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("job %d: %w", jobID, err)
	}
	if !found {
		return jobs.Refused(ctx, s.db, jobID)
	}
	s.db.WakeEvents(jobID)
	return nil
}
