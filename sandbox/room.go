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
	box      chan int      // where there is one, delivers what to mount at /box, or is closed
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
	stock    stock
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
	r := a.planRoom(uid)
	thread := beginThread()
	thread <- r
	g, err := a.driver.open(r.name)
	r.give(g, err)
	if err := r.await(err); err != nil {
		return nil, err
	}
	return r, nil
}

// beginThread begins a thread with namespaces of its own, for the room that it is
// given, unless the channel is closed. To make them takes long, so whoever still has
// to find out what room it wants begins with this.
func beginThread() chan<- *room {
	rooms := make(chan *room, 1)
	go live(rooms)
	return rooms
}

// planRoom returns a room for a thread to make. It must be given its control groups
// meanwhile.
func (a *agent) planRoom(uid int) *room {
	return &room{
		agent: a, uid: uid, name: "room-" + strconv.FormatInt(a.serial.Add(1), 10), tools: map[string]Tool{},
		groups: make(chan group, 1), sessions: make(chan handover), built: make(chan error, 1), left: make(chan struct{}),
		tmpBytes: defaultTmp, ruleset: -1,
	}
}

// give gives a room its control groups, unless there is a reason not to.
func (r *room) give(g group, why error) {
	if why == nil {
		r.group = g
		r.groups <- g
	} else {
		close(r.groups)
	}
}

// await waits until a room is ready that was given what it needs, unless there was
// a reason not to. After an error nothing is left of it.
func (r *room) await(why error) error {
	err := <-r.built
	if err != nil {
		err = fmt.Errorf("make a room: %w", err)
	}
	if err := errors.Join(why, err); err != nil {
		close(r.sessions)
		return errors.Join(err, r.tearDown())
	}
	return nil
}

// live is the thread of the room that is given to it.
func live(rooms <-chan *room) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the room
	if unix.Gettid() == os.Getpid() {
		// The main thread never ends, so it must not become a room. While this
		// goroutine holds it, another one gets another thread.
		moved := make(chan struct{})
		go func() {
			close(moved)
			live(rooms)
		}()
		<-moved
		runtime.UnlockOSThread()
		return
	}
	err := isolate()
	r, ok := <-rooms
	if !ok {
		return
	}
	defer close(r.left)
	if err == nil {
		err = r.build()
	}
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
	_ = r.killReaper() // who tears the room down says what is wrong with it, and has less to wait for
	if err := errors.Join(r.stock.close(), r.sock.Close()); err != nil {
		r.agent.log.Error("a box could not be closed", slog.String("room", r.name), slog.Any("err", err))
	}
}

// isolate moves the thread into namespaces of its own.
func isolate() error {
	flags := unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	unix.Umask(0o022)
	hurry()
	return nil
}

// build moves the thread into its root and control groups. The groups and /box
// come as late as they can, because whoever makes them does that meanwhile.
func (r *room) build() error {
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
	if r.reaper, err = startReaper(int(r.agent.lifeline[0].Fd()), int(r.agent.null.Fd()), r.agent.reaperID()); err != nil {
		return err
	}
	if err := leaveHost(); err != nil {
		return err
	}
	if err := restrictProc(); err != nil {
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
	if ok, err := r.mountBox(); !ok {
		return err
	}
	if err := sealRoot(true); err != nil {
		return err
	}
	return filterRoom(r.agent.roomFilter)
}

// mountBox mounts /box. Whoever closed r.box knows why there is none.
func (r *room) mountBox() (ok bool, err error) {
	if r.box == nil {
		err := mountPrivate("/box", r.tmpBytes, "755", 0)
		return err == nil, err
	}
	fd, ok := <-r.box
	if !ok {
		return false, nil
	}
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, "/box", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return false, fmt.Errorf("mount /box: %w", err)
	}
	return true, nil
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
// at the time of a program that keeps all cores busy. A session's programs may
// share the processor as one group, and then niceness counts for nothing against
// other sessions, so that only a real-time thread is sure to be in time. Without
// the privilege it is as slow as anybody.
func hurry() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 1}
	if unix.SchedSetAttr(0, &a, 0) != nil {
		a.Policy, a.Priority, a.Nice = unix.SCHED_NORMAL, 0, -15
		_ = unix.SchedSetAttr(0, &a, 0)
	}
}

// hurryChildren lets the children of a thread that hurries go before programs too,
// until it hurries alone again. Without the privilege nothing changes.
func hurryChildren() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	_ = unix.SchedSetAttr(0, &a, 0)
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
		if err := r.killReaper(); err != nil {
			errs = append(errs, err)
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

// killReaper ends the pid namespace. It may be called until the reaper is waited
// for.
func (r *room) killReaper() error {
	if err := unix.Kill(r.reaper, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill a reaper: %w", err)
	}
	return nil
}
