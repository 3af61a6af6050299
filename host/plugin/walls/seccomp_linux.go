package walls

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are the system calls that a child never makes by itself: a guest that broke out of the engine would want
// them. What the Go runtime, the cache and the socket to the host need is allowed.
var forbidden = []uint32{
	// talk to anybody
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// become another program, look into one, or disturb it
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_GET_ROBUST_LIST,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_SETPGID,
	// become somebody else
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPSET,
	// change the world around
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SYNC, unix.SYS_SYNCFS,
	// change what files are: Landlock does not see it
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_TRUNCATE,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKNODAT, unix.SYS_FLOCK, unix.SYS_IOCTL,
	// reach rarely used parts of the kernel
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_IO_SETUP,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPENAT2,
	unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT, unix.SYS_MEMFD_SECRET, unix.SYS_PERSONALITY, unix.SYS_VHANGUP,
}

// forbiddenToReaders are those that a child does without which writes no file.
var forbiddenToReaders = []uint32{unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_FALLOCATE, unix.SYS_MEMFD_CREATE}

// lastKnown is the last number of a system call that this list knows. What newer kernels have beyond it is not there.
const lastKnown = 470

// Where the filter finds things in what the kernel shows it: of arguments the lower
// halves, which are all that it takes of those that are looked at.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
	dataArg    = 8 // size of one
)

// confine forbids the calling process, for ever, the system calls that it does
// not need. Further threads may be made, further processes not.
func confine(writes bool) error {
	runtime.LockOSThread() // both calls belong to one thread; the second takes the others along
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renounce new privileges: %w", err)
	}
	program := filter(uint32(os.Getpid()), writes)
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return fmt.Errorf("forbid system calls: %w", errno)
	}
	return nil
}

// Instructions of a filter, and what it answers.
const (
	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	isEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	hasBits = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	yield   = unix.BPF_RET | unix.BPF_K

	deny   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// filter is the program that decides on a system call of the process self.
func filter(self uint32, writes bool) []unix.SockFilter {
	program := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: isEqual, K: nativeArch, Jt: 1},
		{Code: yield, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: dataNumber},
		// The numbers of another calling convention too, which would evade the list.
		{Code: atLeast, K: lastKnown + 1, Jf: 1},
		{Code: yield, K: absent},
		// The Go runtime falls back to clone, whose flags can be seen.
		{Code: isEqual, K: unix.SYS_CLONE3, Jf: 1},
		{Code: yield, K: absent},
	}
	denied := slices.Concat(forbidden, forbiddenHere)
	if !writes {
		denied = slices.Concat(denied, forbiddenToReaders, forbiddenToReadersHere)
		program = append(program, unless(unix.SYS_OPENAT, 2, hasBits, unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC)...)
	}
	for _, number := range denied {
		program = append(program, unix.SockFilter{Code: isEqual, K: number, Jf: 1}, unix.SockFilter{Code: yield, K: deny})
	}
	for _, r := range [][]unix.SockFilter{
		only(unix.SYS_CLONE, 0, hasBits, unix.CLONE_THREAD),
		// The Go runtime sends signals to its own threads.
		only(unix.SYS_KILL, 0, isEqual, self),
		only(unix.SYS_TGKILL, 0, isEqual, self),
		only(unix.SYS_PRLIMIT64, 0, isEqual, 0, self),
		// Whoever owns a descriptor gets signals when something happens with it.
		unless(unix.SYS_FCNTL, 1, isEqual, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG, unix.F_SETLEASE, unix.F_NOTIFY),
	} {
		program = append(program, r...)
	}
	return append(program, unix.SockFilter{Code: yield, K: unix.SECCOMP_RET_ALLOW})
}

// only allows a system call if one of its arguments compares with one of values, and unless allows it if not.
func only(number uint32, arg int, compare uint16, values ...uint32) []unix.SockFilter {
	return decide(number, arg, compare, values, unix.SECCOMP_RET_ALLOW, deny)
}

func unless(number uint32, arg int, compare uint16, values ...uint32) []unix.SockFilter {
	return decide(number, arg, compare, values, deny, unix.SECCOMP_RET_ALLOW)
}

func decide(number uint32, arg int, compare uint16, values []uint32, then, otherwise uint32) []unix.SockFilter {
	const around = 2 // instructions beside those for the values
	rule := []unix.SockFilter{
		{Code: isEqual, K: number, Jf: uint8(2*len(values) + around)},
		{Code: load, K: uint32(dataArgs + arg*dataArg)},
	}
	for _, v := range values {
		rule = append(rule, unix.SockFilter{Code: compare, K: v, Jf: 1}, unix.SockFilter{Code: yield, K: then})
	}
	return append(rule, unix.SockFilter{Code: yield, K: otherwise})
}
