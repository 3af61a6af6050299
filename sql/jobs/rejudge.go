package jobs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Rejudge starts a new generation of each job on a pool or in a transaction, also of
// dead ones. It returns the generations of ids, and which of them are new. The audit log has a row for all of them, unless
// they are a part of something that has its own.
func Rejudge(ctx context.Context, db *pg.DB, on pg.Querier, ids []int64, lane judge.Lane, by string, set *int64, log bool) (map[int64]int32, []int64, error) {
	type rejudged struct {
		JobID      int64
		Generation int32
		Moved      bool
	}
	rs, err := pg.Rows(ctx, db, on, "JobRejudge", pg.Args{"job_ids": ids, "lane": lane.Number(), "by": by, "set": set, "log": log}, pgx.RowToStructByPos[rejudged])
	if err != nil {
		return nil, nil, fmt.Errorf("rejudge: %w", err)
	}
	out := make(map[int64]int32, len(rs))
	var moved []int64
	for _, r := range rs {
		out[r.JobID] = r.Generation
		if r.Moved {
			moved = append(moved, r.JobID)
		}
	}
	return out, moved, nil
}

// WakeRejudged tells listeners, after the commit, of jobs whose generation is new.
func WakeRejudged(db *pg.DB, ids []int64) {
	if len(ids) > 0 {
		db.WakeEvents(ids...)
		db.Wake(pg.ChannelOutbox, "")
		db.Wake(pg.ChannelStops, "")
	}
}
