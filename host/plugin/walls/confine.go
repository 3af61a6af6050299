package walls

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Confinement is what a process keeps that is about to work on what strangers made.
//
// A child has the user id of whoever started it, and so far all that is theirs is its own: their memory, their files,
// their processes. A guest that broke out of the engine would have it. A confinement takes all of it away before a
// module is touched.
type Confinement struct {
	Descriptors int           // how many it keeps, from 0 on
	Reads       string        // the folder that it may read; "" = no file may be opened
	Writes      string        // the folder that it may write; "" = none
	DataBytes   int64         // memory that it may allocate
	CPU         time.Duration // whole seconds; 0 = no limit
}

// Begin has the calling process give up for ever all else: files, the network, other programs and processes, its
// environment, core files, and what it inherited. [All] says which of that this machine cannot do.
//
// The address space cannot be limited, since the Go runtime reserves much more of it than it uses. What it maps
// writable counts as data, so that is what is limited, on top of what it has mapped already.
func (c Confinement) Begin() error {
	mapped, err := dataMapped()
	if err != nil {
		return err
	}
	type limit struct {
		resource int
		soft     uint64
		hard     uint64
	}
	data := uint64(mapped + c.DataBytes*dataFactor)
	limits := []limit{
		{unix.RLIMIT_DATA, data, data},
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_NOFILE, 128, 128},
		{unix.RLIMIT_FSIZE, 1 << 30, 1 << 30},
	}
	if c.CPU > 0 {
		s := uint64(c.CPU / time.Second)
		// Go programs take no notice of the signal at the soft limit.
		limits = append(limits, limit{unix.RLIMIT_CPU, s, s})
	}
	for _, x := range limits {
		if err := unix.Setrlimit(x.resource, &unix.Rlimit{Cur: x.soft, Max: x.hard}); err != nil {
			return fmt.Errorf("resource %d to %d: %w", x.resource, x.soft, err)
		}
	}
	if err := c.build(); err != nil {
		return err
	}
	// Collect garbage harder before the limit is met.
	debug.SetMemoryLimit(c.DataBytes * 3 / 4)
	debug.SetGCPercent(400) // a call leaves little behind, and there are many
	return nil
}

// dataMapped returns how many bytes of data the process has mapped.
func dataMapped() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmData:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmData")
}
