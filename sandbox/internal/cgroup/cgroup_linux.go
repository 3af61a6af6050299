// Package cgroup bounds and measures runs with control groups: of the second version,
// of the first, of both, or without any.
package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// Driver makes control groups for rooms. There is one per agent.
type Driver interface {
	// Name is one of the Driver constants.
	Name() string

	// Open makes the groups of one room. The only room of an agent may have no
	// name: then the agent's folders are its groups, where that can be.
	Open(room string) (Group, error)

	// Close removes what the driver made for this agent.
	Close() error

	// Degraded says what is weaker than it should be.
	Degraded() []string
}

// Group holds the control groups of one room. Its methods are called on the room's thread, which sees another root file
// system by then, so they name files relative to folders that are already open.
type Group interface {
	// Enter puts the calling thread where its children must begin. It is called once.
	Enter() error

	// Leave takes the calling thread out again, when it has no children any more
	// and is about to end. That spares whoever removes the group to wait for it.
	Leave() error

	// Spawn returns the v2 group that children are born into, or -1.
	Spawn() int

	// Begin sets the limits and the baselines of a run.
	Begin(memoryBytes int64, processes int) error

	// CPU returns the CPU time of the run so far.
	CPU() (time.Duration, error)

	// Memory returns the highest memory use of the run so far, and how many
	// processes the kernel killed for want of memory.
	Memory() (peak, kills int64, err error)

	// Starved reports whether the run, which has reached its limit, has no memory left
	// for the text of its own programs.
	Starved(limitBytes int64) (bool, error)

	// Pressure returns how long the run waited for a CPU.
	Pressure() time.Duration

	// Kill ends every process of the run, if there is any, and waits until they run no more. Those that do not hear
	// of it so are killed by again, as often as it takes. It returns errCannotKill if the group has no way to do
	// so, and an errStuck if they do not go.
	Kill(again func() error) (killed bool, err error)

	// Widen lets there be n more processes than now, for one of ours among them, with a
	// MiB of memory each, until the next run.
	Widen(n int) error

	// Tidy gives back memory that a run left charged.
	Tidy() error

	// Remove removes the groups when the room's thread is gone.
	Remove() error
}

// ErrCannotKill says that processes have to be killed in another way.
var ErrCannotKill = errors.New("this control group cannot kill")

// residueBytes is how much charged memory may stay between runs.
const residueBytes = 1 << 20

// hierarchy is a mounted control group file system.
type hierarchy struct {
	path        string   // mount point
	v2          bool     // unified
	controllers []string // of a v1 hierarchy
}

// hierarchies reads the mounted control group file systems of this process.
func hierarchies() ([]hierarchy, error) {
	b, err := proc.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mounts: %w", err)
	}
	return parseHierarchies(string(b)), nil
}

// parseHierarchies reads the text of a mountinfo file.
func parseHierarchies(mountinfo string) []hierarchy {
	var found []hierarchy
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		if !ok || !strings.HasPrefix(right, "cgroup") {
			continue
		}
		l, r := strings.Fields(left), strings.Fields(right)
		if len(l) < 5 || len(r) < 3 {
			continue
		}
		h := hierarchy{path: unescapeMount(l[4])}
		switch r[0] {
		case "cgroup2":
			h.v2 = true
		case "cgroup":
			h.controllers = strings.Split(r[2], ",")
		default:
			continue
		}
		found = append(found, h)
	}
	return found
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// v1Mount returns where a v1 controller is mounted, or "".
func v1Mount(hs []hierarchy, controller string) string {
	for _, h := range hs {
		if !h.v2 && slices.Contains(h.controllers, controller) {
			return h.path
		}
	}
	return ""
}

// below returns the folder root of each mounted controller, or "".
func below(root string, mounts map[string]string) map[string]string {
	bases := map[string]string{}
	for name, mount := range mounts {
		if mount != "" {
			mount = filepath.Join(mount, root)
		}
		bases[name] = mount
	}
	return bases
}

// v2Mount returns where the unified hierarchy is mounted, or "".
func v2Mount(hs []hierarchy) string {
	for _, h := range hs {
		if h.v2 {
			return h.path
		}
	}
	return ""
}

// Choose returns the best driver that works here, or the one that cfg
// demands. A driver works if try, where given, succeeds with it.
func Choose(cfg wire.Config, agent string, try func(Driver) error) (Driver, error) {
	hs, err := hierarchies()
	if err != nil {
		return nil, err
	}
	kinds := []struct {
		name string
		open func([]hierarchy, wire.Config, string) (Driver, error)
	}{
		{wire.DriverV2, newV2Driver},
		{wire.DriverHybrid, newHybridDriver},
		{wire.DriverV1, newV1Driver},
	}
	var errs []error
	for _, k := range kinds {
		if cfg.Driver != "" && cfg.Driver != k.name {
			continue
		}
		d, err := k.open(hs, cfg, agent)
		if err == nil && try != nil {
			if err = try(d); err != nil {
				err = errors.Join(err, d.Close())
			}
		}
		if err == nil {
			return d, nil
		}
		errs = append(errs, fmt.Errorf("control groups %s: %w", k.name, err))
	}
	if cfg.AllowDegraded && (cfg.Driver == "" || cfg.Driver == wire.DriverNone) {
		if try != nil {
			if err := try(noDriver{}); err != nil {
				return nil, errors.Join(append(errs, err)...)
			}
		}
		return noDriver{}, nil
	}
	if cfg.Driver == wire.DriverNone {
		errs = append(errs, errors.New("running without control groups must be allowed: memory would not be bounded well"))
	}
	return nil, errors.Join(errs...)
}

// agentFolders are the folders of one agent, one per hierarchy. Each is locked,
// which tells a later agent that this one lives.
type agentFolders struct {
	dirs  map[string]*control // by controller; "" is the unified hierarchy
	homes map[string]*control // by v1 controller, the file tasks of its topmost group
	given bool                // whether what they are in is not ours to remove
}

// claimFolders makes the folder agent in every base and locks it. Bases that are
// given were there before the agent and stay.
func claimFolders(bases map[string]string, given bool, agent string) (*agentFolders, error) {
	a := &agentFolders{dirs: map[string]*control{}, homes: map[string]*control{}, given: given}
	for name, base := range bases {
		if base == "" {
			return nil, errors.Join(fmt.Errorf("the controller %s is not mounted", name), a.close())
		}
		f, err := claimFolder(filepath.Join(base, agent))
		if err != nil {
			return nil, errors.Join(err, a.close())
		}
		a.dirs[name] = f
		sweep(base, agent)
	}
	return a, nil
}

// makeGroup makes a control group, and those above it that are missing.
func makeGroup(dir string) error {
	err := unix.Mkdir(dir, 0o755)
	if errors.Is(err, unix.ENOENT) {
		if err := makeGroup(filepath.Dir(dir)); err != nil {
			return err
		}
		err = unix.Mkdir(dir, 0o755)
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// claimFolder makes the folder dir and locks it. Until it is locked, an agent that starts may take it for a leftover
// and remove it, and one that ends may remove what it lies in: then it is made anew.
func claimFolder(dir string) (*control, error) {
	var f *control
	err := wait.RetryBusy(func() error {
		err := makeGroup(dir)
		if err == nil {
			f, err = openFolder(dir)
		}
		switch {
		case errors.Is(err, unix.ENOENT):
			return unix.EBUSY
		case err != nil:
			return fmt.Errorf("make a control group: %w", err)
		}
		err = unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = unix.EBUSY // whoever has it removes it
		}
		var st unix.Stat_t
		if err == nil && unix.Stat(filepath.Join(dir, "cgroup.procs"), &st) != nil {
			err = unix.EBUSY // it was removed before it was locked
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim the control group %s: %w", dir, err)
	}
	return f, nil
}

// close removes the folders and, when this agent was the last one, what they were made in. It may be called again.
func (a *agentFolders) close() error {
	var errs []error
	for name, f := range a.homes {
		errs = append(errs, f.Close())
		delete(a.homes, name)
	}
	for name, f := range a.dirs {
		errs = append(errs, removeGroup(f.path))
		if !a.given {
			_ = unix.Rmdir(filepath.Dir(f.path)) // busy while there are others
		}
		errs = append(errs, f.Close())
		delete(a.dirs, name)
	}
	return errors.Join(errs...)
}
