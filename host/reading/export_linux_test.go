package reading

import "syscall"

// ReachesThreads reports whether Landlock can be had, which a program that C is linked
// into cannot: tests under the race detector are such.
func ReachesThreads() bool {
	_, _, errno := syscall.AllThreadsSyscall(syscall.SYS_GETUID, 0, 0, 0)
	return errno != syscall.ENOTSUP
}
