package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// LeaseShards renews a dispatcher's hold on its fair share of a queue's shards,
// gives back what is beyond it, and takes what is free or was held by a
// dispatcher that has vanished. It returns the shards that are held now, for as
// long as lease. What [PickRequest.Shards] picks is decided by the database, so
// a dispatcher that is late picks nothing that is another's.
func (s *Store) LeaseShards(ctx context.Context, queue, pool, dispatcher string, shards int, lease time.Duration) ([]int32, error) {
	a := args{"queue": orDefault(queue, DefaultQueue), "pool": orDefault(pool, DefaultPool), "shards": shards}
	if _, err := rows(ctx, s, s.queue, "ShardEnsure", a, pgx.RowTo[int32]); err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}
	a["dispatcher"], a["lease"] = dispatcher, lease
	held, err := rows(ctx, s, s.queue, "ShardLease", a, pgx.RowTo[int32])
	if err != nil {
		return nil, fmt.Errorf("lease shards: %w", err)
	}
	return held, nil
}

// ReleaseShards gives back everything that a dispatcher holds of a queue.
func (s *Store) ReleaseShards(ctx context.Context, queue, pool, dispatcher string) error {
	_, err := rows(ctx, s, s.queue, "ShardRelease", args{
		"queue": orDefault(queue, DefaultQueue), "pool": orDefault(pool, DefaultPool), "dispatcher": dispatcher,
	}, pgx.RowTo[int32])
	return err
}
