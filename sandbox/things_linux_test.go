package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// thing is something to pass as a descriptor.
type thing struct {
	name string
	open func() (int, error)
	fits []wire.Slot // for which slots it is right
}

// things returns what can be passed. Below dir, which belongs to the attacker, they
// may be made; secret is a folder of root's that nobody else may enter.
func things(dir, secret string) []thing {
	path := func(name string, flags int) func() (int, error) {
		return func() (int, error) { return unix.Open(name, flags|unix.O_CLOEXEC, 0) }
	}
	file := func(name string, mode uint32, flags int) func() (int, error) {
		name = filepath.Join(dir, name)
		return func() (int, error) {
			if err := os.RemoveAll(name); err != nil {
				return -1, err
			}
			if err := os.WriteFile(name, []byte("words\n"), 0o600); err != nil {
				return -1, err
			}
			if err := unix.Chmod(name, mode); err != nil {
				return -1, err
			}
			return unix.Open(name, flags|unix.O_CLOEXEC, 0)
		}
	}
	memory := func(content string, seals int) func() (int, error) {
		return func() (int, error) {
			f, err := wire.MemoryFile("attack")
			if err != nil {
				return -1, err
			}
			if _, err := f.WriteString(content); err != nil {
				return -1, err
			}
			fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
			if err == nil && seals != 0 {
				_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
			}
			return fd, errors.Join(err, f.Close())
		}
	}
	pipe := func(end int) func() (int, error) {
		return func() (int, error) {
			var p [2]int
			if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
				return -1, err
			}
			if end == 0 {
				return p[0], unix.Close(p[1])
			}
			return p[1], nil // its reader stays
		}
	}
	socket := func(domain, kind int) func() (int, error) {
		return func() (int, error) {
			if domain != unix.AF_UNIX {
				return unix.Socket(domain, kind|unix.SOCK_CLOEXEC, 0)
			}
			p, err := unix.Socketpair(domain, kind|unix.SOCK_CLOEXEC, 0)
			return p[0], err
		}
	}
	controls, _ := filepath.Glob("/sys/fs/cgroup/cgroup.procs")
	if v1, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs"); len(controls) == 0 {
		controls = v1
	}
	packed := "\x00\x00\x00\x02[]"
	all := []thing{
		{"a folder", path("/etc", unix.O_RDONLY|unix.O_DIRECTORY), nil},
		{"a folder of its own", path(dir, unix.O_RDONLY|unix.O_DIRECTORY), nil},
		{"a folder of root's by O_PATH", path(secret, unix.O_PATH|unix.O_DIRECTORY), nil},
		{"a file of root's by O_PATH", path("/etc/shadow", unix.O_PATH), nil},
		{"a file of its own by O_PATH", file("path", 0o600, unix.O_PATH), nil},
		{"a link by O_PATH", path("/proc/self/exe", unix.O_PATH|unix.O_NOFOLLOW), nil},
		{"a device", path("/dev/zero", unix.O_RDWR), nil},
		{"a terminal", path("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY), nil},
		{"a stream socket", socket(unix.AF_UNIX, unix.SOCK_STREAM), nil},
		{"a datagram socket", socket(unix.AF_UNIX, unix.SOCK_DGRAM), nil},
		{"a socket of the Internet", socket(unix.AF_INET, unix.SOCK_STREAM), nil},
		{"a socket that asks the kernel", socket(unix.AF_NETLINK, unix.SOCK_RAW), nil},
		{"a socket without another end", func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0) }, nil},
		{"a setting of its process in /proc", path("/proc/self/comm", unix.O_RDWR), nil},
		{"a file of /proc to read", path("/proc/self/maps", unix.O_RDONLY), nil},
		{"a file of /proc to write", path("/proc/self/oom_score_adj", unix.O_RDWR), nil},
		{"a file of /sys", path("/sys/kernel/uevent_seqnum", unix.O_RDONLY), nil},
		{"a control file of a group", path(append(controls, "/no/control/groups")[0], unix.O_RDONLY), nil},
		{"a namespace", path("/proc/self/ns/mnt", unix.O_RDONLY), nil},
		{"an event counter", func() (int, error) { return unix.Eventfd(0, unix.EFD_CLOEXEC) }, nil},
		{"an epoll", func() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) }, nil},
		{"a process", func() (int, error) { return unix.PidfdOpen(os.Getpid(), 0) }, nil},
		{"a named pipe", func() (int, error) {
			name := filepath.Join(dir, "fifo")
			if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, unix.EEXIST) {
				return -1, err
			}
			return unix.Open(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		}, nil},
		{"the reading end of a pipe", pipe(0), []wire.Slot{wire.SlotReadable}},
		{"the writing end of a pipe", pipe(1), []wire.Slot{wire.SlotWritable, wire.SlotPipe}},
		{"a file to read", file("read", 0o400, unix.O_RDONLY), []wire.Slot{wire.SlotReadable}},
		{"a file to write", file("write", 0o600, unix.O_WRONLY), []wire.Slot{wire.SlotWritable}},
		{"a file to read and write", file("both", 0o600, unix.O_RDWR), []wire.Slot{wire.SlotReadable, wire.SlotWritable}},
		{"a file to append to", file("append", 0o600, unix.O_WRONLY|unix.O_APPEND), []wire.Slot{wire.SlotWritable}},
		{"a program with its owner's rights", file("setuid", 0o4700, unix.O_WRONLY), nil},
		{"a memory file", memory("words\n", 0), []wire.Slot{wire.SlotReadable, wire.SlotWritable}},
		{"an empty memory file", memory("", 0), []wire.Slot{wire.SlotReadable, wire.SlotWritable, wire.SlotKept}},
		{"packed files that can be changed", memory(packed, 0), []wire.Slot{wire.SlotReadable, wire.SlotWritable}},
		{"packed files that can be cut", memory(packed, unix.F_SEAL_GROW|unix.F_SEAL_WRITE), []wire.Slot{wire.SlotReadable}},
		{"packed files", memory(packed, wire.Sealed), []wire.Slot{wire.SlotReadable, wire.SlotPacked}},
	}
	return all
}
