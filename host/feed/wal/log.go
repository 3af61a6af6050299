package wal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Log is an open write-ahead log. Its methods may be called at the same time.
type Log struct {
	o    Options
	log  *slog.Logger
	lock *os.File
	done chan struct{} // closed when the goroutine that writes has ended

	mu       sync.Mutex
	moved    *sync.Cond    // of mu: there is something to write, or room in memory
	changed  chan struct{} // closed and made anew when there is something to see from outside
	files    []*segment    // oldest first
	start    *Position     // of the file that the next record begins; nil if it goes on in the last one
	appended Point         // end of what was appended
	complete Point         // end of its last whole record
	durable  Point         // end of the last whole record that is fsynced
	open     int64         // bytes behind complete
	bytes    int64         // of all files, and of what waits to be written
	pending  []*group
	waiting  int       // bytes in pending
	began    time.Time // when something was written last
	busy     bool      // it was much
	late     bool      // what comes next has waited for more long enough
	spare    []byte
	ack      uint64
	wanted   int64 // size of a record that was refused; 0 = none
	noRoom   bool  // the disk is full
	rewind   bool  // what follows complete has to go
	closing  bool
	err      error

	file *os.File // the newest; of the goroutine that writes
}

// group is what is written and fsynced at once, into one file.
type group struct {
	rotate bool // into a new file
	number uint32
	start  Position
	first  uint64
	data   []byte
	whole  Point // Segment 0 means none
}

// Open opens the log in o.Dir, or makes it, and recovers it. Nobody else may open it until it is closed.
func Open(o Options) (*Log, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.SegmentBytes < headerBytes:
		return nil, fmt.Errorf("wal_segment_bytes=%d: must be at least %d", o.SegmentBytes, headerBytes)
	case o.Retain < 0:
		return nil, fmt.Errorf("wal_retain_segments=%d: must not be negative", o.Retain)
	case o.MaxBytes < 0 || o.MaxBytes > 0 && o.MaxBytes/o.SegmentBytes < int64(o.Retain)+2:
		return nil, fmt.Errorf("wal_max_bytes=%d: must be 0, or at least wal_segment_bytes=%d times wal_retain_segments=%d and two more",
			o.MaxBytes, o.SegmentBytes, o.Retain)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("wal_dir: %w", err)
	}
	l := &Log{o: o, log: o.Logger, done: make(chan struct{}), changed: make(chan struct{})}
	l.moved = sync.NewCond(&l.mu)
	var err error
	if l.lock, err = lockFolder(o.Dir); err != nil {
		return nil, err
	}
	if err := l.recoverFiles(); err != nil {
		l.shut()
		return nil, err
	}
	go l.write()
	return l, nil
}

// lockFolder keeps other processes out of a log for as long as the file that it returns is open.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "wal.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("wal_dir: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("wal_dir=%s: %w: stop it, or give this one a folder of its own", dir, ErrLocked)
		}
		return nil, fmt.Errorf("wal_dir=%s: lock: %w", dir, err)
	}
	return f, nil
}

// shut closes the files.
func (l *Log) shut() {
	if l.file != nil {
		_ = l.file.Close()
	}
	_ = l.lock.Close()
}

// Append appends a record whose payload consists of parts, which are copied, and returns the number that it got. It
// waits only for the disk, while as much is waiting for that as may be in memory. After [ErrFull] the same record may
// be tried again; other errors of the disk are final.
func (l *Log) Append(epoch uint32, at Position, parts ...[]byte) (seq uint64, err error) {
	size := int64(headerBytes)
	for _, p := range parts {
		size += int64(len(p))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := l.admit(size); err != nil {
			return 0, err
		}
		if l.waiting == 0 || l.waiting+int(size) <= bufferBytes {
			break
		}
		l.moved.Wait()
	}
	l.wanted = 0
	g := l.group(size)
	r := Record{Seq: l.appended.Seq + 1, Epoch: epoch, Position: at}
	from := len(g.data)
	g.data = appendRecord(g.data, r, parts)
	r.Payload = g.data[from+headerBytes:]
	if g.first == 0 {
		g.first = r.Seq
	}
	l.appended = Point{r.Seq, epoch, at, l.appended.Segment, l.appended.Offset + size}
	l.waiting += int(size)
	l.bytes += size
	l.open += size
	if l.whole(r) {
		l.complete, g.whole, l.open = l.appended, l.appended, 0
	}
	if before := l.waiting - int(size); before == 0 || before < lingerBytes && l.waiting >= lingerBytes {
		l.moved.Broadcast()
	}
	return r.Seq, nil
}

func (l *Log) whole(r Record) bool { return l.o.Whole == nil || l.o.Whole(r) }

// admit says why a record of that size cannot be appended now.
func (l *Log) admit(size int64) error {
	switch {
	case l.err != nil:
		return l.err
	case l.closing:
		return ErrClosed
	case size-headerBytes > maxRecord:
		return fmt.Errorf("a record of %d bytes is %w, which takes %d", size-headerBytes, ErrTooLarge, maxRecord)
	case l.o.MaxBytes > 0 && l.open+size > l.o.MaxBytes:
		return fmt.Errorf("a record, with what it is part of, has %d bytes, which is %w: raise wal_max_bytes=%d", l.open+size, ErrTooLarge, l.o.MaxBytes)
	case l.full(size):
		l.wanted = size
		l.moved.Broadcast() // whoever writes cleans
		return ErrFull
	}
	return nil
}

// full reports whether there is no room for size bytes. When everything has left and nothing is to be cleaned there is,
// whatever it takes: else a record that is larger than a file would wait for ever.
func (l *Log) full(size int64) bool {
	if l.noRoom || l.o.MaxBytes == 0 || l.bytes+size <= l.o.MaxBytes {
		return l.noRoom
	}
	return l.ack < l.complete.Seq || l.durable != l.complete || len(l.removable(0)) > 0
}

// group returns what the next record, of that size, is written with.
func (l *Log) group(size int64) *group {
	rotate := l.start != nil || l.appended.Offset+size > l.o.SegmentBytes
	if n := len(l.pending); n > 0 && !rotate {
		return l.pending[n-1]
	}
	g := &group{data: l.spare[:0]}
	l.spare = nil
	if rotate {
		g.rotate, g.number, g.start = true, l.appended.Segment+1, l.appended.Position
		if l.start != nil {
			g.start, l.start = *l.start, nil
		}
		l.appended.Segment, l.appended.Offset = g.number, 0
	}
	l.pending = append(l.pending, g)
	return g
}

// Begin says that the source starts anew at a position: the next record begins a new file, which bears it.
func (l *Log) Begin(at Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = &at
	return l.err
}

// Rewind drops what was appended behind the last whole record, and returns when that is gone and the rest is durable: the
// source sends what was dropped again, from the beginning of what it is part of. Nobody appends meanwhile.
func (l *Log) Rewind(ctx context.Context) error {
	l.mu.Lock()
	if l.appended.Seq > l.complete.Seq {
		l.rewind = true
		l.moved.Broadcast()
	}
	l.mu.Unlock()
	return l.wait(ctx, func() bool { return !l.rewind && l.durable == l.complete && l.err == nil })
}

// Release says that nobody needs the records up to seq any more. Files that have no others are removed when a new one is
// begun, or when room is wanted.
func (l *Log) Release(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ack = max(l.ack, seq)
	if l.wanted > 0 || l.noRoom {
		l.moved.Broadcast()
		l.notify()
	}
}

// Last is the end of what was appended.
func (l *Log) Last() Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appended
}

// Durable is the end of the last whole record that is on disk with all before it.
func (l *Log) Durable() Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// First is the number of the oldest record that can be read, or of the next one if there is none.
func (l *Log) First() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest()
}

func (l *Log) oldest() uint64 {
	for _, s := range l.files {
		if s.first != 0 {
			return s.first
		}
	}
	return l.durable.Seq + 1
}

// Bytes is how much the log takes on disk, with what waits to be written.
func (l *Log) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// DiskFull reports whether what was appended waits for room on the disk.
func (l *Log) DiskFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noRoom
}

// Err says why the log broke; it is nil while it works, and after [Log.Close].
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.err, ErrClosed) {
		return nil
	}
	return l.err
}

// Changed is closed when [Log.Durable] is another point than seen, or when the log broke or was closed.
func (l *Log) Changed(seen Point) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.durable != seen || l.err != nil {
		now := make(chan struct{})
		close(now)
		return now
	}
	return l.changed
}

// notify wakes whoever waits outside; l.mu is held.
func (l *Log) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// WaitRoom waits until the record that was refused with [ErrFull] can be appended.
func (l *Log) WaitRoom(ctx context.Context) error {
	return l.wait(ctx, func() bool { return !l.full(l.wanted) })
}

// WaitDurable waits until the record seq is durable, and returns the point that is then.
func (l *Log) WaitDurable(ctx context.Context, seq uint64) (Point, error) {
	var at Point
	err := l.wait(ctx, func() bool {
		at = l.durable
		return at.Seq >= seq
	})
	return at, err
}

// wait waits until so is true, which is called with l.mu held.
func (l *Log) wait(ctx context.Context, so func() bool) error {
	for {
		l.mu.Lock()
		changed, err, done := l.changed, l.err, so()
		l.mu.Unlock()
		switch {
		case done:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Close writes what was appended and lets others have the log.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closing = true
	l.moved.Broadcast()
	l.mu.Unlock()
	<-l.done
	return l.Err()
}
