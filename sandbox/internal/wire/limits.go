package wire

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"
)

// Defaults of Limits and of a Cmd's outputs.
const (
	DefaultCPU         = time.Second
	DefaultMemory      = 256 << 20
	DefaultOutput      = 64 << 20
	DefaultFile        = 64 << 20
	DefaultProcesses   = 64
	DefaultOpenFiles   = 256
	DefaultStdoutLimit = 256 << 10
	DefaultStderrLimit = 1 << 20
	DefaultTmp         = 512 << 20
)

// The most that a run may ask for, besides what the machine has.
const (
	MaxCPU       = time.Hour
	MaxWall      = 4 * time.Hour
	MaxBytes     = 1 << 40
	MaxProcesses = 16384
	MaxOpenFiles = 65536
	MinMemory    = 1 << 20
	MinOpenFiles = 4 // the three streams, and one for the loader of libraries
)

// aroundRun is how long the process of a one-shot run may take besides the run itself.
const aroundRun = 2 * time.Minute

// Longest returns after what time a one-shot run has ended, or hangs.
func (l Limits) Longest() time.Duration {
	cpu, wall := cmp.Or(l.CPU, DefaultCPU), l.Wall
	if wall == 0 {
		wall = 2*cpu + time.Second
	}
	return min(max(wall, 0), MaxWall) + aroundRun
}

// Tmp returns how many bytes each private folder may hold.
func (o BoxOptions) Tmp() (int64, error) {
	switch {
	case o.TmpBytes < 0 || o.TmpBytes > MaxBytes:
		return 0, fmt.Errorf("TmpBytes %d is not between 0 and %d", o.TmpBytes, int64(MaxBytes))
	case o.TmpBytes == 0:
		return DefaultTmp, nil
	default:
		return o.TmpBytes, nil
	}
}

// maxPath bounds the path of a file in bytes.
const maxPath = 1024

// CheckPath refuses a path that is not plainly below its root.
func CheckPath(p string) error {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." ||
		strings.HasPrefix(p, "../") || strings.ContainsRune(p, 0) || len(p) > maxPath {
		return Unfit("%q is not a plain relative path of at most %d bytes", p, maxPath)
	}
	return nil
}
