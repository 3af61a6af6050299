package wasi

import (
	"encoding/binary"
	"io/fs"
	"path"

	"github.com/tetratelabs/wazero/api"
)

// maxPath is how long a path may be, in bytes.
const maxPath = 4096

// path returns the clean name of what a path names, seen from an open folder. Paths that leave the root do not exist
// for guests, nor do absolute ones: C libraries make them relative to the root.
func (w *World) path(m api.Memory, fd, at, size uint64) (string, errno) {
	d := w.at(fd)
	switch {
	case d == nil:
		return "", errnoBadf
	case d.folder == nil:
		return "", errnoNotdir
	case uint32(size) == 0:
		return "", errnoInval
	case uint32(size) > maxPath:
		return "", errnoNametoolong
	}
	b, ok := m.Read(uint32(at), uint32(size))
	if !ok {
		return "", errnoFault
	}
	name := path.Clean(string(b))
	if !fs.ValidPath(name) {
		return "", errnoPerm
	}
	if name = path.Join(d.folder.name, name); name == "." {
		name = ""
	}
	return name, errnoSuccess
}

// Bits of path_open's flags, and the right that asks for writing.
const (
	openCreate    = 1 << 0
	openFolder    = 1 << 1
	openExclusive = 1 << 2
	openTruncate  = 1 << 3

	rightRead  = 1 << 1
	rightWrite = 1 << 6
)

func (w *World) pathOpen(m api.Memory, p []uint64) errno {
	name, e := w.path(m, p[0], p[2], p[3])
	if e != errnoSuccess {
		return e
	}
	flags, rights, appends := uint16(p[4]), p[5], uint16(p[7])&flagAppend != 0
	h := how{
		create: flags&openCreate != 0, exclusive: flags&openExclusive != 0, truncate: flags&openTruncate != 0,
		folder: flags&openFolder != 0, appends: appends,
	}
	if h.folder && h.create {
		return errnoInval
	}
	// Who says neither reading nor writing means writing by what else is asked.
	h.write = rights&rightWrite != 0 || rights&rightRead == 0 && (h.create || h.truncate || h.appends)
	d, e := w.open(name, h)
	if e != errnoSuccess {
		return e
	}
	fd, e := w.insert(d)
	if e != errnoSuccess {
		return e
	}
	if !m.WriteUint32Le(uint32(p[8]), fd) {
		w.fds[fd] = descriptor{}
		return errnoFault
	}
	return errnoSuccess
}

func (w *World) pathFilestatGet(m api.Memory, p []uint64) errno {
	name, e := w.path(m, p[0], p[2], p[3])
	if e != errnoSuccess {
		return e
	}
	if w.isFolder(name) {
		return putFilestat(m, p[4], folderInode(name), kindFolder, 0)
	}
	n := w.find(name)
	if n == nil {
		return errnoNoent
	}
	if e := n.measure(); e != errnoSuccess {
		return e
	}
	return putFilestat(m, p[4], n.inode, kindFile, n.length())
}

func (w *World) pathFilestatSetTimes(m api.Memory, p []uint64) errno {
	name, e := w.path(m, p[0], p[2], p[3])
	switch {
	case e != errnoSuccess:
		return e
	case w.isFolder(name) || w.writable(name) && w.find(name) != nil:
		return errnoSuccess // there are no times
	case w.find(name) == nil:
		return errnoNoent
	}
	return errnoRofs
}

func (w *World) pathUnlinkFile(m api.Memory, p []uint64) errno {
	name, e := w.path(m, p[0], p[1], p[2])
	if e != errnoSuccess {
		return e
	}
	return w.unlink(name)
}

func (w *World) pathRename(m api.Memory, p []uint64) errno {
	from, e := w.path(m, p[0], p[1], p[2])
	if e != errnoSuccess {
		return e
	}
	to, e := w.path(m, p[3], p[4], p[5])
	if e != errnoSuccess {
		return e
	}
	return w.rename(from, to)
}

// entryBytes is how long an entry of fd_readdir is before its name.
const entryBytes = 24

// fdReaddir writes entries from a number on. What does not fit is cut off: a
// buffer that is full tells the guest to ask again.
func (w *World) fdReaddir(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	if d == nil || d.folder == nil {
		return errnoBadf
	}
	room, ok := m.Read(uint32(p[1]), uint32(p[2]))
	if !ok {
		return errnoFault
	}
	from := p[3]
	if from == 0 || d.folder.entries == nil {
		d.folder.entries = w.list(d.folder.name)
	}
	size := len(room)
	for i := from; i < uint64(len(d.folder.entries)) && len(room) > 0; i++ {
		e := d.folder.entries[i]
		head := make([]byte, entryBytes, entryBytes+len(e.name))
		binary.LittleEndian.PutUint64(head, i+1)
		binary.LittleEndian.PutUint64(head[8:], e.inode)
		binary.LittleEndian.PutUint32(head[16:], uint32(len(e.name)))
		head[20] = e.kind
		room = room[copy(room, append(head, e.name...)):]
	}
	if !m.WriteUint32Le(uint32(p[4]), uint32(size-len(room))) {
		return errnoFault
	}
	return errnoSuccess
}
