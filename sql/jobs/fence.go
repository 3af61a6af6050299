package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// inTurn puts attempts in the order in which everybody locks their jobs.
func inTurn(a, b judge.Attempt) int { return cmp.Compare(a.JobID, b.JobID) }

// fence is the parameters that name attempts, which are inTurn and of different
// jobs. Those of one claim share its owner and token.
func fence(attempts ...judge.Attempt) pg.Args {
	n := len(attempts)
	ids, nos, claims := make([]int64, n), make([]int32, n), make([]int32, n)
	by := numbered[[2]string]{}
	for i, a := range attempts {
		ids[i], nos[i], claims[i] = a.JobID, a.AttemptID, by.number([2]string{a.Owner, a.Token})
	}
	owners, tokens := make([]string, len(by.all)), make([]string, len(by.all))
	for i, c := range by.all {
		owners[i], tokens[i] = c[0], c[1]
	}
	return pg.Args{"job_ids": ids, "attempt_ids": nos, "claims": claims, "owners": owners, "tokens": tokens}
}

// numbered gives equal values one number, as an index of an SQL array.
type numbered[T comparable] struct {
	all []T
	nos map[T]int32
}

func (d *numbered[T]) number(v T) int32 {
	no, known := d.nos[v]
	if !known {
		if d.nos == nil {
			d.nos = map[T]int32{}
		}
		d.all = append(d.all, v)
		no = int32(len(d.all))
		d.nos[v] = no
	}
	return no
}

// explained is what the database knows of an attempt that was refused.
type explained struct {
	JobID      int64
	Found      bool
	Generation int32
	AttemptID  int32
	Status     judge.Status
	State      judge.State
	LeaseOwner string
	LeaseUntil string
	Holds      bool // the asker holds the lease
	Wrote      bool // the asker has written this job's result
}

func (e explained) rejected(r judge.Reason) judge.RejectedError {
	return judge.RejectedError{
		JobID: e.JobID, Reason: r,
		DBAttemptID: e.AttemptID, DBStatus: e.Status, DBState: e.State, DBLeaseOwner: e.LeaseOwner, DBLeaseUntil: e.LeaseUntil,
	}
}

func explain(ctx context.Context, db *pg.DB, attempts []judge.Attempt) ([]explained, error) {
	return pg.Rows(ctx, db, db.Queue, "JobExplain", fence(attempts...), pgx.RowToStructByPos[explained])
}

// why explains a fenced write that changed nothing. It returns nil if the attempt has written its result before.
func (q *Queue) why(ctx context.Context, a judge.Attempt) error {
	es, err := explain(ctx, q.db, []judge.Attempt{a})
	if err != nil {
		return fmt.Errorf("job %d attempt %d was refused, and why is unknown: %w", a.JobID, a.AttemptID, err)
	}
	if len(es) != 1 {
		return errors.New("explain: no row")
	}
	if es[0].Wrote {
		return nil
	}
	r := es[0].rejected(reasonFor(a, es[0]))
	r.AttemptID = a.AttemptID
	return &r
}

// reasonFor decides why the attempt was refused.
func reasonFor(a judge.Attempt, e explained) judge.Reason {
	switch {
	case !e.Found:
		return judge.ReasonNotFound
	case e.Status == judge.Cancelled:
		return judge.ReasonCancelled
	case e.AttemptID > a.AttemptID:
		return judge.ReasonStaleAttempt
	case e.Status == judge.Finished || e.Status == judge.Dead:
		return judge.ReasonAlreadyFinished
	case e.Status != judge.Running || e.AttemptID < a.AttemptID:
		return judge.ReasonUnexpectedState
	default:
		return judge.ReasonOwnerMismatch
	}
}

// Refused says why a job could not be moved.
func Refused(ctx context.Context, db *pg.DB, jobID int64) error {
	es, err := explain(ctx, db, []judge.Attempt{{JobID: jobID, Token: noToken}})
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
