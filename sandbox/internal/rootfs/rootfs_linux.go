// Package rootfs puts together the root file system of a room.
package rootfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/elf"
	"deepoj/sandbox/internal/wait"
)

// The root of a room is a small tmpfs that holds read-only views of the tool chains, a few synthetic files and three
// private, writable tmpfs. Nothing of the host's /home, /root, /var, /run or /sys is in it.

// stage is where the root is put together. It exists on every machine, and only
// the room's mount namespace sees what is mounted there.
const stage = "/proc"

// visible are the host folders and files that every box may read, if they exist. Symbolic links are copied.
var visible = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
}

// devices are the device files of a box.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// masked are readable files of /proc that say too much about the machine.
var masked = []string{
	"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kmsg", "/proc/timer_list",
	"/proc/sched_debug", "/proc/slabinfo", "/proc/sysrq-trigger", "/proc/config.gz", "/proc/modules",
	"/proc/vmallocinfo", "/proc/interrupts", "/proc/diskstats", "/proc/partitions", "/proc/cmdline",
}

// maskedFolders are folders of /proc that appear empty.
var maskedFolders = []string{"/proc/acpi", "/proc/scsi", "/proc/bus", "/proc/driver", "/proc/fs", "/proc/irq", "/proc/tty"}

// Writable are the private tmpfs of a box besides /box.
var Writable = []string{"/tmp", "/dev/shm"}

// Skeleton is the root of a room before anything of the host is in it: a tmpfs that is mounted nowhere yet, with the
// places where the host's folders and files will be shown. One thread makes it while another makes its namespaces.
type Skeleton struct {
	fd    int
	shown []string // what of the host is shown
}

// New makes the root of a room whose programs have this user id.
func New(more []string, uid int) (*Skeleton, error) {
	fd, err := detached(4<<20, 4096, unix.MOUNT_ATTR_NOSUID, false)
	if err != nil {
		return nil, fmt.Errorf("make a root: %w", err)
	}
	s := &Skeleton{fd: fd}
	if err := s.fill(append(visible, more...), uid); err != nil {
		return nil, errors.Join(fmt.Errorf("make a root: %w", err), s.Close())
	}
	return s, nil
}

// Close may be called again.
func (s *Skeleton) Close() error {
	if s.fd < 0 {
		return nil
	}
	fd := s.fd
	s.fd = -1
	return unix.Close(fd)
}

// fill makes the folders, links and synthetic files.
func (s *Skeleton) fill(paths []string, uid int) error {
	for _, path := range paths {
		if err := s.place(path); err != nil {
			return fmt.Errorf("a place for %s: %w", path, err)
		}
	}
	for _, d := range devices {
		if err := MountPoint(s.fd, "dev/"+d, false); err != nil {
			return err
		}
	}
	for _, dir := range append([]string{"/box", "/proc", "/etc", emptyFolder}, Writable...) {
		if err := makeFolder(s.fd, dir[1:]); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{
		"dev/fd": "/proc/self/fd", "dev/stdin": "fd/0", "dev/stdout": "fd/1", "dev/stderr": "fd/2",
	} {
		if err := unix.Symlinkat(to, s.fd, name); err != nil {
			return err
		}
	}
	id := strconv.Itoa(uid)
	for name, text := range map[string]string{
		"etc/passwd":        "root:x:0:0::/:/bin/false\nbox:x:" + id + ":" + id + "::/tmp:/bin/sh\n",
		"etc/group":         "root:x:0:\nbox:x:" + id + ":\n",
		"etc/hosts":         "127.0.0.1 localhost\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := makeFile(s.fd, name, text, 0o555); err != nil {
			return err
		}
	}
	// A program that cannot be read runs with memory that cannot be read.
	return makeFile(s.fd, ReaperPath[1:], string(elf.Reaper()), 0o111)
}

// place makes the place for a folder or file of the host, if that exists, or a copy of a symbolic link.
func (s *Skeleton) place(path string) error {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		s.shown = append(s.shown, path)
		return MountPoint(s.fd, path[1:], st.Mode&unix.S_IFMT == unix.S_IFDIR)
	}
	to, err := os.Readlink(path)
	if err == nil {
		err = makeFolder(s.fd, filepath.Dir(path[1:]))
	}
	if err != nil {
		return err
	}
	return unix.Symlinkat(to, s.fd, path[1:])
}

// Enter makes the skeleton the root of the calling thread, which must have its own mount, network, IPC and UTS
// namespaces, and shows the host's folders and files. The host's root still lies on it: /proc can be mounted in a user
// namespace only as long as another one can be seen.
func (s *Skeleton) Enter() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.MoveMount(s.fd, "", unix.AT_FDCWD, stage, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	for _, path := range s.shown {
		if err := bind(path, ReadOnly); err != nil {
			return err
		}
	}
	for _, d := range devices {
		// Read-only is the file, whose times all boxes would share, and not the device.
		if err := bind("/dev/"+d, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	if err := unix.Fchdir(s.fd); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	return s.Close()
}

// LeaveHost takes the host's root away, from above the working directory.
func LeaveHost() error {
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	return unix.Sethostname([]byte("box"))
}

// ReadOnly are the attributes of what is shown of the host.
const ReadOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// bind shows the host's path, with what is mounted below it, in the new root with mount attributes.
func bind(path string, attributes uint64) error {
	if err := unix.Mount(path, stage+path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	if err := Restrict(unix.AT_FDCWD, stage+path, attributes); err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}

// Restrict gives attributes to a mount and all below it. None of them writes down when
// a file was read: read-only mounts do not, and where we may say so it is said, too. In
// a user namespace the mounts of the host keep what they say about that.
func Restrict(dir int, path string, attributes uint64) error {
	const flags = unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	err := unix.MountSetattr(dir, path, flags, &unix.MountAttr{
		Attr_set: attributes | unix.MOUNT_ATTR_NOATIME, Attr_clr: unix.MOUNT_ATTR__ATIME,
	})
	if errors.Is(err, unix.EPERM) {
		err = unix.MountSetattr(dir, path, flags, &unix.MountAttr{Attr_set: attributes})
	}
	return err
}

// MountPoint makes target, from the folder dir on, an empty folder or file.
func MountPoint(dir int, target string, folder bool) error {
	if folder {
		return makeFolder(dir, target)
	}
	if err := makeFolder(dir, filepath.Dir(target)); err != nil {
		return err
	}
	err := unix.Mknodat(dir, target, unix.S_IFREG|0o644, 0)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// makeFolder makes a folder, from the folder dir on, and those above it that are missing. A root takes dozens of files,
// and package os asks four questions about each.
func makeFolder(dir int, path string) error {
	err := unix.Mkdirat(dir, path, 0o755)
	if errors.Is(err, unix.ENOENT) {
		if err := makeFolder(dir, filepath.Dir(path)); err != nil {
			return err
		}
		err = unix.Mkdirat(dir, path, 0o755)
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// makeFile makes a file in the folder dir with permissions.
func makeFile(dir int, name, text string, mode uint32) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	n, err := unix.Write(fd, []byte(text))
	if err == nil && n < len(text) {
		err = unix.ENOSPC
	}
	return errors.Join(err, unix.Close(fd))
}

// emptyFolder is shown in place of masked folders.
const emptyFolder = "/.empty"

// RestrictProc makes /proc read-only and takes all from it but processes, or masks what it can where the kernel does
// not do that. Nothing may have been looked up in /proc before: what the kernel remembers can be found again.
func RestrictProc() error {
	err := unix.Mount("", "/proc", "", unix.MS_REMOUNT|ProcFlags, "subset=pid")
	if err == nil {
		err = unix.Access("/proc/meminfo", unix.F_OK)
	}
	if !errors.Is(err, unix.ENOENT) {
		if err := maskProc(); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/proc", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|ProcFlags, ""); err != nil {
		return fmt.Errorf("restrict /proc: %w", err)
	}
	return nil
}

// ProcFlags are the flags of /proc.
const ProcFlags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// maskProc masks parts of /proc.
func maskProc() error {
	for _, path := range masked {
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	for _, path := range maskedFolders {
		if err := unix.Mount(emptyFolder, path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	return nil
}

// Seal makes the root itself read-only, or writable again for the room's thread. It is busy while a child of another
// room, on its way to its program, holds a descriptor that we had open for writing.
func Seal(sealed bool) error {
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_NOSUID)
	if sealed {
		flags |= unix.MS_RDONLY
	}
	err := wait.RetryBusy(func() error { return unix.Mount("", "/", "", flags, "") })
	if err != nil {
		return fmt.Errorf("seal the root: %w", err)
	}
	return nil
}

// inodes bounds the number of files in each private tmpfs.
const inodes = 65536

// MountPrivate mounts a fresh private tmpfs, perhaps with large pages.
func MountPrivate(path string, size int64, mode string, largePages bool) error {
	data := fmt.Sprintf("mode=%s,size=%d,nr_inodes=%d,uid=0,gid=0", mode, size, inodes)
	if largePages {
		data += ",huge=" + largeWithin
	}
	if err := unix.Mount("deepoj", path, "tmpfs", PrivateFlags, data); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{}, {}}, 0); err != nil {
		return fmt.Errorf("set the times of %s: %w", path, err)
	}
	return nil
}

// PrivateFlags are the flags of a private tmpfs. When a file was read is written down
// nowhere, or one run could tell it to the next.
const PrivateFlags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME

// DetachedBox returns a tmpfs like that of mountPrivate which is mounted nowhere yet.
// One thread may fill it while another makes the room that it is for.
func DetachedBox(size int64, readOnly bool) (int, error) {
	fd, err := detached(size, inodes, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOATIME, readOnly)
	if err != nil {
		return -1, fmt.Errorf("make /box: %w", err)
	}
	return fd, nil
}

// Of a tmpfs with large pages, which not every kernel has, files are written three times as quickly, and programs in it
// start more quickly. But who writes a byte into a hole of a file is charged for all of a page.
const (
	largeWithin = "within_size"
	largeNever  = "never"
)

// LargePages reports whether this kernel has large pages for a tmpfs.
func LargePages() bool {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return false
	}
	err = unix.FsconfigSetString(fs, "huge", largeWithin)
	return errors.Join(err, unix.Close(fs)) == nil
}

// SmallPages has what is written to a tmpfs from now on lie on small pages.
func SmallPages(path string) error {
	if err := unix.Mount("", path, "", unix.MS_REMOUNT|PrivateFlags, "huge="+largeNever); err != nil {
		return fmt.Errorf("use small pages in %s: %w", path, err)
	}
	return nil
}

// detached returns a tmpfs of root's that is mounted nowhere, with large pages where it should have them and can.
func detached(size, files int64, attributes int, largePages bool) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{
		{"source", "deepoj"}, {"mode", "755"}, {"size", strconv.FormatInt(size, 10)}, {"nr_inodes", strconv.FormatInt(files, 10)}, {"uid", "0"}, {"gid", "0"},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, fmt.Errorf("with %s=%s: %w", o[0], o[1], err)
		}
	}
	if largePages {
		_ = unix.FsconfigSetString(fs, "huge", largeWithin)
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attributes)
}

// Untouched reports whether nothing is in the tmpfs at path, also nothing unlinked and still open, and nothing was:
// whatever is made, renamed or removed there sets the time of its root, which no program can set back. What was made
// and removed would otherwise be seen in the numbers of later inodes.
func Untouched(path string) (bool, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(path, &fs)
	var st unix.Stat_t
	if err == nil {
		err = unix.Lstat(path, &st)
	}
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", path, err)
	}
	return fs.Files-fs.Ffree <= 1 && st.Mtim == unix.Timespec{} && st.Atim == unix.Timespec{}, nil
}

// ReaperPath is where the program lies until it runs.
const ReaperPath = "/.reaper"
