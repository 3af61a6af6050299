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
	ruleset, err := landlock.New(version, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(ruleset.FD)) }()
	if c.Reads != "" {
		if err := ruleset.Allow(c.Reads, landlock.Read); err != nil {
			return err
		}
	}
	if c.Writes != "" {
		if err := ruleset.Allow(c.Writes, landlock.Files); err != nil {
			return err
		}
	}
	// Every thread restricts itself, and no child inherits what it could escape by.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("renounce new privileges: %w", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset.FD), 0, 0); errno != 0 {
		return fmt.Errorf("restrict files: %w", errno)
	}
	return nil
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
