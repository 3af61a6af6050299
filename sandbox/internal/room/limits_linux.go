package room

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wire"
)

// machine is what limits are compared with.
type machine struct {
	memoryBytes int64
	cores       int
}

// thisMachine looks at the machine; cores is how many boxes may use.
func thisMachine(cores int) (machine, error) {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return machine{}, fmt.Errorf("ask for the size of memory: %w", err)
	}
	return machine{memoryBytes: int64(si.Totalram) * int64(si.Unit), cores: cores}, nil
}

// resolve fills in defaults and refuses what makes no sense. The error names the field.
func resolve(l wire.Limits, m machine) (wire.Limits, error) {
	l.CPU = cmp.Or(l.CPU, wire.DefaultCPU)
	if l.Wall == 0 {
		l.Wall = min(2*l.CPU+time.Second, wire.MaxWall)
	}
	numbers := []struct {
		name               string
		value              *int64
		standard, min, max int64
	}{
		{"MemoryBytes", &l.MemoryBytes, min(wire.DefaultMemory, m.memoryBytes), wire.MinMemory, m.memoryBytes},
		{"OutputBytes", &l.OutputBytes, wire.DefaultOutput, 1, wire.MaxBytes},
		{"FileBytes", &l.FileBytes, wire.DefaultFile, 1, wire.MaxBytes},
	}
	counts := []struct {
		name               string
		value              *int
		standard, min, max int
	}{
		{"Processes", &l.Processes, wire.DefaultProcesses, 1, wire.MaxProcesses},
		{"OpenFiles", &l.OpenFiles, wire.DefaultOpenFiles, wire.MinOpenFiles, wire.MaxOpenFiles},
		{"Cores", &l.Cores, 1, 1, m.cores},
	}
	if l.CPU < time.Millisecond || l.CPU > wire.MaxCPU {
		return l, fmt.Errorf("limit CPU %s is not between 1ms and %s", l.CPU, wire.MaxCPU)
	}
	if l.Wall < time.Millisecond || l.Wall > wire.MaxWall {
		return l, fmt.Errorf("limit Wall %s is not between 1ms and %s", l.Wall, wire.MaxWall)
	}
	for _, n := range numbers {
		if *n.value == 0 {
			*n.value = n.standard
		}
		if *n.value < n.min || *n.value > n.max {
			return l, fmt.Errorf("limit %s %d is not between %d and %d", n.name, *n.value, n.min, n.max)
		}
	}
	for _, n := range counts {
		if *n.value == 0 {
			*n.value = n.standard
		}
		if *n.value < n.min || *n.value > n.max {
			return l, fmt.Errorf("limit %s %d is not between %d and %d", n.name, *n.value, n.min, n.max)
		}
	}
	return l, nil
}

// unlimited is the absence of a resource limit.
const unlimited = ^uint64(0)

// limitProcess sets the resource limits of this process that are the same for all programs, which inherit them, and
// returns the hard ones that it has. Without CAP_SYS_RESOURCE none can be lifted.
func limitProcess() (map[int]uint64, error) {
	hard := map[int]uint64{}
	for resource, value := range map[int]uint64{
		unix.RLIMIT_CORE:     0,
		unix.RLIMIT_MEMLOCK:  64 << 10,
		unix.RLIMIT_MSGQUEUE: 0,
		unix.RLIMIT_RTPRIO:   0,
		unix.RLIMIT_NICE:     0,
		// The runtimes of Go, Java and JavaScript reserve far more addresses
		// than they use, and processes are counted by the control group.
		unix.RLIMIT_AS:     unlimited,
		unix.RLIMIT_DATA:   unlimited,
		unix.RLIMIT_RSS:    unlimited,
		unix.RLIMIT_CPU:    unlimited,
		unix.RLIMIT_NPROC:  unlimited,
		unix.RLIMIT_FSIZE:  unlimited,
		unix.RLIMIT_STACK:  unlimited,
		unix.RLIMIT_NOFILE: unlimited,
	} {
		var own unix.Rlimit
		if err := unix.Getrlimit(resource, &own); err != nil {
			return nil, fmt.Errorf("ask for a resource limit: %w", err)
		}
		hard[resource] = own.Max
		value = min(value, own.Max)
		if value == own.Cur && value == own.Max || resource == unix.RLIMIT_STACK {
			continue // a thread's stack comes from the limit of its process
		}
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return nil, fmt.Errorf("set a resource limit: %w", err)
		}
	}
	return hard, nil
}

// raisePriority lets the thread, but not its children, go before programs: it has to look at the time of a program that
// keeps all cores busy. A session's programs may share the processor as one group, and then niceness counts for nothing
// against other sessions, so that only a real-time thread is sure to be in time. Without the privilege it is as slow as
// anybody.
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

// The main program of each run has the same process id in its namespace, and what it starts has those after it: a run
// that starts many processes or threads tells the next one nothing. Where the kernel does not let us do that, the next
// run is in another room.

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
