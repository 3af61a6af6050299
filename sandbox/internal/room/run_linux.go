package room

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/elf"
	"deepoj/sandbox/internal/seccomp"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// setupError is a reason why a command could not be run that is neither the program's doing nor a failure of the room:
// the result is SE. With unfit the platform is well, see [Result].
type setupError struct {
	text  string
	unfit bool
}

func (e *setupError) Error() string { return e.text }

// run runs one command on the room's thread: start it, watch it, end it,
// measure it. The error is a failure of the room.
func (r *Room) run(q *wire.RunRequest, files []*os.File) (wire.Result, error) {
	w := watch{room: r, result: wire.Result{Driver: r.host.Driver.Name()}}
	err := w.start(q, files)
	if err == nil {
		err = w.watch()
	}
	if closeErr := w.close(); err == nil {
		err = closeErr
	}
	r.stuck = r.stuck || errors.Is(err, wait.ErrStuck)
	if err == nil && w.result.Signal == int(unix.SIGSYS) && r.foreign(q.Program) {
		err = &setupError{explainExec(q.Program, unix.ENOEXEC), true}
	}
	if setup, ok := errors.AsType[*setupError](err); ok {
		w.result.Verdict, w.result.Error, w.result.Unfit = wire.SE, wire.Brief(setup.text), setup.unfit
		err = nil
	}
	return w.result, err
}

// watch is one run under way.
type watch struct {
	room   *Room
	limits wire.Limits
	result wire.Result

	pid, pidfd int
	clock      int32 // CPU clock of the main process
	begun      time.Time
	out, err   *drain
	ours       []int      // descriptors to close when the program has its own
	given      []*os.File // likewise: who is at the other end of a pipe must see the program close it
	stdin      *os.File
	why        wire.Verdict // why we killed it, if we did
	cancelled  bool
}

// start starts the program.
func (w *watch) start(q *wire.RunRequest, files []*os.File) error {
	r := w.room
	w.pidfd = -1
	var err error
	if w.limits, err = resolve(q.Limits, r.host.machine); err != nil {
		return &setupError{text: err.Error()}
	}
	path, argv0, env, err := r.command(q)
	if err != nil {
		return err
	}
	stdio, err := w.connect(q, files)
	if err != nil {
		return err
	}
	if err := r.moveTo(w.limits.Cores); err != nil {
		return err
	}
	if err := r.group.Begin(w.limits.MemoryBytes, w.limits.Processes); err != nil {
		return err
	}
	s := spawn.New()
	counted := r.counted(s)
	w.protect(s)
	if r.ruleset >= 0 {
		restrictTo(s, r.ruleset, r.host.Status.Landlock)
	}
	s.Stdio(stdio)
	w.confine(s)
	if err := s.Exec(path, append([]string{argv0}, q.Args...), env); err != nil {
		return &setupError{err.Error(), true}
	}
	w.begun = time.Now()
	w.pid, w.pidfd, err = spawn.StartPatiently(s, r.group.Spawn())
	if counted && r.uncount(s, err) {
		w.pid, w.pidfd, err = spawn.StartPatiently(s, r.group.Spawn())
	}
	if err != nil {
		if child, ok := errors.AsType[*spawn.Error](err); ok && child.Step == spawn.StepExec {
			return &setupError{explainExec(path, child.Errno), unfitToExecute(q, child.Errno)}
		}
		return err
	}
	w.clock = int32(^w.pid)<<3 | 2 // how the kernel names a process's CPU clock
	return w.closeOurs()
}

// stackBeyond is how much the stack may grow beyond the memory limit: a program that recurses too deeply is then killed
// for want of memory, which is MLE, and not by a limit on the stack, which would look like a wild pointer. It may ask
// for no limit at all, as programs for other judges do, and fail if they may not.
const stackBeyond = 16 << 20

// protect adds to a script what comes before mounting is denied. The program gets a control group namespace of its own
// only now: where namespaces bound what may be delegated, its parent could not put it into its group from within one.
func (w *watch) protect(s *spawn.Script) {
	s.Add("make a control group namespace", unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP)
	if w.room.UID == 0 && !w.room.writable { // the program could make its files writable
		s.Add("make a mount namespace", unix.SYS_UNSHARE, unix.CLONE_NEWNS)
		s.Add("make /box read-only", unix.SYS_MOUNT, 0, spawn.Pointer(s, &boxFolder), 0,
			unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, 0)
	}
}

// confine adds to a script what bounds the program.
func (w *watch) confine(s *spawn.Script) {
	r := w.room
	// Not a session: where the scheduler groups by session, a new one costs a
	// program milliseconds on a busy machine.
	s.Add("start a process group", unix.SYS_SETPGID, 0, 0)
	s.Add("enter the working directory", unix.SYS_CHDIR, spawn.Pointer(s, &boxFolder))
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_FSIZE, uint64(w.limits.FileBytes)},
		{unix.RLIMIT_NOFILE, uint64(w.limits.OpenFiles)},
		{unix.RLIMIT_NPROC, w.processLimit()},
	}
	for _, l := range limits {
		s.Limit(l.resource, min(l.value, r.host.hard[l.resource]))
	}
	most := r.host.hard[unix.RLIMIT_STACK]
	s.LimitUpTo(unix.RLIMIT_STACK, min(uint64(w.limits.MemoryBytes+stackBeyond), most), most)
	s.Become(r.UID)
	if r.locks {
		seccomp.Add(s, r.host.locking)
	} else {
		seccomp.Add(s, r.host.filter)
	}
}

// processLimit is the limit on processes of the room's user id, which only the
// driver without control groups needs: every room has its own id.
func (w *watch) processLimit() uint64 {
	if w.result.Driver == wire.DriverNone {
		return uint64(w.limits.Processes)
	}
	return unlimited
}

var boxFolder = [5]byte{'/', 'b', 'o', 'x', 0}

// command returns the path, name and environment of the program.
func (r *Room) command(q *wire.RunRequest) (path, argv0 string, env []string, err error) {
	if (q.Tool == "") == (q.Program == "") {
		return "", "", nil, &setupError{text: "a command needs a tool or a program, and not both"}
	}
	path, argv0 = q.Program, q.Program
	var folders []string
	for _, name := range append([]string{q.Tool}, q.ExtraTools...) {
		if name == "" {
			continue
		}
		t, err := r.tool(name)
		if err != nil {
			return "", "", nil, &setupError{text: err.Error()}
		}
		if name == q.Tool {
			path, argv0 = t.Path, t.Path
		}
		if dir := t.Path[:strings.LastIndexByte(t.Path, '/')]; !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, dir := range []string{"/usr/bin", "/bin"} {
		if !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	env = []string{"PATH=" + strings.Join(folders, ":"), "HOME=/tmp", "LANG=C.UTF-8"}
	for _, e := range q.Env {
		key, _, ok := strings.Cut(e, "=")
		if !ok || key == "" {
			return "", "", nil, &setupError{text: fmt.Sprintf("the environment entry %q is not KEY=value", e)}
		}
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, key+"=") })
		env = append(env, e)
	}
	return path, argv0, env, nil
}

// connect makes the standard streams.
func (w *watch) connect(q *wire.RunRequest, files []*os.File) (stdio [3]int, err error) {
	var passed [3]*os.File
	for i, given := range q.Stdio {
		if given {
			if len(files) == 0 {
				return stdio, errors.New("a run with fewer descriptors than it names")
			}
			passed[i], files = files[0], files[1:]
		}
	}
	if passed[0] == nil {
		if stdio[0], err = w.room.pool.null(); err != nil {
			return stdio, err
		}
		w.ours = append(w.ours, stdio[0])
	} else {
		in, copied, err := input(passed[0], w.room.spare)
		if err != nil {
			return stdio, &setupError{text: err.Error()}
		}
		if copied {
			w.stdin = in
		} else {
			w.given = append(w.given, in)
		}
		stdio[0] = int(in.Fd())
	}
	if q.Raw && passed[1] != nil {
		if err := block(passed[1]); err != nil {
			return stdio, &setupError{text: err.Error()}
		}
		w.out = &drain{from: -1, keep: -1}
		w.given = append(w.given, passed[1])
		stdio[1] = int(passed[1].Fd())
	} else {
		if w.out, stdio[1], err = w.room.newDrain(passed[1], q.StdoutLimit, wire.DefaultStdoutLimit); err != nil {
			return stdio, &setupError{text: err.Error()}
		}
		w.ours = append(w.ours, stdio[1])
	}
	if w.err, stdio[2], err = w.room.newDrain(passed[2], q.StderrLimit, wire.DefaultStderrLimit); err != nil {
		return stdio, &setupError{text: err.Error()}
	}
	w.ours = append(w.ours, stdio[2])
	return stdio, nil
}

// closeOurs closes the ends of pipes that the program has its own of.
func (w *watch) closeOurs() error {
	var errs []error
	for _, fd := range w.ours {
		errs = append(errs, unix.Close(fd))
	}
	wire.CloseAll(w.given)
	w.ours, w.given = nil, nil
	return errors.Join(errs...)
}

func (w *watch) close() error {
	errs := []error{w.closeOurs()}
	if w.stdin != nil {
		errs = append(errs, w.stdin.Close())
	}
	for _, d := range []*drain{w.out, w.err} {
		if d != nil {
			errs = append(errs, d.close())
		}
	}
	if w.pidfd >= 0 {
		errs = append(errs, unix.Close(w.pidfd))
	}
	return errors.Join(errs...)
}

// foreign reports whether program is a file of /box for another machine, which the kernel starts all the same when it
// knows that machine too. A program that can write to /box may have made itself look like one.
func (r *Room) foreign(program string) bool {
	if program == "" || path.IsAbs(program) || r.writable {
		return false
	}
	box, err := openBox()
	if err != nil {
		return false
	}
	defer unix.Close(box)
	fd, err := beneath(box, path.Clean(program), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var head [20]byte // of an ELF file: what it is, and from byte 18 on for which machine
	n, err := unix.Pread(fd, head[:], 0)
	const bits64 = 2
	return err == nil && n == len(head) && string(head[:4]) == "\x7fELF" &&
		(head[4] != bits64 || binary.LittleEndian.Uint16(head[18:]) != elf.Machine)
}

// unfitToExecute reports whether what was to be executed is the reason that it was not: it lies in the box, or its
// arguments are too long. What the tools of the machine lack, and the machine itself, is for whoever runs it.
func unfitToExecute(q *wire.RunRequest, errno syscall.Errno) bool {
	if errno == unix.E2BIG {
		return true
	}
	inBox := q.Program != "" && (!path.IsAbs(q.Program) || strings.HasPrefix(path.Clean(q.Program), "/box/"))
	switch errno { //nolint:exhaustive // the others are the machine's
	case unix.ENOENT, unix.EACCES, unix.ENOEXEC, unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EISDIR, unix.EINVAL, unix.ELIBBAD, unix.EPERM, unix.EIO:
		return inBox
	}
	return false
}

// explainExec says why a program could not be executed.
func explainExec(path string, errno syscall.Errno) string {
	var why string
	switch errno { //nolint:exhaustive // the others speak for themselves
	case unix.ENOENT:
		why = "there is no such program, or its interpreter is missing"
	case unix.EACCES:
		why = "it is a folder, or may not be read and executed"
	case unix.ENOEXEC:
		why = "it is no program for this machine"
	case unix.ENOTDIR, unix.ELOOP:
		why = "its path leads nowhere"
	case unix.E2BIG:
		why = "its arguments are too long"
	case unix.ENOMEM:
		why = "its memory limit is too small"
	default:
		why = errno.Error()
	}
	return "execute " + path + ": " + why
}

// restrictTo adds the ruleset to a script, before descriptors are closed and root is given up.
func restrictTo(s *spawn.Script, ruleset, version int) {
	var flags uintptr
	if version >= 7 {
		flags = unix.LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF
	}
	s.Add("restrict files", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), flags)
}
