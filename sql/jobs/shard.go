package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// LeaseShards renews a dispatcher's hold on its fair share of a queue's shards, gives back what is beyond it, and takes
// what is free or was held by a dispatcher that has vanished. It returns the shards that are held now, for as long as
// lease. What [PickRequest.Shards] picks is decided by the database, so a dispatcher that is late picks nothing that is
// another's.
func (q *Queue) LeaseShards(ctx context.Context, queue, pool, dispatcher string, shards int, lease time.Duration) ([]int32, error) {
	a := pg.Args{"queue": pg.OrDefault(queue, judge.DefaultQueue), "pool": pg.OrDefault(pool, judge.DefaultPool), "shards": shards}
	if _, err := pg.Rows(ctx, q.db, q.db.Queue, "ShardEnsure", a, pgx.RowTo[int32]); err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}
	a["dispatcher"], a["lease"] = dispatcher, lease
	held, err := pg.Rows(ctx, q.db, q.db.Queue, "ShardLease", a, pgx.RowTo[int32])
	if err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}
	return held, nil
}

// ReleaseShards gives back everything that a dispatcher holds of a queue.
func (q *Queue) ReleaseShards(ctx context.Context, queue, pool, dispatcher string) error {
	_, err := pg.Rows(ctx, q.db, q.db.Queue, "ShardRelease", pg.Args{
		"queue": pg.OrDefault(queue, judge.DefaultQueue), "pool": pg.OrDefault(pool, judge.DefaultPool), "dispatcher": dispatcher,
	}, pgx.RowTo[int32])
	return err
}
