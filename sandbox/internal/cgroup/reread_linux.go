package cgroup

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// reread watches how much of its own files a run reads again, because the kernel had
// to take their pages away for want of memory. A program whose data fills its limit
// need not be killed for want of memory: as long as the kernel finds a page of text to
// take away, it does that, and the program reads it again from the disk, for minutes.
type reread struct {
	seen  bool
	pages int64 // that were read again until the first look
}

// starved reports whether a run that has reached its limit has read as much again as
// it may hold, while data takes nearly all of that. The group's file memory.stat calls
// the data of processes as anonymous says, and its figures are those of the kernel's
// Documentation/admin-guide/cgroup-v2.rst, of which cgroup-v1/memory.rst has the same.
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
