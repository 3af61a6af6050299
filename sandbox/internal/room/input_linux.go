package room

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// input returns what a program may have as its standard input. A file is copied
// into a sealed memfd: the program could open a file again by way of
// /proc/self/fd, and what it reads must not be charged to it. A file may have so many
// bytes as spare allows.
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

// block makes a pipe block whoever uses it, as programs expect. Ends that Go made
// do not.
func block(f *os.File) error {
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		return fmt.Errorf("make a pipe block: %w", err)
	}
	return nil
}

// copyFile copies size bytes of f from offset 0 into the empty memfd m, makes it
// immutable and rewinds it.
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
