package sandbox

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// The main program of each run has the same process id in its namespace, and what it
// starts has those after it: a run that starts many processes or threads tells the
// next one nothing. Where the kernel does not let us do that, the next run is in
// another room.

// mainID is the process id of main programs; that of the reaper is 1.
const mainID = 2

// stepCount is the name of the step that sets the counter back.
const stepCount = "set the counter of process ids"

// lastMainID is the text that sets the counter to mainID.
var lastMainID = [1]byte{'0' + mainID}

// openCounter opens the file that sets the counter of process ids of whoever writes to
// it: of the pid namespace that the writer is in. It returns nil where there is none.
func openCounter() *os.File {
	fd, err := unix.Open("/proc/sys/kernel/ns_last_pid", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "ns_last_pid")
}

// counted begins a script with what gives its child the process id of main programs,
// and reports whether it did. Otherwise the room has served after the run.
func (r *room) counted(s *script) bool {
	if r.agent.counter == nil || r.agent.uncounted.Load() {
		r.used = true
		return false
	}
	s.id = mainID
	s.add(stepCount, unix.SYS_PWRITE64, r.agent.counter.Fd(), pointer(s, &lastMainID), uintptr(len(lastMainID)), 0)
	return true
}

// uncount undoes counted where it was the reason for which the script failed.
func (r *room) uncount(s *script, err error) bool {
	child, ok := errors.AsType[*childError](err)
	switch {
	case !ok:
		return false
	case child.step == stepStart && child.errno == unix.EEXIST: // something is still there
	case child.step == stepStart && (child.errno == unix.EPERM || child.errno == unix.EINVAL), child.step == stepCount:
		r.agent.uncounted.Store(true)
	default:
		return false
	}
	r.used = true
	s.id, s.steps, s.names = 0, slices.Delete(s.steps, 0, 1), slices.Delete(s.names, 0, 1)
	return true
}
