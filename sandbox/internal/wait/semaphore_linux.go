package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Semaphore is a semaphore by which a thread waits for another one in the kernel. Of a
// goroutine that a channel made ready the Go scheduler first thinks a millisecond
// later, if whoever sent keeps its own thread busy.
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

// WaitUntil is await until ctx has ended and patience has passed since. It reports
// whether it was posted.
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
