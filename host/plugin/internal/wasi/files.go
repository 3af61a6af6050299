package wasi

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wire"
)

// What a guest may have open and make.
const (
	maxOpen          = 64
	maxFeedbackFiles = 64
)

// FeedbackDir is the folder that an icpc/1 guest may write in.
const FeedbackDir = "feedback"

// World is what a guest sees in one call: its arguments, its streams, clocks and dice, files of the host that can be
// read, and, if there is a feedback folder, files in it that live in memory. There are no links, times or permissions
// in it, and every name is known beforehand.
type World struct {
	Meter    *fuel.Meter
	Args     []string
	nodes    []*node
	Feedback bool
	fds      []descriptor // by number
	inodes   uint64
	read     [2]uint64 // how often each clock was
	dice     fuel.Dice
}

// node is a file: the host's, or data.
type node struct {
	name  string
	inode uint64
	host  int   // descriptor of the host's file; none for data
	size  int64 // of host; unknown until somebody asks
	data  []byte
}

const (
	none    = -1 // no descriptor
	unknown = -1 // size
)

// measure finds out how large the host's file is.
func (n *node) measure() errno {
	if n.host == none || n.size != unknown {
		return errnoSuccess
	}
	var s unix.Stat_t
	if err := unix.Fstat(n.host, &s); err != nil {
		return errnoIO
	}
	n.size = s.Size
	return errnoSuccess
}

// The inodes of the folders; those of files follow.
const (
	rootInode = 1 + iota
	feedbackInode
)

// NewWorld returns a world with files of the host.
func NewWorld(m *fuel.Meter, names []string, fds []int, feedback bool) *World {
	w := &World{Meter: m, Feedback: feedback, inodes: feedbackInode, dice: fuel.Dice{M: m}, nodes: make([]*node, 0, len(names)+1)}
	for i, name := range names {
		w.add(&node{name: name, host: fds[i], size: unknown})
	}
	return w
}

func (w *World) add(n *node) {
	w.inodes++
	n.inode = w.inodes
	w.nodes = append(w.nodes, n)
}

// find returns a node, or nil.
func (w *World) find(name string) *node {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

func (w *World) remove(n *node) {
	w.nodes = slices.DeleteFunc(w.nodes, func(o *node) bool { return o == n })
}

// isFolder reports whether a clean name is that of a folder.
func (w *World) isFolder(name string) bool {
	return name == "" || w.Feedback && name == FeedbackDir
}

// writable reports whether a file of that name may be written or made.
func (w *World) writable(name string) bool {
	return w.Feedback && path.Dir(name) == FeedbackDir
}

// how says how a file is to be opened.
type how struct {
	write, create, exclusive, truncate, folder, appends bool
}

// open opens a file or folder of a clean name.
func (w *World) open(name string, h how) (descriptor, errno) {
	if w.isFolder(name) {
		if h.write {
			return descriptor{}, errnoIsdir
		}
		return descriptor{folder: &folder{w: w, name: name}}, errnoSuccess
	}
	if h.write && !w.writable(name) {
		return descriptor{}, errnoRofs
	}
	n := w.find(name)
	switch {
	case n == nil && !h.create:
		return descriptor{}, errnoNoent
	case n == nil && (!w.writable(name) || len(w.nodes) >= maxFeedbackFiles):
		return descriptor{}, errnoRofs
	case n != nil && h.create && h.exclusive:
		return descriptor{}, errnoExist
	case n != nil && h.folder:
		return descriptor{}, errnoNotdir
	}
	if n == nil {
		n = &node{name: name, host: none}
		w.add(n)
	}
	if e := n.measure(); e != errnoSuccess {
		return descriptor{}, e
	}
	if h.write && h.truncate {
		n.data = nil
	}
	return descriptor{file: &file{w: w, n: n, write: h.write, appends: h.appends}}, errnoSuccess
}

// unlink removes a file.
func (w *World) unlink(name string) errno {
	n := w.find(name)
	switch {
	case w.isFolder(name):
		return errnoIsdir
	case n == nil:
		return errnoNoent
	case !w.writable(name):
		return errnoRofs
	}
	w.remove(n)
	return errnoSuccess
}

// rename gives a file another name, which it takes from the file that has it.
func (w *World) rename(from, to string) errno {
	n := w.find(from)
	switch {
	case w.isFolder(from) || w.isFolder(to):
		return errnoIsdir
	case n == nil:
		return errnoNoent
	case !w.writable(from) || !w.writable(to):
		return errnoRofs
	case from != to:
		if old := w.find(to); old != nil {
			w.remove(old)
		}
		n.name = to
	}
	return errnoSuccess
}

// Lay puts files into the feedback folder, whose contents follow each other.
func (w *World) Lay(files []wire.Part, contents []byte) error {
	for _, f := range files {
		name := path.Join(FeedbackDir, f.Name)
		if f.Bytes < 0 || f.Bytes > len(contents) || w.find(name) != nil || !w.writable(name) {
			return fmt.Errorf("%w: the file %q cannot lie in the feedback folder", wire.ErrMalformed, f.Name)
		}
		w.add(&node{name: name, host: none, data: slices.Clone(contents[:f.Bytes])})
		contents = contents[f.Bytes:]
	}
	return nil
}

// FeedbackNames returns the names of the files in the feedback folder, ordered.
func (w *World) FeedbackNames() []string {
	var names []string
	for _, n := range w.nodes {
		if w.writable(n.name) {
			names = append(names, path.Base(n.name))
		}
	}
	slices.Sort(names)
	return names
}

// Written returns what is in the feedback folder under a name.
func (w *World) Written(name string) ([]byte, bool) {
	n := w.find(path.Join(FeedbackDir, name))
	if n == nil {
		return nil, false
	}
	return n.data, true
}

// entry is a name in a folder.
type entry struct {
	name  string
	inode uint64
	kind  byte
}

// list lists a folder, in order of names behind "." and "..".
func (w *World) list(folder string) []entry {
	list := []entry{{".", folderInode(folder), kindFolder}, {"..", rootInode, kindFolder}}
	if folder == "" && w.Feedback {
		list = append(list, entry{FeedbackDir, feedbackInode, kindFolder})
	}
	for _, n := range w.nodes {
		dir, base := path.Split(n.name)
		if strings.TrimSuffix(dir, "/") == folder {
			list = append(list, entry{base, n.inode, kindFile})
		}
	}
	slices.SortFunc(list[2:], func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return list
}

func folderInode(name string) uint64 {
	if name == "" {
		return rootInode
	}
	return feedbackInode
}

// length returns the size of the file.
func (n *node) length() int64 {
	if n.host != none {
		return n.size
	}
	return int64(len(n.data))
}

// readAt reads like [io.ReaderAt], and at the end nothing.
func (n *node) readAt(p []byte, off int64) (int, errno) {
	if off < 0 {
		return 0, errnoInval
	}
	if off >= n.length() {
		return 0, errnoSuccess
	}
	if n.host == none {
		return copy(p, n.data[off:]), errnoSuccess
	}
	p = p[:min(int64(len(p)), n.size-off)]
	k := 0
	for k < len(p) {
		m, err := unix.Pread(n.host, p[k:], off+int64(k))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return k, errnoIO
		case m == 0:
			return k, errnoSuccess // it has become shorter
		default:
			k += m
		}
	}
	return k, errnoSuccess
}
