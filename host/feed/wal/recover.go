package wal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// scanned is what reading a file from its beginning found.
type scanned struct {
	records int
	first   uint64
	end     Point  // of the last record that is right
	whole   Point  // of the last one with which what the source says is complete; Segment 0 means none
	wrong   string // with what follows end; "" if nothing does
}

// scan reads s up to its end, or up to what is wrong.
func (s *segment) scan(f *os.File, whole func(Record) bool) (got scanned, err error) {
	in := scanner{file: f}
	got.end = Point{Segment: s.number, Position: s.start}
	for in.at < s.size {
		at := in.at
		r, wrong, err := in.next(s.size)
		if err != nil {
			return got, err
		}
		if wrong == "" && got.records > 0 && r.Seq != got.end.Seq+1 {
			wrong = fmt.Sprintf("record %d follows record %d", r.Seq, got.end.Seq)
		}
		if wrong != "" {
			got.wrong = wrong
			return got, nil
		}
		if got.records == 0 {
			got.first = r.Seq
		}
		got.records++
		s.remember(r.Seq, at)
		got.end = Point{r.Seq, r.Epoch, r.Position, s.number, in.at}
		if whole == nil || whole(r) {
			got.whole = got.end
		}
	}
	return got, nil
}

// torn reports whether what is wrong behind end is a write that was cut short, and not damage to what had been written:
// then no record follows.
func torn(f *os.File, end Point, size int64) (bool, error) {
	in := scanner{file: f, at: end.Offset}
	from, after := end.Offset+1, end.Seq
	b, err := in.read(min(headerBytes, size-end.Offset), size)
	if err != nil {
		return false, err
	}
	h, wrong := parseHeader(b)
	switch {
	case h.intact && wrong != "":
		return false, nil
	case h.intact && end.Seq != 0 && h.Seq != end.Seq+1:
		return false, nil
	case h.intact:
		from, after = end.Offset+h.end(), h.Seq
	}
	more, err := in.more(from, size, after)
	return !more, err
}

// recoverFiles makes the log what its folder has. It reads the newest file only, unless that has nothing whole, and
// cuts what was not written or not sent to its end.
func (l *Log) recoverFiles() error {
	all, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	for i, s := range all {
		if err := s.peek(); err != nil {
			return err
		}
		if s.first == 0 && s.size > 0 && i < len(all)-1 {
			return &DamageError{s.path, 0, "the file does not begin with a record"}
		}
	}
	l.appended = Point{Seq: max(l.o.Next, 1) - 1, Position: l.o.Start}
	l.start = &l.o.Start
	keep := len(all)
	for ; keep > 0; keep-- {
		s := all[keep-1]
		kept, err := l.recoverFile(s, keep == len(all))
		if err != nil {
			return err
		}
		if kept.Segment != 0 {
			l.appended, l.start = kept, nil
			break
		}
		l.appended.Segment, l.appended.Position, l.start = s.number-1, s.start, &s.start
		if s.first != 0 {
			l.appended.Seq = s.first - 1
		}
	}
	for _, s := range all[keep:] { // they have nothing whole
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("wal_dir: %w", err)
		}
	}
	l.files = all[:keep]
	for _, s := range l.files {
		l.bytes += s.size
	}
	l.complete, l.durable = l.appended, l.appended
	return syncFolder(l.o.Dir)
}

// recoverFile cuts s behind its last whole record and returns the end of that; its Segment is 0 if there is none.
func (l *Log) recoverFile(s *segment, newest bool) (Point, error) {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return Point{}, fmt.Errorf("wal_dir: %w", err)
	}
	got, err := s.scan(f, l.o.Whole)
	if err == nil && got.wrong != "" {
		short := false
		if newest {
			short, err = torn(f, got.end, s.size)
		}
		if err == nil && !short {
			err = &DamageError{s.path, got.end.Offset, got.wrong}
		}
	}
	if err == nil && got.whole.Offset < s.size {
		l.log.Warn("cut the end of the write-ahead log, which was not written or not sent to its end: the source sends it again",
			slog.String("file", filepath.Base(s.path)), slog.Int64("offset", got.whole.Offset), slog.Int64("bytes", s.size-got.whole.Offset))
		s.size = got.whole.Offset
		if err = f.Truncate(s.size); err == nil {
			err = f.Sync()
		}
	}
	if err != nil || got.whole.Segment == 0 {
		_ = f.Close()
		return Point{}, err
	}
	s.forget(got.whole)
	l.file = f
	return got.whole, nil
}
