package wal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Reader follows a log from some record on. It is for one goroutine.
type Reader struct {
	log  *Log
	in   scanner
	seg  uint32 // number of the file that is open; 0 = none
	path string
	skip bool // records before next are still to be read over
	next uint64

	known  uint64 // up to this record the log was durable when it was asked
	within int64  // and the file up to this offset
	more   bool   // and another one followed it
}

// ReadFrom returns a reader whose first record is seq. It returns [ErrGone] if that was cleaned away.
func (l *Log) ReadFrom(seq uint64) (*Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch oldest := l.oldest(); {
	case l.err != nil:
		return nil, l.err
	case seq < oldest:
		return nil, fmt.Errorf("record %d: %w, whose oldest is %d", seq, ErrGone, oldest)
	}
	return &Reader{log: l, next: seq}, nil
}

// Seq is the number of the record that Next returns next.
func (r *Reader) Seq() uint64 { return r.next }

// Next waits for the next record to be durable and returns it. Its payload is valid until the next call.
func (r *Reader) Next(ctx context.Context) (Record, error) {
	if r.next > r.known {
		durable, err := r.log.WaitDurable(ctx, r.next)
		if err != nil {
			return Record{}, err
		}
		r.known, r.within = durable.Seq, 0
	}
	for {
		if r.in.at >= r.within {
			if err := r.ask(); err != nil {
				return Record{}, err
			}
		}
		if r.in.at >= r.within {
			if !r.more {
				return Record{}, r.damage(fmt.Sprintf("the file ends before record %d", r.next))
			}
			if err := r.open(r.seg + 1); err != nil {
				return Record{}, err
			}
			r.within = 0
			continue
		}
		rec, wrong, err := r.in.next(r.within)
		switch {
		case err != nil:
			return Record{}, err
		case wrong != "":
			return Record{}, r.damage(wrong)
		case rec.Seq < r.next && r.skip:
			continue
		case rec.Seq != r.next:
			return Record{}, r.damage(fmt.Sprintf("record %d is where record %d belongs", rec.Seq, r.next))
		}
		r.skip = false
		r.next++
		return rec, nil
	}
}

func (r *Reader) damage(wrong string) error { return &DamageError{r.path, r.in.at, wrong} }

// Ready reports whether Next returns without waiting for anything to become durable.
func (r *Reader) Ready() bool { return r.next <= r.known || r.next <= r.log.Durable().Seq }

// ask opens the file that has the next record, if none is open, and finds out where reading it has to stop and whether
// another file follows.
func (r *Reader) ask() error {
	l := r.log
	for {
		l.mu.Lock()
		if r.seg == l.durable.Segment && r.seg != 0 {
			r.within, r.more = l.durable.Offset, false
			l.mu.Unlock()
			return nil
		}
		for _, s := range l.files {
			if s.number == r.seg {
				r.within, r.more = s.size, true
				l.mu.Unlock()
				return nil
			}
		}
		// None is open, or the one that is was read to its end and cleaned away.
		number, at := l.find(r.next)
		l.mu.Unlock()
		if err := r.open(number); err != nil {
			return err
		}
		r.in.at, r.skip = at, true
	}
}

// find returns the file that has the record seq, and where to begin reading it; l.mu is held.
func (l *Log) find(seq uint64) (number uint32, at int64) {
	for _, s := range l.files {
		if s.first != 0 && s.first <= seq {
			number, at = s.number, s.before(seq).at
		}
	}
	return number, at
}

func (r *Reader) gone() error { return fmt.Errorf("record %d: %w", r.next, ErrGone) }

// open opens the file of that number at its beginning.
func (r *Reader) open(number uint32) error {
	path := ""
	r.log.mu.Lock()
	for _, s := range r.log.files {
		if s.number == number {
			path = s.path
		}
	}
	r.log.mu.Unlock()
	f, err := os.Open(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return r.gone()
	}
	if err != nil {
		return fmt.Errorf("wal_dir: %w", err)
	}
	_ = r.Close()
	r.in = scanner{file: f, buf: r.in.buf[:0]}
	r.seg, r.path = number, path
	return nil
}

// Close lets go of the file.
func (r *Reader) Close() error {
	if r.in.file == nil {
		return nil
	}
	err := r.in.file.Close()
	r.in.file = nil
	return err
}
