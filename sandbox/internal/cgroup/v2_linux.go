package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/userns"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// v2Group is a leaf of the unified hierarchy that programs are born into. With controllers it bounds memory and
// processes; without, in a hybrid group, it only counts CPU time and kills.
type v2Group struct {
	parent      *control // the agent's folder
	name        string
	controllers bool

	leaf            *control
	stat, events    *control
	press           *control // nil where the kernel keeps no pressure
	peak, memEvents *control // with controllers
	memStat         *control // likewise
	reread          reread

	killed     bool // was killed in, so it must not be used again
	peakResets bool // memory.peak can be reset through an open file
	used       bool
	processes  int // what pids.max holds

	baseCPU, basePressure time.Duration
	baseKills             int64
}

// ownFolder as the name of a leaf is the agent's folder itself, which serves one run and goes with the agent.
const ownFolder = "."

func openV2Group(a *agentFolders, room string, controllers bool) (*v2Group, error) {
	g := &v2Group{parent: a.dirs[""], name: room, controllers: controllers}
	if err := g.make(); err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

// make makes the leaf and opens its files.
func (g *v2Group) make() error {
	if g.name != ownFolder {
		if err := unix.Mkdirat(g.parent.fd, g.name, 0o755); err != nil {
			return fmt.Errorf("make the control group %s: %w", g.name, err)
		}
	}
	var err error
	if g.leaf, err = openControl(g.parent, g.name, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
		return err
	}
	if g.stat, err = openControl(g.leaf, "cpu.stat", unix.O_RDONLY); err != nil {
		return err
	}
	if g.events, err = openControl(g.leaf, "cgroup.events", unix.O_RDONLY); err != nil {
		return err
	}
	if g.press, err = openControl(g.leaf, "cpu.pressure", unix.O_RDONLY); err != nil {
		g.press = nil
	} else if _, err := readAt(g.press); err != nil { // compiled in but switched off
		err = g.press.Close()
		if g.press = nil; err != nil {
			return err
		}
	}
	g.killed, g.used, g.basePressure = false, false, 0
	if !g.controllers {
		return nil
	}
	if g.memEvents, err = openControl(g.leaf, "memory.events", unix.O_RDONLY); err != nil {
		return err
	}
	if g.memStat, err = openControl(g.leaf, "memory.stat", unix.O_RDONLY); err != nil {
		return err
	}
	// The peak can be reset from Linux 6.12 on; before, a leaf serves one run.
	if g.peak, err = openControl(g.leaf, "memory.peak", unix.O_RDWR); err == nil {
		g.peakResets = writeAt(g.peak, "reset") == nil
	} else if g.peak, err = openControl(g.leaf, "memory.peak", unix.O_RDONLY); err != nil {
		return err
	}
	for name, text := range map[string]string{"memory.swap.max": "0", "memory.zswap.max": "0", "memory.oom.group": "1"} {
		if err := g.write(name, text); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// write writes text to the control file name of the leaf.
func (g *v2Group) write(name, text string) error {
	f, err := openControl(g.leaf, name, unix.O_WRONLY)
	if err != nil {
		return err
	}
	return errors.Join(writeAt(f, text), f.Close())
}

func (g *v2Group) Enter() error { return nil }
func (g *v2Group) Leave() error { return nil }
func (g *v2Group) Spawn() int   { return g.leaf.fd }

func (g *v2Group) Begin(memoryBytes int64, processes int) error {
	if g.killed || g.controllers && g.used && !g.peakResets {
		if err := g.renew(); err != nil {
			return err
		}
	}
	g.used, g.reread = true, reread{}
	if g.controllers {
		g.processes = processes
		if err := g.Widen(0); err != nil {
			return err
		}
		if err := g.write("memory.max", strconv.FormatInt(memoryBytes, 10)); err != nil {
			return err
		}
		if g.peakResets {
			if err := writeAt(g.peak, "reset"); err != nil {
				return err
			}
		}
		var err error
		if g.baseKills, err = readField(g.memEvents, "oom_kill"); err != nil {
			return err
		}
	}
	g.baseCPU = 0
	var err error
	g.baseCPU, err = g.CPU()
	return err
}

func (g *v2Group) CPU() (time.Duration, error) {
	n, err := readField(g.stat, "usage_usec")
	return time.Duration(n)*time.Microsecond - g.baseCPU, err
}

func (g *v2Group) Memory() (peak, kills int64, err error) {
	if peak, err = readNumber(g.peak); err != nil {
		return 0, 0, err
	}
	kills, err = readField(g.memEvents, "oom_kill")
	return peak, kills - g.baseKills, err
}

// pressure reads the line "some avg10=… total=<microseconds>".
func (g *v2Group) Starved(limitBytes int64) (bool, error) {
	return g.reread.starved(g.memStat, "anon", limitBytes)
}

func (g *v2Group) Pressure() time.Duration {
	if g.press == nil {
		return 0
	}
	s, err := readAt(g.press)
	if err != nil {
		return 0 // a figure that is nice to have
	}
	_, s, _ = strings.Cut(s, "total=")
	return time.Duration(leadingNumber(s))*time.Microsecond - g.basePressure
}

// rebase lets pressure count from now on: nothing runs.
func (g *v2Group) rebase() {
	g.basePressure = 0
	g.basePressure = g.Pressure()
}

// busy reports whether a process of the run is left.
func (g *v2Group) busy() (bool, error) {
	n, err := readField(g.events, "populated")
	return n != 0, err
}

func (g *v2Group) Widen(n int) error {
	if !g.controllers {
		return nil
	}
	g.processes += n
	return g.write("pids.max", strconv.Itoa(g.processes))
}

// FirstPause is how long killed processes may take before they are killed in another way, for the first time.
const FirstPause = 5 * time.Millisecond

func (g *v2Group) Kill(again func() error) (killed bool, err error) {
	busy, err := g.busy()
	if err != nil || !busy {
		return false, err
	}
	if err := g.write("cgroup.kill", "1"); errors.Is(err, unix.ENOENT) {
		return false, ErrCannotKill // before Linux 5.14
	} else if err != nil {
		return false, err
	}
	// Some kernels kill every later child that is born into a group that was killed once, so this leaf has served.
	g.killed = true
	pause := FirstPause
	for deadline := time.Now().Add(wait.KillPatience); ; pause = min(2*pause, 40*FirstPause) {
		if busy, err := g.busy(); err != nil || !busy {
			return true, err
		}
		if time.Now().After(deadline) {
			return true, wait.Stuck("killed processes")
		}
		if pause > FirstPause {
			if err := again(); err != nil {
				return true, err
			}
		}
		fds := []unix.PollFd{{Fd: int32(g.events.fd), Events: unix.POLLPRI}}
		if _, err := unix.Poll(fds, int(pause.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return true, fmt.Errorf("wait for killed processes: %w", err)
		}
	}
}

// renew replaces the leaf by a fresh one.
func (g *v2Group) renew() error {
	if err := g.removeLeaf(); err != nil {
		return err
	}
	return g.make()
}

func (g *v2Group) Tidy() error {
	if g.killed {
		return g.renew()
	}
	g.rebase()
	if !g.controllers {
		return nil
	}
	f, err := openControl(g.leaf, "memory.current", unix.O_RDONLY)
	if err != nil {
		return err
	}
	n, err := readNumber(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if n > residueBytes {
		return g.renew()
	}
	return nil
}

func (g *v2Group) removeLeaf() error {
	var errs []error
	for _, f := range []**control{&g.stat, &g.events, &g.press, &g.peak, &g.memEvents, &g.memStat, &g.leaf} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	if g.name == ownFolder {
		return errors.Join(errs...)
	}
	err := wait.RetryBusy(func() error { return unix.Unlinkat(g.parent.fd, g.name, unix.AT_REMOVEDIR) })
	if err != nil && !errors.Is(err, unix.ENOENT) {
		errs = append(errs, fmt.Errorf("remove the control group %s: %w", g.name, err))
	}
	return errors.Join(errs...)
}

func (g *v2Group) Remove() error { return g.removeLeaf() }

type v2Driver struct{ folders *agentFolders }

// newV2Driver keeps the agent's groups below cfg.CgroupRoot or, without root,
// below the group that was delegated to this process.
func newV2Driver(hs []hierarchy, cfg wire.Config, agent string) (Driver, error) {
	mount := v2Mount(hs)
	if mount == "" {
		return nil, errors.New("no unified hierarchy is mounted")
	}
	top, base := mount, filepath.Join(mount, cfg.CgroupRoot)
	if filepath.IsAbs(cfg.CgroupRoot) {
		top, base = cfg.CgroupRoot, cfg.CgroupRoot
	} else if userns.Inside() {
		dir, err := Delegated()
		if err != nil {
			return nil, err
		}
		top, base = dir, dir
	}
	if err := checkControllers(top, "the kernel may need cgroup_enable=memory on its command line"); err != nil {
		return nil, err
	}
	f, err := claimFolders(map[string]string{"": base}, top == base, agent)
	if err != nil {
		return nil, err
	}
	var dirs []string // from top to the agent's folder
	for dir := f.dirs[""].path; dir != top; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	for _, dir := range slices.Backward(append(dirs, top)) {
		if err := handOn(dir); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	return &v2Driver{folders: f}, nil
}

func (d *v2Driver) Name() string       { return wire.DriverV2 }
func (d *v2Driver) Close() error       { return d.folders.close() }
func (d *v2Driver) Degraded() []string { return nil }

// Open makes a leaf even for a room without a name: a group that hands its controllers on cannot hold processes.
func (d *v2Driver) Open(room string) (Group, error) {
	return openV2Group(d.folders, cmp.Or(room, "room"), true)
}
