package feed

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/wal"
)

// State is what a feed is at.
type State string

// The states, in the order in which a feed goes through them.
const (
	Starting  State = "starting"  // the source was not reached yet
	Purged    State = "purged"    // a full snapshot is needed, and does not come yet
	Snapshot  State = "snapshot"  // a snapshot comes; what the source tells meanwhile waits in the log
	CatchUp   State = "catch-up"  // the sink is behind the log
	Streaming State = "streaming" // the sink has what the source told a moment ago
)

// States are all states.
func States() []State { return []State{Starting, Purged, Snapshot, CatchUp, Streaming} }

// Status says how a feed is.
type Status struct {
	State    State  `json:"state"`
	SourceID string `json:"source_id"`
	DB       string `json:"db,omitempty"`
	Epoch    uint32 `json:"epoch"`

	Durable  At                  `json:"durable_cp"`
	Ack      At                  `json:"ack_cp"`
	Snapshot checkpoint.Snapshot `json:"snapshot"`
	Why      string              `json:"snapshot_why,omitempty"` // what the newest snapshot of this process is for

	LagRecords uint64  `json:"lag_records"` // in the log, and not in the sink
	LagSeconds float64 `json:"lag_seconds"` // how long the oldest of them has been there, within a second, since the start at most

	WAL    WALStatus    `json:"wal"`
	Source SourceStatus `json:"source"`
	Sink   SinkStatus   `json:"sink"`
	Counts Counts       `json:"counts"`
}

// At is the end of a prefix of what the source told.
type At struct {
	Seq uint64 `json:"seq"`
	wal.Position
}

// WALStatus is about the write-ahead log.
type WALStatus struct {
	Bytes     int64      `json:"bytes"`
	MaxBytes  int64      `json:"max_bytes"` // 0 = no bound
	FullSince *time.Time `json:"full_since,omitempty"`
}

// SourceStatus is about the source.
type SourceStatus struct {
	Up       bool       `json:"up"`
	Since    time.Time  `json:"since"` // when it became so
	Sessions int64      `json:"sessions"`
	Error    string     `json:"error,omitempty"` // the newest, also when it has passed
	ErrorAt  *time.Time `json:"error_at,omitempty"`
	Behind   *int64     `json:"behind,omitempty"` // how much the source keeps for the feed
	Unit     string     `json:"unit,omitempty"`   // of that
}

// SinkStatus is about the sink.
type SinkStatus struct {
	Up           bool       `json:"up"`
	Since        time.Time  `json:"since"`                   // when it became so
	WaitingSince *time.Time `json:"waiting_since,omitempty"` // when the batch was sent that is not acknowledged
	Errors       int64      `json:"errors"`
	Error        string     `json:"error,omitempty"` // the newest, also when it has passed
	ErrorAt      *time.Time `json:"error_at,omitempty"`
}

// Counts are of this process.
type Counts struct {
	Received      int64 `json:"received"`
	ReceivedBytes int64 `json:"received_bytes"`
	Delivered     int64 `json:"delivered"`
	Filtered      int64 `json:"filtered"`   // dropped by the filter, or marks
	Superseded    int64 `json:"superseded"` // by a newer snapshot
	DeadLetters   int64 `json:"dead_letters"`

	SnapshotRead      int64 `json:"snapshot_read"`
	SnapshotFiltered  int64 `json:"snapshot_filtered"`
	SnapshotQueued    int64 `json:"snapshot_queued"`
	SnapshotDelivered int64 `json:"snapshot_delivered"`
}

// counts are Counts that many goroutines change.
type counts struct {
	received, receivedBytes, delivered, filtered, superseded          atomic.Int64
	snapshotRead, snapshotFiltered, snapshotQueued, snapshotDelivered atomic.Int64
}

func (c *counts) now() Counts {
	return Counts{
		Received: c.received.Load(), ReceivedBytes: c.receivedBytes.Load(), Delivered: c.delivered.Load(), Filtered: c.filtered.Load(),
		Superseded: c.superseded.Load(), SnapshotRead: c.snapshotRead.Load(), SnapshotFiltered: c.snapshotFiltered.Load(),
		SnapshotQueued: c.snapshotQueued.Load(), SnapshotDelivered: c.snapshotDelivered.Load(),
	}
}

// told is what happened that only the status needs. Feed.mu guards it.
type told struct {
	source, sink link
	sessions     int64
	lag          func() (int64, string, bool)
	why          string
	sending      time.Time // when the batch was sent that is under way; zero = none is
	sinkErrors   int64
	full         time.Time // since when a record waits for room in the log; zero = none does
	diskFull     time.Time // since when the log waits for room on the disk; zero = it does not
	caughtUp     bool
	marks        []mark // of what is not in the sink
}

// link is how source or sink is reached.
type link struct {
	up    bool
	since time.Time
	err   string
	errAt time.Time
}

func (l *link) is(up bool) {
	if l.up != up {
		l.up, l.since = up, time.Now()
	}
}

func (l *link) failed(err error) {
	l.is(false)
	l.err, l.errAt = err.Error(), time.Now()
}

// mark is when a record was durable at the latest.
type mark struct {
	seq uint64
	at  time.Time
}

func (f *Feed) tell(how func(*told)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(&f.told)
}

func (f *Feed) sourceOpened(p Plan) {
	f.tell(func(t *told) {
		t.source.is(true)
		t.sessions++
		t.lag = p.Lag
		if p.Snapshot {
			t.why, t.caughtUp = p.Why, false
		}
	})
}

func (f *Feed) sourceFailed(err error) { f.tell(func(t *told) { t.source.failed(err) }) }

func (f *Feed) sinkOpened() { f.tell(func(t *told) { t.sink.is(true) }) }

func (f *Feed) sinkFailed(err error) {
	f.tell(func(t *told) {
		t.sink.failed(err)
		t.sinkErrors++
	})
}

func (f *Feed) sinkSending(begins bool) {
	f.tell(func(t *told) {
		t.sending = time.Time{}
		if begins {
			t.sending = time.Now()
		}
	})
}

func (f *Feed) logFull(ctx context.Context, full bool) {
	f.tell(func(t *told) {
		t.full = time.Time{}
		if full {
			t.full = time.Now()
		}
	})
	if full {
		f.log.ErrorContext(ctx, "the write-ahead log is full: receiving stops until the sink has taken some of it, or wal_max_bytes is raised",
			slog.Int64("bytes", f.wal.Bytes()), slog.Int64("wal_max_bytes", f.o.WAL.MaxBytes))
		return
	}
	f.log.InfoContext(ctx, "the write-ahead log has room: receiving goes on")
}

// Status says how the feed is now. It may be called at any time.
func (f *Feed) Status() Status {
	s := Status{State: Starting, SourceID: f.o.SourceID, DB: f.o.DB, WAL: WALStatus{MaxBytes: f.o.WAL.MaxBytes}, Counts: f.counts.now()}
	if d, ok := f.o.Sink.(interface{ DeadLetters() int64 }); ok {
		s.Counts.DeadLetters = d.DeadLetters()
	}
	ready := f.ready.Load()
	if ready {
		c, durable := f.keeper.Now(), f.wal.Durable() // in this order: what the sink has is durable
		s.Epoch, s.Snapshot = c.Epoch, c.Snapshot
		s.Ack, s.Durable = At{c.Ack.Seq, c.Ack.Position}, At{durable.Seq, durable.Position}
		s.LagRecords, s.WAL.Bytes = durable.Seq-min(c.Ack.Seq, durable.Seq), f.wal.Bytes()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.told
	s.Why, s.WAL.FullSince = t.why, when(t.full)
	if s.WAL.FullSince == nil {
		s.WAL.FullSince = when(t.diskFull)
	}
	s.Source = SourceStatus{Up: t.source.up, Since: t.source.since, Sessions: t.sessions, Error: t.source.err, ErrorAt: when(t.source.errAt)}
	s.Sink = SinkStatus{Up: t.sink.up, Since: t.sink.since, WaitingSince: when(t.sending), Errors: t.sinkErrors, Error: t.sink.err, ErrorAt: when(t.sink.errAt)}
	if t.lag != nil {
		if behind, unit, ok := t.lag(); ok {
			s.Source.Behind, s.Source.Unit = &behind, unit
		}
	}
	if !ready {
		return s
	}
	for _, m := range t.marks {
		if m.seq > s.Ack.Seq {
			s.LagSeconds = time.Since(m.at).Seconds()
			break
		}
	}
	s.State = f.state(t)
	return s
}

// state is what the feed is at; f.mu is held.
func (f *Feed) state(t *told) State {
	switch h := f.gate.state(); {
	case h.closed && h.queue == nil:
		return Purged
	case h.closed:
		return Snapshot
	case t.sessions == 0:
		return Starting
	case t.caughtUp:
		return Streaming
	}
	return CatchUp
}

// when leaves out a time that is zero.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
