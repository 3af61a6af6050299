package jobs

import (
	"context"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Slots returns the replication slots of change feeds of this database, by name.
func (q *Queue) Slots(ctx context.Context) ([]judge.Slot, error) { return Slots(ctx, q.db) }

// Slots is [Queue.Slots] for whoever has no queue.
func Slots(ctx context.Context, db *pg.DB) ([]judge.Slot, error) {
	return pg.Rows(ctx, db, db.Main, "FeedSlots", pg.Args{}, pgx.RowToStructByPos[judge.Slot])
}
