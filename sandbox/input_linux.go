package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// presentable returns the input f, or a copy of one that an agent would not take from
// us: it reads no files that the kernel or a program makes up.
func presentable(f *os.File) (*os.File, error) {
	var st unix.Stat_t
	var fs unix.Statfs_t
	fds, err := wire.Descriptors([]*os.File{f})
	if err == nil {
		err = errors.Join(unix.Fstat(fds[0], &st), unix.Fstatfs(fds[0], &fs))
	}
	if err != nil {
		return nil, fmt.Errorf("look at the input: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || wire.RealFileSystem(fs.Type) {
		return f, nil
	}
	m, err := wire.MemoryFile("stdin")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(m, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the input: %w", err), m.Close())
	}
	return m, nil
}
