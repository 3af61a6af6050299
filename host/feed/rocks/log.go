package rocks

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const (
	logBlock  = 32 << 10
	maxRecord = 64 << 20
)

func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// readLog gives each record of a log to take, which must not keep it.
func readLog(r io.Reader, take func([]byte) error) error {
	log := logReader{take: take}
	block := make([]byte, logBlock)
	for {
		n, err := io.ReadFull(r, block)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		end := err != nil
		if err := log.block(block[:n]); err != nil {
			return err
		}
		if end || log.ended {
			break
		}
	}
	if log.open {
		return damaged("it ends in the middle of a record")
	}
	return nil
}

// logReader puts the records of a log together from their fragments.
type logReader struct {
	take   func([]byte) error
	record []byte // of the fragments so far
	open   bool   // a first fragment has come and no last one
	ended  bool   // at the zeros of a file that was made larger than its content
}

func (l *logReader) block(b []byte) error {
	at := 0
	for len(b)-at >= 7 {
		kind, header, size := b[at+6], 7, int(binary.LittleEndian.Uint16(b[at+4:]))
		if kind == 0 && size == 0 {
			l.ended = true
			return nil
		}
		if kind >= 5 && kind <= 8 { // of a file that was used before: the log's number follows
			kind, header = kind-4, 11
		}
		if kind < 1 || kind > 4 {
			return unsupported("log records of type %d", kind)
		}
		if size > len(b)-at-header {
			return damaged("it ends in the middle of a record")
		}
		end := at + header + size
		if masked(crc32.Checksum(b[at+6:end], castagnoli)) != u32(b[at:]) {
			return damaged("a record's checksum is wrong")
		}
		if err := l.fragment(kind, b[at+header:end]); err != nil {
			return err
		}
		at = end
	}
	if len(b) < logBlock && at < len(b) {
		return damaged("it ends in the middle of a record")
	}
	return nil
}

// fragment takes one of kind 1 (whole), 2 (first), 3 (middle) or 4 (last).
func (l *logReader) fragment(kind byte, b []byte) error {
	if begins := kind <= 2; begins == l.open {
		return damaged("fragments of records are out of order")
	}
	if kind == 1 {
		return l.take(b)
	}
	if kind == 2 {
		l.record = l.record[:0]
	}
	if len(l.record)+len(b) > maxRecord {
		return unsupported("a log record above %d bytes", maxRecord)
	}
	l.record = append(l.record, b...)
	l.open = kind != 4
	if l.open {
		return nil
	}
	return l.take(l.record)
}
