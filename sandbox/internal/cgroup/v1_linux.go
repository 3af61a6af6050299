package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// v1Group bounds memory and processes with v1 controllers, and counts CPU time if it has cpuacct. The room's thread
// joins the groups once and its children inherit them: in v1 threads have groups of their own, and moving a process on
// every run would cost milliseconds.
type v1Group struct {
	paths []string   // folders, for remove
	tasks []*control // their files tasks, for enter
	homes []*control // not its own; likewise for leave

	parent, home *control // the folder of the room's memory group, nil if that is not the room's own; and where its thread may stay meanwhile
	name         string   // of the memory group
	member       *control // one of tasks: the memory group's

	limit, swapLimit *control // swapLimit is nil where swap is not counted
	usage, peak, oom *control
	empty, stat      *control
	pids             *control
	usageNS          *control // cpuacct; nil in a hybrid group

	baseMemory, baseKills int64
	residue               int64 // what could not be given back
	reread                reread
	limitBytes            int64 // what limit holds
	processes             int   // what pids holds
	baseCPU, baseThread   time.Duration
}

// reserve is how many processes of a v1 group are ours: the room's thread.
const reserve = 1

func openV1Group(a *agentFolders, room string, controllers ...string) (*v1Group, error) {
	g := &v1Group{}
	dirs := map[string]*control{}
	for _, c := range controllers {
		dirs[c] = a.dirs[c]
		if room != "" {
			path := filepath.Join(a.dirs[c].path, room)
			if err := os.Mkdir(path, 0o755); err != nil {
				return nil, errors.Join(fmt.Errorf("make a control group: %w", err), g.Remove())
			}
			g.paths = append(g.paths, path)
			f, err := openFolder(path)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("open a control group: %w", err), g.Remove())
			}
			defer f.Close()
			dirs[c] = f
		}
		tasks, err := openControl(dirs[c], "tasks", unix.O_WRONLY)
		if err != nil {
			return nil, errors.Join(err, g.Remove())
		}
		g.tasks = append(g.tasks, tasks)
		home := a.homes[c]
		if home != nil {
			g.homes = append(g.homes, home)
		}
		if c == "memory" {
			g.member = tasks
			if room != "" && home != nil {
				g.parent, g.home, g.name = a.dirs[c], home, room
			}
		}
	}
	err := g.openMemory(dirs["memory"])
	if err == nil {
		g.pids, err = openControl(dirs["pids"], "pids.max", unix.O_WRONLY)
	}
	if err == nil && dirs["cpuacct"] != nil {
		g.usageNS, err = openControl(dirs["cpuacct"], "cpuacct.usage", unix.O_RDONLY)
	}
	if err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

// memoryFiles are the open files of the memory group but tasks.
func (g *v1Group) memoryFiles() []**control {
	return []**control{&g.limit, &g.swapLimit, &g.usage, &g.peak, &g.oom, &g.empty, &g.stat}
}

// openMemory opens the files of the memory group in its folder.
func (g *v1Group) openMemory(dir *control) error {
	names := []string{
		"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes",
		"memory.oom_control", "memory.force_empty", "memory.stat",
	}
	flags := []int{unix.O_RDWR, unix.O_RDWR, unix.O_RDONLY, unix.O_RDWR, unix.O_RDONLY, unix.O_WRONLY, unix.O_RDONLY}
	for i, to := range g.memoryFiles() {
		var err error
		if *to, err = openControl(dir, names[i], flags[i]); err != nil && to != &g.swapLimit {
			return err
		}
	}
	return nil
}

// Enter writes 0, which is the thread that writes: naming it by its number would
// wait for an RCU grace period, 5 to 20 ms, to keep it from ending meanwhile.
func (g *v1Group) Enter() error { return enlist(g.tasks) }
func (g *v1Group) Leave() error { return enlist(g.homes) }

// enlist moves the calling thread to the groups of the files tasks.
func enlist(tasks []*control) error {
	for _, f := range tasks {
		if err := writeAt(f, "0"); err != nil {
			return fmt.Errorf("join a control group: %w", err)
		}
	}
	return nil
}

func (g *v1Group) Spawn() int { return -1 }

func (g *v1Group) Begin(memoryBytes int64, processes int) error {
	if processes != g.processes {
		if err := writeAt(g.pids, strconv.Itoa(processes+reserve)); err != nil {
			return err
		}
		g.processes = processes
	}
	base, err := readNumber(g.usage)
	if err != nil {
		return err
	}
	if err := g.bound(base + memoryBytes); err != nil {
		return err
	}
	if err := writeAt(g.peak, "0"); err != nil { // begins again at the current use
		return err
	}
	g.baseMemory, g.reread = base, reread{}
	if g.baseKills, err = readField(g.oom, "oom_kill"); err != nil {
		return err
	}
	if g.usageNS != nil {
		g.baseThread = threadCPU()
		n, err := readNumber(g.usageNS)
		if err != nil {
			return err
		}
		g.baseCPU = time.Duration(n)
	}
	return nil
}

// ChargeBytes is how exactly v1 counts memory.
const ChargeBytes = 256 << 10

// bound limits memory, unless the limit is good already.
func (g *v1Group) bound(limitBytes int64) error {
	if g.limitBytes-limitBytes < ChargeBytes && limitBytes-g.limitBytes < ChargeBytes {
		return nil
	}
	// The limit must never exceed the limit with swap, so lift that one first.
	if g.swapLimit != nil {
		if err := writeAt(g.swapLimit, "-1"); err != nil {
			return err
		}
	}
	text := strconv.FormatInt(limitBytes, 10)
	if err := writeAt(g.limit, text); err != nil {
		return err
	}
	g.limitBytes = limitBytes
	if g.swapLimit == nil {
		return nil
	}
	return writeAt(g.swapLimit, text)
}

// CPU leaves out what the room's own thread used: it is in the group too.
func (g *v1Group) CPU() (time.Duration, error) {
	n, err := readNumber(g.usageNS)
	if err != nil {
		return 0, err
	}
	return max(0, time.Duration(n)-g.baseCPU-(threadCPU()-g.baseThread)), nil
}

func (g *v1Group) Memory() (peak, kills int64, err error) {
	peak, err = readNumber(g.peak)
	if err != nil {
		return 0, 0, err
	}
	kills, err = readField(g.oom, "oom_kill")
	return max(0, peak-g.baseMemory), kills - g.baseKills, err
}

func (g *v1Group) Starved(limitBytes int64) (bool, error) {
	return g.reread.starved(g.stat, "rss", limitBytes)
}

func (g *v1Group) Pressure() time.Duration         { return 0 }
func (g *v1Group) Kill(func() error) (bool, error) { return false, ErrCannotKill }

func (g *v1Group) Widen(n int) error {
	g.processes += n // which the next run sees
	return errors.Join(writeAt(g.pids, strconv.Itoa(g.processes+reserve)), g.bound(g.limitBytes+int64(n)<<20))
}

func (g *v1Group) Tidy() error {
	n, err := readNumber(g.usage)
	if err != nil || n <= g.residue+residueBytes {
		return err
	}
	if g.parent != nil {
		return g.renewMemory()
	}
	if err := writeAt(g.empty, "0"); err != nil && !errors.Is(err, unix.EBUSY) {
		return err
	}
	g.residue, err = readNumber(g.usage)
	return err
}

// renewMemory replaces the memory group by a fresh one. What is charged to the old one is mostly the text of compilers
// and run-time systems that the run was the first to read: it stays in the kernel's cache, and counts for nobody.
// Emptying the group would have the next run read all of it again from the disk.
func (g *v1Group) renewMemory() error {
	if err := writeAt(g.home, "0"); err != nil {
		return fmt.Errorf("leave a control group: %w", err)
	}
	for _, f := range append(g.memoryFiles(), &g.member) {
		if *f != nil && (*f).fd >= 0 {
			if err := (*f).Close(); err != nil {
				return err
			}
		}
	}
	if err := wait.RetryBusy(func() error { return unix.Unlinkat(g.parent.fd, g.name, unix.AT_REMOVEDIR) }); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove the control group %s: %w", g.name, err)
	}
	if err := unix.Mkdirat(g.parent.fd, g.name, 0o755); err != nil {
		return fmt.Errorf("make the control group %s: %w", g.name, err)
	}
	dir, err := openControl(g.parent, g.name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer dir.Close()
	tasks, err := openControl(dir, "tasks", unix.O_WRONLY)
	if err != nil {
		return err
	}
	*g.member = *tasks // which is in g.tasks
	g.limitBytes, g.residue = 0, 0
	if err := g.openMemory(dir); err != nil {
		return err
	}
	return enlist([]*control{g.member})
}

func (g *v1Group) Remove() error {
	var errs []error
	files := append(g.tasks, g.pids, g.usageNS)
	for _, f := range g.memoryFiles() {
		files = append(files, *f)
	}
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) { // it may be removed twice
			errs = append(errs, err)
		}
	}
	for _, p := range g.paths {
		errs = append(errs, removeGroup(p))
	}
	return errors.Join(errs...)
}

// threadCPU returns the CPU time of the calling thread.
func threadCPU() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0 // cannot fail for the calling thread
	}
	return time.Duration(ts.Nano())
}

// claimV1 makes the folders of an agent below root in hierarchies that are mounted as
// mounts says, the unified one among them or not.
func claimV1(mounts map[string]string, root, agent string) (*agentFolders, error) {
	f, err := claimFolders(below(root, mounts), false, agent)
	if err != nil {
		return nil, err
	}
	for c, mount := range mounts {
		if c == "" {
			continue
		}
		if home, err := openPath(filepath.Join(mount, "tasks"), unix.O_WRONLY); err == nil {
			f.homes[c] = home // otherwise threads end where they are
		}
	}
	return f, nil
}

type v1Driver struct{ folders *agentFolders }

func newV1Driver(hs []hierarchy, cfg wire.Config, agent string) (Driver, error) {
	mounts := map[string]string{}
	for _, c := range []string{"memory", "pids", "cpuacct"} {
		mounts[c] = v1Mount(hs, c)
	}
	f, err := claimV1(mounts, cfg.CgroupRoot, agent)
	if err != nil {
		return nil, err
	}
	return v1Driver{f}, nil
}

func (d v1Driver) Name() string       { return wire.DriverV1 }
func (d v1Driver) Close() error       { return d.folders.close() }
func (d v1Driver) Degraded() []string { return nil }

func (d v1Driver) Open(room string) (Group, error) {
	return openV1Group(d.folders, room, "memory", "pids", "cpuacct")
}
