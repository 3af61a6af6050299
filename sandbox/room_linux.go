package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// room is one private root, set of namespaces and control group, with the thread
// that lives in it. A room serves one session (one open box) and is then torn
// down; fresh ones are made in the background.
type room struct {
	agent  *agent
	thread *thread
	name   string
	uid    int
	root   *skeleton
	group  group

	reaper  int             // process id of the first process of the pid namespace
	ruleset int             // of Landlock; -1 where there is none
	killed  bool            // something was killed and may still be seen
	stuck   bool            // something was killed and does not go: nothing can be removed
	tools   map[string]Tool // that are shown

	groups   chan group    // delivers the control groups, or is closed
	box      chan int      // where there is one, delivers what to mount at /box, or is closed
	sessions chan handover // delivers one session, or is closed
	built    chan error
	left     chan struct{} // closed when the thread is about to end
	over     *bell         // where there is one, rings then

	// Of the session.
	sock     *os.File
	buf      []byte // for messages
	output   []byte // for output on its way
	writable bool
	locks    bool // programs may lock files
	tmpBytes int64
	core     int // index in agent.cores
	cores    int // how many the thread is bound to; 0 = not bound
	hungUp   bool
	stock    stock

	movable bool      // another room can go on with the session
	ran     bool      // it has served a run
	used    bool      // what a run did to it cannot be undone
	next    *handover // for the room that goes on with the session
}

// handover is what a room is given: a session to serve, or else work to do on its
// thread, which is over when the other end of sock is closed.
type handover struct {
	sock    *os.File
	options BoxOptions
	core    int
	work    func()
	movable bool // whoever gives it gives room.next to another room
	moved   *moved
}

// newRoom makes a room and waits until it is ready.
func (a *agent) newRoom(uid int) (*room, error) {
	r, err := a.planRoom(uid)
	if err != nil {
		return nil, err
	}
	g, err := a.driver.open(r.name)
	if err != nil {
		return nil, errors.Join(err, r.root.close())
	}
	t, err := beginThread()
	if err != nil {
		return nil, errors.Join(err, r.root.close(), g.remove())
	}
	t.serve(r)
	r.give(g, nil)
	if err := r.outcome(); err != nil {
		close(r.sessions)
		return nil, errors.Join(err, r.tearDown())
	}
	return r, nil
}

// planRoom returns a room for a thread to make, which must be given its control
// groups.
func (a *agent) planRoom(uid int) (*room, error) {
	root, err := makeSkeleton(a.cfg.ReadOnly, uid)
	if err != nil {
		return nil, err
	}
	return &room{
		agent: a, uid: uid, root: root, name: "room-" + strconv.FormatInt(a.serial.Add(1), 10), tools: map[string]Tool{},
		groups: make(chan group, 1), sessions: make(chan handover, 1), built: make(chan error, 1), left: make(chan struct{}),
		tmpBytes: defaultTmp, ruleset: -1,
	}, nil
}

// give gives a room that has a thread its control groups, unless there is a reason
// not to.
func (r *room) give(g group, why error) {
	if why == nil {
		r.group = g
		r.groups <- g
	} else {
		close(r.groups)
	}
	r.thread.bell.ring()
}

// errNotGiven says that a room was not given what it waited for. Whoever kept that
// back knows why.
var errNotGiven = errors.New("a room was not given what it needs")

// outcome waits until a room is made, and says why it is not.
func (r *room) outcome() error {
	err := <-r.built
	if err == nil || errors.Is(err, errNotGiven) {
		return nil
	}
	return fmt.Errorf("make a room: %w", err)
}

// live is what the room's thread does, unless it could not be isolated.
func (r *room) live(err error) {
	defer func() {
		close(r.left)
		if r.over != nil {
			r.over.ring()
		}
	}()
	if err == nil && r.box != nil {
		err = r.moveTo(1)
	}
	if err == nil {
		hurry()
		err = r.build()
	}
	r.built <- err
	if err != nil {
		return
	}
	s, ok := <-r.sessions
	if !ok {
		return
	}
	r.sock, r.buf, r.output = s.sock, make([]byte, maxMessage), make([]byte, 64<<10)
	if r.core != s.core {
		r.core, r.cores = s.core, 0
	}
	if s.work != nil {
		s.work()
	} else if err := r.serve(s); err != nil {
		r.failed("it failed", err)
	}
	r.leave()
}

// leave lets the room's thread end. That takes long, because its mounts go with it;
// whoever tears the room down says what is wrong with it, and has less to wait for.
func (r *room) leave() {
	if err := r.killAll(); err != nil {
		r.failed("it could not be emptied", err)
	}
	_ = r.killReaper()
	_ = r.group.leave()
	unhurry()
	err := r.stock.close()
	if r.next == nil {
		err = errors.Join(err, r.sock.Close())
	}
	if err != nil {
		r.agent.log.Error("a box could not be closed", slog.String("room", r.name), slog.Any("err", err))
	}
}

// failed says what went wrong with a box. If it is stuck, so is the agent.
func (r *room) failed(what string, err error) {
	r.agent.log.Error("a box is lost", slog.String("room", r.name), slog.String("why", what), slog.Any("err", err))
	if errors.Is(err, errStuck) {
		r.stuck = true
		r.agent.giveUp(err)
	}
}

// build moves the thread into its root and control groups. The groups and /box
// come as late as they can, because whoever makes them does that meanwhile.
func (r *room) build() error {
	if err := r.root.enter(); err != nil {
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
	if err := r.mountWritable(); err != nil {
		return err
	}
	if err := r.rule(); err != nil {
		return err
	}
	if err := forbidCapabilities(); err != nil {
		return err
	}
	r.thread.bell.await()
	g, ok := <-r.groups
	if !ok {
		return errNotGiven
	}
	if err := g.enter(); err != nil {
		return err
	}
	if err := r.mountBox(); err != nil {
		return err
	}
	if err := sealRoot(true); err != nil {
		return err
	}
	return filterRoom(r.agent.roomFilter)
}

// mountBox mounts /box.
func (r *room) mountBox() error {
	if r.box == nil {
		return mountPrivate("/box", r.boxBytes(), "755", 0)
	}
	r.thread.bell.await()
	fd, ok := <-r.box
	if !ok {
		return errNotGiven
	}
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, "/box", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount /box: %w", err)
	}
	return nil
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

// tearDown waits until the thread is about to end and removes what the room had. It is
// called on another thread.
func (r *room) tearDown() error {
	err := r.release()
	if errors.Is(err, errStuck) {
		return err
	}
	return errors.Join(err, r.reap())
}

// release waits until the thread is about to end and removes what the room had but
// the reaper, which takes a while to be gone and is in none of the groups.
//
// Of a room that is stuck nothing can be removed. The next agent does that.
func (r *room) release() error {
	select {
	case <-r.left:
	case <-time.After(agentPatience):
		return stuck("thread and processes of a room")
	}
	if r.stuck {
		return errStuck
	}
	var errs []error
	errs = append(errs, r.killReaper())
	if r.ruleset >= 0 {
		errs = append(errs, unix.Close(r.ruleset))
	}
	errs = append(errs, r.thread.bell.close(), r.root.close())
	if r.group != nil {
		if err := r.group.remove(); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", errStuck, err))
		}
	}
	return errors.Join(errs...)
}

// reap waits until the reaper of a released room is gone.
func (r *room) reap() error {
	if r.reaper == 0 {
		return nil
	}
	_, err := waitProcess(r.reaper)
	return err
}

// killReaper ends the pid namespace. It may be called until the reaper is waited
// for.
func (r *room) killReaper() error {
	if r.reaper == 0 {
		return nil
	}
	if err := unix.Kill(r.reaper, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill a reaper: %w", err)
	}
	return nil
}
