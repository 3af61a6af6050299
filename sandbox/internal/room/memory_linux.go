package room

import (
	"os"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// memory returns the memory of a run in bytes, from the highest use that the driver saw and from what the kernel says
// of the main process. It is a figure for people: no verdict comes from it.
func (w *watch) memory(peak int64, u wait.Usage) (int64, error) {
	if w.result.Driver != wire.DriverNone {
		return charged(peak, w.limits.MemoryBytes, u), nil
	}
	self, err := wait.Self()
	return sampled(peak, u, self), err
}

// touched is how much memory the faults of a process stand for: at most that where pages were met again, and at least
// that where the kernel gave many pages for one fault.
func touched(u wait.Usage) int64 { return u.Faults * int64(os.Getpagesize()) }

// charged is the memory of a run in a control group. A group is charged in batches: with the first page it pays for a
// batch, and pages that an earlier batch had left cost nothing. So the figure can be short by about a batch, and that
// of a small program is often 0. What is missing is made up for by what the program touched, by one batch at most.
//
// The most that was resident is of no use here: up to what the agent has, which grows, it says nothing of the program,
// and beyond it counts pages of files that are charged to nobody, so the figure would depend on the agent.
func charged(peak, limitBytes int64, u wait.Usage) int64 {
	return max(peak, min(touched(u), peak+cgroup.ChargeBytes, limitBytes))
}

// sampled is the memory of a run without control groups, whose processes are looked at now and then. What the main
// process had resident is at most what the kernel says, and that is all its own if it is more than what the agent ever
// had, which is what it may have come with.
func sampled(peak int64, u, agent wait.Usage) int64 {
	if u.ResidentBytes > agent.ResidentBytes {
		return max(peak, u.ResidentBytes)
	}
	return max(peak, min(touched(u), u.ResidentBytes))
}
