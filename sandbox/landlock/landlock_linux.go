package landlock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock says a second time, by other means than mounts and permissions, what a program may write to, and denies TCP,
// signals and abstract sockets beyond the run. Kernels without it lose nothing else.

// landlockRights are the rights that rules can grant, by the version of the interface that knows them.
var landlockRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// Rights that callers grant; each counts as far as the kernel knows it.
const (
	Read    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	Execute = unix.LANDLOCK_ACCESS_FS_EXECUTE
	Use     = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // what is there
	Files   = Read | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
	All     = ^uint64(unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK) // but making devices
)

// Version returns the version of the kernel's interface, 0 if absent.
func Version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Ruleset denies all files but those that are allowed, and TCP.
type Ruleset struct {
	FD    int // of the ruleset; the caller closes it
	files uint64
}

// New returns a ruleset of the calling thread's root, for a kernel of a version above 0. With alone it also denies
// signals and abstract sockets to whoever is not restricted by it.
func New(version int, alone bool) (Ruleset, error) {
	attr := unix.LandlockRulesetAttr{}
	for _, r := range landlockRights {
		if r.version <= version {
			attr.Handled_access_fs |= r.rights
		}
	}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if alone && version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return Ruleset{FD: -1}, fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	return Ruleset{int(fd), attr.Handled_access_fs}, nil
}

// Allow grants rights to a file, or to a folder and all below it, as it is mounted now.
func (r Ruleset) Allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.files, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.FD), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		err = fmt.Errorf("allow %s: %w", path, errno)
	}
	return errors.Join(err, unix.Close(fd))
}
