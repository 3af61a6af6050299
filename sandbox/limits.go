package sandbox

import (
	"cmp"
	"time"
)

// Defaults of Limits and of a Cmd's outputs.
const (
	defaultCPU         = time.Second
	defaultMemory      = 256 << 20
	defaultOutput      = 64 << 20
	defaultFile        = 64 << 20
	defaultProcesses   = 64
	defaultOpenFiles   = 256
	defaultStdoutLimit = 256 << 10
	defaultStderrLimit = 1 << 20
	defaultTmp         = 512 << 20
)

// The most that a run may ask for, besides what the machine has.
const (
	maxCPU       = time.Hour
	maxWall      = 4 * time.Hour
	maxBytes     = 1 << 40
	maxProcesses = 16384
	maxOpenFiles = 65536
	minMemory    = 1 << 20
	minOpenFiles = 4 // the three streams, and one for the loader of libraries
)

// aroundRun is how long the process of a one-shot run may take besides the run itself.
const aroundRun = 2 * time.Minute

// longest returns after what time a one-shot run has ended, or hangs.
func (l Limits) longest() time.Duration {
	cpu, wall := cmp.Or(l.CPU, defaultCPU), l.Wall
	if wall == 0 {
		wall = 2*cpu + time.Second
	}
	return min(max(wall, 0), maxWall) + aroundRun
}
