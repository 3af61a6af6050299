package room

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

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

// resolve fills in defaults and refuses what makes no sense. The error names the
// field.
func resolve(l wire.Limits, m machine) (wire.Limits, error) {
	if l.CPU == 0 {
		l.CPU = wire.DefaultCPU
	}
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

// limitProcess sets the resource limits of this process that are the same for
// all programs, which inherit them, and returns the hard ones that it has.
// Without CAP_SYS_RESOURCE none can be lifted.
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
