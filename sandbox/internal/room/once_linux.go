package room

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// Once is the only run of a process, in a room of its own and without an agent.
type Once struct {
	Config  wire.Config
	Options wire.BoxOptions
	Run     wire.RunRequest

	// Contents are the files in the working directory, and Stdio the streams that Run names.
	Contents []wire.Content
	Stdio    []*os.File

	// Slot says which user id the program has and, if it is Placed, which core. Runs at
	// the same time should differ.
	Slot   int
	Placed bool

	// Orphan says that the run goes on when the process that started this one is gone.
	Orphan bool

	// Globs are patterns of the files to take from the working directory afterwards, of
	// CollectBytes bytes at most, into Collected: a folder, or an empty file.
	Globs        []string
	CollectBytes int64
	Collected    *os.File

	// Begun is called when the run is under way.
	Begun func()
}

// Do runs the command in a room on the thread. It also returns what of the sandbox is
// weaker than it should be. When ctx ends, so does the run.
func (o *Once) Do(ctx context.Context, t *Thread) (res wire.Result, degraded []string, err error) {
	size, err := o.Options.Tmp()
	if err != nil {
		return wire.Result{}, nil, err
	}
	unix.Umask(0o022) // what is made from here on is for the program to read
	h, err := NewHost(o.Config)
	if err != nil {
		return wire.Result{}, nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	r, err := h.planRoom(h.UID(UserIDs(h.Config.Slots) + o.Slot))
	if err != nil {
		return wire.Result{}, nil, err
	}
	r.box, r.tmpBytes = make(chan int, 1), size
	// The room's thread and this one work at the same time, on different cores.
	core := o.Slot % len(h.Cores)
	r.core = h.apart(core)
	if !o.Placed {
		core = r.core
	}
	over, err := wait.NewSemaphore()
	if err != nil {
		return wire.Result{}, nil, err
	}
	r.over = &over
	if !o.Orphan {
		h.EndsWithStarter()
	}
	var failed error
	hangUp, err := r.assign(core, func() { res, failed = o.work(r) })
	if err != nil {
		return wire.Result{}, nil, err
	}
	stop := context.AfterFunc(ctx, hangUp)
	t.serve(r)
	err = o.furnish(h, r)
	o.Begun()
	if !over.WaitUntil(ctx, wait.AgentPatience) {
		return wire.Result{}, nil, errors.Join(err, wait.Stuck("thread and processes of a room"))
	}
	err = errors.Join(err, r.outcome(), over.Close(), r.release())
	if errors.Is(err, wait.ErrStuck) {
		return wire.Result{}, nil, errors.Join(err, failed)
	}
	if h.Driver != nil {
		err = errors.Join(err, h.Driver.Close()) // while the reaper ends
	}
	err = errors.Join(err, r.reap(), failed)
	stop()
	return res, h.Status.Degraded, err
}

// furnish gives a room its control groups and its box with files in it, while its thread makes the rest.
func (o *Once) furnish(h *Host, r *Room) error {
	var g cgroup.Group
	err := h.ChooseDriver(nil)
	if err == nil {
		g, err = h.Driver.Open("")
	}
	r.give(g, err)
	if err == nil {
		h.prepareRun(o.Options)
		err = o.fillBox(r)
	}
	if err != nil {
		close(r.box)
		r.thread.delivered.Post()
	}
	return err
}

// fillBox gives a room its box with files in it.
func (o *Once) fillBox(r *Room) error {
	box, err := rootfs.DetachedBox(r.boxBytes(), !o.Options.Writable)
	if err != nil {
		return err
	}
	owner := -1
	if o.Options.Writable {
		owner = r.UID
	}
	err = fits(o.Contents, r.boxBytes())
	if err == nil {
		err = fill(box, o.Contents, owner)
	}
	if err != nil {
		return errors.Join(err, unix.Close(box))
	}
	r.box <- box
	r.thread.delivered.Post()
	return nil
}

// apart returns a core, as an index, where the room's thread is not in the way of
// this one: the wanted one, unless this thread is there and there are others.
func (h *Host) apart(core int) int {
	var here uint32
	_, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0)
	if errno == 0 && h.Cores[core] == int(here) {
		return (core + 1) % len(h.Cores)
	}
	return core
}

// work runs the command in a room, on its thread.
func (o *Once) work(r *Room) (wire.Result, error) {
	if err := r.prepare(o.Options); err != nil {
		return wire.Result{}, err
	}
	res, err := r.run(&o.Run, o.Stdio)
	if err != nil || res.Verdict == wire.SE || len(o.Globs) == 0 {
		return res, err
	}
	found, err := findFiles(o.Globs, min(o.CollectBytes, r.host.share()))
	if err != nil {
		return wire.Result{}, fmt.Errorf("collect files: %w", err)
	}
	defer found.close()
	if err := found.deliver(o.Collected); err != nil {
		return wire.Result{}, fmt.Errorf("collect files: %w", err)
	}
	return res, nil
}

// assign gives a room, before it is made, the work that it does on its thread. What it returns ends what runs there.
func (r *Room) assign(core int, work func()) (hangUp func(), err error) {
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		return nil, err
	}
	r.sessions <- Handover{Sock: os.NewFile(uintptr(theirs), "room"), Core: core, work: work}
	return func() { _ = unix.Shutdown(ours, unix.SHUT_RDWR) }, nil // fails only when it is over
}

// deliver writes the files that were found into the folder to, or packs them into the file to.
func (c *collector) deliver(to *os.File) error {
	st, err := to.Stat()
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return c.packInto(to)
	}
	// The program chose the names, so they are opened like those in a box.
	for i, f := range c.index {
		if err := writeBelow(int(to.Fd()), wire.Content{PackedFile: f, From: c.files[i], Offset: 0}, -1); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}
