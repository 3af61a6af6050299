package room

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
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

// openNull opens the room's own empty device, so that a program can open /dev/stdin. It is opened for each program:
// what one does to it, such as setting flags, no other sees.
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

// input returns what a program may have as its standard input. A file is copied into a sealed memfd: the program could
// open a file again by way of /proc/self/fd, and what it reads must not be charged to it. A file may have so many bytes
// as spare allows.
func input(f *os.File, spare func(int64) error) (in *os.File, copied bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, false, fmt.Errorf("look at the input: %w", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO, unix.S_IFSOCK:
		return f, false, block(f)
	case unix.S_IFREG:
	default:
		return nil, false, errors.New("the input is neither a file nor a pipe")
	}
	if err := spare(st.Size); err != nil {
		return nil, false, fmt.Errorf("the input: %w", err)
	}
	m, err := wire.MemoryFile("stdin")
	if err != nil {
		return nil, false, err
	}
	if err := copyFile(m, f, st.Size); err != nil {
		return nil, false, errors.Join(fmt.Errorf("copy the input: %w", err), m.Close())
	}
	return m, true, nil
}

// block makes a pipe block whoever uses it, as programs expect. Ends that Go made do not.
func block(f *os.File) error {
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		return fmt.Errorf("make a pipe block: %w", err)
	}
	return nil
}

// copyFile copies size bytes of f from offset 0 into the empty memfd m, makes it immutable and rewinds it.
func copyFile(m, f *os.File, size int64) error {
	// It may have become shorter meanwhile.
	if _, err := sendFile(int(m.Fd()), int(f.Fd()), 0, size); err != nil {
		return err
	}
	if err := wire.Seal(m); err != nil {
		return err
	}
	if err := m.Chmod(0o444); err != nil {
		return err
	}
	_, err := m.Seek(0, io.SeekStart)
	return err
}

// sendFile copies size bytes of the file from, which begin at offset, to where
// the file to stands, and returns how many there were.
func sendFile(to, from int, offset, size int64) (int64, error) {
	end := offset + size
	for begin := offset; ; {
		left := end - offset
		if left <= 0 {
			return offset - begin, nil
		}
		n, err := unix.Sendfile(to, from, &offset, int(min(left, 1<<30)))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return offset - begin, err
		}
		if n == 0 && err == nil {
			return offset - begin, nil
		}
	}
}
