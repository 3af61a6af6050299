// Package seccomp makes the filters of system calls of rooms and programs.
package seccomp

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/spawn"
)

// Two filters allow by default and deny what reaches into the kernel's less travelled parts or out of the namespaces.
// Namespaces, credentials and control groups contain the program by themselves; the filters make the kernel smaller.
//
// To install a filter takes the kernel longer than all else that bounds a program, as it translates the filter and runs
// it for every system call number. So a room's thread wears the greater part of what is denied, which its children
// inherit. Only what the thread needs itself is denied to each program anew. A room that runs one program has one
// filter for it, which is quicker to install than two.

// needed are the denied system calls that a room's thread makes, or its child on the way to the program.
var needed = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE,
	unix.SYS_SCHED_SETAFFINITY,
}

// denied are the other system calls that fail with EPERM.
var denied = []uint32{
	// Mounts and roots.
	unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	// Namespaces.
	unix.SYS_SETNS, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Which cores it runs on is ours to say.
	unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY,
	// Large or young parts of the kernel.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_MEMFD_SECRET, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// The machine.
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	// System V and POSIX message queues and the like would outlive a run.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL,
	unix.SYS_SEMTIMEDOP, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR,
}

// absent are system calls that fail with ENOSYS, as on a kernel without them. They
// tell what others do with the files of /usr, which all boxes and the host share, or
// throw these files out of the page cache. Language run-times live without them.
var absent = []uint32{
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_RM_WATCH,
	unix.SYS_FADVISE64, unix.SYS_CACHESTAT,
}

// flushing are system calls that succeed and do nothing. All that a program can write is kept in memory; what they
// would write to disks are other people's files, as often as the program likes.
var flushing = []uint32{
	unix.SYS_SYNC, unix.SYS_SYNCFS, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
}

// Commands of fcntl. Some change what is kept of a file for everybody, also through a descriptor that can only read:
// leases, notices of changes, and hints for writing. So do locks, which compilers need all the same, to share a cache
// among their processes. Other programs are told that they have what they want to lock, and nothing is locked: the Java
// virtual machine prints a warning to standard output otherwise.
var (
	lockCommands   = []uint32{unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW}
	askCommands    = []uint32{unix.F_GETLK, unix.F_OFD_GETLK}
	sharedCommands = []uint32{
		unix.F_SETLEASE, unix.F_GETLEASE, unix.F_NOTIFY,
		unix.F_GET_RW_HINT, unix.F_SET_RW_HINT, unix.F_GET_FILE_RW_HINT, unix.F_SET_FILE_RW_HINT,
	}
)

// families are the socket families that a compiler may ask for. Its network
// namespace has no interface that is up, so they lead nowhere. Other programs get
// only the first one: what the others count in the namespace stays for the next run.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}

// nameless is the flag that makes a file without a name. It counts among the inodes
// of its tmpfs, and nothing else there shows that it was: see package rootfs.
const nameless = unix.O_TMPFILE &^ unix.O_DIRECTORY

// CloneDenied are the flags of clone that make namespaces, and the one that makes a brother: the parent of the main
// process is the agent, which would have a child that it knows nothing of.
var CloneDenied uint32 = unix.CLONE_PARENT | unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Instructions and offsets of the filter language.
const (
	bpfLoad    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bpfAnyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfReturn  = unix.BPF_RET | unix.BPF_K

	offNumber   = 0
	offArch     = 4
	offFirstArg = 16               // low half; the filter looks at no high half
	offCommand  = offFirstArg + 8  // the second argument, of fcntl and open
	offHow      = offFirstArg + 16 // the third argument, of openat
	offFlags    = offFirstArg + 40 // the sixth argument, of preadv2

	retKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	retErrno = 0x00050000 // SECCOMP_RET_ERRNO
	retAllow = 0x7fff0000 // SECCOMP_RET_ALLOW
)

// code is a piece of a filter that ends with a return.
type code []unix.SockFilter

func ret(k uint32) code      { return code{{Code: bpfReturn, K: k}} }
func fail(e unix.Errno) code { return ret(retErrno | uint32(e)) }

// span says what happens to the system calls from first up to the next span.
type span struct {
	first uint32
	then  code
}

// roomCalls says what happens to system calls in a room, its thread included.
func roomCalls() map[uint32]code {
	then := map[uint32]code{
		unix.SYS_CLONE: slices.Concat(
			code{{Code: bpfLoad, K: offFirstArg}, {Code: bpfAnyBit, Jf: 1, K: CloneDenied}},
			fail(unix.EPERM), ret(retAllow),
		),
		unix.SYS_SOCKET:     onlyFamilies(families),
		unix.SYS_SOCKETPAIR: onlyFamilies(families),
		unix.SYS_OPENAT:     notNameless(offHow),
		unix.SYS_FCNTL: slices.Concat(
			code{{Code: bpfLoad, K: offCommand}}, among(sharedCommands, fail(unix.EINVAL)), ret(retAllow),
		),
		unix.SYS_MSYNC: slices.Concat( // of a mapped file; whoever asks whether pages are mapped says MS_ASYNC
			code{{Code: bpfLoad, K: offHow}, {Code: bpfAnyBit, Jf: 1, K: unix.MS_SYNC}}, fail(0), ret(retAllow),
		),
		// What is not in the page cache would be told at once, and not be read.
		unix.SYS_PREADV2: slices.Concat(
			code{{Code: bpfLoad, K: offFlags}, {Code: bpfAnyBit, Jf: 1, K: unix.RWF_NOWAIT}},
			fail(unix.EOPNOTSUPP), ret(retAllow),
		),
	}
	if archOpen != 0 {
		then[archOpen] = notNameless(offCommand)
	}
	for _, call := range slices.Concat(absent, archAbsent) {
		then[call] = fail(unix.ENOSYS)
	}
	for _, call := range slices.Concat(denied, archDenied) {
		then[call] = fail(unix.EPERM)
	}
	for _, call := range flushing {
		then[call] = fail(0)
	}
	return then
}

// notNameless looks at the flags of open, at an offset.
func notNameless(flags uint32) code {
	return slices.Concat(
		code{{Code: bpfLoad, K: flags}, {Code: bpfAnyBit, Jf: 1, K: nameless}},
		fail(unix.EOPNOTSUPP), ret(retAllow),
	)
}

// programCalls says what happens to further system calls in a program, which may lock files, as compilers may, or not.
func programCalls(locks bool) map[uint32]code {
	then := map[uint32]code{
		unix.SYS_OPENAT2: fail(unix.ENOSYS), // likewise: its flags are in memory
		// clone3 keeps its flags in memory, where a filter cannot look; C
		// libraries fall back to clone when there is no clone3.
		unix.SYS_CLONE3: fail(unix.ENOSYS),
	}
	for _, call := range needed {
		then[call] = fail(unix.EPERM)
	}
	if !locks {
		then[unix.SYS_SOCKET], then[unix.SYS_SOCKETPAIR] = onlyFamilies(families[:1]), onlyFamilies(families[:1])
		then[unix.SYS_FLOCK] = fail(0)
		then[unix.SYS_FCNTL] = slices.Concat(
			code{{Code: bpfLoad, K: offCommand}}, among(lockCommands, fail(0)), among(askCommands, fail(unix.EINVAL)), ret(retAllow),
		)
	}
	return then
}

// spans returns what happens to every system call number, in order.
func spans(then map[uint32]code) []span {
	all := []span{{0, ret(retAllow)}}
	for _, call := range slices.Sorted(maps.Keys(then)) {
		if last := &all[len(all)-1]; last.first == call { // right after another one
			last.then = then[call]
		} else {
			all = append(all, span{call, then[call]})
		}
		all = append(all, span{call + 1, ret(retAllow)})
	}
	// Neighbours with the same end are one.
	return slices.CompactFunc(all, func(a, b span) bool { return slices.Equal(a.then, b.then) })
}

// among does then if what was loaded is one of values, and otherwise goes on with what follows.
func among(values []uint32, then code) code {
	var c code
	for i, v := range values {
		c = append(c, unix.SockFilter{Code: bpfEqual, Jt: uint8(len(values) - i), K: v})
	}
	c = append(c, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(then))})
	return append(c, then...)
}

// onlyFamilies looks at the first argument of socket.
func onlyFamilies(families []uint32) code {
	c := code{{Code: bpfLoad, K: offFirstArg}}
	for i, f := range families {
		c = append(c, unix.SockFilter{Code: bpfEqual, Jt: uint8(len(families) - i), K: f})
	}
	return slices.Concat(c, fail(unix.EAFNOSUPPORT), ret(retAllow))
}

// tree decides between spans by halving. The kernel runs a filter for every
// system call number when it is installed, so a list would cost far more.
func tree(all []span) code {
	if len(all) == 1 {
		return all[0].then
	}
	half := len(all) / 2
	low, high := tree(all[:half]), tree(all[half:])
	if len(low) > 255 { // too far for a conditional jump
		c := code{{Code: bpfAtLeast, Jf: 1, K: all[half].first}, {Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(low))}}
		return slices.Concat(c, low, high)
	}
	return slices.Concat(code{{Code: bpfAtLeast, Jt: uint8(len(low)), K: all[half].first}}, low, high)
}

// Room returns the filter of a room's thread.
func Room() []unix.SockFilter { return wholeFilter(roomCalls()) }

// Only returns the filter of a program whose room has none: it decides as both filters together.
func Only(locks bool) []unix.SockFilter {
	then := roomCalls()
	maps.Copy(then, programCalls(locks))
	if !locks {
		then[unix.SYS_FCNTL] = slices.Concat(
			code{{Code: bpfLoad, K: offCommand}},
			among(lockCommands, fail(0)), among(slices.Concat(sharedCommands, askCommands), fail(unix.EINVAL)), ret(retAllow),
		)
	}
	return wholeFilter(then)
}

// wholeFilter returns a filter that knows only numbers of system calls of this machine.
func wholeFilter(then map[uint32]code) []unix.SockFilter {
	return slices.Concat(
		code{{Code: bpfLoad, K: offArch}, {Code: bpfEqual, Jt: 1, K: nativeArch}},
		ret(retKill),
		code{{Code: bpfLoad, K: offNumber}, {Code: bpfAtLeast, Jf: 1, K: foreignBit}},
		ret(retKill),
		tree(spans(then)),
	)
}

// Program returns the filter that a program has besides that of its room,
// which leaves it only numbers of system calls of this machine.
func Program(locks bool) []unix.SockFilter {
	return slices.Concat(code{{Code: bpfLoad, K: offNumber}}, tree(spans(programCalls(locks))))
}

// Compile returns a filter as the kernel takes it.
func Compile(f []unix.SockFilter) *unix.SockFprog {
	return &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
}

// Install filters the system calls of the calling thread and of its children,
// for good; nil is no filter. It must be root, if only of a user namespace.
func Install(f *unix.SockFprog) error {
	if f == nil {
		return nil
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(f))); errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}

// Add adds the program's filter to a script; nothing may follow it but the program.
func Add(s *spawn.Script, f *unix.SockFprog) {
	s.Add("filter system calls", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, spawn.Pointer(s, f))
}
