package wire

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a client passes is used with the agent's and the keeper's own rights, so each descriptor of each message is
// looked at once, here, before anything is done with it. A client could read a folder of root's through a descriptor
// that it may not read itself, or have root write to a file of /proc that only asks who writes.

// Slot is what a descriptor of a message is for.
type Slot int

// What descriptors are for.
const (
	SlotAnswers  Slot = iota // one end of a fresh socket pair
	SlotPacked               // a sealed memory file, of which nobody can change what was read
	SlotKept                 // an empty memory file to pack files into
	SlotReadable             // a pipe, or a file, to read
	SlotWritable             // a pipe, or a file, to write
	SlotPipe                 // a pipe to write
)

// ConnSlots returns what the descriptors of a message on the connection are for, in order.
func ConnSlots(q Request) []Slot {
	slots := []Slot{SlotAnswers}
	if q.Op != OpOneShot || q.OneShot == nil {
		return slots
	}
	o := q.OneShot
	slots = append(slots, SlotPipe, SlotPipe)
	for range min(o.Dirs, MaxFDs) {
		slots = append(slots, SlotPacked)
	}
	if o.Keep {
		slots = append(slots, SlotKept)
	}
	return append(slots, o.Run.slots()...)
}

// BoxSlots returns what the descriptors of a message in a box are for, in order.
func BoxSlots(q Request) []Slot {
	switch {
	case q.Op == OpPut:
		return []Slot{SlotPacked}
	case q.Op == OpRun && q.Run != nil:
		return q.Run.slots()
	default:
		return nil
	}
}

// slots returns what the descriptors of a run's streams are for.
func (q *RunRequest) slots() []Slot {
	slots := make([]Slot, 0, len(q.Stdio))
	for i, s := range [3]Slot{SlotReadable, SlotWritable, SlotWritable} {
		if q.Raw && i == 1 {
			s = SlotPipe // the program itself has it
		}
		if q.Stdio[i] {
			slots = append(slots, s)
		}
	}
	return slots
}

// CheckFiles refuses descriptors that are not what they are for.
func CheckFiles(slots []Slot, files []*os.File) error {
	switch {
	case len(files) < len(slots):
		return fmt.Errorf("a message with fewer descriptors than it names: %d and not %d", len(files), len(slots))
	case len(files) > len(slots):
		return fmt.Errorf("a message with more descriptors than it names: %d and not %d", len(files), len(slots))
	}
	for i, s := range slots {
		if err := s.Check(int(files[i].Fd())); err != nil {
			return fmt.Errorf("descriptor %d of a message: %w", i+1, err)
		}
	}
	return nil
}

// Check refuses a descriptor that is not what it is for.
func (s Slot) Check(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return fmt.Errorf("ask how it was opened: %w", err)
	}
	if flags&unix.O_PATH != 0 {
		return errors.New("it names a file (O_PATH) that was not opened for reading or writing")
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at it: %w", err)
	}
	kind, access := st.Mode&unix.S_IFMT, flags&unix.O_ACCMODE
	if s == SlotAnswers {
		if kind != unix.S_IFSOCK {
			return errors.New("it is no socket for the answers")
		}
		return checkSocket(fd)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return fmt.Errorf("ask for its file system: %w", err)
	}
	writes := s != SlotReadable && s != SlotPacked
	switch {
	case kind == unix.S_IFIFO && fs.Type == unix.PIPEFS_MAGIC && s >= SlotReadable:
		// Whoever has both ends in one could answer itself.
		if writes != (access == unix.O_WRONLY) || access == unix.O_RDWR {
			return errors.New("it is the wrong end of a pipe")
		}
		return nil
	case s == SlotPipe:
		return errors.New("it is not a pipe")
	case kind != unix.S_IFREG:
		return errors.New("it is neither a file nor a pipe")
	case !RealFileSystem(fs.Type):
		return fmt.Errorf("it is a file that the kernel, or a program, makes up (file system %#x): copy it into a memory file", fs.Type)
	case writes && access == unix.O_RDONLY:
		return errors.New("it is not open for writing")
	case s != SlotWritable && access == unix.O_WRONLY, s == SlotKept && access != unix.O_RDWR:
		return errors.New("it is not open for reading")
	case writes && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return errors.New("it is a program with the rights of its owner")
	}
	return s.checkSeals(fd, fs.Type, st.Size)
}

// Sealed are the seals of a file that nobody can change.
const Sealed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// checkSeals refuses a file of a kind of file system which must be a memory file and
// is none, or whose seals are not right.
func (s Slot) checkSeals(fd int, kind, size int64) error {
	if kind != unix.TMPFS_MAGIC {
		if s == SlotPacked || s == SlotKept {
			return errors.New("it is not a memory file")
		}
		return nil
	}
	if s == SlotReadable {
		return nil // whoever makes it shorter loses what is read
	}
	// A named file of a tmpfs has F_SEAL_SEAL from the beginning, and no other.
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	switch {
	case err != nil:
		return fmt.Errorf("ask for its seals: %w", err)
	case s == SlotPacked && seals&Sealed != Sealed:
		return errors.New("it is not a sealed memory file")
	case s != SlotPacked && seals&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_GROW) != 0:
		return errors.New("it is sealed and cannot be written")
	case s == SlotKept && (seals != 0 || size != 0):
		return errors.New("it is not an empty memory file")
	}
	return nil
}

// checkSocket refuses what is not one end of a pair that [SocketPair] made: a socket
// with a named peer leads to somebody who did not ask, and who would hear root.
func checkSocket(fd int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, kindErr := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err := errors.Join(err, kindErr); err != nil {
		return fmt.Errorf("look at a socket: %w", err)
	}
	if domain != unix.AF_UNIX || kind != unix.SOCK_SEQPACKET {
		return errors.New("it is a socket of another kind than SOCK_SEQPACKET of AF_UNIX")
	}
	var peer unix.RawSockaddrUnix
	size := uint32(unsafe.Sizeof(peer))
	_, _, errno := unix.RawSyscall(unix.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&peer)), uintptr(unsafe.Pointer(&size)))
	switch {
	case errno == unix.ENOTCONN:
		return errors.New("it is a socket without another end")
	case errno != 0:
		return fmt.Errorf("look at a socket: %w", errno)
	case size > uint32(unsafe.Sizeof(peer.Family)): // and so has a name
		return errors.New("it is a socket that leads to somebody else")
	}
	return nil
}

// RealFileSystem reports whether a file system keeps what is written to it, and
// nothing happens by that: not one in which the kernel makes up the files, such as
// /proc, and not one that a program serves (FUSE), who could let us wait for ever.
func RealFileSystem(kind int64) bool {
	const (
		gfs2, jfs, lustre, ntfs = 0x01161970, 0x3153464a, 0x0bd00bd0, 0x7366746e
		ubifs, vbox, zfs        = 0x24051905, 0x786f4256, 0x2fc12fc1
	)
	switch kind {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.ECRYPTFS_SUPER_MAGIC,
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.NILFS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.JFFS2_SUPER_MAGIC, jfs, ubifs, zfs,
		unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, ntfs,
		unix.UDF_SUPER_MAGIC, unix.ISOFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1,
		unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, gfs2, lustre, vbox:
		return true
	default:
		return false
	}
}

// CloseOnExec keeps an inherited descriptor from the children of this process, who have no business with the sandbox.
func CloseOnExec(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("use %s: %w", f.Name(), err)
	}
	var set error
	err = raw.Control(func(fd uintptr) { _, set = unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC) })
	if err := errors.Join(err, set); err != nil {
		return fmt.Errorf("use %s: %w", f.Name(), err)
	}
	return nil
}
