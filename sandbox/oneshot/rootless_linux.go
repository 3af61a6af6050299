package oneshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/userns"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// An agent of an ordinary user lives in a user namespace, where it has the privileges that it needs and outside of
// which it has none. The starter makes the namespace with the agent's process, maps user and group ids into it, and
// lets the process go on, which executes itself again to have the privileges.

// Rootless reports why the calling process, of an ordinary user, cannot start an agent: control groups are not
// delegated to it, or it cannot make namespaces. The error names the remedy for each.
func Rootless() error {
	if err := wire.Supported(); err != nil {
		return err
	}
	_, err := cgroup.Delegated()
	return errors.Join(err, tryNamespaces())
}

// tryNamespaces makes a user and a mount namespace and uses them.
func tryNamespaces() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &spawn.Script{}
	s.Add("use a mount namespace", unix.SYS_MOUNT, 0, spawn.Text(s, "/"), 0, unix.MS_REC|unix.MS_PRIVATE, 0)
	pid, pidfd, err := s.Start(unix.CLONE_NEWUSER|unix.CLONE_NEWNS, -1)
	if err != nil {
		return explainNamespaces(err)
	}
	_, _, err = wait.Child(pid, pidfd)
	return errors.Join(err, unix.Close(pidfd))
}

// explainNamespaces says why user namespaces cannot be made or used.
func explainNamespaces(err error) error {
	const sysctls = "/proc/sys/"
	is := func(name, value string) bool {
		b, err := os.ReadFile(sysctls + name)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	remedy := "start as root, or use a kernel with CONFIG_USER_NS outside of a container that forbids it"
	switch {
	case is("user/max_user_namespaces", "0"):
		remedy = "sysctl user.max_user_namespaces=10000 as root, or start as root"
	case is("kernel/unprivileged_userns_clone", "0"):
		remedy = "sysctl kernel.unprivileged_userns_clone=1 as root, or start as root"
	case is("kernel/apparmor_restrict_unprivileged_userns", "1"):
		remedy = "sysctl kernel.apparmor_restrict_unprivileged_userns=0 as root, or start as root"
	}
	return fmt.Errorf("an ordinary user cannot make a user namespace here: %w: %s", err, remedy)
}

// waitVariable tells the process of an agent on which descriptor it hears that its ids are mapped.
const waitVariable = "DEEPOJ_SANDBOX_WAIT"

// startPrivileged starts cmd as root or, by an ordinary user, as the root of a user
// namespace. Then cmd must call awaitIDs before anything else.
func startPrivileged(cmd *exec.Cmd, cfg wire.Config) error {
	if os.Geteuid() == 0 {
		return cmd.Start()
	}
	err := Rootless()
	if cfg.AllowDegraded {
		err = tryNamespaces()
	}
	if err != nil {
		return err
	}
	wait, release, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	cmd.Env = append(cmd.Env, waitVariable+"="+strconv.Itoa(3+len(cmd.ExtraFiles)))
	cmd.ExtraFiles = append(cmd.ExtraFiles, wait)
	cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	err = cmd.Start()
	if err := errors.Join(err, wait.Close()); err != nil {
		return errors.Join(err, release.Close())
	}
	if err = userns.Map(cmd.Process.Pid); err == nil {
		_, err = release.Write([]byte{1})
	}
	if err := errors.Join(err, release.Close()); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// againPrivileged runs this process's command again, by an ordinary user, as the root of a user namespace, and returns
// its exit status. What this process inherited, the other one does too.
func againPrivileged(ctx context.Context, cfg wire.Config, stdout, stderr io.Writer) (int, error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Environ(), os.Stdin, stdout, stderr
	for fd := uintptr(3); ; fd++ {
		flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			break
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(fd, "inherited"))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	// It cleans up when it is told to end.
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = wait.StopPatience
	if err := startPrivileged(cmd, cfg); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), err
}

// awaitIDs waits, in a process of startPrivileged, until ids are mapped, and executes the process again: a process gets
// the privileges of its user namespace when it begins as its root. As root it does nothing.
func awaitIDs() error {
	text, ok := os.LookupEnv(waitVariable)
	if !ok {
		return nil
	}
	fd, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", waitVariable, err)
	}
	f := os.NewFile(uintptr(fd), "starter")
	_, err = f.Read(make([]byte, 1))
	if err := errors.Join(err, f.Close(), os.Unsetenv(waitVariable)); err != nil {
		return fmt.Errorf("wait for user ids: %w", err)
	}
	return fmt.Errorf("begin in a user namespace: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}
