package cgroup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// control is an open file or folder of a control group. It is its owner's to close: a room has some dozen of them, and
// each os.File would take four system calls more.
type control struct {
	fd   int // -1 when closed
	path string
}

// Close may be called again, which is an error that says so.
func (c *control) Close() error {
	if c.fd < 0 {
		return os.ErrClosed
	}
	err := unix.Close(c.fd)
	c.fd = -1
	return err
}

// openFolder opens the folder of a control group.
func openFolder(path string) (*control, error) { return openPath(path, unix.O_RDONLY|unix.O_DIRECTORY) }

// openPath opens a file or folder of a control group.
func openPath(path string, flags int) (*control, error) {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &control{fd, path}, nil
}

// readAt returns the text of an open control file.
func readAt(f *control) (string, error) {
	var b [1024]byte
	n, err := unix.Pread(f.fd, b[:], 0)
	for err == unix.EINTR {
		n, err = unix.Pread(f.fd, b[:], 0)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", f.path, err)
	}
	return string(b[:n]), nil
}

// readNumber returns the number that an open control file holds.
func readNumber(f *control) (int64, error) {
	s, err := readAt(f)
	if err != nil {
		return 0, err
	}
	return leadingNumber(s), nil
}

// readField returns the number after key in an open control file, 0 if absent.
func readField(f *control, key string) (int64, error) {
	s, err := readAt(f)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(line, key+" "); ok {
			return leadingNumber(rest), nil
		}
	}
	return 0, nil
}

// leadingNumber reads the decimal digits that s begins with.
func leadingNumber(s string) int64 {
	var n int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// writeAt writes text to an open control file. A limit of memory is not set while
// a signal waits, and the Go runtime sends itself some.
func writeAt(f *control, text string) error {
	_, err := unix.Pwrite(f.fd, []byte(text), 0)
	for err == unix.EINTR {
		_, err = unix.Pwrite(f.fd, []byte(text), 0)
	}
	if err != nil {
		return fmt.Errorf("write %q to %s: %w", text, f.path, err)
	}
	return nil
}

// openControl opens the control file name in the folder dir.
func openControl(dir *control, name string, flags int) (*control, error) {
	fd, err := unix.Openat(dir.fd, name, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", dir.path, name, err)
	}
	return &control{fd, filepath.Join(dir.path, name)}, nil
}

// reread watches how much of its own files a run reads again, because the kernel had to take their pages away for want
// of memory. A program whose data fills its limit need not be killed for want of memory: as long as the kernel finds a
// page of text to take away, it does that, and the program reads it again from the disk, for minutes.
type reread struct {
	seen  bool
	pages int64 // that were read again until the first look
}

// starved reports whether a run that has reached its limit has read as much again as it may hold, while data takes
// nearly all of that. The group's file memory.stat calls the data of processes as anonymous says, and its figures are
// those of the kernel's Documentation/admin-guide/cgroup-v2.rst, of which cgroup-v1/memory.rst has the same.
func (r *reread) starved(stat *control, anonymous string, limitBytes int64) (bool, error) {
	var b [8 << 10]byte
	n, err := unix.Pread(stat.fd, b[:], 0)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", stat.path, err)
	}
	var data, pages int64
	for line := range strings.Lines(string(b[:n])) {
		name, rest, _ := strings.Cut(line, " ")
		switch name {
		case anonymous, "shmem":
			data += leadingNumber(rest)
		case "workingset_refault_file":
			pages = leadingNumber(rest)
		}
	}
	if !r.seen {
		r.seen, r.pages = true, pages
	}
	return data >= limitBytes/8*7 && (pages-r.pages)*int64(unix.Getpagesize()) >= limitBytes, nil
}
