package room

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// pool holds what most runs begin with: an empty input and the pipes of two
// outputs. A room fills it while nobody waits for it.
type pool struct {
	nulls []int
	pipes [][2]int
}

// fill makes what is missing, for the programs of the user uid.
func (s *pool) fill(uid int) error {
	for len(s.nulls) < 1 {
		fd, err := openNull()
		if err != nil {
			return err
		}
		s.nulls = append(s.nulls, fd)
	}
	for len(s.pipes) < 2 {
		p, err := outputPipe(uid)
		if err != nil {
			return err
		}
		s.pipes = append(s.pipes, p)
	}
	return nil
}

// null returns an empty input, which is the caller's to close.
func (s *pool) null() (int, error) {
	if n := len(s.nulls) - 1; n >= 0 {
		fd := s.nulls[n]
		s.nulls = s.nulls[:n]
		return fd, nil
	}
	return openNull()
}

// pipe returns an output's pipe, which is the caller's to close.
func (s *pool) pipe(uid int) ([2]int, error) {
	if n := len(s.pipes) - 1; n >= 0 {
		p := s.pipes[n]
		s.pipes = s.pipes[:n]
		return p, nil
	}
	return outputPipe(uid)
}

// close closes what was not used.
func (s *pool) close() error {
	var errs []error
	for _, fd := range s.nulls {
		errs = append(errs, unix.Close(fd))
	}
	for _, p := range s.pipes {
		errs = append(errs, unix.Close(p[0]), unix.Close(p[1]))
	}
	*s = pool{}
	return errors.Join(errs...)
}

// openNull opens the room's own empty device, so that a program can open
// /dev/stdin. It is opened for each program: what one does to it, such as setting
// flags, no other sees.
func openNull() (int, error) {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open an empty input: %w", err)
	}
	return fd, nil
}

// outputPipe makes a pipe of which reading does not block. Its other end belongs to
// uid, so that the program can open /dev/stdout.
func outputPipe(uid int) (p [2]int, err error) {
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return p, fmt.Errorf("make a pipe: %w", err)
	}
	_, err = unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_NONBLOCK)
	if err == nil {
		err = unix.Fchown(p[1], uid, uid)
	}
	if err != nil {
		return p, errors.Join(fmt.Errorf("make a pipe: %w", err), unix.Close(p[0]), unix.Close(p[1]))
	}
	return p, nil
}
