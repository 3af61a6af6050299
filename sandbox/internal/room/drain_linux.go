package room

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// drain takes what a program writes. It keeps the first bytes and counts all of them; it never stops reading, so a
// program never waits for it, unless the destination is a pipe whose reader is slow.
type drain struct {
	from    int      // read end of the pipe, non-blocking; -1 when it ended or never was
	to      *os.File // nil drops
	plain   bool     // to is a file and never blocks
	keep    int64    // bytes to keep; negative: all
	seen    int64    // bytes read so far
	pending []byte   // read, but the destination is full
}

// newDrain returns a drain and the write end of its pipe.
func (r *Room) newDrain(to *os.File, keep, standard int64) (*drain, int, error) {
	keep = cmp.Or(keep, standard)
	d := &drain{from: -1, to: to, keep: keep}
	if to != nil {
		var st unix.Stat_t
		if err := unix.Fstat(int(to.Fd()), &st); err != nil {
			return nil, -1, fmt.Errorf("look at an output: %w", err)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			d.plain = true
		case unix.S_IFIFO, unix.S_IFSOCK:
		default:
			return nil, -1, errors.New("an output is neither a file nor a pipe")
		}
	}
	p, err := r.pool.pipe(r.UID)
	if err != nil {
		return nil, -1, err
	}
	d.from = p[0]
	return d, p[1], nil
}

// poll returns what to wait for.
func (d *drain) poll() unix.PollFd {
	switch {
	case len(d.pending) > 0:
		return unix.PollFd{Fd: int32(d.to.Fd()), Events: unix.POLLOUT}
	case d.from >= 0:
		return unix.PollFd{Fd: int32(d.from), Events: unix.POLLIN}
	default:
		return unix.PollFd{Fd: -1}
	}
}

// pump moves what there is, using buf. It returns when nothing more can be moved without waiting.
func (d *drain) pump(buf []byte) error {
	for d.from >= 0 {
		if len(d.pending) > 0 {
			moved, err := d.push()
			if err != nil || !moved {
				return err
			}
			continue
		}
		n, err := unix.Read(d.from, buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("read an output: %w", err)
		case n == 0:
			return d.close()
		}
		room := d.keep - d.seen
		d.seen += int64(n)
		if d.to == nil || d.keep >= 0 && room <= 0 {
			continue
		}
		if d.keep >= 0 {
			n = int(min(int64(n), room))
		}
		d.pending = buf[:n]
		if !d.plain { // buf is shared, and this may take a while
			d.pending = append([]byte(nil), d.pending...)
		}
	}
	return nil
}

// push writes some of what is pending. It reports whether it could.
func (d *drain) push() (bool, error) {
	b := d.pending
	if !d.plain {
		fds := []unix.PollFd{{Fd: int32(d.to.Fd()), Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); n == 0 || errors.Is(err, unix.EINTR) {
			return false, nil
		}
		b = b[:min(len(b), 4096)] // so much fits when there is any place
	}
	n, err := unix.Write(int(d.to.Fd()), b)
	for d.plain && errors.Is(err, unix.EINTR) {
		n, err = unix.Write(int(d.to.Fd()), b) // what is pending is in a shared buffer
	}
	switch {
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET): // nobody reads: drop
		d.to, d.pending = nil, nil
		return true, nil
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("write an output: %w", err)
	}
	d.pending = d.pending[n:]
	return true, nil
}

// truncated reports whether bytes were dropped.
func (d *drain) truncated() bool { return d.keep >= 0 && d.seen > d.keep }

func (d *drain) close() error {
	if d.from < 0 {
		return nil
	}
	fd := d.from
	d.from, d.pending = -1, nil
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close an output: %w", err)
	}
	return nil
}
