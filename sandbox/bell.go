package sandbox

import (
	"errors"
	"fmt"

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

func (b bell) close() error { return unix.Close(int(b)) }
