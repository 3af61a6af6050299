// Package wal keeps what a source has sent, in order and on disk, until it has left for Kafka.
//
// A record is durable once a group of records has been fsynced; the source is acknowledged only up to there, and
// whoever is late reads on from here. One process has a log at a time. What is damaged is told, never skipped: only the
// end of the newest file, where a write was cut short, is cut, because the source sends that again.
package wal

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
)

// Position is where a source continues: in PikiwiDB the file and offset of its next binlog item, in PostgreSQL 0 and the
// LSN of the commit.
type Position struct {
	Filenum uint32 `json:"filenum"`
	Offset  uint64 `json:"offset"`
}

// Compare returns a number below, equal to or above 0 as p lies before, at or behind q.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Filenum, q.Filenum), cmp.Compare(p.Offset, q.Offset))
}

func (p Position) String() string { return fmt.Sprintf("%d/%d", p.Filenum, p.Offset) }

// Record is one thing that a source has sent.
type Record struct {
	Seq      uint64 // one more than that of the record before
	Epoch    uint32 // the generation of the session with the source
	Position Position
	Payload  []byte
}

// Point is the end of a prefix of the log.
type Point struct {
	Seq      uint64 // of the last record in the prefix
	Epoch    uint32
	Position Position
	Segment  uint32 // number of the file in which the prefix ends
	Offset   int64  // where in it
}

// Options say where a log lies and how it behaves.
type Options struct {
	Dir          string
	SegmentBytes int64 // a file takes no further record beyond; defaults to 256 MiB
	Retain       int   // how many of the newest files cleaning leaves
	MaxBytes     int64 // of all files; 0 = no bound

	// Start and Next are what a log without any record begins with: where the source does, and the number of the first
	// record, where 0 means 1.
	Start Position
	Next  uint64

	// Whole reports whether what the source means to say is complete with a record, such as the commit of a
	// transaction; nil means that it is with each. What follows the last whole record is not durable, and is cut by
	// Open.
	Whole func(Record) bool

	// Step is told of each step that a death may fall on, for tests that kill the process: "half" of a group is
	// written, all is "written", it is "synced"; "rotating" and "rotated"; "cleaning" and "cleaned".
	Step func(step string)

	Logger *slog.Logger // nil = nobody is told
}

const (
	defaultSegmentBytes = 256 << 20
	maxRecord           = 1 << 30 // of a payload: more than any source sends
	bufferBytes         = 8 << 20 // of what waits for the disk while a group is being written
)

// What a log may answer.
var (
	// ErrFull means that the log has reached its bound. Nothing was appended; receiving has to stop until
	// [Log.WaitRoom] returns.
	ErrFull = errors.New("the write-ahead log is full: wal_max_bytes, or the disk")

	// ErrTooLarge means that a record, or what it is part of, never fits.
	ErrTooLarge = errors.New("too large for the write-ahead log")

	// ErrGone means that the record was cleaned away.
	ErrGone = errors.New("the record was cleaned away from the write-ahead log")

	// ErrLocked means that another process has the log.
	ErrLocked = errors.New("another process has this write-ahead log open")

	// ErrClosed means that the log was closed.
	ErrClosed = errors.New("the write-ahead log is closed")
)

// DamageError is a file that is not as it was written, or that another version wrote. Nothing is mended by itself.
type DamageError struct {
	File   string
	Offset int64
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s at byte %d: %s. Nothing was changed. Bring the file back from a copy, or let the feed begin "+
		"with a new snapshot: deepoj feed reset", e.File, e.Offset, e.Reason)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
