package wasi

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/tetratelabs/wazero/api"
)

// descriptor is what a guest has open under a number: one of its fields.
type descriptor struct {
	in     io.Reader
	out    io.Writer
	file   *file
	folder *folder

	preopened bool // it was there when the guest began, and cannot be renumbered
}

func (d descriptor) open() bool {
	return d.in != nil || d.out != nil || d.file != nil || d.folder != nil
}

// rootName is under what name guests are told of the root.
const rootName = "/"

// Connect opens the streams and the root.
func (w *World) Connect(in io.Reader, out, errs io.Writer) {
	w.fds = append(make([]descriptor, 0, 8),
		descriptor{in: in, preopened: true}, descriptor{out: out, preopened: true}, descriptor{out: errs, preopened: true},
		descriptor{folder: &folder{w: w}, preopened: true})
}

// maxDescriptors bounds the numbers, streams and root included.
const maxDescriptors = maxOpen + 4

// at returns what is open under a number, or nil.
func (w *World) at(fd uint64) *descriptor {
	if n := uint32(fd); n < uint32(len(w.fds)) && w.fds[n].open() {
		return &w.fds[n]
	}
	return nil
}

// insert opens d under the lowest number that is free.
func (w *World) insert(d descriptor) (uint32, errno) {
	for i := range w.fds {
		if !w.fds[i].open() {
			w.fds[i] = d
			return uint32(i), errnoSuccess
		}
	}
	if len(w.fds) >= maxDescriptors {
		return 0, errnoMfile
	}
	w.fds = append(w.fds, d)
	return uint32(len(w.fds) - 1), errnoSuccess
}

// fdSync is for all that does nothing with a descriptor: what is written is there, and there are no times.
func (w *World) fdSync(_ api.Memory, p []uint64) errno {
	if w.at(p[0]) == nil {
		return errnoBadf
	}
	return errnoSuccess
}

func (w *World) fdClose(_ api.Memory, p []uint64) errno {
	d := w.at(p[0])
	if d == nil {
		return errnoBadf
	}
	*d = descriptor{}
	return errnoSuccess
}

func (w *World) fdRenumber(_ api.Memory, p []uint64) errno {
	from := w.at(p[0])
	if from == nil || uint32(p[1]) >= uint32(len(w.fds)) {
		return errnoBadf // numbers of nothing that ever was open are not given out
	}
	to := &w.fds[uint32(p[1])]
	if from.preopened || to.preopened {
		return errnoNotsup
	}
	if from != to {
		*to, *from = *from, descriptor{}
	}
	return errnoSuccess
}

// Kinds of files, and rights. Rights are not kept: what a guest may do is what its world allows.
const (
	kindStream = 0 // unknown
	kindFolder = 3
	kindFile   = 4

	rightSeek  = 1 << 2
	rightTell  = 1 << 5
	fdRights   = 0x1ff | 7<<21 | 1<<27 // datasync to allocate, filestat, poll
	pathRights = 0xfff<<9 | 7<<24      // all that begin with path, and readdir

	flagAppend = 1 << 0
)

func (w *World) fdFdstatGet(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	if d == nil {
		return errnoBadf
	}
	b, ok := m.Read(uint32(p[1]), 24)
	if !ok {
		return errnoFault
	}
	var kind, flags uint16
	rights, inherited := uint64(fdRights), uint64(0)
	switch {
	case d.folder != nil:
		kind, rights, inherited = kindFolder, (fdRights|pathRights)&^(rightSeek|rightTell), fdRights|pathRights
	case d.file != nil:
		kind = kindFile
		if d.file.appends {
			flags |= flagAppend
		}
	default:
		kind, rights = kindStream, fdRights&^(rightSeek|rightTell)
	}
	binary.LittleEndian.PutUint16(b, kind)
	binary.LittleEndian.PutUint16(b[2:], flags)
	binary.LittleEndian.PutUint32(b[4:], 0)
	binary.LittleEndian.PutUint64(b[8:], rights)
	binary.LittleEndian.PutUint64(b[16:], inherited)
	return errnoSuccess
}

func (w *World) fdFdstatSetFlags(_ api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch flags := uint16(p[1]); {
	case d == nil:
		return errnoBadf
	case flags&^flagAppend != 0:
		return errnoNotsup
	case d.folder != nil:
		return errnoIsdir
	case d.file != nil:
		d.file.appends = flags&flagAppend != 0
	}
	return errnoSuccess
}

func (w *World) fdFilestatGet(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.folder != nil:
		return putFilestat(m, p[1], folderInode(d.folder.name), kindFolder, 0)
	case d.file != nil:
		return putFilestat(m, p[1], d.file.n.inode, kindFile, d.file.n.length())
	}
	return putFilestat(m, p[1], 0, kindStream, 0)
}

// putFilestat writes what is known of a file; times are zero.
func putFilestat(m api.Memory, at, inode uint64, kind byte, size int64) errno {
	b, ok := m.Read(uint32(at), 64)
	if !ok {
		return errnoFault
	}
	clear(b)
	binary.LittleEndian.PutUint64(b[8:], inode)
	b[16] = kind
	binary.LittleEndian.PutUint64(b[24:], 1) // links
	binary.LittleEndian.PutUint64(b[32:], uint64(size))
	return errnoSuccess
}

func (w *World) fdFilestatSetSize(_ api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.folder != nil:
		return errnoIsdir
	case d.file == nil:
		return errnoInval
	}
	return d.file.truncate(int64(p[1]))
}

func (w *World) fdAllocate(_ api.Memory, p []uint64) errno {
	d := w.at(p[0])
	end := int64(p[1] + p[2])
	switch {
	case d == nil:
		return errnoBadf
	case d.file == nil || end < 0:
		return errnoInval
	case end <= d.file.n.length():
		return errnoSuccess
	}
	return d.file.truncate(end)
}

func (w *World) fdPrestatGet(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	if d == nil || d.folder == nil || !d.preopened {
		return errnoBadf
	}
	return putU64(m, p[1], uint64(len(rootName))<<32) // the tag of folders is 0
}

func (w *World) fdPrestatDirName(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil || d.folder == nil || !d.preopened:
		return errnoBadf
	case uint32(p[2]) > uint32(len(rootName)):
		return errnoNametoolong
	case !m.WriteString(uint32(p[1]), rootName[:uint32(p[2])]):
		return errnoFault
	}
	return errnoSuccess
}

func (w *World) fdSeek(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.folder != nil:
		return errnoIsdir
	case d.file == nil:
		return errnoSpipe
	}
	at, e := d.file.seek(int64(p[1]), uint32(p[2]))
	if e != errnoSuccess {
		return e
	}
	return putU64(m, p[3], uint64(at))
}

func (w *World) fdTell(m api.Memory, p []uint64) errno {
	return w.fdSeek(m, []uint64{p[0], 0, io.SeekCurrent, p[1]})
}

func (w *World) fdRead(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil || d.out != nil:
		return errnoBadf
	case d.folder != nil:
		return errnoIsdir
	case d.file != nil:
		return transfer(m, p[1], p[2], p[3], d.file.read)
	}
	return transfer(m, p[1], p[2], p[3], func(b []byte) (int, errno) { return result(d.in.Read(b)) })
}

func (w *World) fdPread(m api.Memory, p []uint64) errno { return w.transferAt(m, p, (*file).pread) }

func (w *World) fdWrite(m api.Memory, p []uint64) errno {
	d := w.at(p[0])
	switch {
	case d == nil || d.in != nil:
		return errnoBadf
	case d.folder != nil:
		return errnoIsdir
	case d.file != nil:
		return transfer(m, p[1], p[2], p[3], d.file.put)
	}
	return transfer(m, p[1], p[2], p[3], func(b []byte) (int, errno) { return result(d.out.Write(b)) })
}

func (w *World) fdPwrite(m api.Memory, p []uint64) errno { return w.transferAt(m, p, (*file).pwrite) }

// transferAt reads or writes a file from a position on, which stays where it is.
func (w *World) transferAt(m api.Memory, p []uint64, each func(f *file, b []byte, off int64) (int, errno)) errno {
	d := w.at(p[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.folder != nil:
		return errnoIsdir
	case d.file == nil:
		return errnoSpipe
	}
	off := int64(p[3])
	return transfer(m, p[1], p[2], p[4], func(b []byte) (int, errno) {
		n, e := each(d.file, b, off)
		off += int64(n)
		return n, e
	})
}

// result is what a stream says.
func result(n int, err error) (int, errno) {
	if err != nil && !errors.Is(err, io.EOF) {
		return n, errnoIO
	}
	return n, errnoSuccess
}

// maxVectors is how many pieces of memory one call reads or writes: each costs
// the host a little, and the guest nothing.
const maxVectors = 1024

// transfer lets each deal with the pieces of memory in a list one after the
// other, until one is not used up, and writes how many bytes were.
func transfer(m api.Memory, list, n, done uint64, each func([]byte) (int, errno)) errno {
	if uint32(n) > maxVectors {
		return errnoInval
	}
	vectors, ok := m.Read(uint32(list), uint32(n)*8)
	if !ok {
		return errnoFault
	}
	total := 0
	for ; len(vectors) > 0; vectors = vectors[8:] {
		size := binary.LittleEndian.Uint32(vectors[4:])
		if size == 0 {
			continue
		}
		b, ok := m.Read(binary.LittleEndian.Uint32(vectors), size)
		if !ok {
			return errnoFault
		}
		k, e := each(b)
		if e != errnoSuccess {
			return e
		}
		if total += k; k < len(b) {
			break
		}
	}
	if !m.WriteUint32Le(uint32(done), uint32(total)) {
		return errnoFault
	}
	return errnoSuccess
}
