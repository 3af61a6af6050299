//go:build linux && !amd64

package spawn

import "syscall"

// forkSteps is machine code, which is there for amd64 only.
func forkSteps(*cloneArgs, uintptr, *step, uintptr, *stepFailure) (pid, errno uintptr) {
	return 0, uintptr(syscall.ENOSYS)
}
