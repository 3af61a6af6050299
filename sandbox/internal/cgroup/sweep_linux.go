package cgroup

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

	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/wait"
)

// sweep removes what agents left in base that ended without cleaning up. A folder whose lock is free has no owner. What
// cannot be removed now is left for the next sweep.
func sweep(base, own string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // nothing to see is nothing to sweep
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == own || !strings.HasPrefix(e.Name(), AgentPrefix) {
			continue
		}
		sweepAgent(filepath.Join(base, e.Name()))
	}
}

// AgentPrefix begins the names of agents' folders. The agent's process id follows, and
// after another "-" that of the process with which it ends, if there is one.
const AgentPrefix = "agent-"

// sweepPatience is how long a start looks after what one agent left.
const sweepPatience = 2 * time.Second

func sweepAgent(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	lock := func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	if lock() != nil && (!endOrphan(filepath.Base(dir)) || lock() != nil) {
		return // its owner lives
	}
	_ = removeUntil(time.Now().Add(sweepPatience), dir) // the next start tries again
}

// endOrphan kills an agent that outlived the process with which it had to end: one
// that hangs, or was stopped. It reports whether the agent is gone.
func endOrphan(folder string) bool {
	own, starter, _ := strings.Cut(strings.TrimPrefix(folder, AgentPrefix), "-")
	pid, err := strconv.Atoi(own)
	if err != nil {
		return false
	}
	parent, err := strconv.Atoi(starter)
	if err != nil {
		return false // it ends with nobody
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false // its lock is held by a child of its own that is about to end
	}
	defer unix.Close(pidfd)
	if now, err := proc.Parent(pid); err != nil || now == parent {
		return false
	}
	if unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0) != nil {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.KillPatience.Milliseconds()))
	return err == nil && n > 0
}

// removeGroup kills what is left in the group dir and below, and removes it. Removing what is not there succeeds.
func removeGroup(dir string) error { return removeUntil(time.Now().Add(wait.BusyPatience), dir) }

// removeUntil is removeGroup that gives up at the deadline.
func removeUntil(deadline time.Time, dir string) error {
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
			errs = append(errs, removeUntil(deadline, filepath.Join(dir, e.Name())))
		}
	}
	err = wait.RetryUntil(deadline, func() error {
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

// killMembers kills the processes of a group but this one, which may have a thread in it that is about to end.
func killMembers(dir string) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return // gone
	}
	pids := strings.Fields(string(b))
	if !slices.Contains(pids, strconv.Itoa(os.Getpid())) {
		// What an agent without root left cannot be signalled by the next one,
		// whose user namespace is another, but the group is theirs both. It does not
		// reach a process whose first thread has ended, where a signal does.
		_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	}
	for _, field := range pids {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 && pid != os.Getpid() {
			_ = unix.Kill(pid, unix.SIGKILL) // gone is what we want
		}
	}
}
