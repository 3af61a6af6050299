package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/judge"
)

// vanishedAfter is how long a consumer without entries must be silent before it
// is removed. A consumer that comes back is made again by its first read.
const vanishedAfter = 10 * time.Minute

// Cleaned is what one [Streams.Clean] did.
type Cleaned struct {
	Removed   int64 // entries that lay too long with a consumer
	Consumers int64 // consumers without entries that nobody uses any more
}

// Clean removes entries that were read long ago and never acknowledged, and consumers that have vanished. Decided
// returns those of the jobs whose entries are of no use any more; the others are looked at again later. A nil decided
// removes them all. Recovery does not depend on it: the database delivers such jobs again by itself.
func (s *Streams) Clean(ctx context.Context, decided func(ctx context.Context, ids []int64) ([]int64, error)) (Cleaned, error) {
	var done Cleaned
	es, err := s.Reclaim(ctx)
	if err != nil {
		return done, err
	}
	if decided != nil && len(es) > 0 {
		ids := make([]int64, len(es))
		for i, e := range es {
			ids[i] = e.JobID
		}
		useless, err := decided(ctx, ids)
		if err != nil {
			return done, fmt.Errorf("decide about old entries: %w", err)
		}
		es = slices.DeleteFunc(es, func(e judge.Entry) bool { return e.JobID > 0 && !slices.Contains(useless, e.JobID) })
	}
	if err := s.Ack(ctx, es...); err != nil {
		return done, err
	}
	done.Removed = int64(len(es))
	done.Consumers, err = s.dismiss(ctx)
	return done, err
}

// Reclaim takes over entries that lie with a consumer longer than
// [Config.MinIdle] and returns them. Successive calls go through the whole list.
func (s *Streams) Reclaim(ctx context.Context) ([]judge.Entry, error) {
	s.mu.Lock()
	start := s.cursor
	s.mu.Unlock()
	messages, next, err := s.rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{
		Stream: s.key, Group: s.cfg.Group, Consumer: s.consumer, MinIdle: s.cfg.MinIdle, Start: start, Count: s.cfg.CleanCount,
	}).Result()
	if isNoGroup(err) {
		return nil, s.restore(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("reclaim: %w", err)
	}
	s.mu.Lock()
	s.cursor = next
	s.mu.Unlock()
	es := make([]judge.Entry, len(messages))
	for i, m := range messages {
		es[i] = parse(m)
	}
	return es, nil
}

// dismiss removes consumers that hold nothing and have been silent for long. One
// that reads in this very moment may lose its entry, which redelivery heals.
func (s *Streams) dismiss(ctx context.Context) (int64, error) {
	consumers, err := s.rdb.XInfoConsumers(ctx, s.key, s.cfg.Group).Result()
	if err != nil {
		return 0, fmt.Errorf("list consumers: %w", err)
	}
	var gone int64
	for _, c := range consumers {
		if c.Pending > 0 || c.Name == s.consumer || c.Idle < max(vanishedAfter, 2*s.cfg.MinIdle) {
			continue
		}
		if err := s.rdb.XGroupDelConsumer(ctx, s.key, s.cfg.Group, c.Name).Err(); err != nil {
			return gone, fmt.Errorf("remove consumer %s: %w", c.Name, err)
		}
		gone++
	}
	return gone, nil
}

// Stats describes the stream for metrics.
type Stats struct {
	Length     int64         // entries in the stream
	Lag        int64         // entries that no consumer has read
	Pending    int64         // entries that were read and not acknowledged
	OldestIdle time.Duration // how long the oldest of them has been lying
	Consumers  int64
}

// Stats asks Redis for the figures. A stream that does not exist is empty.
func (s *Streams) Stats(ctx context.Context) (Stats, error) {
	p := s.rdb.Pipeline()
	length := p.XLen(ctx, s.key)
	groups := p.XInfoGroups(ctx, s.key)
	oldest := p.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: s.key, Group: s.cfg.Group, Start: "-", End: "+", Count: 1})
	if _, err := p.Exec(ctx); err != nil {
		if isNoGroup(err) || redis.HasErrorPrefix(err, "ERR no such key") {
			return Stats{}, nil
		}
		return Stats{}, fmt.Errorf("stream figures: %w", err)
	}
	st := Stats{Length: length.Val()}
	for _, g := range groups.Val() {
		if g.Name != s.cfg.Group {
			continue
		}
		st.Pending, st.Consumers, st.Lag = g.Pending, g.Consumers, g.Lag
		if st.Lag < 0 {
			// Deletions keep Redis from knowing. What is acknowledged is deleted,
			// so the rest of the stream is what nobody has read.
			st.Lag = max(st.Length-st.Pending, 0)
		}
	}
	if o := oldest.Val(); len(o) > 0 {
		st.OldestIdle = o[0].Idle
	}
	return st, nil
}
