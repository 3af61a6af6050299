// Package wait waits for children, for what is busy, and for other threads. Every wait for what was killed has a bound.
package wait

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Every wait has a bound. What is killed is gone in a moment, and when it is not, nothing that this process can do will
// help: the room is given up, and the agent with it, because the kernel cleans up after a process that is gone better
// than anybody else. The next agent begins at once.

// KillPatience is how long killed processes may take to be gone. A process in the
// middle of freeing much memory takes a while.
const KillPatience = 10 * time.Second

// AgentPatience is how long an agent takes at most to end when it is told to. It is
// more than a room needs to find out that it cannot be emptied.
const AgentPatience = 2 * KillPatience

// StopPatience is how long whoever told an agent or a one-shot run to end waits until it kills it.
const StopPatience = AgentPatience + KillPatience

// ErrStuck says that something does not go although it was killed.
var ErrStuck = errors.New("it was killed and does not go")

// Stuck returns an errStuck about what.
func Stuck(what string) error {
	return fmt.Errorf("%s are still there after %s: %w", what, KillPatience, ErrStuck)
}

// Usage is what the kernel says that a process used, together with the children that it waited for.
type Usage struct {
	CPU time.Duration

	// Faults is how many times it met a page of memory that was not there. A page that was given back and is met again
	// counts again. It begins with the process, and what comes before its program meets two or three pages.
	Faults int64

	// ResidentBytes is the most that it, or one of the children, had in memory at once. It does not begin anew with a
	// program: a child that borrows our memory until then has at least what we had, see spawn.
	ResidentBytes int64
}

// Child waits for a child that has ended or was killed, of which there is a descriptor, and returns how it ended and
// what it used. The error is an errStuck when it does not end, or when somebody who traces it does not let it go.
func Child(pid, pidfd int) (syscall.WaitStatus, Usage, error) {
	pause := 20 * time.Microsecond
	deadline := time.Now().Add(KillPatience)
	for looks := 0; ; looks++ {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		ended, err := syscall.Wait4(pid, &ws, syscall.WALL|syscall.WNOHANG, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return ws, Usage{}, fmt.Errorf("wait for process %d: %w", pid, err)
		case ended == pid:
			return ws, usageOf(&ru), nil
		case time.Now().After(deadline):
			return ws, Usage{}, Stuck(fmt.Sprintf("remains of process %d", pid))
		}
		if looks > 0 {
			rest(pause)
			pause = min(2*pause, 10*time.Millisecond)
		}
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		_, _ = unix.Poll(fds, 100) // cut short by a signal at worst
	}
}

// usageOf reads what the kernel wrote. It counts resident memory in KiB.
func usageOf(ru *syscall.Rusage) Usage {
	return Usage{
		CPU:    time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		Faults: ru.Minflt + ru.Majflt, ResidentBytes: ru.Maxrss << 10,
	}
}

// Self returns what the calling process used, and the children that it waited for did not.
func Self() (Usage, error) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return Usage{}, fmt.Errorf("ask what this process used: %w", err)
	}
	return usageOf(&ru), nil
}

// Process is waitChild for a child of which there is no descriptor.
func Process(pid int) (syscall.WaitStatus, error) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("wait for process %d: %w", pid, err)
	}
	ws, _, err := Child(pid, pidfd)
	return ws, errors.Join(err, unix.Close(pidfd))
}

// rest lets the calling thread sleep, cut short by a signal at worst.
func rest(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll(nil, &ts, nil)
}

// BusyPatience is how long a group may stay busy after its last process ended, on a machine that has much else to do.
const BusyPatience = 20 * time.Second

// RetryBusy calls f until it does not fail with EBUSY, for a while.
func RetryBusy(f func() error) error { return RetryUntil(time.Now().Add(BusyPatience), f) }

// RetryUntil calls f until it does not fail with EBUSY, or the deadline has come.
func RetryUntil(deadline time.Time, f func() error) error {
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		err := f()
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		rest(pause)
	}
}

// Semaphore is a semaphore by which a thread waits for another one in the kernel. Of a goroutine that a channel made
// ready the Go scheduler first thinks a millisecond later, if whoever sent keeps its own thread busy.
type Semaphore int // an eventfd

// NewSemaphore returns a semaphore that was not posted.
func NewSemaphore() (Semaphore, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_SEMAPHORE)
	if err != nil {
		return -1, fmt.Errorf("make what threads wait for: %w", err)
	}
	return Semaphore(fd), nil
}

// Post lets one wait end, now or later.
func (b Semaphore) Post() {
	one := [8]byte{1}
	_, _ = unix.Write(int(b), one[:]) // it can count far more than there is
}

// Wait waits until it was posted once more than was waited for.
func (b Semaphore) Wait() {
	var n [8]byte
	for {
		if _, err := unix.Read(int(b), n[:]); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// WaitUntil is await until ctx has ended and patience has passed since. It reports whether it was posted.
func (b Semaphore) WaitUntil(ctx context.Context, patience time.Duration) bool {
	var end time.Time
	for end.IsZero() || time.Now().Before(end) {
		fds := []unix.PollFd{{Fd: int32(b), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 1000); n > 0 && err == nil {
			b.Wait()
			return true
		}
		if ctx.Err() != nil && end.IsZero() {
			end = time.Now().Add(patience)
		}
	}
	return false
}

// Close closes what only its owner uses any more.
func (b Semaphore) Close() error { return unix.Close(int(b)) }
