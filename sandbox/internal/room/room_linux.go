package room

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/seccomp"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
	"deepoj/sandbox/landlock"
)

// Room is one private root, set of namespaces and control group, with the thread that lives in it. A room serves one
// session (one open box) and is then torn down; fresh ones are made in the background.
type Room struct {
	host   *Host
	thread *Thread
	Name   string
	UID    int
	root   *rootfs.Skeleton
	group  cgroup.Group

	reaper  int                  // process id of the first process of the pid namespace
	ruleset int                  // of Landlock; -1 where there is none
	killed  bool                 // something was killed and may still be seen
	stuck   bool                 // something was killed and does not go: nothing can be removed
	lost    bool                 // it failed
	tools   map[string]wire.Tool // that are shown

	groups   chan cgroup.Group // delivers the control groups, or is closed
	box      chan int          // where there is one, delivers what to mount at /box, or is closed
	sessions chan Handover     // delivers one session, or is closed
	built    chan error
	left     chan struct{}   // closed when the thread is about to end
	over     *wait.Semaphore // where there is one, is posted then

	// Of the session.
	sock *os.File
	*buffers
	writable bool
	locks    bool // programs may lock files
	tmpBytes int64
	core     int // index in host.cores
	cores    int // how many the thread is bound to; 0 = not bound
	hungUp   bool
	pool     pool

	movable bool      // another room can go on with the session
	ran     bool      // it has served a run
	used    bool      // what a run did to it cannot be undone
	next    *Handover // for the room that goes on with the session
}

// Handover is what a room is given: a session to serve, or else work to do on its
// thread, which is over when the other end of sock is closed.
type Handover struct {
	Sock    *os.File
	Options wire.BoxOptions
	Core    int
	work    func()
	Movable bool // whoever gives it gives room.next to another room
	moved   *moved
}

// buffers are what a session needs. Each would otherwise leave some to the garbage collector.
type buffers struct {
	message [wire.MaxMessage]byte
	output  [64 << 10]byte // on its way
}

// New makes a room and waits until it is ready.
func (h *Host) New(uid int) (*Room, error) {
	r, err := h.planRoom(uid)
	if err != nil {
		return nil, err
	}
	g, err := h.Driver.Open(r.Name)
	if err != nil {
		return nil, errors.Join(err, r.root.Close())
	}
	t, err := beginThread(h.networks)
	if err != nil {
		return nil, errors.Join(err, r.root.Close(), g.Remove())
	}
	t.serve(r)
	r.give(g, nil)
	if err := r.outcome(); err != nil {
		r.Dismiss()
		return nil, errors.Join(err, r.TearDown())
	}
	return r, nil
}

// planRoom returns a room for a thread to make, which must be given its control groups.
func (h *Host) planRoom(uid int) (*Room, error) {
	root, err := rootfs.New(h.Config.ReadOnly, uid)
	if err != nil {
		return nil, err
	}
	return &Room{
		host: h, UID: uid, root: root, Name: "room-" + strconv.FormatInt(h.serial.Add(1), 10), tools: map[string]wire.Tool{},
		groups: make(chan cgroup.Group, 1), sessions: make(chan Handover, 1), built: make(chan error, 1), left: make(chan struct{}),
		tmpBytes: wire.DefaultTmp, ruleset: -1,
	}, nil
}

// give gives a room that has a thread its control groups, unless there is a reason not to.
func (r *Room) give(g cgroup.Group, why error) {
	if why == nil {
		r.group = g
		r.groups <- g
	} else {
		close(r.groups)
	}
	r.thread.delivered.Post()
}

// errNotGiven says that a room was not given what it waited for. Whoever kept that back knows why.
var errNotGiven = errors.New("a room was not given what it needs")

// outcome waits until a room is made, and says why it is not.
func (r *Room) outcome() error {
	err := <-r.built
	if err == nil || errors.Is(err, errNotGiven) {
		return nil
	}
	return fmt.Errorf("make a room: %w", err)
}

// Begin gives a room that is made a session to serve.
func (r *Room) Begin(h Handover) { r.sessions <- h }

// End waits until a session has ended, and returns what is left of it for another room, or nil.
func (r *Room) End() *Handover {
	<-r.left
	return r.next
}

// Dismiss ends a room that has no session.
func (r *Room) Dismiss() { close(r.sessions) }

// live is what the room's thread does, unless it could not be isolated.
func (r *Room) live(err error) {
	defer func() {
		close(r.left)
		if r.over != nil {
			r.over.Post()
		}
	}()
	if err == nil && r.box != nil {
		err = r.moveTo(1)
	}
	if err == nil {
		raisePriority()
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
	r.sock = s.Sock
	r.buffers, ok = r.host.buffers.Get().(*buffers)
	if !ok {
		r.buffers = new(buffers)
	}
	defer r.host.buffers.Put(r.buffers)
	if r.core != s.Core {
		r.core, r.cores = s.Core, 0
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
func (r *Room) leave() {
	if err := r.killAll(); err != nil {
		r.failed("it could not be emptied", err)
	}
	_ = r.killReaper()
	_ = r.group.Leave()
	resetPriority()
	err := r.pool.close()
	if r.next == nil {
		err = errors.Join(err, r.sock.Close())
	}
	if err != nil {
		r.host.Log.Error("a box could not be closed", slog.String("room", r.Name), slog.Any("err", err))
	}
}

// failed says what went wrong with a box. If it is stuck, so is the agent.
func (r *Room) failed(what string, err error) {
	r.lost = true
	r.host.Log.Error("a box is lost", slog.String("room", r.Name), slog.String("why", what), slog.Any("err", err))
	if errors.Is(err, wait.ErrStuck) {
		r.stuck = true
		r.host.GiveUp(err)
	}
}

// build moves the thread into its root and control groups. The groups and /box
// come as late as they can, because whoever makes them does that meanwhile.
func (r *Room) build() error {
	if err := r.root.Enter(); err != nil {
		return err
	}
	var err error
	if r.reaper, err = startReaper(int(r.host.lifeline[0].Fd()), int(r.host.null.Fd()), r.host.reaperID()); err != nil {
		return err
	}
	if err := rootfs.LeaveHost(); err != nil {
		return err
	}
	if err := rootfs.RestrictProc(); err != nil {
		return err
	}
	if err := r.mountWritable(); err != nil {
		return err
	}
	if err := r.rule(); err != nil {
		return err
	}
	if err := spawn.ForbidCapabilities(); err != nil {
		return err
	}
	r.thread.delivered.Wait()
	g, ok := <-r.groups
	if !ok {
		return errNotGiven
	}
	if err := g.Enter(); err != nil {
		return err
	}
	if err := r.mountBox(); err != nil {
		return err
	}
	if err := rootfs.Seal(true); err != nil {
		return err
	}
	return seccomp.Install(r.host.roomFilter)
}

// mountBox mounts /box.
func (r *Room) mountBox() error {
	if r.box == nil {
		return rootfs.MountPrivate("/box", r.boxBytes(), "755", r.host.largePages)
	}
	r.thread.delivered.Wait()
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
func (r *Room) rule() error {
	if r.ruleset >= 0 {
		fd := r.ruleset
		r.ruleset = -1
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("close a ruleset: %w", err)
		}
	}
	if r.host.Status.Landlock == 0 {
		return nil
	}
	ruleset, err := landlock.New(r.host.Status.Landlock, true)
	if err != nil {
		return err
	}
	allowed := map[string]uint64{"/": landlock.Read | landlock.Execute, "/dev": landlock.Read | landlock.Execute | landlock.Use}
	for _, folder := range rootfs.Writable {
		allowed[folder] = landlock.All
	}
	if r.writable {
		allowed["/box"] = landlock.All
	}
	for path, rights := range allowed {
		if err := ruleset.Allow(path, rights); err != nil {
			return errors.Join(err, unix.Close(ruleset.FD))
		}
	}
	r.ruleset = ruleset.FD
	return nil
}

// moveTo moves the thread to n cores, where its next child begins and stays. A child that moved by itself would wait
// for the kernel to carry it over, and whoever waits for a child on the same core is woken the fastest.
func (r *Room) moveTo(n int) error {
	if r.cores == n {
		return nil
	}
	if err := unix.SchedSetaffinity(0, r.host.affinity(r.core, n)); err != nil {
		return fmt.Errorf("choose cores: %w", err)
	}
	r.cores = n
	return nil
}

// TearDown waits until the thread is about to end and removes what the room had. It is called on another thread.
func (r *Room) TearDown() error {
	err := r.release()
	if errors.Is(err, wait.ErrStuck) {
		return err
	}
	return errors.Join(err, r.reap())
}

// release waits until the thread is about to end and removes what the room had but
// the reaper, which takes a while to be gone and is in none of the groups.
//
// Of a room that is stuck nothing can be removed. The next agent does that.
func (r *Room) release() error {
	select {
	case <-r.left:
	case <-time.After(wait.AgentPatience):
		return wait.Stuck("thread and processes of a room")
	}
	if r.stuck {
		return wait.ErrStuck
	}
	var errs []error
	errs = append(errs, r.killReaper())
	if r.ruleset >= 0 {
		errs = append(errs, unix.Close(r.ruleset))
	}
	errs = append(errs, r.thread.delivered.Close(), r.root.Close())
	if net := r.thread.network; net != nil && !r.lost && !r.locks {
		errs = append(errs, r.thread.networks.keep(net))
	} else if net != nil {
		errs = append(errs, net.close())
	}
	if r.group != nil {
		if err := r.group.Remove(); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", wait.ErrStuck, err))
		}
	}
	return errors.Join(errs...)
}

// reap waits until the reaper of a released room is gone.
func (r *Room) reap() error {
	if r.reaper == 0 {
		return nil
	}
	_, err := wait.Process(r.reaper)
	return err
}

// killReaper ends the pid namespace. It may be called until the reaper is waited for.
func (r *Room) killReaper() error {
	if r.reaper == 0 {
		return nil
	}
	if err := unix.Kill(r.reaper, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill a reaper: %w", err)
	}
	return nil
}
