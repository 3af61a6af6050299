package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweep removes what agents left in base that ended without cleaning up. A
// folder whose lock is free has no owner. What cannot be removed now is left for
// the next sweep.
func sweep(base, own string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // nothing to see is nothing to sweep
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == own || !strings.HasPrefix(e.Name(), agentPrefix) {
			continue
		}
		sweepAgent(filepath.Join(base, e.Name()))
	}
}

// agentPrefix begins the names of agents' folders.
const agentPrefix = "agent-"

func sweepAgent(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return // its owner lives
	}
	_ = removeGroup(dir) // the next start tries again
}

// removeGroup kills what is left in the group dir and below, and removes it.
// Removing what is not there succeeds.
func removeGroup(dir string) error {
	if unix.Rmdir(dir) == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list a control group: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, removeGroup(filepath.Join(dir, e.Name())))
		}
	}
	err = retryBusy(func() error {
		err := unix.Rmdir(dir)
		if errors.Is(err, unix.EBUSY) {
			killMembers(dir)
		}
		return err
	})
	if err != nil && !errors.Is(err, unix.ENOENT) {
		errs = append(errs, fmt.Errorf("remove the control group %s: %w", dir, err))
	}
	return errors.Join(errs...)
}

// killMembers kills the processes of a group but this one, which may have a
// thread in it that is about to end.
func killMembers(dir string) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return // gone
	}
	pids := strings.Fields(string(b))
	if !slices.Contains(pids, strconv.Itoa(os.Getpid())) {
		// What an agent without root left cannot be signalled by the next one,
		// whose user namespace is another, but the group is theirs both.
		if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
			return
		}
	}
	for _, field := range pids {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 && pid != os.Getpid() {
			_ = unix.Kill(pid, unix.SIGKILL) // gone is what we want
		}
	}
}

// busyPatience is how long a group may stay busy after its last process ended, and
// killed processes may take to be gone, on a machine that has much else to do.
const busyPatience = 20 * time.Second

// retryBusy calls f until it does not fail with EBUSY, for a while.
func retryBusy(f func() error) error {
	pause := 20 * time.Microsecond
	for deadline := time.Now().Add(busyPatience); ; {
		err := f()
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		ts := unix.NsecToTimespec(int64(pause))
		_, _ = unix.Ppoll(nil, &ts, nil) // a wait, cut short by a signal at worst
		pause = min(2*pause, 10*time.Millisecond)
	}
}
