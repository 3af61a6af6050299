package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/elf"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// eachDriver calls f with a configuration for each control group driver that this
// process can have.
func eachDriver(t *testing.T, f func(t *testing.T, cfg wire.Config)) {
	t.Helper()
	cfg := wire.Config{CgroupRoot: "deepoj-test-" + strconv.Itoa(os.Getpid())}
	if os.Geteuid() != 0 {
		dir, err := Delegated()
		if err != nil {
			if os.Getenv("DEEPOJ_TEST") == "require" {
				t.Fatalf("this test needs root, or: %v", err)
			}
			t.Skipf("this test needs root, or: %v", err)
		}
		cfg.CgroupRoot = dir
	}
	found := 0
	for _, name := range []string{wire.DriverV2, wire.DriverHybrid, wire.DriverV1} {
		cfg.Driver = name
		if d, err := Choose(cfg, "agent-probe", nil); err != nil {
			t.Logf("no driver %s here: %v", name, err)
		} else if err := d.Close(); err != nil {
			t.Error(err)
		} else {
			found++
			t.Run(name, func(t *testing.T) { f(t, cfg) })
		}
	}
	if found == 0 {
		t.Fatal("no control group driver works here")
	}
}

// choose returns the driver of cfg for an agent of this name.
func choose(t *testing.T, cfg wire.Config, agent string) Driver {
	t.Helper()
	d, err := Choose(cfg, AgentPrefix+agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// sleeper starts a process that sleeps in the group g and returns its id.
func sleeper(t *testing.T, g Group) int {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(program, elf.Reaper(), 0o755); err != nil {
		t.Fatal(err)
	}
	lifeline, alive, err := os.Pipe()
	if err == nil {
		err = unix.SetNonblock(int(lifeline.Fd()), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lifeline.Close(); alive.Close() })
	s := &spawn.Script{}
	s.Add("listen for its end", unix.SYS_DUP3, lifeline.Fd(), 0, 0)
	if err := s.Exec(program, []string{"sleeper"}, nil); err != nil {
		t.Fatal(err)
	}
	pid, pidfd, err := spawn.StartPatiently(s, g.Spawn())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(pidfd) })
	awaitName(t, pid, "sleeper")
	v1, _ := g.(*v1Group)
	if h, ok := g.(*hybridGroup); ok {
		v1 = h.v1
	}
	if v1 == nil {
		return pid
	}
	for _, dir := range v1.paths { // a room's thread would be there already
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
	return pid
}

// awaitName waits until a process that was just started has its program's name. The
// kernel lets its parent go on a moment before it closes the descriptors that end with
// the start, locks among them, and names it after that.
func awaitName(t *testing.T, pid int, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		comm, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(comm)) == name {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is called %s and not %s", pid, comm, name)
		}
		runtime.Gosched()
	}
}

// killed waits for the process pid and reports whether it was killed.
func killed(t *testing.T, pid int) bool {
	t.Helper()
	ws, err := wait.Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	return ws.Signaled() && ws.Signal() == syscall.SIGKILL
}

func TestKillingAndCleaningMayBeDoneTwice(t *testing.T) {
	eachDriver(t, func(t *testing.T, cfg wire.Config) {
		d := choose(t, cfg, "twice")
		g, err := d.Open("room-1")
		if err != nil {
			t.Fatal(err)
		}
		twice := func(what string, f func() error) {
			t.Helper()
			for _, time := range []string{"the first", "the second"} {
				if err := f(); err != nil {
					t.Errorf("%s %s time: %v", what, time, err)
				}
			}
		}
		kill := func() error {
			_, err := g.Kill(func() error { return nil })
			if errors.Is(err, ErrCannotKill) && cfg.Driver == wire.DriverV1 {
				return nil
			}
			return err
		}
		for range 3 { // a group serves many runs
			if err := g.Begin(32<<20, 8); err != nil {
				t.Fatal(err)
			}
			twice("killing nobody", kill)
			pid := sleeper(t, g)
			if cfg.Driver == wire.DriverV1 { // its room kills
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			twice("killing", kill)
			if !killed(t, pid) {
				t.Error("the process was not killed")
			}
			twice("killing the dead", kill)
			twice("cleaning", g.Tidy)
		}
		twice("removing the group", g.Remove)
		twice("closing the driver", d.Close)
	})
}

func TestWhatAnAgentLeftIsSweptOnceItIsGone(t *testing.T) {
	eachDriver(t, func(t *testing.T, cfg wire.Config) {
		alive := choose(t, cfg, "alive")
		gone := choose(t, cfg, "gone")
		var pids [2]int
		for i, d := range []Driver{alive, gone} {
			g, err := d.Open("room-1")
			if err != nil {
				t.Fatal(err)
			}
			if d == alive {
				t.Cleanup(func() {
					if err := g.Remove(); err != nil {
						t.Error(err)
					}
				})
			}
			pids[i] = sleeper(t, g)
		}
		defer func() {
			if err := unix.Kill(pids[0], unix.SIGKILL); err != nil {
				t.Errorf("the process of an agent that lives: %v", err)
			}
			killed(t, pids[0])
		}()
		folders := agentFoldersOf(t, gone)
		var left []string
		for name, f := range folders.dirs {
			left = append(left, f.path)
			// The lock goes with the process. A group that the agent made may
			// be deeper than it usually is.
			if err := os.MkdirAll(filepath.Join(f.path, "room-2", "below"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			delete(folders.dirs, name)
		}
		choose(t, cfg, "next") // sweeps
		if !killed(t, pids[1]) {
			t.Error("the process that was left was not killed")
		}
		choose(t, cfg, "last") // finds nothing to sweep
		for _, dir := range left {
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", dir, err)
			}
		}
		for _, f := range agentFoldersOf(t, alive).dirs {
			if _, err := os.Stat(filepath.Join(f.path, "cgroup.procs")); err != nil {
				t.Errorf("what belongs to an agent that lives was swept: %v", err)
			}
		}
	})
}

func agentFoldersOf(t *testing.T, d Driver) *agentFolders {
	t.Helper()
	switch d := d.(type) {
	case *v2Driver:
		return d.folders
	case *hybridDriver:
		return d.folders
	case v1Driver:
		return d.folders
	}
	t.Fatalf("driver %s has no folders", d.Name())
	return nil
}

func TestThePeakOfMemoryIsThatOfTheRunAlone(t *testing.T) {
	eachDriver(t, func(t *testing.T, cfg wire.Config) {
		if cfg.Driver != wire.DriverV2 {
			return // the others reset it
		}
		d := choose(t, cfg, "peak")
		opened, err := d.Open("room-1")
		if err != nil {
			t.Fatal(err)
		}
		g := opened.(*v2Group)
		defer g.Remove()
		inode := func() uint64 {
			var st unix.Stat_t
			if err := unix.Fstat(g.leaf.fd, &st); err != nil {
				t.Fatal(err)
			}
			return st.Ino
		}
		var leaves []uint64
		for i := range 3 {
			if err := g.Begin(64<<20, 8); err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, inode())
			if peak, _, err := g.Memory(); err != nil || peak > 2<<20 {
				t.Errorf("run %d begins with a peak of %d bytes, %v", i, peak, err)
			}
			dirty(t, g, 16<<20)
			if peak, _, err := g.Memory(); err != nil || peak < 15<<20 || peak > 64<<20 {
				t.Errorf("run %d has a peak of %d bytes after 16 MiB, %v", i, peak, err)
			}
			if err := g.Tidy(); err != nil {
				t.Fatal(err)
			}
		}
		if want := atLeast(t, 6, 12); g.peakResets != want {
			t.Errorf("the peak can be reset: %t, want %t", g.peakResets, want)
		}
		if same := leaves[0] == leaves[1] && leaves[1] == leaves[2]; same != g.peakResets {
			t.Errorf("the runs had the groups %v, but a group serves one run unless its peak can be reset, which is %t", leaves, g.peakResets)
		}
	})
}

// dirty lets a process in g use memory: the self-test's, which ends at a limit of
// n bytes.
func dirty(t *testing.T, g *v2Group, n int64) {
	t.Helper()
	if err := g.write("memory.max", fmt.Sprint(n)); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "hog")
	if err := os.WriteFile(program, elf.Executable(elf.Hog), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &spawn.Script{}
	if err := s.Exec(program, []string{"hog"}, nil); err != nil {
		t.Fatal(err)
	}
	pid, pidfd, err := spawn.StartPatiently(s, g.Spawn())
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	if !killed(t, pid) {
		t.Error("a process that uses memory for ever was not killed")
	}
}

// atLeast reports whether the kernel is of this release or a later one.
func atLeast(t *testing.T, major, minor int) bool {
	t.Helper()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	f := strings.FieldsFunc(unix.ByteSliceToString(u.Release[:]), func(c rune) bool { return c < '0' || c > '9' })
	have, err1 := strconv.Atoi(f[0])
	haveMinor, err2 := strconv.Atoi(f[1])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return have > major || have == major && haveMinor >= minor
}

func TestTheControlGroupOfThisProcessIsFound(t *testing.T) {
	const (
		v2     = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		hybrid = "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 20 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	)
	tests := map[string]struct{ mounts, membership, want, fails string }{
		"below the mount":                       {v2, "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope", ""},
		"the root":                              {v2, "0::/\n", "/sys/fs/cgroup", ""},
		"above what processes were moved to":    {v2, "0::/a.scope/" + mainLeaf + "\n", "/sys/fs/cgroup/a.scope", ""},
		"with other hierarchies that are named": {v2, "1:name=systemd:/x\n0::/a.scope\n", "/sys/fs/cgroup/a.scope", ""},
		"outside of what is mounted":            {v2, "0::/../b.scope\n", "", "outside"},
		"no membership":                         {v2, "1:memory:/x\n", "", "no control group v2"},
		"controllers of v1":                     {hybrid, "0::/a.scope\n", "", "systemd.unified_cgroup_hierarchy=1"},
		"nothing mounted":                       {"", "0::/a.scope\n", "", "systemd.unified_cgroup_hierarchy=1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ownGroup(parseHierarchies(tt.mounts), tt.membership)
			if got != tt.want || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("ownGroup = %q, %v", got, err)
			}
		})
	}
}
