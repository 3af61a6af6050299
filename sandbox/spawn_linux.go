package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child is born by clone3 with CLONE_VM|CLONE_VFORK: it borrows our memory
// until it executes its program, so nothing is copied. In that time it only
// makes the system calls of a list that was prepared before (see forkSteps, in
// assembly), because the Go runtime knows nothing of it.

// hideMemory keeps others from reading this process's memory: a child has it for
// a moment.
func hideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the agent's memory: %w", err)
	}
	return nil
}

// ignoreDeaths has the kernel send no signal when a child ends: whoever started it
// waits for it, and a signal would only wake threads, for the Go runtime to forget
// it. Unlike ignoring the signal, that leaves children to be waited for.
func ignoreDeaths() error {
	var defaults [4]uint64 // struct sigaction
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&defaults)), 0, 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("set what the end of a child does: %w", errno)
	}
	return nil
}

// step is one system call of a child. The layout is known to the assembly.
type step struct {
	number uintptr
	args   [6]uintptr
}

// stepFailure says which step failed. The layout is known to the assembly.
type stepFailure struct {
	errno uintptr
	left  uintptr // steps left, with the failed one; 0 = none failed
}

// cloneArgs is struct clone_args of the kernel, as of Linux 5.7.
type cloneArgs struct {
	flags, pidFD uint64
	_            [2]uint64 // where to store thread ids
	exitSignal   uint64
	_            [3]uint64 // stack, thread-local storage
	ids, idCount uint64    // to choose, from the innermost pid namespace on
	cgroup       uint64
}

// childError says which step of a child failed.
type childError struct {
	step  string
	errno syscall.Errno
}

func (e *childError) Error() string { return e.step + ": " + e.errno.Error() }
func (e *childError) Unwrap() error { return e.errno }

// The names of what comes before the first step of every script, and of its last one.
const (
	stepStart = "start a process"
	stepExec  = "execute the program"
)

// script is what a child does between its birth and its program.
type script struct {
	id    int32 // of the child in its pid namespace; 0 = the next one
	steps []step
	names []string
	keep  []any // what the steps point to
}

// newScript returns an empty script with place for that of a program.
func newScript() *script {
	const most = 32
	return &script{steps: make([]step, 0, most), names: make([]string, 0, most), keep: make([]any, 0, most)}
}

// add appends the system call number with args, under a name for errors.
func (s *script) add(name string, number uintptr, args ...uintptr) {
	st := step{number: number}
	copy(st.args[:], args)
	s.steps = append(s.steps, st)
	s.names = append(s.names, name)
}

// pointer returns the address of v for a step, and keeps v alive.
func pointer[T any](s *script, v *T) uintptr {
	s.keep = append(s.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// text returns the address of a C string for a step. It must hold no NUL byte.
func text(s *script, v string) uintptr {
	b := append([]byte(v), 0)
	return pointer(s, &b[0])
}

// stdio makes fds the standard streams and closes everything else.
func (s *script) stdio(fds [3]int) {
	// A descriptor below 3 would be overwritten before its turn, so the agent
	// never holds one there besides its own streams.
	for i, fd := range fds {
		s.add("set up standard streams", unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	s.add("close descriptors", unix.SYS_CLOSE_RANGE, 3, uintptr(^uint32(0)), 0)
}

// limit sets a resource limit, soft and hard.
func (s *script) limit(resource int, value uint64) { s.limitUpTo(resource, value, value) }

// limitUpTo is limit for a resource of which the program may give itself more, up to
// most.
func (s *script) limitUpTo(resource int, value, most uint64) {
	r := &unix.Rlimit{Cur: value, Max: most}
	s.add("set a resource limit", unix.SYS_PRLIMIT64, 0, uintptr(resource), pointer(s, r), 0)
}

// become gives up root for the user and group id uid, for good. Where there is
// only one id it is 0, which keeps no capability.
func (s *script) become(uid int) {
	if id := uintptr(uid); uid != 0 {
		s.add("drop groups", unix.SYS_SETGROUPS, 0, 0)
		s.add("set the group", unix.SYS_SETRESGID, id, id, id)
		s.add("set the user", unix.SYS_SETRESUID, id, id, id)
	}
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	s.add("drop capabilities", unix.SYS_CAPSET, pointer(s, header), pointer(s, &[2]unix.CapUserData{}))
	s.add("forbid new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
}

// forbidCapabilities takes all capabilities out of reach of the calling thread's
// children for good: they inherit an empty bounding set. The thread keeps its own.
func forbidCapabilities() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil // that was the last one
		}
		if err != nil {
			return fmt.Errorf("forbid capabilities: %w", err)
		}
	}
}

// exec ends the script by executing path.
func (s *script) exec(path string, argv, envv []string) error {
	if strings.ContainsRune(path, 0) {
		return errors.New("the program's path holds a NUL byte")
	}
	av, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return fmt.Errorf("an argument holds a NUL byte: %w", err)
	}
	ev, err := syscall.SlicePtrFromStrings(envv)
	if err != nil {
		return fmt.Errorf("the environment holds a NUL byte: %w", err)
	}
	s.keep = append(s.keep, av, ev)
	var none [1]uint64
	s.add("unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, pointer(s, &none), 0, 8)
	s.add(stepExec, unix.SYS_EXECVE, text(s, path), uintptr(unsafe.Pointer(&av[0])), uintptr(unsafe.Pointer(&ev[0])))
	return nil
}

// start runs the script in a new child, in the v2 control group cgroup unless
// that is negative. It returns once the program runs, or a *childError with the
// child gone.
func (s *script) start(flags uint64, cgroup int) (pid, pidfd int, err error) {
	fd := new(int32)
	args := &cloneArgs{
		flags:      flags | unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | unix.CLONE_CLEAR_SIGHAND,
		exitSignal: uint64(unix.SIGCHLD),
		pidFD:      uint64(uintptr(unsafe.Pointer(fd))),
	}
	if cgroup >= 0 {
		args.flags |= unix.CLONE_INTO_CGROUP
		args.cgroup = uint64(cgroup)
	}
	if s.id != 0 {
		args.ids, args.idCount = uint64(uintptr(unsafe.Pointer(&s.id))), 1
	}
	failed := new(stepFailure)
	n := uintptr(len(s.steps))
	p, errno := forkSteps(args, unsafe.Sizeof(*args), &s.steps[0], n, failed)
	runtime.KeepAlive(s)
	runtime.KeepAlive(fd)
	if errno != 0 {
		return 0, -1, &childError{stepStart, syscall.Errno(errno)}
	}
	if failed.left != 0 {
		_, _, err := waitChild(int(p), int(*fd))
		if closeErr := unix.Close(int(*fd)); err == nil {
			err = closeErr
		}
		if err != nil {
			return 0, -1, err
		}
		return 0, -1, &childError{s.names[n-failed.left], syscall.Errno(failed.errno)}
	}
	return int(p), int(*fd), nil
}
