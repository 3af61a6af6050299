package wal

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// payload is what the tests put into the record seq.
func payload(seq uint64) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("<%d>", seq)), int(seq%7)+1)
}

// place is where the source stands behind the record seq.
func place(seq uint64) Position { return Position{267, 45044585 + 100*seq} }

func open(t testing.TB, o Options) *Log {
	t.Helper()
	if o.Start == (Position{}) {
		o.Start = place(0)
	}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// fill appends n records and waits until they are durable.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for range n {
		seq := l.Last().Seq + 1
		if got, err := l.Append(11, place(seq), payload(seq)); err != nil || got != seq {
			t.Fatalf("Append gave %d, %v, want %d", got, err, seq)
		}
		if _, err := l.WaitDurable(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
}

// expect reads the records from first to last and compares them with what was put in.
func expect(t testing.TB, l *Log, first, last uint64) {
	t.Helper()
	r, err := l.ReadFrom(first)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for seq := first; seq <= last; seq++ {
		rec, err := r.Next(t.Context())
		if err != nil {
			t.Fatalf("record %d: %v", seq, err)
		}
		if rec.Seq != seq || rec.Epoch != 11 || rec.Position != place(seq) || !bytes.Equal(rec.Payload, payload(seq)) {
			t.Fatalf("record %d is %+v", seq, rec)
		}
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "wal-*.log"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-12:], b[len(b)-12:]) })
	return names
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// folder makes a log of the files given by name.
func folder(t testing.TB, content map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range content {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheFormatIsBitForBitTheContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, Start: Position{267, 45044585}, Next: 0x0102030405060708})
	seq, err := l.Append(0x0a0b0c0d, Position{0x11121314, 0x2122232425262728}, []byte("1234"), []byte("56789"))
	if err != nil || seq != 0x0102030405060708 {
		t.Fatal(seq, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// The checksum of "123456789" is the check value of CRC-32C, e3069283.
	want := "5057414c" + "3800" + "01" + "01" + "0000" + "0000" + "0d0c0b0a" + "0807060504030201" + "14131211" + "2827262524232221" +
		"09000000" + "839206e3" + "CHECKSUM" + "00000000" + "00000000" + hex.EncodeToString([]byte("123456789"))
	path := filepath.Join(dir, "wal-00000267-00000000000045044585-00000001.log")
	got := hex.EncodeToString(read(t, path))
	// The checksum of the head, by a bitwise CRC-32C that shares nothing with the one in use.
	head, _ := hex.DecodeString(want[:88])
	crc := ^uint32(0)
	for _, b := range head {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78*(crc&1)
		}
	}
	crc = ^crc
	want = strings.Replace(want, "CHECKSUM", hex.EncodeToString([]byte{byte(crc), byte(crc >> 8), byte(crc >> 16), byte(crc >> 24)}), 1)
	if got != want {
		t.Errorf("%s has\n%s, want\n%s", path, got, want)
	}
}

func TestRecordsComeBackOverFilesAndRestarts(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), SegmentBytes: 400}
	for round := range uint64(5) {
		l := open(t, o)
		if got := l.Last(); got.Seq != round*20 || got != l.Durable() || got.Position != place(round*20) {
			t.Fatalf("after %d rounds the log ends at %+v", round, got)
		}
		fill(t, l, 20)
		expect(t, l, 1, round*20+20)
		expect(t, l, round*20+7, round*20+20)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(1, place(1)); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed log takes records: %v", err)
		}
	}
	names := files(t, o.Dir)
	if len(names) < 20 {
		t.Errorf("100 records lie in %d files", len(names))
	}
	for i, name := range names {
		if b := read(t, name); len(b) > 400 {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		if !strings.HasSuffix(name, fmt.Sprintf("-%08d.log", i+1)) {
			t.Errorf("file %d is %s", i+1, name)
		}
	}
	rep, err := Verify(t.Context(), o.Dir)
	if err != nil || rep.Records != 100 || rep.Segments != len(names) || rep.First != 1 || rep.Last.Seq != 100 || rep.Torn != nil || rep.Faults != nil {
		t.Errorf("Verify reports %+v, %v", rep, err)
	}
}

func TestALastRecordCutAtAnyByteIsCutAndReceivedAgain(t *testing.T) {
	t.Parallel()
	for name, segment := range map[string]int64{"within a file": 1 << 20, "as the first of a file": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := open(t, Options{Dir: dir, SegmentBytes: segment})
			fill(t, l, 4)
			size := headerBytes + len(payload(5))
			fill(t, l, 1)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			content := map[string][]byte{}
			names := files(t, dir)
			for _, n := range names {
				content[n] = read(t, n)
			}
			newest := names[len(names)-1]
			whole := content[newest]
			for cut := 1; cut <= size; cut++ {
				content[newest] = whole[:len(whole)-cut]
				o := Options{Dir: folder(t, content), SegmentBytes: segment}
				if rep, err := Verify(t.Context(), o.Dir); err != nil || rep.Faults != nil || (rep.Torn != nil) != (cut < size) {
					t.Fatalf("%d bytes short, Verify reports %+v, %v", cut, rep, err)
				}
				l := open(t, o)
				if got := l.Durable(); got.Seq != 4 || got.Position != place(4) {
					t.Fatalf("%d bytes short, the log ends at %+v", cut, got)
				}
				fill(t, l, 2)
				expect(t, l, 1, 6)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if rep, err := Verify(t.Context(), o.Dir); err != nil || rep.Records != 6 || rep.Torn != nil || rep.Faults != nil {
					t.Fatalf("%d bytes short and mended, Verify reports %+v, %v", cut, rep, err)
				}
			}
		})
	}
}

// Every bit of a file counts. In the last record a wrong one looks as a write that was cut short does; anywhere before, the
// log does not open, and nothing is changed.
func TestEveryFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Options{Dir: dir})
	fill(t, l, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	name := files(t, dir)[0]
	whole := read(t, name)
	last := len(whole) - headerBytes - len(payload(3))
	flipped := slices.Clone(whole)
	copied := folder(t, nil)
	path := filepath.Join(copied, filepath.Base(name))
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for bit := range 8 * len(whole) {
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := file.WriteAt(flipped, 0); err != nil {
			t.Fatal(err)
		}
		rep, err := Verify(t.Context(), copied)
		if err != nil || len(rep.Faults) == 0 && rep.Torn == nil {
			t.Fatalf("bit %d of byte %d: Verify reports %+v, %v", bit%8, bit/8, rep, err)
		}
		if bit/8 < last && len(rep.Faults) == 0 {
			t.Fatalf("bit %d of byte %d: Verify takes it for a write cut short", bit%8, bit/8)
		}
		if bit%8 != bit/8%8 { // opening it takes its time: one bit of each byte
			flipped[bit/8] ^= 1 << (bit % 8)
			continue
		}
		l, err := Open(Options{Dir: copied})
		if err == nil {
			_ = l.Close()
		}
		damage, damaged := errors.AsType[*DamageError](err)
		if damaged != (len(rep.Faults) > 0) || err != nil && !damaged {
			t.Fatalf("bit %d of byte %d: Open says %v, and Verify %+v", bit%8, bit/8, err, rep)
		}
		if damaged {
			if int64(bit/8) < damage.Offset || !strings.Contains(err.Error(), "deepoj feed reset") || damage.File != path {
				t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
			}
			if !bytes.Equal(read(t, path), flipped) {
				t.Fatalf("bit %d of byte %d: the file was changed", bit%8, bit/8)
			}
		}
		flipped[bit/8] ^= 1 << (bit % 8)
	}
}

func TestDamageInAnOlderFileStopsWhoeverReadsIt(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b []byte) []byte{
		"a bit":                func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"the end":              func(b []byte) []byte { return b[:len(b)-1] },
		"the last record":      func(b []byte) []byte { return b[:len(b)-headerBytes-len(payload(6))] },
		"everything":           func([]byte) []byte { return nil },
		"a record that is new": func(b []byte) []byte { return appendRecord(b, Record{Seq: 7}, nil) },
	}
	for name, hurt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: t.TempDir(), SegmentBytes: 250}
			l := open(t, o)
			fill(t, l, 12)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			names := files(t, o.Dir)
			at := slices.IndexFunc(names, func(n string) bool { return strings.Contains(string(read(t, n)), "<6>") && n != names[0] })
			if at < 0 || at == len(names)-1 || !bytes.HasSuffix(read(t, names[at]), payload(6)) {
				t.Fatalf("record 6 does not end an older file: %q", names)
			}
			if err := os.WriteFile(names[at], hurt(read(t, names[at])), 0o600); err != nil {
				t.Fatal(err)
			}
			if rep, err := Verify(t.Context(), o.Dir); err != nil || len(rep.Faults) == 0 || rep.Torn != nil {
				t.Errorf("Verify reports %+v, %v", rep, err)
			}
			l = open(t, o) // it reads the newest file only
			r, err := l.ReadFrom(1)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for err == nil && r.Seq() <= 12 {
				_, err = r.Next(t.Context())
			}
			if _, ok := errors.AsType[*DamageError](err); !ok {
				t.Errorf("reading it ends at %d with %v", r.Seq(), err)
			}
		})
	}
}

func TestAnotherVersionIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, SegmentBytes: 100})
	fill(t, l, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	one, two := files(t, dir)[0], files(t, dir)[1]
	other := func(b []byte) []byte {
		b = slices.Clone(b)
		b[6] = 2
		return b
	}
	sealed := func(b []byte) []byte {
		b = other(b)
		binary.LittleEndian.PutUint32(b[checked:], crc32.Checksum(b[:checked], castagnoli))
		return b
	}
	for name, content := range map[string]map[string][]byte{
		"in the newest file": {one: read(t, one), two: other(read(t, two))},
		"in an older file":   {one: other(read(t, one)), two: read(t, two)},
		"as the last record": {one: append(read(t, one), sealed(read(t, two))...)},
		"with a short head":  {one: []byte("PWAL\x10\x00\x02\x01")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, content)
			if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "version 2 of the format wrote this, and this program reads version 1") {
				t.Errorf("Open says %v", err)
			}
			if rep, err := Verify(t.Context(), dir); err != nil || len(rep.Faults) == 0 || !strings.Contains(rep.Faults[0].Error(), "version 2 of the format") {
				t.Errorf("Verify reports %+v, %v", rep, err)
			}
			for name, b := range content {
				if !bytes.Equal(read(t, filepath.Join(dir, filepath.Base(name))), b) {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

// Before a file is begun the one before it is on disk to its end: what is missing there is no write cut short.
func TestAnOlderFileCutShortIsDamageThoughTheNewestHasNothing(t *testing.T) {
	t.Parallel()
	two := appendRecord(appendRecord(nil, Record{Seq: 1}, nil), Record{Seq: 2}, nil)
	foreign := appendRecord(nil, Record{Seq: 1}, nil)
	foreign[8] = 1
	binary.LittleEndian.PutUint32(foreign[checked:], crc32.Checksum(foreign[:checked], castagnoli))
	for name, tt := range map[string]struct{ older, newest []byte }{
		"an empty one":           {two[:len(two)-1], nil},
		"one cut short":          {two[:len(two)-1], two[:20]},
		"one that means nothing": {two, foreign},
	} {
		dir := folder(t, map[string][]byte{segmentName(Position{}, 1): tt.older, segmentName(Position{}, 2): tt.newest})
		_, err := Open(Options{Dir: dir})
		if _, ok := errors.AsType[*DamageError](err); !ok {
			t.Errorf("%s: Open says %v", name, err)
		}
	}
}

// What a record says is believed only if it is the one that belongs there.
func TestARecordThatIsNotTheNextOneIsDamage(t *testing.T) {
	t.Parallel()
	one := appendRecord(nil, Record{Seq: 1}, nil)
	for name, next := range map[string][]byte{
		"left out": appendRecord(nil, Record{Seq: 3}, nil),
		"twice":    one,
		"with bits that mean nothing": func() []byte {
			b := appendRecord(nil, Record{Seq: 2}, nil)
			b[8] = 1
			binary.LittleEndian.PutUint32(b[checked:], crc32.Checksum(b[:checked], castagnoli))
			return b
		}(),
		"of a type that is not used": func() []byte {
			b := appendRecord(nil, Record{Seq: 2}, nil)
			b[7] = 2
			binary.LittleEndian.PutUint32(b[checked:], crc32.Checksum(b[:checked], castagnoli))
			return b
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string][]byte{segmentName(Position{}, 1): append(slices.Clone(one), next...)})
			_, err := Open(Options{Dir: dir})
			if damage, ok := errors.AsType[*DamageError](err); !ok || damage.Offset != headerBytes {
				t.Errorf("Open says %v", err)
			}
			if rep, err := Verify(t.Context(), dir); err != nil || len(rep.Faults) != 1 {
				t.Errorf("Verify reports %+v, %v", rep, err)
			}
		})
	}
}

func TestAFolderThatIsNotALogIsRefused(t *testing.T) {
	t.Parallel()
	good := appendRecord(nil, Record{Seq: 1}, nil)
	next := appendRecord(nil, Record{Seq: 2}, nil)
	for name, tt := range map[string]struct {
		content map[string][]byte
		want    string
	}{
		"a name without numbers": {map[string][]byte{"wal-x.log": good}, "the name is not that of a file of the log"},
		"a number out of range":  {map[string][]byte{"wal-9999999999-00000000000000000000-00000001.log": good}, "out of range"},
		"a file that is missing": {map[string][]byte{segmentName(Position{}, 1): good, segmentName(Position{}, 3): next}, "segment 3 follows segment 1"},
		"a file twice":           {map[string][]byte{segmentName(Position{}, 1): good, segmentName(Position{1, 1}, 1): next}, "segment 1 follows segment 1"},
		"no record at the start": {map[string][]byte{segmentName(Position{}, 1): []byte("hello"), segmentName(Position{}, 2): next}, "does not begin with a record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.content)
			if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Open says %v, want %q", err, tt.want)
			}
			if rep, err := Verify(t.Context(), dir); err != nil || len(rep.Faults) == 0 {
				t.Errorf("Verify reports %+v, %v", rep, err)
			}
		})
	}
	for name, o := range map[string]Options{
		"wal_segment_bytes":   {SegmentBytes: 55},
		"wal_retain_segments": {Retain: -1},
		"wal_max_bytes":       {SegmentBytes: 1000, Retain: 1, MaxBytes: 2999},
		"wal_dir":             {Dir: "/dev/null/log"},
	} {
		if o.Dir == "" {
			o.Dir = t.TempDir()
		}
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: Open says %v", name, err)
		}
	}
}

func TestTwoProcessesCannotHaveOneLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Options{Dir: dir})
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second is told %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Dir: dir})
}

func TestCleaningLeavesWhatIsNeededAndTheNewestFiles(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), SegmentBytes: 100, Retain: 3} // a file for each record
	l := open(t, o)
	fill(t, l, 5)
	l.Release(2)
	if got := len(files(t, o.Dir)); got != 5 {
		t.Errorf("%d files: it cleans without a new file", got)
	}
	fill(t, l, 1)
	cleaned := func(first uint64, count int) {
		t.Helper()
		if err := l.wait(t.Context(), func() bool { return l.oldest() == first }); err != nil {
			t.Fatal(err)
		}
		if err := l.wait(t.Context(), func() bool { return len(files(t, o.Dir)) == count }); err != nil {
			t.Fatal(err)
		}
	}
	cleaned(3, 4)
	if _, err := l.ReadFrom(2); !errors.Is(err, ErrGone) {
		t.Errorf("record 2 is still there: %v", err)
	}
	expect(t, l, 3, 6)
	l.Release(1000)
	fill(t, l, 1)
	cleaned(5, 3)
	expect(t, l, 5, 7)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, o)
	if l.First() != 5 || l.Last().Seq != 7 {
		t.Errorf("opened again it has %d to %d", l.First(), l.Last().Seq)
	}
}

func TestAReaderIsToldWhenWhatItReadsIsCleanedAway(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), SegmentBytes: 100}
	l := open(t, o)
	fill(t, l, 3)
	r, err := l.ReadFrom(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Release(3)
	fill(t, l, 1)
	if err := l.wait(t.Context(), func() bool { return l.oldest() == 4 }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("the reader is told %v", err)
	}
}

func TestAFullLogStopsReceivingUntilSomethingHasLeft(t *testing.T) {
	t.Parallel()
	const most = 2000
	o := Options{Dir: t.TempDir(), SegmentBytes: 500, Retain: 1, MaxBytes: most}
	l := open(t, o)
	var seq uint64
	for {
		_, err := l.Append(11, place(seq+1), payload(seq+1))
		if err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			break
		}
		seq++
	}
	if l.Last().Seq != seq || l.Bytes() > most || l.Bytes() < most-200 {
		t.Errorf("full at record %d with %d bytes, and the log ends at %+v", seq, l.Bytes(), l.Last())
	}
	if _, err := l.WaitDurable(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := l.WaitRoom(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full log has room: %v", err)
	}
	for range 50 {
		l.Release(seq) // everything has left
		if err := l.WaitRoom(t.Context()); err != nil {
			t.Fatal(err)
		}
		for seq++; ; seq++ {
			_, err := l.Append(11, place(seq), payload(seq))
			if errors.Is(err, ErrFull) {
				seq--
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Bytes() > most {
				t.Fatalf("the log takes %d bytes", l.Bytes())
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, o)
	expect(t, l, l.First(), seq)
}

func TestARecordThatNeverFitsIsRefusedByName(t *testing.T) {
	t.Parallel()
	l := open(t, Options{Dir: t.TempDir(), SegmentBytes: 500, MaxBytes: 2000, Whole: func(r Record) bool { return len(r.Payload) == 0 }})
	if _, err := l.Append(1, place(1), make([]byte, 2000)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "wal_max_bytes=2000") {
		t.Errorf("a record larger than the log: %v", err)
	}
	var err error
	for err == nil && l.Last().Seq < 100 {
		_, err = l.Append(1, place(1), make([]byte, 400))
	}
	if !errors.Is(err, ErrTooLarge) || l.Last().Seq != 4 {
		t.Errorf("after %d records of what never ends: %v", l.Last().Seq, err)
	}
	// What is large and fits goes through, file by file, as soon as what lies before it has left.
	l = open(t, Options{Dir: t.TempDir(), SegmentBytes: 500, MaxBytes: 2000})
	for seq := uint64(1); seq <= 10; seq++ {
		for {
			_, err := l.Append(1, place(seq), make([]byte, 1500))
			if err == nil {
				break
			}
			l.Release(seq - 1)
			if err := l.WaitRoom(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A source that sends in transactions goes on behind the last whole one.
func TestWhatIsNotWholeIsNeitherDurableNorKept(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), SegmentBytes: 300, Whole: func(r Record) bool { return bytes.HasPrefix(r.Payload, []byte("C")) }, Next: 41, Start: place(9)}
	l := open(t, o)
	put := func(words ...string) {
		t.Helper()
		for _, w := range words {
			if _, err := l.Append(11, place(l.Last().Seq+1), []byte(w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := func(last uint64, at Position, count int) {
		t.Helper()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open(t, o)
		if got := l.Last(); got.Seq != last || got.Position != at || got != l.Durable() || len(files(t, o.Dir)) != count {
			t.Fatalf("the log ends at %+v in %d files, want %d at %s in %d", got, len(files(t, o.Dir)), last, at, count)
		}
	}
	put("insert", "insert", "insert", "insert", "insert", "insert", "insert", "insert")
	o.Next, o.Start = 1000, place(1000) // the files know better
	again(40, place(9), 0)
	put("insert", "insert", "C")
	if _, err := l.WaitDurable(t.Context(), 43); err != nil {
		t.Fatal(err)
	}
	put("insert", "insert", "insert", "insert", "insert", "insert", "insert", "insert")
	if err := l.wait(t.Context(), func() bool { return len(l.files) == 3 }); err != nil {
		t.Fatal(err)
	}
	if got := l.Durable(); got.Seq != 43 {
		t.Errorf("durable up to %d", got.Seq)
	}
	r, err := l.ReadFrom(43)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if rec, err := r.Next(t.Context()); err != nil || rec.Seq != 43 {
		t.Error(rec, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if rec, err := r.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a reader sees %+v, %v of what is not whole", rec, err)
	}
	again(43, place(43), 1)
	put("insert", "C", "insert")
	again(45, place(45), 1)
}

func TestWhatASourceBrokeOffIsCutAndComesAgain(t *testing.T) {
	t.Parallel()
	for _, before := range []int{0, 1, 3} { // whole records before; the files have room for two or three
		for _, cleaned := range []bool{false, true} {
			dir := t.TempDir()
			o := Options{Dir: dir, SegmentBytes: 200, Whole: func(r Record) bool { return bytes.HasPrefix(r.Payload, []byte("C")) }}
			l := open(t, o)
			put := func(words ...string) {
				t.Helper()
				for _, w := range words {
					if _, err := l.Append(11, place(l.Last().Seq+1), []byte(w)); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range before {
				put("C")
			}
			if cleaned {
				l.Release(uint64(before))
			}
			want, size := l.Last(), int64(0)
			if _, err := l.WaitDurable(t.Context(), want.Seq); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				put("insert", "insert", "insert", "insert", "insert", "insert", "insert")
				if err := l.Rewind(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := l.Last(); got.Seq != want.Seq || got != l.Durable() {
					t.Fatalf("the log ends at %+v, durable %+v, want record %d", got, l.Durable(), want.Seq)
				}
			}
			for _, name := range files(t, dir) {
				size += int64(len(read(t, name)))
			}
			if got := l.Bytes(); got != size {
				t.Errorf("the log counts %d bytes, and has %d", got, size)
			}
			put("insert", "C")
			if err := l.Rewind(t.Context()); err != nil || l.Durable().Seq != want.Seq+2 {
				t.Fatalf("durable up to %d, %v, want %d", l.Durable().Seq, err, want.Seq+2)
			}
			again := func() {
				t.Helper()
				r, err := l.ReadFrom(l.First())
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				for seq := l.First(); seq <= want.Seq+2; seq++ {
					if rec, err := r.Next(t.Context()); err != nil || rec.Seq != seq || seq == want.Seq+1 && string(rec.Payload) != "insert" {
						t.Fatalf("record %d is %+v, %v", seq, rec, err)
					}
				}
			}
			again()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open(t, o)
			again()
			if rep, err := Verify(t.Context(), dir); err != nil || len(rep.Faults) > 0 || rep.Torn != nil {
				t.Errorf("%+v, %v", rep, err)
			}
		}
	}
}

func TestASourceThatStartsAnewBeginsAFile(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	l := open(t, o)
	fill(t, l, 2)
	if err := l.Begin(Position{300, 7}); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names := files(t, o.Dir)
	if len(names) != 2 || filepath.Base(names[1]) != "wal-00000300-00000000000000000007-00000002.log" {
		t.Errorf("the files are %q", names)
	}
	l = open(t, o)
	expect(t, l, 1, 4)
}

func TestALogThatCannotWriteSaysSoToAll(t *testing.T) {
	t.Parallel()
	l := open(t, Options{Dir: t.TempDir(), Step: func(step string) {}})
	fill(t, l, 1)
	changed := l.Changed(l.Durable())
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(1, place(2)); err != nil {
		t.Fatal(err)
	}
	<-changed
	_, err := l.WaitDurable(t.Context(), 2)
	if err == nil || !strings.Contains(err.Error(), "wal_dir: write ") {
		t.Errorf("who waits is told %v", err)
	}
	if _, again := l.Append(1, place(2)); again == nil || l.Err() == nil || l.Close() == nil || l.Durable().Seq != 1 {
		t.Errorf("it goes on: %v, %v, %+v", again, l.Err(), l.Durable())
	}
	if _, err := l.ReadFrom(1); err == nil {
		t.Error("it can be read")
	}
}

// A death at any step leaves what was durable, and nothing that was never appended.
func TestADeathAtAnyStepLosesNothingDurable(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	o := Options{Dir: t.TempDir(), SegmentBytes: 600}
	rnd := rand.New(rand.NewPCG(1, 2))
	var l *Log
	o.Step = func(step string) {
		seen[step]++
		dir := t.TempDir()
		for _, name := range files(t, o.Dir) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
				t.Error(err)
			}
		}
		l.mu.Lock()
		durable, last, ack := l.durable.Seq, l.appended.Seq, l.ack
		l.mu.Unlock()
		dead, err := Open(Options{Dir: dir, SegmentBytes: 600, Next: ack + 1})
		if err != nil {
			t.Errorf("%s: %v", step, err)
			return
		}
		defer dead.Close()
		if got := dead.Durable().Seq; got < durable || got > last || dead.First() > ack+1 {
			t.Errorf("%s: %d to %d come back, %d were durable, %d appended, %d had left", step, dead.First(), got, durable, last, ack)
		}
		expect(t, dead, dead.First(), dead.Durable().Seq)
	}
	l = open(t, o)
	for l.Last().Seq < 60 {
		for range 1 + rnd.IntN(4) {
			seq := l.Last().Seq + 1
			if _, err := l.Append(11, place(seq), payload(seq)); err != nil {
				t.Fatal(err)
			}
		}
		if rnd.IntN(2) == 0 {
			at, err := l.WaitDurable(t.Context(), l.Last().Seq)
			if err != nil {
				t.Fatal(err)
			}
			l.Release(at.Seq - uint64(rnd.IntN(4)))
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"half", "written", "synced", "rotating", "rotated", "cleaning", "cleaned"} {
		if seen[step] == 0 {
			t.Errorf("nothing died at %q: %v", step, seen)
		}
	}
}

func TestReadersFollowWhileRecordsAreAppendedAndCleaned(t *testing.T) {
	t.Parallel()
	const count = 5000
	l := open(t, Options{Dir: t.TempDir(), SegmentBytes: 64 << 10, MaxBytes: 256 << 10})
	failed := make(chan error, 1)
	go func() {
		for seq := uint64(1); seq <= count; seq++ {
			_, err := l.Append(11, place(seq), payload(seq))
			if errors.Is(err, ErrFull) {
				seq--
				err = l.WaitRoom(t.Context())
			}
			if err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	r, err := l.ReadFrom(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for seq := uint64(1); seq <= count; seq++ {
		rec, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq != seq || !bytes.Equal(rec.Payload, payload(seq)) {
			t.Fatalf("record %d is %+v", seq, rec)
		}
		l.Release(seq)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// FuzzOpen takes any bytes for a file: a log opens if and only if Verify finds nothing but a write cut short.
func FuzzOpen(f *testing.F) {
	one := appendRecord(nil, Record{Seq: 7, Epoch: 1}, [][]byte{[]byte("one")})
	two := appendRecord(one, Record{Seq: 8, Epoch: 1}, [][]byte{[]byte("PWAL")})
	f.Add([]byte(nil))
	f.Add(one)
	f.Add(two)
	f.Add(two[:len(two)-3])
	f.Add(append(slices.Clone(one), two...))
	f.Add([]byte("PWAL0000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := folder(t, map[string][]byte{segmentName(Position{}, 1): b})
		rep, err := Verify(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Open(Options{Dir: dir})
		if err == nil {
			defer l.Close()
		}
		if (err == nil) != (rep.Faults == nil) {
			t.Fatalf("Open says %v, and Verify %+v", err, rep)
		}
		if err == nil && rep.Records > 0 && (l.First() != rep.First || l.Durable() != rep.Last) {
			t.Fatalf("Open finds %d to %+v, and Verify %+v", l.First(), l.Durable(), rep)
		}
	})
}
