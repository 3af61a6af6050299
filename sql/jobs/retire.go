package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/sql/internal/pg"
)

// RetireCursor is how far a sweep of retention has come. The zero cursor is the beginning.
type RetireCursor struct {
	xid string // of events, as text
	id  int64  // of events, or of jobs
}

// Retired is what one step of a sweep did.
type Retired struct {
	Deleted int64
	More    bool         // there may be more past the age
	Next    RetireCursor // where to go on
}

// RetireEvents looks at most at limit events older than age, and deletes those of jobs that ended before that, but for
// the newest move of each job and what the slowest feed has not read yet.
func (q *Queue) RetireEvents(ctx context.Context, age time.Duration, from RetireCursor, limit int) (Retired, error) {
	r, found, err := pg.Row(ctx, q.db, q.db.Main, "RetireEvents", pg.Args{"age": age, "xid": pg.OrDefault(from.xid, "0"), "id": from.id, "max": limit},
		func(c pgx.CollectableRow) (r Retired, err error) {
			return r, c.Scan(&r.Deleted, &r.More, &r.Next.xid, &r.Next.id)
		})
	if err != nil {
		return Retired{}, fmt.Errorf("retire events: %w", err)
	}
	if !found {
		r.Next = from
	}
	return r, nil
}

// RetireJobs looks at most at limit jobs and deletes those that ended longer ago than age, with payloads, results and
// events. Submissions says whether submissions are meant, or the jobs that are none. A job with an open dead letter or
// in an open rejudge set stays, as does the newest report of a plugin and what the slowest feed has not read yet.
func (q *Queue) RetireJobs(ctx context.Context, submissions bool, age time.Duration, from RetireCursor, limit int) (Retired, error) {
	r, _, err := pg.Row(ctx, q.db, q.db.Main, "RetireJobs", pg.Args{"age": age, "after": from.id, "submissions": submissions, "max": limit},
		func(c pgx.CollectableRow) (r Retired, err error) {
			return r, c.Scan(&r.Deleted, &r.More, &r.Next.id)
		})
	if err != nil {
		return Retired{}, fmt.Errorf("retire jobs: %w", err)
	}
	return r, nil
}

// RetireGroups deletes the clocks of submitters that have nothing to remember, and returns how many.
func (q *Queue) RetireGroups(ctx context.Context) (int64, error) {
	n, _, err := pg.Row(ctx, q.db, q.db.Main, "RetireGroups", pg.Args{}, pgx.RowTo[int64])
	return n, err
}

// RetireDeliveries deletes messages to webhooks that are older than age and tried no more, at most limit.
func (q *Queue) RetireDeliveries(ctx context.Context, age time.Duration, limit int) (Retired, error) {
	n, _, err := pg.Row(ctx, q.db, q.db.Main, "RetireDeliveries", pg.Args{"age": age, "max": limit}, pgx.RowTo[int64])
	if err != nil {
		return Retired{}, fmt.Errorf("retire messages to webhooks: %w", err)
	}
	return Retired{Deleted: n, More: n == int64(limit)}, nil
}
