package scheduler

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// shardLease is what a dispatcher knows of its shards. Only the lease in the
// database lets it pick from them.
type shardLease struct {
	held   []int32
	leased time.Time // when they were
}

// hold renews the lease of this dispatcher's shards when a third of it is over,
// and reports whether it has any. Without shards everything is everybody's.
func (l *shardLease) hold(ctx context.Context, cfg *DispatcherConfig, store Outbox) (bool, error) {
	if cfg.Shards <= 1 {
		return true, nil
	}
	if time.Since(l.leased) < cfg.ShardLease/3 {
		return len(l.held) > 0, nil
	}
	asked := time.Now()
	held, err := store.LeaseShards(ctx, cfg.Queue, cfg.Pool, cfg.Name, cfg.Shards, cfg.ShardLease)
	if err != nil {
		return false, err
	}
	if !slices.Equal(held, l.held) {
		cfg.Log.InfoContext(ctx, "shards are leased", slog.Any("shards", held), slog.Int("of", cfg.Shards))
	}
	l.held, l.leased = held, asked
	return len(held) > 0, nil
}

// release gives the shards to the others at once.
func (l *shardLease) release(ctx context.Context, cfg *DispatcherConfig, store Outbox) {
	if cfg.Shards <= 1 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	if err := store.ReleaseShards(ctx, cfg.Queue, cfg.Pool, cfg.Name); err != nil {
		cfg.Log.WarnContext(ctx, "shards are left to their lease", slog.Any("err", err))
	}
}
