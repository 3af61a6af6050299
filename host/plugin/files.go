package plugin

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	esys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"
)

// What a guest may have open and make.
const (
	maxOpen          = 64
	maxFeedbackFiles = 64
)

// feedbackDir is the folder that an icpc/1 guest may write in.
const feedbackDir = "feedback"

// world is the file system of one call: files of the host that can be read,
// and, if there is a feedback folder, files in it that live in memory. There are
// no links, times or permissions in it, and every name is known beforehand.
type world struct {
	esys.UnimplementedFS
	m        *meter
	nodes    map[string]*node
	names    []string // of nodes, sorted
	feedback bool
	open     int
	inodes   uint64
}

// node is a file: the host's, or data.
type node struct {
	inode uint64
	host  int   // descriptor of the host's file; none for data
	size  int64 // of host
	data  []byte
}

// none is no descriptor.
const none = -1

// hostNode returns the node of a host's file.
func hostNode(fd int) (*node, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, err
	}
	return &node{host: fd, size: s.Size}, nil
}

// newWorld returns a world with files of the host.
func newWorld(m *meter, names []string, fds []int, feedback bool) (*world, error) {
	w := &world{m: m, nodes: map[string]*node{}, feedback: feedback, inodes: 2}
	for i, name := range names {
		n, err := hostNode(fds[i])
		if err != nil {
			return nil, err
		}
		w.add(name, n)
	}
	return w, nil
}

func (w *world) add(name string, n *node) {
	w.inodes++
	n.inode = w.inodes
	w.nodes[name] = n
	at, _ := slices.BinarySearch(w.names, name)
	w.names = slices.Insert(w.names, at, name)
}

func (w *world) remove(name string) {
	delete(w.nodes, name)
	at, _ := slices.BinarySearch(w.names, name)
	w.names = slices.Delete(w.names, at, at+1)
}

// clean returns the name of a node, and whether it is a folder.
func (w *world) clean(name string) (string, bool) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	return name, name == "" || w.feedback && name == feedbackDir
}

// writable reports whether a file of that name may be written or made.
func (w *world) writable(name string) bool {
	return w.feedback && path.Dir(name) == feedbackDir
}

// OpenFile implements [esys.FS].
func (w *world) OpenFile(name string, flag esys.Oflag, _ fs.FileMode) (esys.File, esys.Errno) {
	name, isDir := w.clean(name)
	write := flag&(esys.O_RDWR|esys.O_WRONLY) != 0
	if w.open >= maxOpen {
		return nil, esys.EIO
	}
	if isDir {
		if write {
			return nil, esys.EISDIR
		}
		w.open++
		return &folder{w: w, name: name}, 0
	}
	if write && !w.writable(name) {
		return nil, esys.EROFS
	}
	n := w.nodes[name]
	switch {
	case n == nil && flag&esys.O_CREAT == 0:
		return nil, esys.ENOENT
	case n == nil && (!w.writable(name) || len(w.nodes) >= maxFeedbackFiles):
		return nil, esys.EROFS
	case n != nil && flag&esys.O_CREAT != 0 && flag&esys.O_EXCL != 0:
		return nil, esys.EEXIST
	case n != nil && flag&esys.O_DIRECTORY != 0:
		return nil, esys.ENOTDIR
	}
	if n == nil {
		n = &node{host: none}
		w.add(name, n)
	}
	if write && flag&esys.O_TRUNC != 0 {
		n.data = nil
	}
	w.open++
	return &file{w: w, n: n, write: write, appends: flag&esys.O_APPEND != 0}, 0
}

// Stat implements [esys.FS].
func (w *world) Stat(name string) (sys.Stat_t, esys.Errno) {
	name, isDir := w.clean(name)
	if isDir {
		return statFolder(name), 0
	}
	if n := w.nodes[name]; n != nil {
		return n.stat(), 0
	}
	return sys.Stat_t{}, esys.ENOENT
}

// Lstat implements [esys.FS].
func (w *world) Lstat(name string) (sys.Stat_t, esys.Errno) { return w.Stat(name) }

// Unlink implements [esys.FS].
func (w *world) Unlink(name string) esys.Errno {
	name, isDir := w.clean(name)
	switch {
	case isDir:
		return esys.EISDIR
	case w.nodes[name] == nil:
		return esys.ENOENT
	case !w.writable(name):
		return esys.EROFS
	}
	w.remove(name)
	return 0
}

// Rename implements [esys.FS].
func (w *world) Rename(from, to string) esys.Errno {
	from, fromDir := w.clean(from)
	to, toDir := w.clean(to)
	switch n := w.nodes[from]; {
	case fromDir || toDir:
		return esys.EISDIR
	case n == nil:
		return esys.ENOENT
	case !w.writable(from) || !w.writable(to):
		return esys.EROFS
	case from != to:
		w.remove(from)
		if w.nodes[to] != nil {
			w.remove(to)
		}
		w.add(to, n)
	}
	return 0
}

// written returns what is in the feedback folder under a name.
func (w *world) written(name string) ([]byte, bool) {
	n := w.nodes[path.Join(feedbackDir, name)]
	if n == nil {
		return nil, false
	}
	return n.data, true
}

// length returns the size of the file.
func (n *node) length() int64 {
	if n.host != none {
		return n.size
	}
	return int64(len(n.data))
}

func (n *node) stat() sys.Stat_t {
	mode := fs.FileMode(0o644)
	if n.host != none {
		mode = 0o444
	}
	return sys.Stat_t{Mode: mode, Nlink: 1, Ino: n.inode, Size: n.length()}
}

// readAt reads like [io.ReaderAt], and at the end nothing.
func (n *node) readAt(p []byte, off int64) (int, esys.Errno) {
	if off < 0 {
		return 0, esys.EINVAL
	}
	if off >= n.length() {
		return 0, 0
	}
	if n.host == none {
		return copy(p, n.data[off:]), 0
	}
	p = p[:min(int64(len(p)), n.size-off)]
	k := 0
	for k < len(p) {
		m, err := unix.Pread(n.host, p[k:], off+int64(k))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return k, esys.EIO
		case m == 0:
			return k, 0 // it has become shorter
		default:
			k += m
		}
	}
	return k, 0
}
