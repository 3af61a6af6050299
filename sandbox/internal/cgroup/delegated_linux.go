package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/proc"
)

// An ordinary user may keep control groups below one that was delegated to it:
// its folder and the files that move processes and hand on controllers belong
// to the user. Only the unified hierarchy can be delegated safely.

// mainLeaf is where the processes of a delegated group move to, because a group
// cannot both hold processes and hand its controllers to its children.
const mainLeaf = "deepoj-main"

// neededControllers are the controllers without which programs are not bounded.
var neededControllers = []string{"memory", "pids"}

// Delegated returns the folder of the control group that was delegated to this process. The error names the remedy.
func Delegated() (string, error) {
	hs, err := hierarchies()
	if err != nil {
		return "", err
	}
	b, err := proc.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("read the control group of this process: %w", err)
	}
	dir, err := ownGroup(hs, string(b))
	if err != nil {
		return "", err
	}
	return dir, checkDelegated(dir)
}

// ownGroup returns the folder of the v2 control group that a file
// /proc/PID/cgroup names, or that above it if the process was moved to mainLeaf.
func ownGroup(hs []hierarchy, membership string) (string, error) {
	mount := v2Mount(hs)
	for _, c := range neededControllers {
		if v1 := v1Mount(hs, c); v1 != "" || mount == "" {
			return "", errors.New("only control groups v2 can be delegated to an ordinary user, and this machine has v1: " +
				"boot with systemd.unified_cgroup_hierarchy=1 on the kernel command line, or start as root")
		}
	}
	for line := range strings.Lines(membership) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			if strings.HasPrefix(path, "/..") {
				return "", fmt.Errorf("the control group %s of this process is outside of what is mounted at %s: start as root", path, mount)
			}
			if filepath.Base(path) == mainLeaf {
				path = filepath.Dir(path)
			}
			return filepath.Join(mount, path), nil
		}
	}
	return "", errors.New("this process has no control group v2: start as root")
}

// checkDelegated reports why the group dir is not delegated to this process.
func checkDelegated(dir string) error {
	for _, name := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		err := unix.Faccessat(unix.AT_FDCWD, filepath.Join(dir, name), unix.W_OK, unix.AT_EACCESS)
		if err != nil {
			return fmt.Errorf("the control group %s is not delegated to user %d: start the command below "+
				"`systemd-run --user --scope -p Delegate=yes`, in a systemd unit with Delegate=yes, or as root", dir, os.Geteuid())
		}
	}
	return checkControllers(dir, "have root give Delegate=memory pids to this unit "+
		"(for users: `systemctl edit user@.service`), or start as root")
}

// checkControllers reports which controllers the group dir lacks.
func checkControllers(dir, remedy string) error {
	b, err := proc.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read the controllers of a control group: %w", err)
	}
	has := strings.Fields(string(b))
	for _, c := range neededControllers {
		if !slices.Contains(has, c) {
			return fmt.Errorf("the control group %s has no controller %s: %s", dir, c, remedy)
		}
	}
	return nil
}

// handOn hands the memory and pids controllers of dir to its children. A group that holds processes cannot, unless it
// is the root, so they move into a leaf of their own first: the agent and whoever started it.
func handOn(dir string) error {
	var err error
	for range 20 { // a process may be born while the others move
		err = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory +pids"), 0)
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		if err := moveProcesses(dir, filepath.Join(dir, mainLeaf)); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("hand on the controllers of a control group: %w", err)
	}
	return nil
}

// moveProcesses moves every process of the group from into the group to.
func moveProcesses(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make a control group: %w", err)
	}
	b, err := proc.ReadFile(filepath.Join(from, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("list the processes of a control group: %w", err)
	}
	for pid := range strings.FieldsSeq(string(b)) {
		err := os.WriteFile(filepath.Join(to, "cgroup.procs"), []byte(pid), 0)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move process %s: %w", pid, err)
		}
	}
	return nil
}
