package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The epoch is a key beside the stream: "<run id of the server>:<random>". It vanishes with the stream's data, and it
// names another server after a restart or a failover, whose data may be older. Whoever notices first writes a new one;
// everybody who sees another epoch than before knows that entries may be lost.

// Changed delivers a value after the stream has lost its data or may have: Redis restarted or failed over, was flushed,
// or the group vanished. All unclaimed jobs must be delivered again. Several changes may be one value.
func (s *Streams) Changed() <-chan struct{} { return s.changed }

// Ping reports whether Redis answers, and looks whether it is still the one that it was.
func (s *Streams) Ping(ctx context.Context) error {
	if err := s.look(ctx); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// watch looks until ctx ends. What it cannot ask, the next look will.
func (s *Streams) watch(ctx context.Context) {
	tick := time.NewTicker(s.cfg.WatchEvery)
	defer tick.Stop()
	down := false
	for {
		err := s.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !down:
			s.cfg.Log.WarnContext(ctx, "redis does not answer", attrErr(err), slog.String("remedy", s.cfg.Remedy(err)))
		case err == nil && down:
			s.cfg.Log.InfoContext(ctx, "redis answers again")
		}
		down = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look compares the epoch with the one seen before, and with the server. Two at once could hide a change from each
// other: one writes an epoch, and the other reads it back as if it had been there.
func (s *Streams) look(ctx context.Context) error {
	if err := s.looking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.looking.Release(1)
	run, err := s.runID(ctx)
	if err != nil {
		return err
	}
	epoch, err := s.rdb.Get(ctx, s.epochKey).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	made := false
	if known := s.known(); known == "" || known != epoch {
		if made, err = s.createGroup(ctx); err != nil {
			return err
		}
	}
	switch {
	case epoch == "":
		// Another process may have written one meanwhile; then theirs counts.
		err := s.rdb.SetArgs(ctx, s.epochKey, newEpoch(run), redis.SetArgs{Mode: "NX"}).Err()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	case made || !strings.HasPrefix(epoch, run+":"): // the group is new, or the server
		if err := s.rdb.Set(ctx, s.epochKey, newEpoch(run), 0).Err(); err != nil {
			return err
		}
	default:
		s.see(ctx, epoch, false)
		return nil
	}
	if epoch, err = s.rdb.Get(ctx, s.epochKey).Result(); err != nil {
		return err
	}
	s.see(ctx, epoch, true)
	return nil
}

// restore makes the group again after it vanished; whoever makes it begins a new epoch.
func (s *Streams) restore(ctx context.Context) error {
	if err := s.looking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.looking.Release(1)
	made, err := s.createGroup(ctx)
	if err != nil || !made {
		return err
	}
	run, err := s.runID(ctx)
	if err != nil {
		return err
	}
	epoch := newEpoch(run)
	if err := s.rdb.Set(ctx, s.epochKey, epoch, 0).Err(); err != nil {
		return err
	}
	s.see(ctx, epoch, true)
	return nil
}

// see remembers the epoch. A fresh one was written because data may be lost, so
// it counts as a change also when it is the first that this process sees.
func (s *Streams) see(ctx context.Context, epoch string, fresh bool) {
	s.mu.Lock()
	before := s.epoch
	s.epoch = epoch
	s.mu.Unlock()
	if before == epoch || before == "" && !fresh {
		return
	}
	s.cfg.Log.InfoContext(ctx, "the stream may have lost entries", slog.String("stream", s.key))
	select {
	case s.changed <- struct{}{}:
	default: // one is waiting
	}
}

// known returns the epoch as last seen.
func (s *Streams) known() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// createGroup makes stream and group; made is false if they were there. The
// group begins at 0, so that it sees entries that were added before it.
func (s *Streams) createGroup(ctx context.Context) (made bool, err error) {
	err = s.rdb.XGroupCreateMkStream(ctx, s.key, s.cfg.Group, "0").Err()
	switch {
	case err == nil:
		return true, nil
	case isBusyGroup(err):
		return false, nil
	default:
		return false, fmt.Errorf("create group %s of %s: %w", s.cfg.Group, s.key, err)
	}
}

// runID asks the server that holds the stream which run it is.
func (s *Streams) runID(ctx context.Context) (string, error) {
	var node redis.Cmdable = s.rdb
	if c, ok := s.rdb.(*redis.ClusterClient); ok {
		master, err := c.MasterForKey(ctx, s.key)
		if err != nil {
			return "", err
		}
		node = master
	}
	info, err := node.Info(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok {
			return id, nil
		}
	}
	return "", errors.New("INFO server names no run_id")
}

func newEpoch(run string) string { return run + ":" + rand.Text() }

func attrErr(err error) slog.Attr { return slog.Any("err", err) }
