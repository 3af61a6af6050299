package plugin

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are the system calls that a child never makes by itself: a guest
// that broke out of the engine would want them. What the Go runtime, the cache
// and the socket to the host need is allowed.
var forbidden = []uint32{
	// talk to anybody
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	// become another program, or look into one
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	// change the world around
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SETHOSTNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SWAPON,
	// reach rarely used parts of the kernel
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
}

// Where the filter finds things in what the kernel shows it.
const (
	dataNumber   = 0
	dataArch     = 4
	dataFirstArg = 16 // its lower half
)

// confine forbids the calling process, for ever, the system calls that it does
// not need. Further threads may be made, further processes not.
func confine() error {
	runtime.LockOSThread() // both calls belong to one thread; the second takes the others along
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renounce new privileges: %w", err)
	}
	program := filter()
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return fmt.Errorf("forbid system calls: %w", errno)
	}
	return nil
}

// filter is the program that decides on a system call.
func filter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		above = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		yield = unix.BPF_RET | unix.BPF_K
		deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	)
	program := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: nativeArch, Jt: 1},
		{Code: yield, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: dataNumber},
		// The numbers of another calling convention, which would evade the list.
		{Code: above, K: 1 << 30, Jf: 1},
		{Code: yield, K: deny},
		// The Go runtime falls back to clone, whose flags can be seen.
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		{Code: yield, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	for _, number := range forbidden {
		program = append(program,
			unix.SockFilter{Code: equal, K: number, Jf: 1},
			unix.SockFilter{Code: yield, K: deny})
	}
	return append(program, []unix.SockFilter{
		{Code: equal, K: unix.SYS_CLONE, Jf: 3},
		{Code: load, K: dataFirstArg},
		{Code: bits, K: unix.CLONE_THREAD, Jt: 1},
		{Code: yield, K: deny},
		{Code: yield, K: unix.SECCOMP_RET_ALLOW},
	}...)
}
