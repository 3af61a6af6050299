package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Every wait has a bound. What is killed is gone in a moment, and when it is not,
// nothing that this process can do will help: the room is given up, and the agent
// with it, because the kernel cleans up after a process that is gone better than
// anybody else. The next agent begins at once.

// killPatience is how long killed processes may take to be gone. A process in the
// middle of freeing much memory takes a while.
const killPatience = 10 * time.Second

// agentPatience is how long an agent takes at most to end when it is told to. It is
// more than a room needs to find out that it cannot be emptied.
const agentPatience = 2 * killPatience

// stopPatience is how long whoever told an agent or a one-shot run to end waits until
// it kills it.
const stopPatience = agentPatience + killPatience

// errStuck says that something does not go although it was killed.
var errStuck = errors.New("it was killed and does not go")

// stuck returns an errStuck about what.
func stuck(what string) error {
	return fmt.Errorf("%s are still there after %s: %w", what, killPatience, errStuck)
}

// stuckStatus is the exit status of an agent that gives up because of a room.
const stuckStatus = 70

// ExitStatus returns the exit status of an agent whose [Serve] returned err. A
// [Keeper] knows by it why the agent ended.
func ExitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errStuck):
		return stuckStatus
	default:
		return 1
	}
}

// waitChild waits for a child that has ended or was killed, of which there is a
// descriptor, and returns how it ended and its CPU time with that of the children it
// waited for. The error is an errStuck when it does not end, or when somebody who
// traces it does not let it go.
func waitChild(pid, pidfd int) (syscall.WaitStatus, time.Duration, error) {
	pause := 20 * time.Microsecond
	deadline := time.Now().Add(killPatience)
	for looks := 0; ; looks++ {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		ended, err := syscall.Wait4(pid, &ws, syscall.WALL|syscall.WNOHANG, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return ws, 0, fmt.Errorf("wait for process %d: %w", pid, err)
		case ended == pid:
			return ws, time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), nil
		case time.Now().After(deadline):
			return ws, 0, stuck(fmt.Sprintf("remains of process %d", pid))
		}
		if looks > 0 {
			rest(pause)
			pause = min(2*pause, 10*time.Millisecond)
		}
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		_, _ = unix.Poll(fds, 100) // cut short by a signal at worst
	}
}

// waitProcess is waitChild for a child of which there is no descriptor.
func waitProcess(pid int) (syscall.WaitStatus, error) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("wait for process %d: %w", pid, err)
	}
	ws, _, err := waitChild(pid, pidfd)
	return ws, errors.Join(err, unix.Close(pidfd))
}

// rest lets the calling thread sleep, cut short by a signal at worst.
func rest(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll(nil, &ts, nil)
}

// busyPatience is how long a group may stay busy after its last process ended, on a
// machine that has much else to do.
const busyPatience = 20 * time.Second

// retryBusy calls f until it does not fail with EBUSY, for a while.
func retryBusy(f func() error) error { return retryUntil(time.Now().Add(busyPatience), f) }

// retryUntil calls f until it does not fail with EBUSY, or the deadline has come.
func retryUntil(deadline time.Time, f func() error) error {
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		err := f()
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		rest(pause)
	}
}
