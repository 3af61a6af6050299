package postgres

import (
	"encoding/binary"
	"fmt"
	"time"
)

// What a record of the log is.
const (
	tagEvent  = 'E' // something that happened to a job
	tagCommit = 'C' // the transaction is complete
	tagMark   = 'K' // nothing that is published happened up to the position
)

// entry is an event as the log has it.
type entry struct {
	id         int64 // of the events of a job: the order in which they happened
	job        int64
	generation int32
	attempt    int32
	at         int64  // microseconds since 2000
	kind       []byte // as judge.EventKind
	data       []byte // JSON; empty = none
}

const (
	indexBytes = 4
	entryBytes = indexBytes + 1 + 8 + 8 + 4 + 4 + 8 + 1
)

// epoch2000 is when PostgreSQL's clock begins, in microseconds of Unix's.
const epoch2000 = 946_684_800_000_000

func clock(micros int64) time.Time { return time.UnixMicro(micros + epoch2000) }

// appendHead appends what a record begins with: everything but the data. index is its place in the transaction.
func (e *entry) appendHead(dst []byte, index uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, index)
	dst = append(dst, tagEvent)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.id))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.job))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.generation))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.attempt))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.at))
	dst = append(dst, byte(len(e.kind)))
	return append(dst, e.kind...)
}

// parseEntry decodes a record that is an event.
func parseEntry(b []byte) (e entry, index uint32, err error) {
	if len(b) < entryBytes || len(b) < entryBytes+int(b[entryBytes-1]) {
		return e, 0, fmt.Errorf("an event of %d bytes in the write-ahead log is too short", len(b))
	}
	index = binary.LittleEndian.Uint32(b)
	e.id = int64(binary.LittleEndian.Uint64(b[5:]))
	e.job = int64(binary.LittleEndian.Uint64(b[13:]))
	e.generation = int32(binary.LittleEndian.Uint32(b[21:]))
	e.attempt = int32(binary.LittleEndian.Uint32(b[25:]))
	e.at = int64(binary.LittleEndian.Uint64(b[29:]))
	end := entryBytes + int(b[entryBytes-1])
	e.kind, e.data = b[entryBytes:end], b[end:]
	return e, index, nil
}

// appendEnd appends a record that ends something: a commit, after that many events, or a mark.
func appendEnd(dst []byte, tag byte, events uint32, at int64) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, events)
	dst = append(dst, tag)
	return binary.LittleEndian.AppendUint64(dst, uint64(at))
}

// tagOf is what a record is; 0 means that it is nothing.
func tagOf(payload []byte) byte {
	if len(payload) <= indexBytes {
		return 0
	}
	return payload[indexBytes]
}
