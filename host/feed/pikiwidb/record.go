package pikiwidb

import "bytes"

// A Record is a command that makes a key, or a part of it. Nobody writes to its memory afterwards.
type Record struct {
	Type Type
	Key  []byte
	Argv [][]byte // the command's name, the key, and what follows
	// Part counts the records of a key from 1. It is 0 for the only record of a key.
	Part int
}

// ops are the commands that make each type.
var ops = [types][]byte{
	String: []byte("SET"), Hash: []byte("HMSET"), Set: []byte("SADD"), List: []byte("RPUSH"), ZSet: []byte("ZADD"), Stream: []byte("XADD"),
}

var expire = []byte("EXPIRE")

// writer makes the records of one key after another, and hands them on.
type writer struct {
	batchNum   int
	batchBytes int
	yield      func(Record) error

	kind     Type
	key      []byte
	elements int    // since the last record
	bytes    []byte // of their arguments
	ends     []int  // of each argument in bytes
	part     int    // handed on
	waiting  Record // what is known to be a key's last record only at its end
}

// begin starts the records of a key.
func (w *writer) begin(kind Type, key []byte) {
	w.kind, w.key = kind, bytes.Clone(key)
	w.part, w.waiting = 0, Record{}
}

// arg adds an argument to the element that element ends.
func (w *writer) arg(b []byte) {
	w.bytes = append(w.bytes, b...)
	w.ends = append(w.ends, len(w.bytes))
}

// element ends one, and with it a batch that is full.
func (w *writer) element() error {
	w.elements++
	if w.elements < w.batchNum && len(w.bytes) < w.batchBytes {
		return nil
	}
	return w.flush()
}

// flush makes a record of the arguments so far.
func (w *writer) flush() error { return w.record(ops[w.kind]) }

func (w *writer) record(op []byte) error {
	if len(w.ends) == 0 {
		return nil
	}
	owned, argv, from := bytes.Clone(w.bytes), make([][]byte, 2+len(w.ends)), 0
	argv[0], argv[1] = op, w.key
	for i, end := range w.ends {
		argv[2+i] = owned[from:end:end]
		from = end
	}
	w.elements, w.bytes, w.ends = 0, w.bytes[:0], w.ends[:0]
	if cap(w.bytes) > 8*w.batchBytes { // one large value needed it
		w.bytes = nil
	}
	if w.waiting.Argv != nil {
		if err := w.next(); err != nil {
			return err
		}
	}
	w.waiting = Record{Type: w.kind, Key: w.key, Argv: argv}
	return nil
}

// next hands on the record that waits, as one of several.
func (w *writer) next() error {
	w.part++
	w.waiting.Part = w.part
	return w.yield(w.waiting)
}

// end hands on the rest of a key.
func (w *writer) end() error {
	switch {
	case w.waiting.Argv == nil:
		return nil
	case w.part > 0:
		return w.next()
	}
	return w.yield(w.waiting)
}
