package room

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// tick is the shortest time between two looks at the CPU time.
const tick = time.Millisecond

// longTick is the longest time between two looks at what the kernel killed for
// want of memory: the main process may go on without its child.
const longTick = 50 * time.Millisecond

// watch waits for the end of the program or of a limit, and fills in the result.
func (w *watch) watch() error {
	r := w.room
	looks := 0
	for next := w.firstLook(); ; {
		fds := []unix.PollFd{
			{Fd: int32(w.pidfd), Events: unix.POLLIN},
			{Fd: int32(r.sock.Fd()), Events: unix.POLLIN},
			w.out.poll(), w.err.poll(),
		}
		if looks++; looks == 1 && w.lazy() {
			// Most outputs fit into their pipes, and are there when the program has ended.
			fds, next = fds[:2], min(next, lazyLook)
		}
		ts := unix.NsecToTimespec(int64(next))
		if _, err := unix.Ppoll(fds, &ts, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return errors.Join(fmt.Errorf("wait for a program: %w", err), w.end())
		}
		if fds[0].Revents != 0 {
			break
		}
		if fds[1].Revents != 0 {
			if err := w.interrupted(); err != nil {
				return errors.Join(err, w.end())
			}
		}
		err := w.pump()
		var over bool
		if err == nil {
			over, next, err = w.check()
		}
		if err != nil {
			return errors.Join(err, w.end())
		}
		if over {
			break
		}
	}
	return w.finish()
}

// lazyLook is for how long outputs are not looked at in the beginning.
const lazyLook = 2 * time.Millisecond

// lazy reports whether nobody waits for the outputs while the program runs.
func (w *watch) lazy() bool {
	return (w.out.to == nil || w.out.plain) && (w.err.to == nil || w.err.plain)
}

// firstLook is how long after its start a program cannot be over a limit.
func (w *watch) firstLook() time.Duration {
	return min(max(w.limits.CPU/time.Duration(w.limits.Cores), tick), w.limits.Wall, longTick)
}

// pump moves output.
func (w *watch) pump() error {
	return errors.Join(w.out.pump(w.room.output[:]), w.err.pump(w.room.output[:]))
}

// interrupted reads what the client said in the middle of a run: to end it, in
// words or by hanging up. There is nothing else to be said then.
func (w *watch) interrupted() error {
	var q wire.Request
	files, err := wire.Receive(int(w.room.sock.Fd()), w.room.message[:], &q)
	wire.CloseAll(files)
	_, bad := errors.AsType[*wire.MessageError](err)
	switch {
	case errors.Is(err, wire.ErrClosed):
		w.room.hungUp = true
	case err != nil && !bad:
		return err
	}
	w.cancelled = true // whatever else it says: it is too early
	return nil
}

// check reports whether a limit is over, and how long nothing has to be looked at otherwise.
func (w *watch) check() (over bool, next time.Duration, err error) {
	if w.cancelled {
		return true, 0, nil
	}
	cpu, err := w.cpu()
	if err != nil {
		return false, 0, err
	}
	wall := time.Since(w.begun)
	switch {
	case cpu >= w.limits.CPU:
		w.why = wire.TLE
	case wall >= w.limits.Wall:
		w.why, w.result.OverWall = wire.TLE, true
	case w.flooded():
		w.why = wire.OLE
	}
	next = min(max((w.limits.CPU-cpu)/time.Duration(w.limits.Cores), tick), w.limits.Wall-wall, longTick)
	var peak, kills int64
	if w.why == "" {
		peak, kills, err = w.room.group.Memory()
	}
	if w.result.Driver == wire.DriverNone {
		next = min(next, cgroup.SampleEvery)
		if peak > w.limits.MemoryBytes {
			w.why = wire.MLE
		}
	}
	if kills > 0 {
		w.why = wire.MLE
	}
	if w.why == "" && err == nil && peak >= w.limits.MemoryBytes-cgroup.ChargeBytes {
		var starved bool
		if starved, err = w.room.group.Starved(w.limits.MemoryBytes); starved {
			w.why = wire.MLE
		}
	}
	return w.why != "", next, err
}

// flooded reports whether the program wrote more than it may, to either stream.
func (w *watch) flooded() bool {
	return max(w.out.seen, w.err.seen) > w.limits.OutputBytes
}

// cpu returns the CPU time so far. The control group's figure for a running
// process is as old as the last clock tick; that of the main process is exact.
func (w *watch) cpu() (time.Duration, error) {
	cpu, err := w.room.group.CPU()
	if err != nil {
		return 0, err
	}
	var ts unix.Timespec
	if unix.ClockGettime(w.clock, &ts) == nil { // fails when the process has ended
		cpu = max(cpu, time.Duration(ts.Nano()))
	}
	return cpu, nil
}

// end kills what runs and reaps the main process, after a failure.
func (w *watch) end() error {
	err := unix.PidfdSendSignal(w.pidfd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		err = nil
	}
	_, _, waitErr := wait.Child(w.pid, w.pidfd)
	if errors.Is(waitErr, wait.ErrStuck) {
		return errors.Join(err, waitErr)
	}
	return errors.Join(err, waitErr, w.room.killAll())
}

// finish ends and reaps everything, and decides the verdict.
func (w *watch) finish() error {
	r := w.room
	// Killing takes its time, and whoever talks to the program may notice its end before we do.
	ended := time.Now()
	if w.why != "" || w.cancelled {
		if err := r.withMemory(w.strike); err != nil {
			return err
		}
	}
	ws, usage, err := wait.Child(w.pid, w.pidfd)
	if err != nil {
		return err
	}
	w.result.Wall, w.result.Ended = ended.Sub(w.begun), ended.Sub(r.host.epoch)
	if err := r.killAll(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.result.CPU, err = r.group.CPU(); err != nil {
		return err
	}
	w.result.CPU = max(w.result.CPU, usage.CPU)
	peak, kills, err := r.group.Memory()
	if err != nil {
		return err
	}
	w.result.OOM = kills > 0
	if w.result.MemoryBytes, err = w.memory(peak, usage); err != nil {
		return err
	}
	if w.result.OverWall {
		w.result.Pressure = r.group.Pressure()
	}
	w.result.StdoutBytes, w.result.StdoutTruncated = w.out.seen, w.out.truncated()
	w.result.StderrBytes, w.result.StderrTruncated = w.err.seen, w.err.truncated()
	if ws.Signaled() {
		w.result.Signal = int(ws.Signal())
	} else {
		w.result.ExitCode = ws.ExitStatus()
	}
	w.result.Verdict = w.verdict()
	return nil
}

// strike kills the main process and all others at once. Were the main process waited for before the others are killed,
// one of these that spins on its core would go on until the main process had its turn to die.
//
// The main process hears of it in two ways: a control group signals the first thread
// of each process only, which may have ended while others go on.
func (w *watch) strike() error {
	err := unix.PidfdSendSignal(w.pidfd, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill a program: %w", err)
	}
	killed, err := w.room.group.Kill(w.room.strike)
	w.room.killed = w.room.killed || killed
	if !errors.Is(err, cgroup.ErrCannotKill) {
		return err
	}
	pids, err := proc.Processes()
	if err != nil || len(pids) <= 1 { // only itself, which is there until it is waited for
		return err
	}
	return w.room.strike()
}

// flushPatience is how long a slow reader of the output may take after the program's end.
const flushPatience = 5 * time.Second

// flush moves what is left in the pipes. Every writer is gone.
func (w *watch) flush() error {
	for deadline := time.Now().Add(flushPatience); ; {
		if err := w.pump(); err != nil {
			return err
		}
		if len(w.out.pending) == 0 && len(w.err.pending) == 0 || time.Now().After(deadline) {
			return nil
		}
		fds := []unix.PollFd{w.out.poll(), w.err.poll(), {Fd: int32(w.room.sock.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 100); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for a reader: %w", err)
		}
		if fds[2].Revents != 0 {
			return nil // cancelled; the request is read later
		}
	}
}

// verdict decides in the order of certainty: what the kernel says, what we did, what the program did.
func (w *watch) verdict() wire.Verdict {
	res := &w.result
	switch {
	case res.OOM:
		return wire.MLE
	case w.cancelled:
		res.Error = "cancelled"
		return wire.SE
	case w.why != "":
		return w.why
	case w.flooded(), res.Signal == int(unix.SIGXFSZ):
		return wire.OLE
	case res.CPU >= w.limits.CPU:
		return wire.TLE
	case res.Signal != 0 || res.ExitCode != 0:
		return wire.RE
	default:
		return wire.OK
	}
}
