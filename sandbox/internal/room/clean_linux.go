package room

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/proc"
	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wait"
)

// After every run a room is made as good as new. All of it may be done twice.

// clean removes what a run left: processes, files in the private tmpfs, memory.
func (r *Room) clean() error {
	if err := r.killAll(); err != nil {
		return err
	}
	if net := r.thread.network; net != nil {
		if err := net.settle(); err != nil {
			return err
		}
	}
	clean, err := r.untouched()
	if err != nil {
		return err
	}
	if !clean {
		for _, path := range rootfs.Writable {
			if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
				return fmt.Errorf("empty %s: %w", path, err)
			}
		}
		if err := errors.Join(r.mountWritable(), r.rule()); err != nil {
			return err
		}
	}
	return errors.Join(r.group.Tidy(), r.pool.fill(r.UID))
}

// untouched reports whether nothing was ever made in the private tmpfs.
func (r *Room) untouched() (bool, error) {
	for _, path := range rootfs.Writable {
		if ok, err := rootfs.Untouched(path); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// mountWritable mounts the private tmpfs, all of them: one that is younger than another
// would tell which a program had used.
func (r *Room) mountWritable() error {
	for _, path := range rootfs.Writable {
		if err := rootfs.MountPrivate(path, r.tmpBytes, "1777", false); err != nil {
			return err
		}
	}
	return nil
}

// killAll ends every process in the room but the reaper, and waits until they are gone. The main process of a run must
// have been waited for. Doing it twice is fine. Of a room that is stuck nothing more is wanted.
func (r *Room) killAll() error {
	if r.stuck {
		return nil
	}
	return r.withMemory(r.emptyOut)
}

// emptyOut is killAll, which may lack memory.
func (r *Room) emptyOut() error {
	killed, err := r.group.Kill(r.strike)
	r.reapStrays()
	if errors.Is(err, cgroup.ErrCannotKill) {
		return r.killByHand()
	}
	if err != nil || !killed && !r.killed {
		return err
	}
	r.killed = false
	return r.settle()
}

// settle waits until killed processes are gone altogether: for a moment they still count, and can be seen, though they
// run no more. Whoever goes on is killed again.
func (r *Room) settle() error {
	again := time.Now().Add(10 * cgroup.FirstPause)
	err := wait.RetryUntil(time.Now().Add(wait.KillPatience), func() error {
		r.reapStrays()
		pids, err := proc.Processes()
		if err != nil || len(pids) == 0 {
			return err
		}
		if now := time.Now(); now.After(again) {
			again = now.Add(40 * cgroup.FirstPause)
			if err := r.strike(); err != nil {
				return err
			}
		}
		return unix.EBUSY
	})
	if errors.Is(err, unix.EBUSY) {
		return wait.Stuck("killed processes")
	}
	return err
}

// reapStrays waits for the children of the room's thread that have ended, other than the main process of a run, which
// must have been waited for. The filter keeps a program from giving us any; one that did nevertheless would be a
// process that nobody waits for, and its namespace could not end.
func (r *Room) reapStrays() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL|unix.WNOTHREAD, nil)
		if err == nil && pid == r.reaper {
			r.reaper = 0 // somebody killed it, and the namespace is gone with it
		}
		if pid <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// maxMore is how many MiB are given at once to what kills.
const maxMore = 64

// withMemory calls f, for which there may be no memory left: the room's thread may be
// in the group of what it kills, where the kernel then opens and reads no file and makes
// no process. A MiB more is enough, unless what is to be killed takes it first.
func (r *Room) withMemory(f func() error) error {
	err := f()
	for more := 1; errors.Is(err, unix.ENOMEM) && more <= maxMore; more *= 2 {
		if err := r.group.Widen(more); err != nil {
			return err
		}
		err = f()
	}
	return err
}

// maxPlaces is how many places are made at once for a process that kills.
const maxPlaces = 1024

// killByHand kills everything in the pid namespace.
func (r *Room) killByHand() error {
	pids, err := proc.Processes()
	if err != nil || len(pids) == 0 {
		return err
	}
	if err := r.strike(); err != nil {
		return err
	}
	return r.settle()
}

// strike kills everything in the pid namespace from within, and waits for nothing to be gone. Whoever kills must not
// wait until a program that spins on its core has used up its turn.
func (r *Room) strike() error {
	s := &spawn.Script{}
	s.Add("kill everything", unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL))
	raiseChildren()
	defer raisePriority()
	// Beside the room's thread: what is born into a group that was killed may be killed at once.
	pid, pidfd, err := s.Start(0, -1)
	// The group may be full. A place more is enough, unless what is to be killed takes it
	// first; without a limit that could be more than any machine bears.
	for place := 1; errors.Is(err, unix.EAGAIN) && place <= maxPlaces; place *= 2 {
		if err := r.group.Widen(place); err != nil {
			return err
		}
		pid, pidfd, err = s.Start(0, -1)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil // they ended by themselves meanwhile
	}
	if err != nil {
		return fmt.Errorf("kill what is left: %w", err)
	}
	_, _, err = wait.Child(pid, pidfd)
	return errors.Join(err, unix.Close(pidfd))
}
