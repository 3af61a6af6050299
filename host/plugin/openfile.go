package plugin

import (
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	esys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// readAhead is how much of a host's file is read at least.
const readAhead = 64 << 10

// file is an open file.
type file struct {
	esys.UnimplementedFile
	w       *world
	n       *node
	off     int64
	write   bool
	appends bool
	closed  bool

	ahead   []byte // what was read of a host's file
	aheadAt int64  // where it begins
}

// Ino implements [esys.File].
func (f *file) Ino() (sys.Inode, esys.Errno) { return f.n.inode, 0 }

// IsDir implements [esys.File].
func (f *file) IsDir() (bool, esys.Errno) { return false, 0 }

// IsAppend implements [esys.File].
func (f *file) IsAppend() bool { return f.appends }

// SetAppend implements [esys.File].
func (f *file) SetAppend(on bool) esys.Errno {
	f.appends = on
	return 0
}

// Stat implements [esys.File].
func (f *file) Stat() (sys.Stat_t, esys.Errno) { return f.n.stat(), 0 }

// Read implements [esys.File].
func (f *file) Read(p []byte) (int, esys.Errno) {
	n, errno := f.Pread(p, f.off)
	f.off += int64(n)
	return n, errno
}

// Pread implements [esys.File].
func (f *file) Pread(p []byte, off int64) (int, esys.Errno) {
	n, errno := f.read(p, off)
	if errno == 0 && f.w.m.charge(n) != nil {
		return 0, esys.EIO
	}
	return n, errno
}

// read reads a little ahead, since C libraries ask for a little at a time.
func (f *file) read(p []byte, off int64) (int, esys.Errno) {
	if f.n.host == none || len(p) >= readAhead {
		return f.n.readAt(p, off)
	}
	if off < f.aheadAt || off >= f.aheadAt+int64(len(f.ahead)) {
		if f.ahead == nil {
			f.ahead = make([]byte, min(readAhead, f.n.size))
		}
		n, errno := f.n.readAt(f.ahead[:cap(f.ahead)], off)
		f.ahead, f.aheadAt = f.ahead[:n], off
		if errno != 0 || n == 0 {
			return 0, errno
		}
	}
	return copy(p, f.ahead[off-f.aheadAt:]), 0
}

// Seek implements [esys.File].
func (f *file) Seek(off int64, whence int) (int64, esys.Errno) { //nolint:govet // wazero's interface, not io.Seeker
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.off
	case io.SeekEnd:
		off += f.n.length()
	default:
		return 0, esys.EINVAL
	}
	if off < 0 {
		return 0, esys.EINVAL
	}
	f.off = off
	return off, 0
}

// Write implements [esys.File].
func (f *file) Write(p []byte) (int, esys.Errno) {
	if f.appends {
		f.off = f.n.length()
	}
	n, errno := f.Pwrite(p, f.off)
	f.off += int64(n)
	return n, errno
}

// Pwrite implements [esys.File].
func (f *file) Pwrite(p []byte, off int64) (int, esys.Errno) {
	if !f.write {
		return 0, esys.EBADF
	}
	if off < 0 || off > math.MaxInt32 {
		return 0, esys.EINVAL
	}
	if errno := f.extend(off + int64(len(p))); errno != 0 {
		return 0, errno
	}
	if f.w.m.charge(len(p)) != nil {
		return 0, esys.EIO
	}
	return copy(f.n.data[off:], p), 0
}

// extend makes the file at least size bytes long, holes included.
func (f *file) extend(size int64) esys.Errno {
	more := size - f.n.length()
	if more <= 0 {
		return 0
	}
	if f.w.m.write(more) != nil {
		return esys.EIO
	}
	f.n.data = append(f.n.data, make([]byte, more)...)
	return 0
}

// Truncate implements [esys.File].
func (f *file) Truncate(size int64) esys.Errno {
	switch {
	case !f.write:
		return esys.EBADF
	case size < 0:
		return esys.EINVAL
	case size < f.n.length():
		f.n.data = f.n.data[:size:size]
		return 0
	}
	return f.extend(size)
}

// Sync implements [esys.File].
func (f *file) Sync() esys.Errno { return 0 }

// Datasync implements [esys.File].
func (f *file) Datasync() esys.Errno { return 0 }

// Utimens implements [esys.File].
func (f *file) Utimens(int64, int64) esys.Errno { return 0 }

// Close implements [esys.File].
func (f *file) Close() esys.Errno {
	if !f.closed {
		f.closed = true
		f.w.open--
	}
	return 0
}

// statFolder describes the root or the feedback folder.
func statFolder(name string) sys.Stat_t {
	inode := sys.Inode(1)
	if name != "" {
		inode = 2
	}
	return sys.Stat_t{Mode: fs.ModeDir | 0o755, Nlink: 1, Ino: inode}
}

// folder is an open folder.
type folder struct {
	esys.DirFile
	w      *world
	name   string
	read   int
	closed bool
}

// Dev implements [esys.File].
func (d *folder) Dev() (uint64, esys.Errno) { return 0, 0 }

// Ino implements [esys.File].
func (d *folder) Ino() (sys.Inode, esys.Errno) { return statFolder(d.name).Ino, 0 }

// Stat implements [esys.File].
func (d *folder) Stat() (sys.Stat_t, esys.Errno) { return statFolder(d.name), 0 }

// entries lists the folder, in order of names.
func (d *folder) entries() []esys.Dirent {
	var list []esys.Dirent
	if d.name == "" && d.w.feedback {
		list = append(list, esys.Dirent{Name: feedbackDir, Ino: 2, Type: fs.ModeDir})
	}
	for _, name := range d.w.names {
		dir, base := path.Split(name)
		if strings.TrimSuffix(dir, "/") == d.name {
			list = append(list, esys.Dirent{Name: base, Ino: d.w.nodes[name].inode})
		}
	}
	return list
}

// Readdir implements [esys.File].
func (d *folder) Readdir(n int) ([]esys.Dirent, esys.Errno) {
	list := d.entries()
	list = list[min(d.read, len(list)):]
	if n >= 0 {
		list = list[:min(n, len(list))]
	}
	d.read += len(list)
	return list, 0
}

// Seek implements [esys.File]. Folders only rewind.
func (d *folder) Seek(off int64, whence int) (int64, esys.Errno) { //nolint:govet // wazero's interface, not io.Seeker
	if off != 0 || whence != io.SeekStart {
		return 0, esys.ENOSYS
	}
	d.read = 0
	return 0, 0
}

// Sync implements [esys.File].
func (d *folder) Sync() esys.Errno { return 0 }

// Datasync implements [esys.File].
func (d *folder) Datasync() esys.Errno { return 0 }

// Utimens implements [esys.File].
func (d *folder) Utimens(int64, int64) esys.Errno { return 0 }

// Close implements [esys.File].
func (d *folder) Close() esys.Errno {
	if !d.closed {
		d.closed = true
		d.w.open--
	}
	return 0
}

// plainReader reads a host's file from its beginning, as a guest's stdin. It is
// not an [os.File] to wazero, which could not be interrupted.
type plainReader struct {
	m   *meter
	n   *node
	off int64
}

func (r *plainReader) Read(p []byte) (int, error) {
	n, errno := r.n.readAt(p, r.off)
	r.off += int64(n)
	if errno != 0 {
		return n, errno
	}
	if err := r.m.charge(n); err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
