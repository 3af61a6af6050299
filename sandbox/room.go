package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// room is one private root, set of namespaces and control group, with the thread
// that lives in it. A room serves one session (one open box) and is then torn
// down; fresh ones are made in the background.
type room struct {
	agent *agent
	name  string
	uid   int
	group group

	reaper  int             // process id of the first process of the pid namespace
	ruleset int             // of Landlock; -1 where there is none
	killed  bool            // something was killed and may still be seen
	tools   map[string]Tool // that are shown

	groups   chan group    // delivers the control groups, or is closed
	sessions chan handover // delivers one session, or is closed
	built    chan error
	left     chan struct{} // closed when the thread is about to end

	// Of the session.
	sock     *os.File
	buf      []byte // for messages
	output   []byte // for output on its way
	writable bool
	tmpBytes int64
	core     int // index in agent.cores
	cores    int // how many the thread is bound to; 0 = not bound
	hungUp   bool
}

// handover is what a room is given: a session to serve, or else work to do on its
// thread, which is over when the other end of sock is closed.
type handover struct {
	sock    *os.File
	options BoxOptions
	core    int
	work    func(*room) error
}

// newRoom makes a room and waits until it is ready.
func (a *agent) newRoom(uid int) (*room, error) {
	r := a.beginRoom(uid)
	g, err := a.driver.open(r.name)
	if err := r.finish(g, err); err != nil {
		return nil, err
	}
	return r, nil
}

// beginRoom begins to make a room, on a thread of its own. It must be finished.
func (a *agent) beginRoom(uid int) *room {
	r := &room{
		agent: a, uid: uid, name: "room-" + strconv.FormatInt(a.serial.Add(1), 10), tools: map[string]Tool{},
		groups: make(chan group, 1), sessions: make(chan handover), built: make(chan error, 1), left: make(chan struct{}),
		tmpBytes: defaultTmp, ruleset: -1,
	}
	go r.live()
	return r
}

// finish gives a room its control groups, unless there is a reason not to, and
// waits until it is ready. After an error nothing is left of it.
func (r *room) finish(g group, why error) error {
	if why == nil {
		r.group = g
		r.groups <- g
	} else {
		close(r.groups)
	}
	err := <-r.built
	if err != nil {
		err = fmt.Errorf("make a room: %w", err)
	}
	if err := errors.Join(why, err); err != nil {
		return errors.Join(err, r.tearDown())
	}
	return nil
}

// live is the room's thread.
func (r *room) live() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the room
	if unix.Gettid() == os.Getpid() {
		// The main thread never ends, so it must not become a room. While this
		// goroutine holds it, another one gets another thread.
		moved := make(chan struct{})
		go func() {
			close(moved)
			r.live()
		}()
		<-moved
		runtime.UnlockOSThread()
		return
	}
	defer close(r.left)
	err := r.build()
	r.built <- err
	if err != nil || r.group == nil {
		return
	}
	s, ok := <-r.sessions
	if !ok {
		return
	}
	r.sock, r.core, r.buf = s.sock, s.core, make([]byte, maxMessage)
	r.output = make([]byte, 64<<10)
	serve := func(r *room) error { return r.serve(s.options) }
	if s.work != nil {
		serve = s.work
	}
	if err := serve(r); err != nil {
		r.agent.log.Error("a box failed", slog.String("room", r.name), slog.Any("err", err))
	}
	if err := r.killAll(); err != nil {
		r.agent.log.Error("a box could not be emptied", slog.String("room", r.name), slog.Any("err", err))
	}
	if err := r.sock.Close(); err != nil {
		r.agent.log.Error("a box could not be closed", slog.String("room", r.name), slog.Any("err", err))
	}
}

// build moves the thread into its namespaces, root and control groups. The
// groups come last, because whoever makes them does that meanwhile.
func (r *room) build() error {
	flags := unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	unix.Umask(0o022)
	hurry()
	if err := (rootMaker{readOnly: r.agent.cfg.ReadOnly, uid: r.uid}).make(); err != nil {
		return err
	}
	g, ok := <-r.groups
	if !ok {
		return nil // whoever closed it knows why
	}
	if err := g.enter(); err != nil {
		return err
	}
	var err error
	if r.reaper, err = startReaper(int(r.agent.null.Fd()), r.agent.reaperID()); err != nil {
		return err
	}
	if err := leaveHost(); err != nil {
		return err
	}
	if err := restrictProc(); err != nil {
		return err
	}
	if err := mountPrivate("/box", r.tmpBytes, "755", 0); err != nil {
		return err
	}
	for _, path := range writable {
		if err := mountPrivate(path, r.tmpBytes, "1777", 0); err != nil {
			return err
		}
	}
	if err := r.rule(); err != nil {
		return err
	}
	if err := forbidCapabilities(); err != nil {
		return err
	}
	return sealRoot(true)
}

// rule makes the ruleset anew, after something was mounted.
func (r *room) rule() error {
	if r.ruleset >= 0 {
		fd := r.ruleset
		r.ruleset = -1
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("close a ruleset: %w", err)
		}
	}
	if r.agent.status.Landlock == 0 {
		return nil
	}
	folders := slices.Clone(writable)
	if r.writable {
		folders = append(folders, "/box")
	}
	var err error
	r.ruleset, err = newRuleset(r.agent.status.Landlock, folders)
	return err
}

// hurry lets the thread, but not its children, go before programs: it has to look
// at the time of a program that keeps all cores busy. Without the privilege it
// is as slow as anybody.
func hurry() {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Nice: -15,
	}, 0)
}

// moveTo moves the thread to n cores, where its next child begins and stays. A
// child that moved by itself would wait for the kernel to carry it over, and
// whoever waits for a child on the same core is woken the fastest.
func (r *room) moveTo(n int) error {
	if r.cores == n {
		return nil
	}
	if err := unix.SchedSetaffinity(0, r.agent.affinity(r.core, n)); err != nil {
		return fmt.Errorf("choose cores: %w", err)
	}
	r.cores = n
	return nil
}

// tearDown waits until the thread is gone and removes what the room had. It is
// called on another thread.
func (r *room) tearDown() error {
	<-r.left
	var errs []error
	if r.reaper != 0 {
		if err := unix.Kill(r.reaper, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("kill a reaper: %w", err))
		}
		if _, err := waitProcess(r.reaper); err != nil {
			errs = append(errs, err)
		}
	}
	if r.ruleset >= 0 {
		errs = append(errs, unix.Close(r.ruleset))
	}
	if r.group != nil {
		errs = append(errs, r.group.remove())
	}
	return errors.Join(errs...)
}

// serve answers requests until the client hangs up.
func (r *room) serve(o BoxOptions) error {
	ready := reply{}
	if err := r.prepare(o); err != nil {
		ready = failure(err)
	}
	if err := r.reply(ready); err != nil || ready.Error != "" {
		return err
	}
	for !r.hungUp {
		var q request
		files, err := receiveMessage(int(r.sock.Fd()), r.buf, &q)
		if errors.Is(err, errClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		err = r.handle(q, files)
		closeAll(files)
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the box what its options say.
func (r *room) prepare(o BoxOptions) error {
	switch {
	case o.TmpBytes < 0 || o.TmpBytes > maxBytes:
		return fmt.Errorf("TmpBytes %d is not between 0 and %d", o.TmpBytes, int64(maxBytes))
	case o.TmpBytes > 0 && o.TmpBytes != r.tmpBytes:
		r.tmpBytes = o.TmpBytes
		for _, path := range append([]string{"/box"}, writable...) {
			err := unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_NOSUID|unix.MS_NODEV, "size="+strconv.FormatInt(o.TmpBytes, 10))
			if err != nil {
				return fmt.Errorf("resize %s: %w", path, err)
			}
		}
	}
	if o.Writable {
		r.writable = true
		if err := os.Chown("/box", r.uid, r.uid); err != nil {
			return fmt.Errorf("make the box writable: %w", err)
		}
		return r.rule()
	}
	return nil
}

// handle answers one request. The error is one after which the room cannot go
// on.
func (r *room) handle(q request, files []*os.File) error {
	switch q.Op {
	case opRun:
		if q.Run == nil {
			return r.reply(failure(errors.New("a run without a command")))
		}
		res, err := r.run(q.Run, files)
		if err != nil {
			return errors.Join(err, r.reply(failure(err)))
		}
		if err := r.reply(reply{Result: &res}); err != nil {
			return err
		}
		return r.clean()
	case opPut:
		if len(files) != 1 {
			return r.reply(failure(errors.New("files without a descriptor")))
		}
		if err := r.put(files[0]); err != nil {
			return r.reply(failure(err))
		}
		return r.reply(reply{})
	case opCollect:
		f, err := r.collect(q.Globs, q.MaxBytes)
		if err != nil {
			return r.reply(failure(err))
		}
		return errors.Join(r.reply(reply{}, int(f.Fd())), f.Close())
	case opClean:
		return r.reply(reply{}) // every run is followed by clean
	case opCancel:
		return nil // came too late: the run had ended
	default:
		return r.reply(failure(fmt.Errorf("%q is no request of a box", q.Op)))
	}
}

// reply answers the client. One that has gone is no error, but ends the session.
func (r *room) reply(v reply, fds ...int) error {
	err := sendMessage(int(r.sock.Fd()), v, fds...)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		r.hungUp = true
		return nil
	}
	return err
}

// clean removes what a run left: processes, files in the private tmpfs, memory.
func (r *room) clean() error {
	if err := r.killAll(); err != nil {
		return err
	}
	fresh := false
	for _, path := range writable {
		ok, err := empty(path)
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("empty %s: %w", path, err)
		}
		if err := mountPrivate(path, r.tmpBytes, "1777", 0); err != nil {
			return err
		}
		fresh = true
	}
	if fresh {
		if err := r.rule(); err != nil {
			return err
		}
	}
	return r.group.tidy()
}

// killAll ends every process in the room but the reaper, and waits until they are
// gone. The main process of a run must have been waited for. Doing it twice is
// fine.
func (r *room) killAll() error {
	killed, err := r.group.kill()
	if errors.Is(err, errCannotKill) {
		return r.killByHand()
	}
	if err != nil || !killed && !r.killed {
		return err
	}
	r.killed = false
	return r.settle()
}

// settle waits until killed processes are gone altogether: for a moment they
// still count, and can be seen, though they run no more.
func (r *room) settle() error {
	return retryBusy(func() error {
		pids, err := roomProcesses()
		if err == nil && len(pids) > 0 {
			err = unix.EBUSY
		}
		return err
	})
}

// killByHand kills everything in the pid namespace, from within.
func (r *room) killByHand() error {
	pids, err := roomProcesses()
	if err != nil || len(pids) == 0 {
		return err
	}
	// The kernel lets no process be born meanwhile. The group may be full, so
	// make place.
	if err := r.group.widen(); err != nil {
		return err
	}
	s := &script{}
	s.add("kill everything", unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL))
	pid, pidfd, err := s.start(0, r.group.spawn())
	if errors.Is(err, unix.ESRCH) {
		return r.settle() // they ended by themselves meanwhile
	}
	if err != nil {
		return fmt.Errorf("kill what is left: %w", err)
	}
	if _, err := waitProcess(pid); err != nil {
		return errors.Join(err, unix.Close(pidfd))
	}
	if err := unix.Close(pidfd); err != nil {
		return fmt.Errorf("kill what is left: %w", err)
	}
	return r.settle()
}

// host calls f on a thread that sees the host's root.
func (r *room) host(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// tool looks a tool up and makes what it needs visible in the box.
func (r *room) tool(name string) (Tool, error) {
	if t, ok := r.tools[name]; ok {
		return t, nil
	}
	var t Tool
	var err error
	r.host(func() { t, err = r.agent.tools.find(name) })
	if err != nil {
		return Tool{}, err
	}
	for _, path := range t.Roots {
		if shown(path, r.agent.cfg.ReadOnly) || r.sees(path) {
			continue
		}
		var tree *os.File
		var folder bool
		r.host(func() { tree, folder, err = openTree(path) })
		if err == nil {
			err = errors.Join(attach(tree, path, folder), tree.Close())
		}
		if err != nil {
			return Tool{}, fmt.Errorf("show the tool %s: %w", t.Name, err)
		}
	}
	r.tools[name] = t
	return t, nil
}

// sees reports whether a root of a tool is shown already.
func (r *room) sees(root string) bool {
	for _, t := range r.tools {
		if slices.Contains(t.Roots, root) {
			return true
		}
	}
	return false
}

// openTree opens path as a mount of its own that can be attached elsewhere.
func openTree(path string) (*os.File, bool, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", path, err)
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, false, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), st.IsDir(), nil
}
