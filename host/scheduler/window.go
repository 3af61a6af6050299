package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// How the window is kept. Beyond it jobs wait in the database, where their
// order can still change and nothing can lose them.
const (
	windowPerSlot = 2
	windowExtra   = 32

	// windowAge is how old the count of unclaimed jobs may be. What another
	// dispatcher published in between exceeds the window for so long.
	windowAge = 50 * time.Millisecond

	// workersAge is how old the list of workers may be.
	workersAge = time.Second
)

// pool is what the workers of a pool are able to do.
type pool struct {
	slots     int
	languages []string // sorted
	asked     time.Time
}

// window returns how many jobs may be published now.
func (d *Dispatcher) window(ctx context.Context) (int64, error) {
	if d.workers.slots == 0 || time.Since(d.workers.asked) >= workersAge {
		if err := d.look(ctx); err != nil {
			return 0, err
		}
	}
	if d.room > 0 && time.Since(d.roomAsked) < windowAge {
		return d.room, nil
	}
	n, err := d.store.Outstanding(ctx, d.cfg.Queue)
	if err != nil {
		return 0, fmt.Errorf("count unclaimed jobs: %w", err)
	}
	d.roomAsked = time.Now()
	d.room = int64(windowPerSlot*d.workers.slots+windowExtra) - n
	return d.room, nil
}

// look asks who is alive.
func (d *Dispatcher) look(ctx context.Context) error {
	all, err := d.cfg.Live(ctx)
	if err != nil {
		return fmt.Errorf("list workers: %w", err)
	}
	p := pool{languages: []string{}, asked: time.Now()} // not nil, which means all
	for _, w := range all {
		if w.Pool != d.cfg.Pool {
			continue
		}
		p.slots += w.Slots
		for _, l := range w.Languages {
			if l.Available {
				p.languages = append(p.languages, l.ID)
			}
		}
	}
	slices.Sort(p.languages)
	p.languages = slices.Compact(p.languages)
	if p.slots > d.workers.slots {
		d.roomAsked = time.Time{} // a worker came: there is more room now
	}
	d.workers = p
	return nil
}

// shardLease is what a dispatcher knows of its shards. Only the lease in the database lets it pick from them.
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

// negative is an error if a field of a configuration is negative.
func negative[T int | time.Duration](field string, value T) error {
	if value < 0 {
		return fmt.Errorf("%s %v is negative", field, value)
	}
	return nil
}
