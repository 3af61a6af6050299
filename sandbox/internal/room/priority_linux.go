package room

import "golang.org/x/sys/unix"

// raisePriority lets the thread, but not its children, go before programs: it has to look
// at the time of a program that keeps all cores busy. A session's programs may
// share the processor as one group, and then niceness counts for nothing against
// other sessions, so that only a real-time thread is sure to be in time. Without
// the privilege it is as slow as anybody.
func raisePriority() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 1}
	if unix.SchedSetAttr(0, &a, 0) != nil {
		a.Policy, a.Priority, a.Nice = unix.SCHED_NORMAL, 0, -15
		_ = unix.SchedSetAttr(0, &a, 0)
	}
}

// resetPriority lets the thread take its turn like any other.
func resetPriority() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	_ = unix.SchedSetAttr(0, &a, 0)
}

// raiseChildren lets the children of a thread that hurries go before programs too,
// until it hurries alone again. Without the privilege nothing changes.
func raiseChildren() {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	_ = unix.SchedSetAttr(0, &a, 0)
}
