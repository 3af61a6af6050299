package wal

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"deepoj/host/platform"
)

// diskRetry is how long a full disk is left alone.
const diskRetry = time.Second

// An fsync costs as much for one record as for hundreds, and all that follows goes by groups, too. So a group that comes
// soon after another waits for more, and longer where much comes. What comes now and then does not wait.
const (
	apart       = time.Millisecond     // from one group to the next at least
	busyApart   = 4 * time.Millisecond // and from one that was large
	busyBytes   = 16 << 10             // which it is from here on
	lingerBytes = 256 << 10            // that wait no longer
)

// write writes and fsyncs what is appended, group after group, until the log is closed or breaks. What is appended
// while one group is on its way makes up the next, so that one fsync serves many.
func (l *Log) write() {
	defer close(l.done)
	err := error(nil)
	for err == nil {
		var groups []*group
		if groups, err = l.take(); err == nil {
			err = l.persist(groups)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	l.moved.Broadcast()
	l.notify()
	l.shut()
}

// take waits for something to write, and meanwhile cleans if room is wanted.
func (l *Log) take() ([]*group, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) == 0 {
		if l.closing {
			return nil, ErrClosed
		}
		if l.rewind {
			l.mu.Unlock()
			err := l.cut()
			l.mu.Lock()
			if err != nil {
				return nil, err
			}
			continue
		}
		if l.wanted > 0 && len(l.removable(0)) > 0 {
			l.mu.Unlock()
			err := l.clean(0)
			l.mu.Lock()
			if err != nil {
				return nil, err
			}
			continue
		}
		l.moved.Wait()
	}
	l.linger()
	groups := l.pending
	l.began, l.busy = time.Now(), l.waiting >= busyBytes
	l.pending, l.waiting = nil, 0
	l.moved.Broadcast()
	return groups, nil
}

// linger lets a group grow if the last one was written a moment ago; l.mu is held.
func (l *Log) linger() {
	wait := apart
	if l.busy {
		wait = busyApart
	}
	if wait -= time.Since(l.began); wait <= 0 {
		return
	}
	l.late = false
	timer := time.AfterFunc(wait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.late = true
		l.moved.Broadcast()
	})
	defer timer.Stop()
	for l.waiting < lingerBytes && !l.late && !l.closing && !l.rewind {
		l.moved.Wait()
	}
}

// persist brings groups to the disk. A full disk is waited for: nothing is lost by it, as the source is not
// acknowledged meanwhile. After any other failure nobody knows what is on the disk.
func (l *Log) persist(groups []*group) error {
	for _, g := range groups {
		for {
			err := l.put(g)
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
				return err
			}
			if err := l.diskIsFull(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// diskIsFull makes room if it can, and waits a little.
func (l *Log) diskIsFull(cause error) error {
	l.mu.Lock()
	if !l.noRoom {
		l.log.Error("the disk of the write-ahead log is full: receiving stops until there is room", slog.Any("err", cause))
	}
	l.noRoom = true
	closing := l.closing
	l.moved.Broadcast()
	l.notify()
	l.mu.Unlock()
	if closing {
		return fmt.Errorf("the last records are not written: the source sends them again: %w", cause)
	}
	if err := l.clean(0); err != nil {
		return err
	}
	retry := time.AfterFunc(diskRetry, l.moved.Broadcast)
	defer retry.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved.Wait()
	return nil
}

// put brings one group to the disk.
func (l *Log) put(g *group) error {
	rotated := false
	if g.rotate {
		if err := l.rotate(g); err != nil {
			return err
		}
		g.rotate, rotated = false, true
	}
	l.mu.Lock()
	s := l.files[len(l.files)-1]
	l.mu.Unlock()
	data, at := g.data, s.size
	if l.o.Step != nil {
		half := len(data) / 2
		if err := l.writeAt(s, data[:half], at); err != nil {
			return err
		}
		l.o.Step("half")
		data, at = data[half:], at+int64(half)
	}
	if err := l.writeAt(s, data, at); err != nil {
		return err
	}
	l.step("written")
	if err := platform.SyncData(l.file); err != nil {
		return fmt.Errorf("wal_dir: fsync %s: %w", s.path, notFull(err))
	}
	l.step("synced")
	l.mu.Lock()
	s.remember(g.first, s.size)
	s.size += int64(len(g.data))
	if g.whole.Segment != 0 {
		l.durable = g.whole
	}
	if l.noRoom {
		l.noRoom = false
		l.log.Info("the disk of the write-ahead log has room again")
	}
	if cap(g.data) <= 2*bufferBytes {
		l.spare = g.data[:0]
	}
	l.notify()
	l.mu.Unlock()
	if rotated {
		return l.clean(l.o.Retain)
	}
	return nil
}

// writeAt writes data at an offset of s, which is open. What a full disk took of it is cut off again.
func (l *Log) writeAt(s *segment, data []byte, at int64) error {
	_, err := l.file.WriteAt(data, at)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("wal_dir: write %s: %w", s.path, err)
	if cut := l.file.Truncate(s.size); cut != nil {
		return fmt.Errorf("%w; %w", notFull(err), notFull(cut))
	}
	return err
}

// notFull keeps an error from being taken for a full disk, which can be waited for.
func notFull(err error) error { return errors.New(err.Error()) }

// rotate begins a new file.
func (l *Log) rotate(g *group) error {
	l.step("rotating")
	s := &segment{number: g.number, start: g.start, path: filepath.Join(l.o.Dir, segmentName(g.start, g.number))}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("wal_dir: %w", err)
	}
	if err := syncFolder(l.o.Dir); err != nil {
		_ = f.Close()
		return notFull(err)
	}
	if l.file != nil {
		_ = l.file.Close() // everything in it is fsynced
	}
	l.file = f
	l.mu.Lock()
	l.files = append(l.files, s)
	l.mu.Unlock()
	l.step("rotated")
	return nil
}

// removable returns the files of which no record is needed, but not the newest ones; l.mu is held. Of the newest file
// that has records none is removable: it says how far the log has come.
func (l *Log) removable(newest int) []*segment {
	n := 0
	for i := 1; i <= len(l.files)-max(newest, 1); i++ {
		if first := l.files[i].first; first != 0 && first-1 <= l.ack {
			n = i
		}
	}
	return l.files[:n]
}

// clean removes the files of which no record is needed, but not the newest ones.
func (l *Log) clean(newest int) error {
	l.mu.Lock()
	old := l.removable(newest)
	l.files = l.files[len(old):]
	l.mu.Unlock()
	if len(old) == 0 {
		return nil
	}
	l.step("cleaning")
	var removed int64
	for _, s := range old { // the oldest first, so that a death leaves no gap
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("wal_dir: clean: %w", err)
		}
		removed += s.size
	}
	l.step("cleaned")
	l.mu.Lock()
	l.bytes -= removed
	l.notify()
	l.mu.Unlock()
	return nil
}

// cut removes what follows the last whole record, when nothing waits to be written. A death in between leaves less of it.
func (l *Log) cut() error {
	l.mu.Lock()
	end, n := l.complete, len(l.files)
	for n > 0 && l.files[n-1].number > end.Segment {
		n--
	}
	kept, gone := l.files[:n], l.files[n:]
	l.files = kept
	l.mu.Unlock()
	removed := int64(0)
	if len(gone) > 0 {
		_ = l.file.Close() // everything in it is fsynced
		l.file = nil
	}
	for _, s := range slices.Backward(gone) { // the newest first, so that a death leaves no gap
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("wal_dir: %w", err)
		}
		removed += s.size
	}
	if n > 0 {
		s := kept[n-1]
		if l.file == nil {
			f, err := os.OpenFile(s.path, os.O_RDWR, 0)
			if err != nil {
				return fmt.Errorf("wal_dir: %w", err)
			}
			l.file = f
		}
		if err := l.file.Truncate(end.Offset); err != nil {
			return fmt.Errorf("wal_dir: %w", err)
		}
		if err := platform.SyncData(l.file); err != nil {
			return fmt.Errorf("wal_dir: fsync %s: %w", s.path, err)
		}
		removed += s.size - end.Offset
	}
	if err := syncFolder(l.o.Dir); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 {
		kept[n-1].size = end.Offset
		kept[n-1].forget(end)
	}
	if l.start == nil && len(gone) > 0 && (n == 0 || gone[0].start != end.Position) {
		l.start = &gone[0].start
	}
	l.log.Info("cut the end of the write-ahead log, which was not sent to its end: the source sends it again", slog.Int64("bytes", removed))
	l.bytes -= removed
	l.appended, l.open, l.rewind = end, 0, false
	l.notify()
	return nil
}

func (l *Log) step(name string) {
	if l.o.Step != nil {
		l.o.Step(name)
	}
}
