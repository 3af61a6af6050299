package wal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const window = 1 << 20 // bytes that are read at once

// scanner reads the records of one file, one after another.
type scanner struct {
	file *os.File
	at   int64 // where the next record begins
	buf  []byte
	off  int64 // where in the file buf begins
}

// next returns the record at s.at, whose payload is valid until the next call, and moves behind it. Nothing is read from
// limit on. What is wrong is an empty string if nothing is.
func (s *scanner) next(limit int64) (r Record, wrong string, err error) {
	b, err := s.read(min(headerBytes, limit-s.at), limit)
	if err != nil {
		return r, "", err
	}
	h, wrong := parseHeader(b)
	if wrong != "" {
		return r, wrong, nil
	}
	if h.end() > limit-s.at {
		return r, fmt.Sprintf("the record has %d bytes, and the file ends after %d of them", h.end(), limit-s.at), nil
	}
	if b, err = s.read(h.end(), limit); err != nil {
		return r, "", err
	}
	h.Payload = b[headerBytes:]
	if crc32.Checksum(h.Payload, castagnoli) != h.checksum {
		return r, "the payload of the record does not match its checksum", nil
	}
	s.at += h.end()
	return h.Record, "", nil
}

// read returns n bytes from s.at on.
func (s *scanner) read(n, limit int64) ([]byte, error) {
	from := s.at - s.off
	if from < 0 || from+n > int64(len(s.buf)) {
		want := min(max(n, window), limit-s.at)
		kept := 0
		if from >= 0 && from < int64(len(s.buf)) {
			kept = len(s.buf) - int(from)
		}
		into := s.buf
		if int64(cap(into)) < want || int64(cap(into)) > max(4*window, 2*want) { // a huge record's room is not kept for ever
			into = make([]byte, want)
		}
		into = into[:want]
		copy(into, s.buf[len(s.buf)-kept:])
		if _, err := s.file.ReadAt(into[kept:], s.at+int64(kept)); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			s.buf = nil
			return nil, fmt.Errorf("wal_dir: read %s: %w", s.file.Name(), err)
		}
		s.buf, s.off, from = into, s.at, 0
	}
	return s.buf[from : from+n], nil
}

// more reports whether a record begins anywhere in the file from byte at on whose number comes after seq: then what
// lies before it was once written whole.
func (s *scanner) more(at, size int64, seq uint64) (bool, error) {
	buf := make([]byte, window)
	for at+headerBytes <= size {
		n, err := s.file.ReadAt(buf[:min(window, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("wal_dir: read %s: %w", s.file.Name(), err)
		}
		if n < headerBytes {
			return false, nil
		}
		for from := 0; from+headerBytes <= n; {
			hit := bytes.Index(buf[from:n], []byte(magic))
			if hit < 0 || from+hit+headerBytes > n {
				break
			}
			from += hit
			h, wrong := parseHeader(buf[from:n])
			if wrong == "" && h.Seq > seq && h.Seq-seq <= uint64(size/headerBytes)+1 && h.end() <= size-at-int64(from) {
				return true, nil
			}
			from++
		}
		at += int64(n - headerBytes + 1)
	}
	return false, nil
}
