package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Reaped is a job whose worker was lost.
type Reaped struct {
	JobID     int64
	AttemptID int32        // the attempt that was lost
	Owner     string       // who had it
	Status    judge.Status // pending again, or dead
	Reason    judge.Reason // lease_lost
}

// Reap takes jobs away from workers whose lease ran out more than grace ago: a lost worker counts as a try. A job with
// which workers were lost so many times in one generation is dead, whatever tries are left: it may be what ends them.
func (q *Queue) Reap(ctx context.Context, limit int, grace time.Duration, losses int) ([]Reaped, error) {
	lost, err := pg.Rows(ctx, q.db, q.db.Queue, "JobReap", pg.Args{"grace": grace, "max": limit, "losses": losses}, func(r pgx.CollectableRow) (x Reaped, err error) {
		x.Reason = judge.ReasonLeaseLost
		return x, r.Scan(&x.JobID, &x.AttemptID, &x.Owner, &x.Status)
	})
	if err != nil {
		return nil, fmt.Errorf("reap: %w", err)
	}
	for _, l := range lost {
		q.db.WakeEvents(l.JobID)
		if l.Status == judge.Pending {
			q.db.Wake(pg.ChannelOutbox, "")
		}
	}
	return lost, nil
}

// Standings says what a stream entry that nobody acknowledged is still good for, by job: judge.ReasonLeaseStillValid
// while a worker has the job, judge.ReasonNotFound if there is none, and judge.ReasonDoneOrStale where the database has
// decided, or delivers the job again by itself.
func (q *Queue) Standings(ctx context.Context, ids []int64) (map[int64]judge.Reason, error) {
	attempts := make([]judge.Attempt, len(ids))
	for i, id := range ids {
		attempts[i] = judge.Attempt{JobID: id, Token: noToken}
	}
	es, err := explain(ctx, q.db, attempts)
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
