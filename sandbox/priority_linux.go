package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// hurry lets the thread, but not its children, go before programs: it has to look
// at the time of a program that keeps all cores busy. A session's programs may
// share the processor as one group, and then niceness counts for nothing against
// other sessions, so that only a real-time thread is sure to be in time. Without
// the privilege it is as slow as anybody.
func hurry() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 1}
	if unix.SchedSetAttr(0, &a, 0) != nil {
		a.Policy, a.Priority, a.Nice = unix.SCHED_NORMAL, 0, -15
		_ = unix.SchedSetAttr(0, &a, 0)
	}
}

// unhurry lets the thread take its turn like any other.
func unhurry() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	_ = unix.SchedSetAttr(0, &a, 0)
}

// hurryChildren lets the children of a thread that hurries go before programs too,
// until it hurries alone again. Without the privilege nothing changes.
func hurryChildren() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	_ = unix.SchedSetAttr(0, &a, 0)
}

// calmMonitor keeps the Go runtime's monitor, the first thread that it starts, from
// taking a core away from others the moment it wakes, which it does every 70 µs for a
// while: from the program in a box, too. It still gets its share. Where that cannot
// be had everything is a little slower.
func calmMonitor() {
	dir, err := unix.Open("/proc/self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	var b [512]byte // far more than two entries
	n, err := unix.Getdents(dir, b[:])
	if err != nil {
		return
	}
	_, _, names := unix.ParseDirent(b[:n], -1, nil)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil && tid != os.Getpid() {
			a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}
			_ = unix.SchedSetAttr(tid, &a, 0)
			return
		}
	}
}
