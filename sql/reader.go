package sql

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// Reader reads jobs as somebody may see them. Staff see the whole; for everybody else nothing of a rejudge set is there
// before it is applied, nor of one that is cancelled: a submission stands as it stood when the set began, its events
// are those of other judgings, numbered as if there were no others, and the queue is counted without it. Once a set is
// applied, one event says so.
//
// The database decides which events those are, in its function event_seen, for webhooks too.
type Reader struct {
	s        *Site
	whole    bool
	unveiled bool
}

// For returns the reader for staff, or for everybody else.
func (s *Site) For(staff bool) Reader { return Reader{s, staff, false} }

// Unveiled is the reader for who runs the round of what is read, and so is told what it hides from participants.
func (r Reader) Unveiled() Reader {
	r.unveiled = true
	return r
}

// The same, of the whole.

// Submission is [Reader.Submission] for staff.
func (s *Site) Submission(ctx context.Context, jobID int64) (*judge.Submission, error) {
	return s.For(true).Submission(ctx, jobID)
}

// Submissions is [Reader.Submissions] for staff.
func (s *Site) Submissions(ctx context.Context, f Filter) ([]judge.Submission, error) {
	return s.For(true).Submissions(ctx, f)
}

// Events is [Reader.Events] for staff.
func (s *Site) Events(ctx context.Context, jobID, after int64, limit int) ([]judge.Event, error) {
	return s.For(true).Events(ctx, jobID, after, limit)
}

// Stamps returns a stamp for each of the jobs that exist. One that differs from an earlier one says that the job has
// had events since.
func (s *Site) Stamps(ctx context.Context, jobIDs []int64) (map[int64]string, error) {
	rows, err := s.q.JobStamps(ctx, s.main, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("stamps of jobs: %w", err)
	}
	stamps := make(map[int64]string, len(rows))
	for _, r := range rows {
		stamps[r.JobID] = r.Stamp
	}
	return stamps, nil
}

// Place is [Reader.Place] for staff.
func (s *Site) Place(ctx context.Context, jobID int64) (judge.Place, error) {
	return s.For(true).Place(ctx, jobID)
}

// Places is [Reader.Places] for staff.
func (s *Site) Places(ctx context.Context, jobIDs []int64) (map[int64]judge.Place, error) {
	return s.For(true).Places(ctx, jobIDs)
}

// QueueFlow is [Reader.QueueFlow] for staff.
func (s *Site) QueueFlow(ctx context.Context) ([]Flow, error) {
	return s.For(true).QueueFlow(ctx)
}

// Waiting is [Reader.Waiting] for staff.
func (s *Site) Waiting(ctx context.Context, queue, group string, behind judge.Waiting, limit int) ([]judge.Waiting, error) {
	return s.For(true).Waiting(ctx, queue, group, behind, limit)
}

// Ready is [Reader.Ready] for staff.
func (s *Site) Ready(ctx context.Context) (int64, error) {
	return s.For(true).Ready(ctx)
}

// QueueStats counts over all queues.
func (r Reader) QueueStats(ctx context.Context) (judge.QueueStats, error) {
	return jobs.QueueStats(ctx, r.s.db, r.whole)
}

// orMax is a cursor that, when zero, restricts nothing.
func orMax(before int64) int64 {
	if before <= 0 {
		return math.MaxInt64
	}
	return before
}

// Events returns the events of a job with an id above after, oldest first.
func (r Reader) Events(ctx context.Context, jobID, after int64, limit int) ([]judge.Event, error) {
	if limit <= 0 {
		limit = 1000
	}
	statement := "JobEventsSeen"
	if r.whole {
		statement = "JobEvents"
	}
	es, err := r.events(ctx, statement, pg.Args{"job_id": jobID, "after": after, "max": min(limit, 10000)})
	if err != nil {
		return nil, fmt.Errorf("events of job %d: %w", jobID, err)
	}
	return es, nil
}

func (r Reader) events(ctx context.Context, statement string, a pg.Args) ([]judge.Event, error) {
	return pg.Rows(ctx, r.s.db, r.s.main, statement, a, func(c pgx.CollectableRow) (e judge.Event, err error) {
		return e, c.Scan(&e.ID, &e.JobID, &e.Generation, &e.AttemptID, &e.Kind, (*[]byte)(&e.Data), &e.At)
	})
}

// EventsVeiled returns the events of a submission that its participant is told while their round tells the feedback f: numbered as if
// there were no others, those with a number above after. Verdicts are still in them.
func (s *Site) EventsVeiled(ctx context.Context, jobID, after int64, f judge.Feedback, limit int) ([]judge.Event, error) {
	es, err := s.For(false).events(ctx, "JobEventsVeiled", pg.Args{"job_id": jobID, "after": after, "samples": f != judge.FeedbackNone, "max": limit})
	if err != nil {
		return nil, fmt.Errorf("events of job %d that are told: %w", jobID, err)
	}
	return es, nil
}

// placed is a row of the statement Place.
type placed struct {
	JobID          int64
	State          string
	Paused, Early  bool
	Limited        bool // its group has as many jobs under way as it may
	Before         int64
	More           bool   // there are more before it than Before
	Delivered      int64  // before it, with itself if it is one of them
	Served         bool   // a worker is alive that has its language
	Taken          bool   // and takes jobs
	Language       string // its name
	Slots          int64
	FinishedLately int64
}

// Place says where a waiting job stands, or [ErrNotFound] if it does not wait. More than 250 jobs before it are not
// counted: the position is a lower bound then, and [judge.Place.AtMost] gives it an upper one.
func (r Reader) Place(ctx context.Context, jobID int64) (judge.Place, error) {
	places, err := r.Places(ctx, []int64{jobID})
	if err != nil {
		return judge.Place{}, err
	}
	p, found := places[jobID]
	if !found {
		return judge.Place{}, fmt.Errorf("place of job %d: %w", jobID, ErrNotFound)
	}
	return p, nil
}

// Places is [Reader.Place] for several jobs, without those that do not wait.
func (r Reader) Places(ctx context.Context, jobIDs []int64) (map[int64]judge.Place, error) {
	found, err := pg.Rows(ctx, r.s.db, r.s.queue, "Place", pg.Args{"job_ids": jobIDs, "whole": r.whole}, pgx.RowToStructByPos[placed])
	if err != nil {
		return nil, fmt.Errorf("places of %d jobs: %w", len(jobIDs), err)
	}
	places := make(map[int64]judge.Place, len(found))
	for _, p := range found {
		places[p.JobID] = p.place()
	}
	return places, nil
}

// Ready counts the jobs that are ready or delivered in all queues. It reads an index as long as the queue.
func (r Reader) Ready(ctx context.Context) (int64, error) {
	n, _, err := pg.Row(ctx, r.s.db, r.s.main, "QueueReady", pg.Args{"whole": r.whole}, pgx.RowTo[int64])
	if err != nil {
		return 0, fmt.Errorf("count what is ready: %w", err)
	}
	return n, nil
}

// place estimates the wait from how many jobs were finished in the last two minutes, or, when there were too few, from
// the workers' slots at two seconds a job.
func (p placed) place() judge.Place {
	before := p.Before + p.Delivered
	if p.State == "D" {
		before = p.Delivered - 1
	}
	const few = 10
	perSecond := float64(p.FinishedLately) / 120
	if p.FinishedLately < few {
		perSecond = float64(max(p.Slots, 1)) / 2
	}
	wait := time.Duration(float64(before) / perSecond * float64(time.Second)).Round(time.Second)
	out := judge.Place{Language: p.Language, Position: before + 1, Most: before + 1, ETALow: wait / 2, ETAHigh: 2*wait + 2*time.Second}
	if p.More {
		out.Most, out.ETAHigh = 0, 0
	}
	switch {
	case p.State == "D":
	case p.Paused:
		out.Why = "paused"
	case !p.Served:
		out.Why = string(judge.ReasonNoLiveWorker)
	case !p.Taken:
		out.Why = string(judge.ReasonUnfitWorkers)
	case p.Early:
		out.Why = "not_before"
	case p.Limited:
		out.Why = "group_limit"
	case before > 0:
		out.Why = "backlog"
	}
	return out
}
