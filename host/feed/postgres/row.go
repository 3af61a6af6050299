package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// errShort means that a message ended in the middle of what it says.
var errShort = errors.New("a message of PostgreSQL is shorter than it says")

// reader takes values off the front of a message. After the first failure it gives zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.fail(errShort)
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// text takes a string that ends with a zero.
func (r *reader) text() string {
	for i, c := range r.b {
		if c == 0 {
			return string(r.take(i + 1)[:i])
		}
	}
	r.fail(errShort)
	return ""
}

// A field is a value in PostgreSQL's binary format; nil is NULL.
type field = []byte

// tuple takes the fields of a row of pgoutput.
func (r *reader) tuple(into []field) []field {
	into = into[:0]
	for range r.u16() {
		switch kind := r.u8(); kind {
		case 'n':
			into = append(into, nil)
		case 'b':
			into = append(into, r.value())
		default:
			if r.err == nil {
				r.fail(fmt.Errorf("a column has the format %q, and only binary values were asked for", kind))
			}
			return into
		}
	}
	return into
}

func (r *reader) value() field {
	v := r.take(int(int32(r.u32())))
	if v == nil && r.err == nil {
		v = field{}
	}
	return v
}

// copied takes the fields of a row of COPY.
func (r *reader) copied(into []field, n int) []field {
	into = into[:0]
	for range n {
		size := int32(r.u32())
		if size == -1 {
			into = append(into, nil)
			continue
		}
		v := r.take(int(size))
		if v == nil {
			v = field{}
		}
		into = append(into, v)
	}
	return into
}

func int8Of(f field) (int64, error) {
	if len(f) != 8 {
		return 0, fmt.Errorf("a bigint has %d bytes", len(f))
	}
	return int64(binary.BigEndian.Uint64(f)), nil
}

func int4Of(f field) (int32, error) {
	if len(f) != 4 {
		return 0, fmt.Errorf("an integer has %d bytes", len(f))
	}
	return int32(binary.BigEndian.Uint32(f)), nil
}

// jsonOf returns the text of a jsonb.
func jsonOf(f field) ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	if len(f) < 1 || f[0] != 1 {
		return nil, errors.New("a jsonb is of another version than 1")
	}
	return f[1:], nil
}

// arrayOf takes apart an array of one dimension. NULL and an empty one have no elements.
func arrayOf(f field, into []field) ([]field, error) {
	into = into[:0]
	if len(f) == 0 {
		return into, nil
	}
	r := reader{b: f}
	dimensions := r.u32()
	r.take(8) // whether there are NULLs, and the type
	if r.err == nil && dimensions == 0 {
		return into, nil
	}
	if dimensions != 1 {
		return into, fmt.Errorf("an array has %d dimensions", dimensions)
	}
	n := int(r.u32())
	r.take(4) // where it begins to count
	if n > len(r.b)/4 {
		return into, errShort
	}
	return r.copied(into, n), r.err
}

// batch is a row of events, of one job or of many, in scratch memory that is used again.
type batch struct {
	id, at                                        int64
	kind, data                                    []byte
	jobs, generations, attempts, verdicts, scores []field
	made                                          []byte // data that is made of verdict and score
}

// single reads the row of one event: id, job_id, generation, attempt, kind, data, at.
func (b *batch) single(f []field) (err error) {
	if len(f) != 7 {
		return fmt.Errorf("an event has %d columns", len(f))
	}
	b.jobs = append(b.jobs[:0], f[1])
	b.generations = append(b.generations[:0], f[2])
	b.attempts = append(b.attempts[:0], f[3])
	b.verdicts, b.scores = b.verdicts[:0], b.scores[:0]
	return b.common(f[0], f[4], f[6], f[5])
}

// many reads the row of several events: id, kind, at, job_ids, generations, attempts, data, verdicts, scores.
func (b *batch) many(f []field) (err error) {
	if len(f) != 9 {
		return fmt.Errorf("a batch of events has %d columns", len(f))
	}
	for i, into := range []*[]field{&b.jobs, &b.generations, &b.attempts} {
		if *into, err = arrayOf(f[3+i], *into); err != nil {
			return err
		}
	}
	for i, into := range []*[]field{&b.verdicts, &b.scores} {
		if *into, err = arrayOf(f[7+i], *into); err != nil {
			return err
		}
	}
	return b.common(f[0], f[1], f[2], f[6])
}

func (b *batch) common(id, kind, at, data field) (err error) {
	if b.id, err = int8Of(id); err != nil {
		return err
	}
	if b.at, err = int8Of(at); err != nil {
		return err
	}
	if b.data, err = jsonOf(data); err != nil {
		return err
	}
	b.kind = kind
	switch n := len(b.jobs); {
	case len(kind) == 0 || len(kind) > math.MaxUint8:
		return fmt.Errorf("the kind of event %d has %d bytes", b.id, len(kind))
	case len(b.generations) != n || len(b.attempts) != n:
		return fmt.Errorf("batch %d has %d jobs, %d generations and %d attempts", b.id, n, len(b.generations), len(b.attempts))
	}
	if string(kind) == compiled {
		b.data = discreet(b.data)
	}
	return nil
}

// entry returns the event of the nth job. It is good until the next call.
func (b *batch) entry(n int) (e entry, err error) {
	e = entry{id: b.id, at: b.at, kind: b.kind, data: b.data}
	if e.job, err = int8Of(b.jobs[n]); err != nil {
		return e, err
	}
	if e.generation, err = int4Of(b.generations[n]); err != nil {
		return e, err
	}
	if e.attempt, err = int4Of(b.attempts[n]); err != nil {
		return e, err
	}
	if b.data == nil && n < len(b.verdicts) && b.verdicts[n] != nil {
		b.made = appendWord(append(b.made[:0], `{"verdict":`...), b.verdicts[n])
		if n < len(b.scores) && len(b.scores[n]) == 8 {
			score := math.Float64frombits(binary.BigEndian.Uint64(b.scores[n]))
			if !math.IsNaN(score) && !math.IsInf(score, 0) {
				b.made = append(b.made, `,"score":`...)
				b.made = strconv.AppendFloat(b.made, score, 'g', -1, 64)
			}
		}
		b.made = append(b.made, '}')
		e.data = b.made
	}
	return e, nil
}
