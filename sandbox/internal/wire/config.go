package wire

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The control group drivers, as Config.Driver and Status.Driver name them.
const (
	DriverV2     = "v2"     // unified hierarchy
	DriverHybrid = "hybrid" // v1 limits, v2 for spawning, killing and CPU time
	DriverV1     = "v1"     // v1 only
	DriverNone   = "none"   // no control groups: memory is not bounded well
)

// Config says how an agent works. The zero value is good.
type Config struct {
	// Slots is how many boxes may be open at once. Default: one per core, and two on
	// a single core, for two programs that talk.
	Slots int `json:"slots,omitempty"`

	// Cores are the numbers of the CPU cores that boxes run on. Default: those the agent may use.
	Cores []int `json:"cores,omitempty"`

	// SearchPath is a list of folders, as in PATH, in which tools are looked up
	// after the well-known ones. Default: the agent's PATH.
	SearchPath string `json:"search_path,omitempty"`

	// Home is the home folder of whoever started the agent, where a tool chain
	// manager such as rustup keeps its tool chains. Default: the agent's HOME.
	Home string `json:"home,omitempty"`

	// Tools names programs that the search would not find, or not the right ones, by logical name.
	Tools map[string]Tool `json:"tools,omitempty"`

	// ReadOnly are more folders that every box may read. Default: none beyond
	// /usr, /bin, /lib* and the needed entries of /etc.
	ReadOnly []string `json:"read_only,omitempty"`

	// AllowDegraded lets the agent start without control groups. Without it the driver "none" is refused.
	AllowDegraded bool `json:"allow_degraded,omitempty"`

	// FirstUID is the first of 5 × Slots + 16 user and group ids that programs
	// run as; no other process may use them. Default 61000.
	FirstUID int `json:"first_uid,omitempty"`

	// Driver forces a control group driver. Default "": the best that works.
	Driver string `json:"driver,omitempty"`

	// CgroupRoot is the folder below each control group mount, or on v2 the absolute path of a delegated folder,
	// under which the agent keeps its groups. Default "deepoj".
	CgroupRoot string `json:"cgroup_root,omitempty"`

	// Log receives what the agent has to say. Default: dropped.
	Log *slog.Logger `json:"-"`
}

// Validate reports every field that is out of range.
func (c Config) Validate() error {
	var errs []error
	if c.Slots < 0 || c.Slots > MaxSlots {
		errs = append(errs, fmt.Errorf("Slots %d is not between 0 and %d", c.Slots, MaxSlots))
	}
	for _, n := range c.Cores {
		if n < 0 || n >= MaxCores {
			errs = append(errs, fmt.Errorf("Cores holds %d, which is no core", n))
		}
	}
	if c.FirstUID != 0 && (c.FirstUID < 1000 || c.FirstUID > 1<<31) {
		errs = append(errs, fmt.Errorf("FirstUID %d is not between 1000 and 2^31", c.FirstUID))
	}
	if !slices.Contains([]string{"", DriverV2, DriverHybrid, DriverV1, DriverNone}, c.Driver) {
		errs = append(errs, fmt.Errorf("Driver %q is not one of v2, hybrid, v1, none", c.Driver))
	}
	for _, dir := range c.ReadOnly {
		if !filepath.IsAbs(dir) {
			errs = append(errs, fmt.Errorf("ReadOnly holds %q, which is not absolute", dir))
		}
	}
	for name, t := range c.Tools {
		if !filepath.IsAbs(t.Path) {
			errs = append(errs, fmt.Errorf("Tools maps %s to %q, which is not absolute", name, t.Path))
		}
	}
	return errors.Join(errs...)
}

// The most slots, and the most cores of a machine.
const (
	MaxSlots = 256
	MaxCores = 1024
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
