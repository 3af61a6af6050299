package reading

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seeOnly has the calling process open no file by its name any more, but those below
// the folder that it was given. What is open stays open. A kernel without Landlock
// leaves it at what the account may read.
func seeOnly(folder bool) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil
	}
	const first = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // all that the first version knows
	rights := unix.LandlockRulesetAttr{Handled_access_fs: first}
	if version >= 2 {
		rights.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rights)), unsafe.Sizeof(rights.Handled_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("make rules for files: %w", errno)
	}
	defer unix.Close(int(rules)) //nolint:errcheck // it is made and used here
	if folder {
		below := unix.LandlockPathBeneathAttr{Allowed_access: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR, Parent_fd: sourceFD}
		if _, _, errno = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&below)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("allow the folder: %w", errno)
		}
	}
	// All threads, of which the Go runtime has some by now. Where C is linked in, such as
	// under the race detector, it cannot reach them.
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0)
	if errno != 0 && !errors.Is(errno, unix.ENOTSUP) {
		return fmt.Errorf("forbid files: %w", errno)
	}
	return nil
}
