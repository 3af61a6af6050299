package sandbox

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Judge is the one-shot command `deepoj judge`: it runs one command without an
// agent and prints one line of protocol v1 to stdout. SIGINT and SIGTERM end the
// run. It returns the exit status, 0 whenever a line was printed.
func Judge(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if err := awaitIDs(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	calmMonitor()
	var t *thread
	if os.Geteuid() == 0 {
		var err error
		if t, err = beginThread(); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer t.dismiss()
	}
	j, err := parseJob(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if os.Geteuid() != 0 {
		again, end := context.WithCancel(ctx)
		defer end()
		onSignal(end)
		var status int
		if status, err = againPrivileged(again, j.cfg, stdout, stderr); err == nil {
			return status
		}
	}
	var res Result
	var degraded []string
	if err == nil {
		res, degraded, err = j.run(ctx, t)
	}
	if err != nil {
		_, bad := errors.AsType[*UnfitError](err)
		res = Result{Verdict: SE, Error: err.Error(), Unfit: bad}
	}
	if _, err := stdout.Write(NewReport(j.id, int32(j.attempt), res, degraded).line()); err != nil {
		fmt.Fprintln(stderr, "print the result:", err)
		return 1
	}
	return 0
}

// fillBox gives a room its box with files in it.
func (j *job) fillBox(r *room, f *jobFiles) error {
	box, err := detachedBox(r.boxBytes(), !j.options.Writable)
	if err != nil {
		return err
	}
	owner := -1
	if j.options.Writable {
		owner = r.uid
	}
	err = fits(f.contents, r.boxBytes())
	if err == nil {
		err = fill(box, f.contents, owner)
	}
	if err != nil {
		return errors.Join(err, unix.Close(box))
	}
	r.box <- box
	r.thread.bell.ring()
	return nil
}

// run runs the job in a room of its own, on the thread.
func (j *job) run(ctx context.Context, t *thread) (res Result, degraded []string, err error) {
	ctx, end, err := j.lifetime(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	defer end()
	size, err := j.options.tmp()
	if err != nil {
		return Result{}, nil, err
	}
	f, err := j.open()
	defer f.close()
	if err != nil {
		return Result{}, nil, err
	}
	unix.Umask(0o022) // what is made from here on is for the program to read
	a, err := prepareAgent(j.cfg)
	if err != nil {
		return Result{}, nil, err
	}
	defer func() { err = errors.Join(err, a.closeFiles()) }()
	r, err := a.planRoom(a.uid(uidCount(a.cfg.Slots) + j.slot))
	if err != nil {
		return Result{}, nil, err
	}
	r.box, r.tmpBytes = make(chan int, 1), size
	// The room's thread and this one work at the same time, on different cores.
	core := j.slot % len(a.cores)
	r.core = a.apart(core)
	if !j.placed {
		core = r.core
	}
	over, err := newBell()
	if err != nil {
		return Result{}, nil, err
	}
	r.over = &over
	if j.until != "" {
		a.endsWithStarter()
	}
	var failed error
	hangUp, err := r.assign(core, func() { res, failed = j.work(r, f) })
	if err != nil {
		return Result{}, nil, err
	}
	stop := context.AfterFunc(ctx, hangUp)
	t.serve(r)
	err = j.furnish(a, r, f)
	onSignal(end)
	if !over.awaitUntil(ctx, agentPatience) {
		return Result{}, nil, errors.Join(err, stuck("thread and processes of a room"))
	}
	err = errors.Join(err, r.outcome(), over.close(), r.release())
	if errors.Is(err, errStuck) {
		return Result{}, nil, errors.Join(err, failed)
	}
	if a.driver != nil {
		err = errors.Join(err, a.driver.close()) // while the reaper ends
	}
	err = errors.Join(err, r.reap(), failed)
	stop()
	return res, a.status.Degraded, err
}

// furnish gives a room its control groups and its box with files in it, while its
// thread makes the rest.
func (j *job) furnish(a *agent, r *room, f *jobFiles) error {
	var g group
	err := a.chooseDriver(nil)
	if err == nil {
		g, err = a.driver.open("")
	}
	r.give(g, err)
	if err == nil {
		a.prepareRun(j.options)
		err = j.fillBox(r, f)
	}
	if err != nil {
		close(r.box)
		r.thread.bell.ring()
	}
	return err
}

// apart returns a core, as an index, where the room's thread is not in the way of
// this one: the wanted one, unless this thread is there and there are others.
func (a *agent) apart(core int) int {
	var here uint32
	_, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0)
	if errno == 0 && a.cores[core] == int(here) {
		return (core + 1) % len(a.cores)
	}
	return core
}

// lifetime returns a context that ends with ctx, and when the file that --until
// names reaches its end.
func (j *job) lifetime(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	if j.until == "" {
		return ctx, cancel, nil
	}
	f, err := openNamed(j.until, os.O_RDONLY, slotReadable)
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("open what --until names: %w", err)
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, f) // an end is an end
	}()
	return ctx, cancel, nil // reading ends with the process
}

// onSignal calls end when this process is told to end. It is called when the run
// is under way: learning to hear signals takes a thread, which would be in the way
// before. A process that ends earlier leaves at most empty control groups, which
// the next one sweeps.
func onSignal(end func()) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGINT, unix.SIGTERM)
	go func() {
		<-told
		end()
	}() // which ends with the process
}

// work does the job in a room, on its thread.
func (j *job) work(r *room, f *jobFiles) (Result, error) {
	if err := r.prepare(j.options); err != nil {
		return Result{}, err
	}
	res, err := r.run(&j.request, f.stdio)
	if err != nil || res.Verdict == SE || len(j.globs) == 0 {
		return res, err
	}
	found, err := findFiles(j.globs, min(j.collectBytes, r.agent.share()))
	if err != nil {
		return Result{}, fmt.Errorf("collect files: %w", err)
	}
	defer found.close()
	if err := found.deliver(f.collected); err != nil {
		return Result{}, fmt.Errorf("collect files: %w", err)
	}
	return res, nil
}

// assign gives a room, before it is made, the work that it does on its thread. What
// it returns ends what runs there.
func (r *room) assign(core int, work func()) (hangUp func(), err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	r.sessions <- handover{sock: os.NewFile(uintptr(theirs), "room"), core: core, work: work}
	return func() { _ = unix.Shutdown(ours, unix.SHUT_RDWR) }, nil // fails only when it is over
}

// oneBox makes one room and opens it, without a stock of others. What it returns
// gives the box back and waits until the room is gone.
func (a *agent) oneBox(ctx context.Context, o BoxOptions) (b *Box, leave func() error, err error) {
	var uid int
	select {
	case uid = <-a.uids:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for a free user id: %w", context.Cause(ctx))
	}
	giveBack := func(err error) {
		if errors.Is(err, errStuck) {
			a.giveUp(err)
		} else {
			a.uids <- uid
		}
	}
	defer func() {
		if err != nil {
			giveBack(err)
		}
	}()
	r, err := a.newRoom(uid)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		close(r.sessions)
		return nil, nil, errors.Join(err, r.tearDown())
	}
	s, err := newSession(ours)
	if err != nil {
		close(r.sessions)
		return nil, nil, errors.Join(err, unix.Close(theirs), r.tearDown())
	}
	r.sessions <- handover{sock: os.NewFile(uintptr(theirs), "room"), options: o}
	b = &Box{&agentBox{s}}
	if _, _, err := s.receive(ctx); err != nil {
		return nil, nil, errors.Join(err, b.Close(), r.tearDown())
	}
	return b, func() error {
		err := errors.Join(b.Close(), r.tearDown())
		giveBack(err)
		return err
	}, nil
}

// openNamed opens a file that the command line names. /dev/fd/N is the inherited
// descriptor N itself, which must be fit for its slot: opening it anew would ask for
// permissions once more.
func openNamed(path string, flags int, inherited slot) (*os.File, error) {
	if digits, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s names no descriptor", path)
		}
		if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, fmt.Errorf("%s is not inherited: %w", path, err)
		}
		if err := inherited.check(n); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return os.NewFile(uintptr(n), path), nil
	}
	return os.OpenFile(path, flags, 0o644)
}
