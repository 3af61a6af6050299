package pikiwidb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"deepoj/host/feed/rocks"
)

// slotPrefix begins the sets in which a master keeps account of slots that move.
const slotPrefix = "_internal:slotkey:4migrate:"

// scan reads keys of one instance, joined with their elements: both are in the order of keys.
type scan struct {
	ctx      context.Context
	instance int
	from     *rocks.Checkpoint
	options  *Options
	types    Types
	tail     uint64
	writer   *writer
	report   func(Damage) error

	elements [types]*elements
	scratch  []byte
}

// elements are those of all keys of one type.
type elements struct {
	rows *rocks.Iterator
	more bool
}

func (e *elements) next() { e.more = e.rows.Next() }

// run reads the keys within r.
func (s *scan) run(r rocks.Range) error {
	keys, err := s.from.Iterate(keysFamily, r)
	if err != nil {
		return err
	}
	defer keys.Close()
	for t := Hash; t < types; t++ {
		s.elements[t] = nil
		if !s.types.Has(t) {
			continue
		}
		rows, err := s.from.Iterate(families[t], r)
		if err != nil {
			return err
		}
		defer rows.Close()
		s.elements[t] = &elements{rows: rows}
		s.elements[t].next()
	}
	for n := 0; keys.Next(); n++ {
		if n%256 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err := s.key(keys.Key(), keys.Value()); err != nil {
			return fmt.Errorf("key %.60q: %w", keys.Key(), err)
		}
	}
	return keys.Err()
}

func (s *scan) key(stored, value []byte) error {
	prefix, key, err := splitKey(stored)
	if err != nil {
		return err
	}
	m, err := parseMeta(value)
	if err != nil || !s.types.Has(m.kind) {
		return err
	}
	progress, now := s.options.Progress, int64(0)
	if m.expires != 0 {
		now = s.options.Now().UnixMilli()
	}
	switch lost := len(stored) - len(prefix) - reserve; {
	case lost < 0:
		return damaged("%d bytes are too few for a key", len(stored))
	case bytes.HasPrefix(key, []byte(slotPrefix)), m.count == 0:
		return nil
	case m.expires != 0 && m.expires <= now:
		progress.Expired.Add(1)
		return nil
	case lost > 0:
		return s.report(Damage{s.instance, m.kind, bytes.Clone(key), fmt.Sprintf("the key's last %d bytes, behind its last NUL, are lost: read it from the binlog", lost)})
	}
	progress.Keys.Add(1)
	s.writer.begin(m.kind, key)
	if m.kind == String {
		return s.string(m, now)
	}
	found, err := s.join(prefix, m)
	if err != nil {
		return err
	}
	if err := s.writer.flush(); err != nil {
		return err
	}
	if m.expires != 0 && found > 0 {
		s.writer.arg(secondsLeft(m.expires, now))
		if err := s.writer.record(expire); err != nil {
			return err
		}
	}
	if found != m.count {
		if err := s.report(Damage{s.instance, m.kind, bytes.Clone(key), fmt.Sprintf("it counts %d elements, and %d are there", m.count, found)}); err != nil {
			return err
		}
	}
	return s.writer.end()
}

func (s *scan) string(m meta, now int64) error {
	s.writer.arg(m.value)
	if m.expires != 0 {
		s.writer.arg([]byte("EX"))
		s.writer.arg(secondsLeft(m.expires, now))
	}
	if err := s.writer.flush(); err != nil {
		return err
	}
	return s.writer.end()
}

// secondsLeft is how long a key lives on, rounded up.
func secondsLeft(expires, now int64) []byte {
	return strconv.AppendInt(nil, (expires-now-1)/1000+1, 10)
}

// join writes the elements of the key with the given prefix, and counts them.
func (s *scan) join(prefix []byte, m meta) (found uint64, err error) {
	e := s.elements[m.kind]
	skip := uint64(0)
	if m.kind == List && s.tail > 0 && m.count > s.tail {
		skip = m.count - s.tail
	}
	for ; e.more; e.next() {
		row := e.rows.Key()
		if !bytes.HasPrefix(row, prefix) {
			if bytes.Compare(row, prefix) > 0 {
				break
			}
			continue // of a key that is gone
		}
		row = row[len(prefix):]
		if len(row) < version+reserve {
			return found, damaged("an element of a %s with %d bytes behind its key", m.kind, len(row))
		}
		if binary.LittleEndian.Uint64(row) != m.version {
			continue
		}
		found++
		if found <= skip {
			continue
		}
		if err := s.element(m.kind, row[version:len(row)-reserve], e.rows.Value()); err != nil {
			return found, err
		}
	}
	return found, e.rows.Err()
}

// element writes one; name is its field, member, index or id.
func (s *scan) element(kind Type, name, value []byte) error {
	if kind == Stream {
		return s.entry(name, value)
	}
	if len(value) < valueSuffix {
		return damaged("an element's value of %d bytes", len(value))
	}
	value = value[:len(value)-valueSuffix]
	switch kind {
	case String, Stream: // have none of this kind
	case Hash:
		s.writer.arg(name)
		s.writer.arg(value)
	case Set:
		s.writer.arg(name)
	case List:
		s.writer.arg(value)
	case ZSet:
		if len(value) != 8 {
			return damaged("a score of %d bytes", len(value))
		}
		score := math.Float64frombits(binary.LittleEndian.Uint64(value))
		if math.IsNaN(score) {
			return damaged("a score that is no number")
		}
		s.scratch = appendScore(s.scratch[:0], score)
		s.writer.arg(s.scratch)
		s.writer.arg(name)
	}
	return s.writer.element()
}

// entry writes one of a stream, as a record of its own.
func (s *scan) entry(id, value []byte) error {
	if len(id) != 16 {
		return damaged("a stream's id of %d bytes", len(id))
	}
	s.scratch = strconv.AppendUint(s.scratch[:0], binary.BigEndian.Uint64(id), 10)
	s.scratch = append(s.scratch, '-')
	s.scratch = strconv.AppendUint(s.scratch, binary.BigEndian.Uint64(id[8:]), 10)
	s.writer.arg(s.scratch)
	fields := 0
	for ; len(value) > 0; fields++ {
		if len(value) < 4 {
			return damaged("a stream's entry is cut off")
		}
		size := uint64(binary.LittleEndian.Uint32(value))
		if size > uint64(len(value)-4) {
			return damaged("a field of %d bytes in a stream's entry of %d", size, len(value))
		}
		s.writer.arg(value[4 : 4+size])
		value = value[4+size:]
	}
	if fields == 0 || fields%2 != 0 {
		return damaged("a stream's entry of %d fields and values", fields)
	}
	return s.writer.flush()
}
