package seccomp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// interpret runs a filter on a system call, as the kernel does. All arguments that
// filters look at are arg.
func interpret(t *testing.T, filter []unix.SockFilter, arch, number uint32, arg uint32) uint32 {
	t.Helper()
	data := map[uint32]uint32{offNumber: number, offArch: arch, offFirstArg: arg, offCommand: arg, offHow: arg, offFlags: arg}
	var a uint32
	for pc := 0; pc < len(filter); pc++ {
		in := filter[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case bpfLoad:
			a = data[in.K]
		case bpfEqual:
			jump(a == in.K)
		case bpfAtLeast:
			jump(a >= in.K)
		case bpfAnyBit:
			jump(a&in.K != 0)
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(in.K)
		case bpfReturn:
			return in.K
		default:
			t.Fatalf("instruction %d is %#x", pc, in.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

// decide runs both filters of a program: the kernel takes the sternest answer, and
// of two errors that of the later filter.
func decide(t *testing.T, locks bool, arch, number, arg uint32) uint32 {
	t.Helper()
	room := interpret(t, Room(), arch, number, arg)
	program := interpret(t, Program(locks), arch, number, arg)
	both := program
	if room == retKill || program == retAllow {
		both = room
	}
	if only := interpret(t, Only(locks), arch, number, arg); only != both {
		t.Errorf("of system call %d with %#x both filters say %#x, and the only one %#x", number, arg, both, only)
	}
	return both
}

func TestTheFiltersDecideEveryCallAsTheTablesSay(t *testing.T) {
	for number := range uint32(1024) {
		for _, locks := range []bool{false, true} {
			want := uint32(retAllow)
			arg := uint32(unix.AF_UNIX)
			switch {
			case number == unix.SYS_CLONE3, number == unix.SYS_OPENAT2, slices.Contains(slices.Concat(absent, archAbsent), number):
				want = retErrno | uint32(unix.ENOSYS)
			case number == unix.SYS_FLOCK && !locks, slices.Contains(flushing, number):
				want = retErrno // and no error
			case slices.Contains(slices.Concat(denied, needed, archDenied), number):
				want = retErrno | uint32(unix.EPERM)
			}
			if got := decide(t, locks, nativeArch, number, arg); got != want {
				t.Errorf("system call %d gives %#x, want %#x; locks %t", number, got, want, locks)
			}
		}
	}
	for command := range uint32(2048) { // of fcntl
		for _, locks := range []bool{false, true} {
			want := uint32(retAllow)
			switch {
			case slices.Contains(sharedCommands, command), !locks && slices.Contains(askCommands, command):
				want = retErrno | uint32(unix.EINVAL)
			case !locks && slices.Contains(lockCommands, command):
				want = retErrno // and no error
			}
			if got := decide(t, locks, nativeArch, unix.SYS_FCNTL, command); got != want {
				t.Errorf("command %d of fcntl gives %#x, want %#x; locks %t", command, got, want, locks)
			}
		}
	}
	for name, tt := range map[string]struct{ arch, number, arg, want uint32 }{
		"another architecture":   {unix.AUDIT_ARCH_I386, unix.SYS_READ, 0, retKill},
		"x32":                    {nativeArch, foreignBit | unix.SYS_READ, 0, retKill},
		"-1":                     {nativeArch, ^uint32(0), 0, retKill},
		"a thread":               {nativeArch, unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_THREAD, retAllow},
		"a child of the agent":   {nativeArch, unix.SYS_CLONE, unix.CLONE_PARENT | uint32(unix.SIGCHLD), retErrno | uint32(unix.EPERM)},
		"a user namespace":       {nativeArch, unix.SYS_CLONE, unix.CLONE_NEWUSER | uint32(unix.SIGCHLD), retErrno | uint32(unix.EPERM)},
		"a network namespace":    {nativeArch, unix.SYS_CLONE, unix.CLONE_NEWNET, retErrno | uint32(unix.EPERM)},
		"a nameless file":        {nativeArch, unix.SYS_OPENAT, unix.O_TMPFILE | unix.O_RDWR, retErrno | uint32(unix.EOPNOTSUPP)},
		"one by the old call":    {nativeArch, unix.SYS_OPEN, unix.O_TMPFILE, retErrno | uint32(unix.EOPNOTSUPP)},
		"a folder":               {nativeArch, unix.SYS_OPENAT, unix.O_DIRECTORY, retAllow},
		"a netlink socket":       {nativeArch, unix.SYS_SOCKET, unix.AF_NETLINK, retErrno | uint32(unix.EAFNOSUPPORT)},
		"a machine socket":       {nativeArch, unix.SYS_SOCKET, unix.AF_VSOCK, retErrno | uint32(unix.EAFNOSUPPORT)},
		"a pair of odd sockets":  {nativeArch, unix.SYS_SOCKETPAIR, unix.AF_TIPC, retErrno | uint32(unix.EAFNOSUPPORT)},
		"a pair of unix sockets": {nativeArch, unix.SYS_SOCKETPAIR, unix.AF_UNIX, retAllow},
		"writing memory to disk": {nativeArch, unix.SYS_MSYNC, unix.MS_SYNC, retErrno},
		"asking what is mapped":  {nativeArch, unix.SYS_MSYNC, unix.MS_ASYNC, retAllow},
		"reading":                {nativeArch, unix.SYS_PREADV2, unix.RWF_HIPRI, retAllow},
		"reading what is cached": {nativeArch, unix.SYS_PREADV2, unix.RWF_NOWAIT | unix.RWF_HIPRI, retErrno | uint32(unix.EOPNOTSUPP)},
	} {
		for _, locks := range []bool{false, true} {
			if got := decide(t, locks, tt.arch, tt.number, tt.arg); got != tt.want {
				t.Errorf("%s gives %#x, want %#x; locks %t", name, got, tt.want, locks)
			}
		}
	}
}

func TestOnlyCompilersMakeSocketsOfTheInternet(t *testing.T) {
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
			if got := decide(t, true, nativeArch, call, family); got != retAllow {
				t.Errorf("for a compiler, family %d gives %#x", family, got)
			}
			if got := decide(t, false, nativeArch, call, family); got != retErrno|uint32(unix.EAFNOSUPPORT) {
				t.Errorf("for another program, family %d gives %#x", family, got)
			}
		}
	}
}

func TestARoomsThreadMayDoWhatItNeeds(t *testing.T) {
	for _, number := range append([]uint32{unix.SYS_CLONE3, unix.SYS_SECCOMP, unix.SYS_LANDLOCK_RESTRICT_SELF}, needed...) {
		if got := interpret(t, Room(), nativeArch, number, 0); got != retAllow {
			t.Errorf("system call %d gives %#x", number, got)
		}
	}
}

func TestTheFiltersAreQuickToInstall(t *testing.T) {
	// The kernel evaluates them for every system call when they are installed, and
	// that of a program is installed for every run.
	for name, tt := range map[string]struct {
		filter []unix.SockFilter
		most   int
	}{
		"that of a room":     {Room(), 20},
		"that of a program":  {Program(false), 8},
		"that of a compiler": {Program(true), 8},
		"an only one":        {Only(false), 20},
	} {
		longest := 0
		var depth func(pc, n int)
		depth = func(pc, n int) {
			in := tt.filter[pc]
			switch in.Code {
			case bpfReturn:
				longest = max(longest, n+1)
			case bpfLoad:
				if in.K >= offFirstArg { // where the kernel gives up
					longest = max(longest, n+1)
					return
				}
				depth(pc+1, n+1)
			case unix.BPF_JMP | unix.BPF_JA:
				depth(pc+1+int(in.K), n+1)
			default:
				depth(pc+1+int(in.Jt), n+1)
				depth(pc+1+int(in.Jf), n+1)
			}
		}
		depth(0, 0)
		if longest > tt.most {
			t.Errorf("%s takes up to %d instructions for a decision, want at most %d", name, longest, tt.most)
		}
	}
}
