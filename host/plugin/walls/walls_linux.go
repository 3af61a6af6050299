package walls

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/landlock"
)

// build builds walls around the calling process, for ever.
func (c Confinement) build() error {
	if err := closeInherited(c.Descriptors); err != nil {
		return err
	}
	os.Clearenv()
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide its memory: %w", err)
	}
	if err := c.landlock(); err != nil {
		return err
	}
	return confine(c.Writes != "")
}

// closeInherited closes what was inherited but the first descriptors. What this process has opened itself, such as the
// Go runtime before main, is marked to be closed with the next program; what came from the program before is not.
func closeInherited(kept int) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < kept {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			err = unix.Close(fd)
		}
		if err != nil && !errors.Is(err, unix.EBADF) { // the list itself is closed already
			return fmt.Errorf("close descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// What Landlock knows to deny, by the version of its interface.
var landlockRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = landlockRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
)

// reachesThreads reports whether a system call can be made by all threads of this
// process, which Landlock needs. In programs that C code is linked into it cannot.
func reachesThreads() bool {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETUID, 0, 0, 0)
	return errno != syscall.ENOTSUP
}

// landlock denies all files but those that the confinement names, and TCP. It does nothing
// where [All] says that the layer is missing.
func (c Confinement) landlock() (err error) {
	version := landlock.Version()
	if version == 0 || !reachesThreads() {
		return nil
	}
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
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	defer func() { err = errors.Join(err, unix.Close(int(ruleset))) }()
	if c.Reads != "" {
		if err := allow(int(ruleset), c.Reads, attr.Handled_access_fs&landlockRead); err != nil {
			return err
		}
	}
	if c.Writes != "" {
		if err := allow(int(ruleset), c.Writes, attr.Handled_access_fs&landlockWrite); err != nil {
			return err
		}
	}
	// Every thread restricts itself, and no child inherits what it could escape by.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("renounce new privileges: %w", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("restrict files: %w", errno)
	}
	return nil
}

// allow adds a folder to a ruleset.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		err = fmt.Errorf("allow %s: %w", path, errno)
	}
	return errors.Join(err, unix.Close(fd))
}

// All returns the layers around the processes that run plugins, of this program on this machine.
func All() []Wall {
	files := Wall{Name: "Landlock", Holds: "all files but the cache of modules, which only the compiler writes"}
	switch version := landlock.Version(); {
	case version == 0:
		files.Missing = "the kernel has no Landlock, or does not let this program use it"
	case !reachesThreads():
		files.Missing = "this program is built with cgo, in which threads cannot be restricted"
	default:
		files.Name += " " + strconv.Itoa(version)
	}
	calls := Wall{Name: "seccomp", Holds: "signals, sockets, programs and other processes, and in workers opening anything to write"}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))); errno != 0 {
		calls.Missing = "the kernel has no seccomp, and plugins do not run: " + errno.Error()
	}
	return []Wall{
		files, calls,
		{Name: "no dumps", Holds: "being looked into by others of the same user"},
		{Name: "nothing inherited", Holds: "environment, and descriptors but those of the call"},
	}
}
