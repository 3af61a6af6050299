// Package spawn starts processes that make a list of system calls and then execute a program.
package spawn

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wait"
)

// A child is born by clone3 with CLONE_VM|CLONE_VFORK: it borrows our memory until it executes its program, so nothing
// is copied. In that time it only makes the system calls of a list that was prepared before (see forkSteps, in
// assembly), because the Go runtime knows nothing of it.

// HideMemory keeps others from reading this process's memory: a child has it for a moment.
func HideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the agent's memory: %w", err)
	}
	return nil
}

// IgnoreDeaths has the kernel send no signal when a child ends: whoever started it
// waits for it, and a signal would only wake threads, for the Go runtime to forget
// it. Unlike ignoring the signal, that leaves children to be waited for.
func IgnoreDeaths() error {
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

// Error says which step of a child failed.
type Error struct {
	Step  string
	Errno syscall.Errno
}

func (e *Error) Error() string { return e.Step + ": " + e.Errno.Error() }
func (e *Error) Unwrap() error { return e.Errno }

// The names of what comes before the first step of every script, and of its last one.
const (
	StepStart = "start a process"
	StepExec  = "execute the program"
)

// Script is what a child does between its birth and its program.
type Script struct {
	ID    int32 // of the child in its pid namespace; 0 = the next one
	steps []step
	names []string
	keep  []any // what the steps point to
}

// New returns an empty script with place for that of a program.
func New() *Script {
	const most = 32
	return &Script{steps: make([]step, 0, most), names: make([]string, 0, most), keep: make([]any, 0, most)}
}

// Add appends the system call number with args, under a name for errors.
func (s *Script) Add(name string, number uintptr, args ...uintptr) {
	st := step{number: number}
	copy(st.args[:], args)
	s.steps = append(s.steps, st)
	s.names = append(s.names, name)
}

// DropFirst takes the first step out again.
func (s *Script) DropFirst() {
	s.steps, s.names = slices.Delete(s.steps, 0, 1), slices.Delete(s.names, 0, 1)
}

// Pointer returns the address of v for a step, and keeps v alive.
func Pointer[T any](s *Script, v *T) uintptr {
	s.keep = append(s.keep, v)
	return uintptr(unsafe.Pointer(v))
}

// Text returns the address of a C string for a step. It must hold no NUL byte.
func Text(s *Script, v string) uintptr {
	b := append([]byte(v), 0)
	return Pointer(s, &b[0])
}

// Stdio makes fds the standard streams and closes everything else.
func (s *Script) Stdio(fds [3]int) {
	// A descriptor below 3 would be overwritten before its turn, so the agent
	// never holds one there besides its own streams.
	for i, fd := range fds {
		s.Add("set up standard streams", unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	s.Add("close descriptors", unix.SYS_CLOSE_RANGE, 3, uintptr(^uint32(0)), 0)
}

// Limit sets a resource limit, soft and hard.
func (s *Script) Limit(resource int, value uint64) { s.LimitUpTo(resource, value, value) }

// LimitUpTo is limit for a resource of which the program may give itself more, up to most.
func (s *Script) LimitUpTo(resource int, value, most uint64) {
	r := &unix.Rlimit{Cur: value, Max: most}
	s.Add("set a resource limit", unix.SYS_PRLIMIT64, 0, uintptr(resource), Pointer(s, r), 0)
}

// Become gives up root for the user and group id uid, for good. Where there is
// only one id it is 0, which keeps no capability.
func (s *Script) Become(uid int) {
	if id := uintptr(uid); uid != 0 {
		s.Add("drop groups", unix.SYS_SETGROUPS, 0, 0)
		s.Add("set the group", unix.SYS_SETRESGID, id, id, id)
		s.Add("set the user", unix.SYS_SETRESUID, id, id, id)
	}
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	s.Add("drop capabilities", unix.SYS_CAPSET, Pointer(s, header), Pointer(s, &[2]unix.CapUserData{}))
	s.Add("forbid new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
}

// ForbidCapabilities takes all capabilities out of reach of the calling thread's
// children for good: they inherit an empty bounding set. The thread keeps its own.
func ForbidCapabilities() error {
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

// Exec ends the script by executing path.
func (s *Script) Exec(path string, argv, envv []string) error {
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
	s.Add("unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, Pointer(s, &none), 0, 8)
	s.Add(StepExec, unix.SYS_EXECVE, Text(s, path), uintptr(unsafe.Pointer(&av[0])), uintptr(unsafe.Pointer(&ev[0])))
	return nil
}

// Start runs the script in a new child, in the v2 control group cgroup unless that is negative. It returns once the
// program runs, or a *childError with the child gone.
func (s *Script) Start(flags uint64, cgroup int) (pid, pidfd int, err error) {
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
	if s.ID != 0 {
		args.ids, args.idCount = uint64(uintptr(unsafe.Pointer(&s.ID))), 1
	}
	failed := new(stepFailure)
	n := uintptr(len(s.steps))
	p, errno := forkSteps(args, unsafe.Sizeof(*args), &s.steps[0], n, failed)
	runtime.KeepAlive(s)
	runtime.KeepAlive(fd)
	if errno != 0 {
		return 0, -1, &Error{StepStart, syscall.Errno(errno)}
	}
	if failed.left != 0 {
		_, _, err := wait.Child(int(p), int(*fd))
		if closeErr := unix.Close(int(*fd)); err == nil {
			err = closeErr
		}
		if err != nil {
			return 0, -1, err
		}
		return 0, -1, &Error{s.names[n-failed.left], syscall.Errno(failed.errno)}
	}
	return int(p), int(*fd), nil
}

// StartPatiently starts a script. A program that was just written may for a moment be open for writing in a child of
// another room that has not executed its own program yet.
func StartPatiently(s *Script, cgroup int) (pid, pidfd int, err error) {
	for range 200 {
		pid, pidfd, err = s.Start(0, cgroup)
		if !errors.Is(err, unix.ETXTBSY) {
			return pid, pidfd, err
		}
		pause := unix.NsecToTimespec(int64(200 * time.Microsecond))
		_, _ = unix.Ppoll(nil, &pause, nil) // a wait, cut short by a signal at worst
	}
	return pid, pidfd, err
}
