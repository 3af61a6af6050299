package room

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/spawn"
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
func (r *Room) counted(s *spawn.Script) bool {
	if r.host.counter == nil || r.host.uncounted.Load() {
		r.used = true
		return false
	}
	s.ID = mainID
	s.Add(stepCount, unix.SYS_PWRITE64, r.host.counter.Fd(), spawn.Pointer(s, &lastMainID), uintptr(len(lastMainID)), 0)
	return true
}

// uncount undoes counted where it was the reason for which the script failed.
func (r *Room) uncount(s *spawn.Script, err error) bool {
	child, ok := errors.AsType[*spawn.Error](err)
	switch {
	case !ok:
		return false
	case child.Step == spawn.StepStart && child.Errno == unix.EEXIST: // something is still there
	case child.Step == spawn.StepStart && (child.Errno == unix.EPERM || child.Errno == unix.EINVAL), child.Step == stepCount:
		r.host.uncounted.Store(true)
	default:
		return false
	}
	r.used = true
	s.ID = 0
	s.DropFirst()
	return true
}
