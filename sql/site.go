package sql

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// Site is what people and programs see and do: they hand in, look, manage and set
// problems. What becomes of a job that was handed in is up to a [jobs.Queue].
type Site struct {
	db          *pg.DB
	main, queue *pgxpool.Pool // see pg.DB
	q           *dbsqlc.Queries

	submits pg.Coalescer[NewJob, Receipt]
}

func newSite(db *pg.DB) *Site {
	s := &Site{db: db, main: db.Main, queue: db.Queue, q: dbsqlc.New()}
	s.submits = pg.Coalescer[NewJob, Receipt]{
		Do: s.submitTogether, Lanes: 2, Limit: 256, Time: 30 * time.Second,
		Together: func(first, n NewJob) bool {
			return first.Queue == n.Queue && (first.Space == 0) == (n.Space == 0) && (first.Round == 0) == (n.Round == 0)
		},
	}
	return s
}

// Ping reports whether the database answers.
func (s *Site) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Listen calls fn for what is sent on channel until ctx ends: see [DB.Listen].
func (s *Site) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	return s.db.Listen(ctx, channel, fn)
}

// Slots returns the replication slots of change feeds: see [jobs.Queue.Slots].
func (s *Site) Slots(ctx context.Context) ([]judge.Slot, error) { return jobs.Slots(ctx, s.db) }

// Workers returns the workers that were seen within maxAge: see [jobs.Queue.Workers].
func (s *Site) Workers(ctx context.Context, maxAge time.Duration) ([]judge.WorkerInfo, error) {
	return jobs.Workers(ctx, s.db, maxAge)
}
