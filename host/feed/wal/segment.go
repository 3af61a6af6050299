package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// segment is one file of the log.
type segment struct {
	number uint32
	start  Position // where the source stood before its first record
	path   string
	size   int64  // of what is durable in it
	first  uint64 // number of its first record; 0 while it has none
	marks  []mark
}

// mark is where in a segment a record begins, so that a reader need not begin with the first.
type mark struct {
	seq uint64
	at  int64
}

const markEvery = 256 << 10 // bytes

// remember keeps a mark of the record seq at offset at, if the last one is far away.
func (s *segment) remember(seq uint64, at int64) {
	if s.first == 0 {
		s.first = seq
	}
	if n := len(s.marks); n == 0 || at-s.marks[n-1].at >= markEvery {
		s.marks = append(s.marks, mark{seq, at})
	}
}

// before returns the last mark that is not behind the record seq.
func (s *segment) before(seq uint64) mark {
	at, found := slices.BinarySearchFunc(s.marks, seq, func(m mark, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !found {
		at--
	}
	if at < 0 {
		return mark{s.first, 0}
	}
	return s.marks[at]
}

func segmentName(start Position, number uint32) string {
	return fmt.Sprintf("wal-%08d-%020d-%08d.log", start.Filenum, start.Offset, number)
}

var segmentPattern = regexp.MustCompile(`^wal-(\d{8,10})-(\d{20})-(\d{8,10})\.log$`)

// segments lists the files of the log in dir, oldest first, without looking into them.
func segments(dir string) ([]*segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("wal_dir: %w", err)
	}
	var all []*segment
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "wal-") || !strings.HasSuffix(name, ".log") {
			continue
		}
		path := filepath.Join(dir, name)
		m := segmentPattern.FindStringSubmatch(name)
		if m == nil {
			return nil, &DamageError{path, 0, "the name is not that of a file of the log, wal-FILENUM-OFFSET-SEGMENT.log"}
		}
		filenum, err1 := strconv.ParseUint(m[1], 10, 32)
		offset, err2 := strconv.ParseUint(m[2], 10, 64)
		number, err3 := strconv.ParseUint(m[3], 10, 32)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, &DamageError{path, 0, "a number in the name of the file is out of range"}
		}
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("wal_dir: %w", err)
		}
		all = append(all, &segment{number: uint32(number), start: Position{uint32(filenum), offset}, path: path, size: info.Size()})
	}
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	for i, s := range all[min(1, len(all)):] {
		if before := all[i]; s.number != before.number+1 {
			return nil, &DamageError{s.path, 0, fmt.Sprintf("segment %d follows segment %d: a file is missing or there twice", s.number, before.number)}
		}
	}
	return all, nil
}

// peek reads which record s begins with.
func (s *segment) peek() error {
	if s.size == 0 {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return fmt.Errorf("wal_dir: %w", err)
	}
	defer f.Close()
	var b [headerBytes]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("wal_dir: %w", err)
	}
	// The version is believed at the beginning of a file even without a checksum: another version may have another head.
	if n > 6 && string(b[:4]) == magic && b[6] != version {
		return &DamageError{s.path, 0, otherVersion(b[6])}
	}
	if h, wrong := parseHeader(b[:n]); wrong == "" {
		s.first = h.Seq
	}
	return nil
}

// forget drops marks of what was cut behind end.
func (s *segment) forget(end Point) {
	s.marks = slices.DeleteFunc(s.marks, func(m mark) bool { return m.at >= end.Offset })
}

// syncFolder waits until the names in dir are on disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("wal_dir: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("wal_dir: fsync %s: %w", dir, err)
	}
	return nil
}
