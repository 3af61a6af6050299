package feed

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const (
	watchEvery       = 250 * time.Millisecond
	snapshotProgress = 5 * time.Second
	mostMarks        = 1024
)

// watch looks at how far the feed is, and says it now and then.
func (f *Feed) watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	said, before := time.Now(), f.Status()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		f.look()
		s := f.Status()
		every := f.o.Progress
		if s.State == Snapshot {
			every = snapshotProgress
		}
		if s.State != before.State {
			f.log.InfoContext(ctx, "the feed has another state", slog.String("state", string(s.State)), slog.String("before", string(before.State)))
			before.State = s.State
		}
		if time.Since(said) < every {
			continue
		}
		f.sayProgress(ctx, &before, &s, time.Since(said))
		said, before = time.Now(), s
	}
}

// look notes when what is durable was so, and whether the sink has caught up.
func (f *Feed) look() {
	ack, durable, full := f.keeper.Now().Ack.Seq, f.wal.Durable().Seq, f.wal.DiskFull()
	f.tell(func(t *told) {
		switch {
		case !full:
			t.diskFull = time.Time{}
		case t.diskFull.IsZero():
			t.diskFull = time.Now()
		}
		t.marks = slices.DeleteFunc(t.marks, func(m mark) bool { return m.seq <= ack })
		if n := len(t.marks); durable > ack && (n == 0 || t.marks[n-1].seq < durable) {
			t.marks = append(t.marks, mark{durable, time.Now()})
		}
		if len(t.marks) > mostMarks { // every second one tells nearly as much
			for i := range len(t.marks) / 2 {
				t.marks[i] = t.marks[2*i]
			}
			t.marks = t.marks[:len(t.marks)/2]
		}
		switch lag := durable - min(ack, durable); {
		case lag == 0 && t.sessions > 0:
			t.caughtUp = true
		case lag > uint64(f.o.Window):
			t.caughtUp = false
		}
	})
}

// sayProgress says what came to pass since before.
func (f *Feed) sayProgress(ctx context.Context, before, s *Status, d time.Duration) {
	a, b := &before.Counts, &s.Counts
	if s.State == Snapshot || b.SnapshotDelivered != a.SnapshotDelivered {
		f.log.InfoContext(ctx, "snapshot", slog.Uint64("epoch", uint64(s.Epoch)), slog.Int64("read", b.SnapshotRead), slog.Int64("parsed", b.SnapshotRead-b.SnapshotFiltered),
			slog.Int64("enqueued", b.SnapshotQueued), slog.Int64("produced", b.SnapshotDelivered), slog.Int64("filtered", b.SnapshotFiltered),
			slog.Float64("per_second", perSecond(b.SnapshotDelivered-a.SnapshotDelivered, d)), slog.Int64("received", b.Received), slog.Int64("wal_bytes", s.WAL.Bytes))
		return
	}
	if s.LagRecords == 0 && *a == *b && s.Source.Up == before.Source.Up && s.Sink.Up == before.Sink.Up {
		return // nothing happens
	}
	f.log.InfoContext(ctx, "progress", slog.String("state", string(s.State)), slog.Int64("received", b.Received), slog.Int64("produced", b.Delivered),
		slog.Int64("filtered", b.Filtered), slog.Float64("per_second", perSecond(b.Delivered-a.Delivered, d)), slog.Uint64("lag_records", s.LagRecords),
		slog.Float64("lag_seconds", s.LagSeconds), slog.Int64("wal_bytes", s.WAL.Bytes), slog.Bool("source", s.Source.Up), slog.Bool("sink", s.Sink.Up),
		slog.String("ack", s.Ack.String()), slog.String("durable", s.Durable.String()))
}

// perSecond is a rate without digits that mean nothing.
func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(int64(float64(n) / d.Seconds()))
}
