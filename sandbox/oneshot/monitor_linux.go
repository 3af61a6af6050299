package oneshot

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
