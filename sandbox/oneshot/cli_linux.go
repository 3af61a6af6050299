package oneshot

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

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/wire"
)

// Main is the one-shot command `deepoj judge`: it runs one command without an agent and prints one line of protocol v1
// to stdout. SIGINT and SIGTERM end the run. It returns the exit status, 0 whenever a line was printed.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if err := awaitIDs(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	calmMonitor()
	var t *room.Thread
	if os.Geteuid() == 0 {
		var err error
		if t, err = room.BeginThread(); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer t.Dismiss()
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
	var res wire.Result
	var degraded []string
	if err == nil {
		res, degraded, err = j.run(ctx, t)
	}
	if err != nil {
		_, bad := errors.AsType[*wire.UnfitError](err)
		res = wire.Result{Verdict: wire.SE, Error: err.Error(), Unfit: bad}
	}
	if _, err := stdout.Write(wire.NewReport(j.id, int32(j.attempt), res, degraded).Line()); err != nil {
		fmt.Fprintln(stderr, "print the result:", err)
		return 1
	}
	return 0
}

// run runs the job in a room of its own, on the thread.
func (j *job) run(ctx context.Context, t *room.Thread) (wire.Result, []string, error) {
	ctx, end, err := j.lifetime(ctx)
	if err != nil {
		return wire.Result{}, nil, err
	}
	defer end()
	if _, err := j.options.Tmp(); err != nil { // before it makes files
		return wire.Result{}, nil, err
	}
	f, err := j.open()
	defer f.close()
	if err != nil {
		return wire.Result{}, nil, err
	}
	o := room.Once{
		Config: j.cfg, Options: j.options, Run: j.request, Contents: f.contents, Stdio: f.stdio, Slot: j.slot, Placed: j.placed, Orphan: j.until == "",
		Globs: j.globs, CollectBytes: j.collectBytes, Collected: f.collected, Begun: func() { onSignal(end) },
	}
	return o.Do(ctx, t)
}

// lifetime returns a context that ends with ctx, and when the file that --until names reaches its end.
func (j *job) lifetime(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	if j.until == "" {
		return ctx, cancel, nil
	}
	f, err := openNamed(j.until, os.O_RDONLY, wire.SlotReadable)
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

// onSignal calls end when this process is told to end. It is called when the run is under way: learning to hear signals
// takes a thread, which would be in the way before. A process that ends earlier leaves at most empty control groups,
// which the next one sweeps.
func onSignal(end func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	go func() {
		<-signals
		end()
	}() // which ends with the process
}

// openNamed opens a file that the command line names. /dev/fd/N is the inherited descriptor N itself, which must be fit
// for its slot: opening it anew would ask for permissions once more.
func openNamed(path string, flags int, inherited wire.Slot) (*os.File, error) {
	if digits, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s names no descriptor", path)
		}
		if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, fmt.Errorf("%s is not inherited: %w", path, err)
		}
		if err := inherited.Check(n); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return os.NewFile(uintptr(n), path), nil
	}
	return os.OpenFile(path, flags, 0o644)
}

// calmMonitor keeps the Go runtime's monitor, the first thread that it starts, from taking a core away from others the
// moment it wakes, which it does every 70 µs for a while: from the program in a box, too. It still gets its share.
// Where that cannot be had everything is a little slower.
func calmMonitor() {
	dir, err := unix.Open("/proc/self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	var b [512]byte // far more than two entries
	n, err := unix.Getdents(dir, b[:])
	if err != nil {
		return
	}
	_, _, names := unix.ParseDirent(b[:n], -1, nil)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil && tid != os.Getpid() {
			a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}
			_ = unix.SchedSetAttr(tid, &a, 0)
			return
		}
	}
}
