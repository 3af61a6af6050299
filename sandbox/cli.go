package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Judge is the one-shot command `deepoj judge`: it runs one command without an
// agent and prints one line of protocol v1 to stdout. It returns the exit
// status, 0 whenever a line was printed.
func Judge(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if err := awaitIDs(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
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
		var status int
		if status, err = againPrivileged(ctx, j.cfg, stdout, stderr); err == nil {
			return status
		}
	}
	var res Result
	var degraded []string
	if err == nil {
		res, degraded, err = j.run(ctx)
	}
	if err != nil {
		res = Result{Verdict: SE, Error: err.Error()}
	}
	line, err := json.Marshal(NewReport(j.id, int32(j.attempt), res, degraded))
	if err == nil {
		_, err = stdout.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(stderr, "print the result:", err)
		return 1
	}
	return 0
}

// run runs the job in a room of its own.
func (j *job) run(ctx context.Context) (res Result, degraded []string, err error) {
	ctx, end, err := j.lifetime(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	defer end()
	a, err := prepareAgent(j.cfg)
	if err != nil {
		return Result{}, nil, err
	}
	defer func() { err = errors.Join(err, a.closeFiles()) }()
	// The room's thread and this one work at the same time as far as they can.
	r := a.beginRoom(a.uid(uidCount(a.cfg.Slots) + j.slot))
	var g group
	f, err := j.open()
	defer f.close()
	if err == nil {
		if err = a.chooseDriver(nil); err == nil {
			defer func() { err = errors.Join(err, a.driver.close()) }()
			g, err = a.driver.open("")
		}
	}
	a.prepareRuns()
	if err := r.finish(g, err); err != nil {
		return Result{}, nil, err
	}
	err = r.oneShot(ctx, j.slot%len(a.cores), func() (err error) {
		res, err = j.work(r, f)
		return err
	})
	return res, a.status.Degraded, err
}

// lifetime returns a context that ends with ctx, and when the file that --until
// names reaches its end.
func (j *job) lifetime(ctx context.Context) (context.Context, func(), error) {
	if j.until == "" {
		return ctx, func() {}, nil
	}
	f, err := openNamed(j.until, os.O_RDONLY)
	if err != nil {
		return nil, nil, fmt.Errorf("open what --until names: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, f) // an end is an end
	}()
	return ctx, cancel, nil // reading ends with the process
}

// work does the job in a room, on its thread.
func (j *job) work(r *room, f *jobFiles) (Result, error) {
	if err := r.prepare(j.options); err != nil {
		return Result{}, err
	}
	if err := r.putFiles(f.contents); err != nil {
		return Result{}, err
	}
	res, err := r.run(&j.request, f.stdio)
	if err != nil || res.Verdict == SE || len(j.globs) == 0 {
		return res, err
	}
	found, err := findFiles(j.globs, j.collectBytes)
	if err != nil {
		return Result{}, fmt.Errorf("collect files: %w", err)
	}
	defer found.close()
	if err := found.deliver(f.collected); err != nil {
		return Result{}, fmt.Errorf("collect files: %w", err)
	}
	return res, nil
}

// oneShot calls work on the room's thread and ends the room. When ctx ends, so
// does what runs there.
func (r *room) oneShot(ctx context.Context, core int, work func() error) error {
	ours, theirs, err := socketPair()
	if err != nil {
		close(r.sessions)
		return errors.Join(err, r.tearDown())
	}
	stop := context.AfterFunc(ctx, func() { _ = unix.Shutdown(ours, unix.SHUT_RDWR) }) // fails only when it is over
	var failed error
	r.sessions <- handover{
		sock: os.NewFile(uintptr(theirs), "room"), core: core,
		work: func(*room) error { failed = work(); return nil },
	}
	err = r.tearDown()
	stop()
	return errors.Join(failed, err, unix.Close(ours))
}

// oneBox makes one room and opens it, without a stock of others. What it returns
// gives the box back and waits until the room is gone.
func (a *agent) oneBox(ctx context.Context, o BoxOptions) (b *Box, leave func() error, err error) {
	uid := <-a.uids
	defer func() {
		if err != nil {
			a.uids <- uid
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
		defer func() { a.uids <- uid }()
		return errors.Join(b.Close(), r.tearDown())
	}, nil
}

// openNamed opens a file that the command line names. /dev/fd/N is the inherited
// descriptor N itself: opening it anew would ask for permissions once more.
func openNamed(path string, flags int) (*os.File, error) {
	if digits, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s names no descriptor", path)
		}
		if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, fmt.Errorf("%s is not inherited: %w", path, err)
		}
		return os.NewFile(uintptr(n), path), nil
	}
	return os.OpenFile(path, flags, 0o644)
}
