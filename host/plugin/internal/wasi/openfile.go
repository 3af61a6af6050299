package wasi

import (
	"fmt"
	"io"
	"math"

	"deepoj/host/plugin/internal/fuel"
)

// readAhead is how much of a host's file is read at least.
const readAhead = 64 << 10

// file is an open file.
type file struct {
	w       *World
	n       *node
	off     int64
	write   bool
	appends bool

	ahead   []byte // what was read of a host's file
	aheadAt int64  // where it begins
}

// folder is an open folder.
type folder struct {
	w       *World
	name    string
	entries []entry // since it was read from the beginning
}

func (f *file) read(p []byte) (int, errno) {
	n, e := f.pread(p, f.off)
	f.off += int64(n)
	return n, e
}

func (f *file) pread(p []byte, off int64) (int, errno) {
	n, e := f.peek(p, off)
	if e == errnoSuccess && f.w.Meter.Charge(n) != nil {
		return 0, errnoIO
	}
	return n, e
}

// peek reads a little ahead, since C libraries ask for a little at a time.
func (f *file) peek(p []byte, off int64) (int, errno) {
	if f.n.host == none || len(p) >= readAhead {
		return f.n.readAt(p, off)
	}
	if off < f.aheadAt || off >= f.aheadAt+int64(len(f.ahead)) {
		if f.ahead == nil {
			f.ahead = make([]byte, min(readAhead, f.n.size))
		}
		n, e := f.n.readAt(f.ahead[:cap(f.ahead)], off)
		f.ahead, f.aheadAt = f.ahead[:n], off
		if e != errnoSuccess || n == 0 {
			return 0, e
		}
	}
	return copy(p, f.ahead[off-f.aheadAt:]), errnoSuccess
}

// seek moves to a place and returns it. Whence is WASI's, which is also [io]'s.
func (f *file) seek(off int64, whence uint32) (int64, errno) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.off
	case io.SeekEnd:
		off += f.n.length()
	default:
		return 0, errnoInval
	}
	if off < 0 {
		return 0, errnoInval
	}
	f.off = off
	return off, errnoSuccess
}

func (f *file) put(p []byte) (int, errno) {
	if f.appends {
		f.off = f.n.length()
	}
	n, e := f.pwrite(p, f.off)
	f.off += int64(n)
	return n, e
}

func (f *file) pwrite(p []byte, off int64) (int, errno) {
	if !f.write {
		return 0, errnoBadf
	}
	if off < 0 || off > math.MaxInt32 {
		return 0, errnoInval
	}
	if e := f.extend(off + int64(len(p))); e != errnoSuccess {
		return 0, e
	}
	if f.w.Meter.Charge(len(p)) != nil {
		return 0, errnoIO
	}
	return copy(f.n.data[off:], p), errnoSuccess
}

// extend makes the file at least size bytes long, holes included.
func (f *file) extend(size int64) errno {
	more := size - f.n.length()
	if more <= 0 {
		return errnoSuccess
	}
	if f.w.Meter.Write(more) != nil {
		return errnoIO
	}
	f.n.data = append(f.n.data, make([]byte, more)...)
	return errnoSuccess
}

// truncate makes the file size bytes long.
func (f *file) truncate(size int64) errno {
	switch {
	case !f.write:
		return errnoBadf
	case size < 0:
		return errnoInval
	case size < f.n.length():
		f.n.data = f.n.data[:size:size]
		return errnoSuccess
	}
	return f.extend(size)
}

// plainReader reads a node from its beginning, as a guest's stdin.
type plainReader struct {
	m   *fuel.Meter
	n   *node
	off int64
}

func (r *plainReader) Read(p []byte) (int, error) {
	n, e := r.n.readAt(p, r.off)
	r.off += int64(n)
	if e != errnoSuccess {
		return n, fmt.Errorf("read stdin: WASI error %d", e)
	}
	if err := r.m.Charge(n); err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
