package feed

import (
	"context"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/wal"
)

// Source is a stream of changes with positions, together with what was there before them. Its methods Event and Whole
// may be called at any time, also while no session is open, and by many goroutines.
type Source interface {
	// Open reaches the source and finds out how the feed goes on from what it has. The engine calls it again, after a
	// bounded, growing pause, whenever a session or Open itself has ended with an error that is no [FinalError]. It bounds
	// what it waits for itself.
	Open(ctx context.Context, have Have) (Session, error)

	// Event makes of a record of the log what consumers get. It appends first the key and then the value to dst, whose
	// length is 0, so that the room behind Out.Value is free for the next record; neither may share memory with
	// r.Payload. Out.Keep is false for what the filter drops and for records that are only marks, such as a COMMIT. An
	// error ends the feed: a record that means nothing is never skipped.
	Event(dst []byte, r wal.Record) (Out, error)

	// Whole reports whether what the source means to say is complete with r: see [wal.Options]. Only what is whole is
	// durable, and only what is durable is delivered.
	Whole(r wal.Record) bool
}

// Have is what the feed has of a source when a session is to be opened.
type Have struct {
	// Epoch is that of the session to be opened. Its records in the log and the events of its snapshot bear it.
	Epoch uint32

	// Durable is the end of the whole prefix in the log, up to which the source was acknowledged at most. It is zero if
	// the log has no record: because none ever came, or because the folder was deleted. Then the feed goes on at
	// Ack.Position, if the source can tell that nothing behind it is missing, and else needs a snapshot. While nothing has
	// come since a snapshot, its position is what that is of.
	Durable wal.Point

	// Ack is the end of what the sink has. Until a first record came, its position is that at which the stream began.
	Ack checkpoint.Ack

	// System is the data that those positions are of; nil means that it is not known.
	System *checkpoint.System

	// Snapshot is about the newest one. If it is running, it was cut off, and Plan has to order another.
	Snapshot checkpoint.Snapshot

	// Fresh means that there is neither checkpoint nor log: Start decides where the stream begins.
	Fresh bool
	Start config.Start
}

// Session is one connection to a source. Receive and Snapshot run at the same time, each at most once; when one of them
// fails the context of the other ends, and then the session is closed.
type Session interface {
	// Plan says where the stream begins, of which data, and whether a snapshot comes first.
	Plan() Plan

	// Snapshot hands what was there at Plan.At to emit, which may be called by several goroutines, copies what it gets,
	// and waits for room. It is called only if the plan orders it. The engine writes the markers around it. A death or
	// an error starts it over under a new epoch, in another session.
	Snapshot(ctx context.Context, emit func(Out) error) error

	// Receive gives what comes, from Plan.At or from the end of what the feed has on, to put, until ctx ends or the
	// source fails. Put copies the parts of a record's payload, and at is the record's position. It waits while the log
	// has no room, which may take hours: whatever keeps the connection alive must not wait for it. Its errors have to be
	// returned as they are.
	Receive(ctx context.Context, put func(at wal.Position, parts ...[]byte) error) error

	// Durable says that the log is durable up to p, and so that the source may be acknowledged up to there. It does not
	// wait. It is called by one goroutine, each time with a later point, and not any more when Close is called.
	Durable(p wal.Point)

	// Close ends the session. Receive and Snapshot have returned.
	Close() error
}

// Plan is how a session goes on.
type Plan struct {
	// At is where the stream begins, if a snapshot is ordered or the feed is fresh: the snapshot is what was there at
	// that position. Otherwise the stream goes on right behind what the feed has, and At says so.
	At wal.Position

	// System is the data that positions are of.
	System checkpoint.System

	// Snapshot orders a full snapshot, and Why says for the log and the status what it is for, such as "the slot is
	// missing".
	Snapshot bool
	Why      string

	// Lag returns how much the source keeps for the feed, in a unit such as "bytes", and whether that is known. It does
	// not wait, may be called by many goroutines, also after Close, and may be nil.
	Lag func() (behind int64, unit string, ok bool)
}

// Out is one record for the sink.
type Out struct {
	Keep       bool   // it goes to the sink; otherwise it is only counted
	Key, Value []byte // what consumers get
	ID         string // the event_id, for dead letters
	Snapshot   bool   // it is of a snapshot, for which there may be a topic of its own

	// Index is the record's place within its transaction, for the checkpoint, where a source has transactions.
	Index         uint32
	InTransaction bool
}

// FinalError is an error that does not end by waiting. It ends the feed, and its message says what is to be done.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

// Unwrap returns what it is about.
func (e *FinalError) Unwrap() error { return e.Err }
