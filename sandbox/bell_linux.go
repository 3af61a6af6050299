package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bell lets a thread wait for another one in the kernel, a ring for each await. Of a
// goroutine that a channel made ready the Go scheduler first thinks a millisecond
// later, if whoever sent keeps its own thread busy.
type bell int // an eventfd

func newBell() (bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_SEMAPHORE)
	if err != nil {
		return -1, fmt.Errorf("make what threads wait for: %w", err)
	}
	return bell(fd), nil
}

func (b bell) ring() {
	one := [8]byte{1}
	_, _ = unix.Write(int(b), one[:]) // it can count far more than there is
}

func (b bell) await() {
	var n [8]byte
	for {
		if _, err := unix.Read(int(b), n[:]); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// awaitUntil is await until ctx has ended and patience has passed since. It reports
// whether the bell rang.
func (b bell) awaitUntil(ctx context.Context, patience time.Duration) bool {
	var end time.Time
	for end.IsZero() || time.Now().Before(end) {
		fds := []unix.PollFd{{Fd: int32(b), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 1000); n > 0 && err == nil {
			b.await()
			return true
		}
		if ctx.Err() != nil && end.IsZero() {
			end = time.Now().Add(patience)
		}
	}
	return false
}

func (b bell) close() error { return unix.Close(int(b)) }
