package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// An agent of an ordinary user lives in a user namespace, where it has the
// privileges that it needs and outside of which it has none. The starter makes
// the namespace with the agent's process, maps user and group ids into it, and
// lets the process go on, which executes itself again to have the privileges.

// Rootless reports why the calling process, of an ordinary user, cannot start an
// agent: control groups are not delegated to it, or it cannot make namespaces.
// The error names the remedy for each.
func Rootless() error {
	if err := supported(); err != nil {
		return err
	}
	_, err := delegatedGroup()
	return errors.Join(err, tryNamespaces())
}

// tryNamespaces makes a user and a mount namespace and uses them.
func tryNamespaces() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &script{}
	s.add("use a mount namespace", unix.SYS_MOUNT, 0, text(s, "/"), 0, unix.MS_REC|unix.MS_PRIVATE, 0)
	pid, pidfd, err := s.start(unix.CLONE_NEWUSER|unix.CLONE_NEWNS, -1)
	if err != nil {
		return explainNamespaces(err)
	}
	_, _, err = waitChild(pid, pidfd)
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

// waitVariable tells the process of an agent on which descriptor it hears that
// its ids are mapped.
const waitVariable = "DEEPOJ_SANDBOX_WAIT"

// startPrivileged starts cmd as root or, by an ordinary user, as the root of a user
// namespace. Then cmd must call awaitIDs before anything else.
func startPrivileged(cmd *exec.Cmd, cfg Config) error {
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
	if err = mapIDs(cmd.Process.Pid); err == nil {
		_, err = release.Write([]byte{1})
	}
	if err := errors.Join(err, release.Close()); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// againPrivileged runs this process's command again, by an ordinary user, as the
// root of a user namespace, and returns its exit status. What this process
// inherited, the other one does too.
func againPrivileged(ctx context.Context, cfg Config, stdout, stderr io.Writer) (int, error) {
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
	cmd.WaitDelay = stopPatience
	if err := startPrivileged(cmd, cfg); err != nil {
		return 0, err
	}
	err := cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), err
}

// awaitIDs waits, in a process of startPrivileged, until ids are mapped, and
// executes the process again: a process gets the privileges of its user namespace
// when it begins as its root. As root it does nothing.
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

// manyIDs is how many ids of its own a user needs for programs to have ids of
// their own. It is what distributions give.
const manyIDs = 65536

// idMap is how ids of one kind get into a user namespace.
type idMap struct {
	own     int    // of the user
	file    string // in /proc/PID
	ranges  string // which ids whose user may map
	program string // which maps them
}

func idMaps() []idMap {
	return []idMap{
		{os.Geteuid(), "uid_map", "/etc/subuid", "newuidmap"},
		{os.Getegid(), "gid_map", "/etc/subgid", "newgidmap"},
	}
}

// mapIDs maps user and group ids into the user namespace of the process pid: the
// user's own as 0, and from 1 on those that /etc/subuid and /etc/subgid give it,
// which two programs of the system may map and nobody else.
func mapIDs(pid int) error {
	var commands []*exec.Cmd
	for _, m := range idMaps() {
		b, _ := os.ReadFile(m.ranges) // a file that is not there gives nothing
		path, err := exec.LookPath(m.program)
		if first, count := subordinate(string(b), userNames()); count > 0 && err == nil {
			commands = append(commands, exec.Command(path, strconv.Itoa(pid),
				"0", strconv.Itoa(m.own), "1", "1", strconv.Itoa(first), strconv.Itoa(count)))
		}
	}
	if len(commands) < len(idMaps()) {
		return mapOwn(pid)
	}
	for _, c := range commands {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s: mend /etc/subuid and /etc/subgid, or remove this user from them",
				strings.Join(c.Args, " "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// mapOwn maps only the user's own ids, which everybody may do who gives up
// changing groups.
func mapOwn(pid int) error {
	proc := "/proc/" + strconv.Itoa(pid) + "/"
	if err := os.WriteFile(proc+"setgroups", []byte("deny"), 0); err != nil {
		return fmt.Errorf("give up changing groups: %w", err)
	}
	for _, m := range idMaps() {
		if err := os.WriteFile(proc+m.file, fmt.Appendf(nil, "0 %d 1\n", m.own), 0); err != nil {
			return fmt.Errorf("map the user's own id: %w", err)
		}
	}
	return nil
}

// userNames returns what this user may be called in /etc/subuid.
func userNames() []string {
	names := []string{strconv.Itoa(os.Geteuid())}
	if u, err := user.LookupId(names[0]); err == nil {
		names = append(names, u.Username)
	}
	return names
}

// subordinate returns the first range of at least manyIDs ids that the text of
// /etc/subuid or /etc/subgid gives to one of names. Its count is 0 if there is none.
func subordinate(text string, names []string) (first, count int) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 || !slices.Contains(names, f[0]) {
			continue
		}
		first, err1 := strconv.Atoi(f[1])
		count, err2 := strconv.Atoi(f[2])
		if err := errors.Join(err1, err2); err == nil && count >= manyIDs {
			return first, count
		}
	}
	return 0, 0
}

// userNamespace reports whether this process is in a user namespace of somebody.
func userNamespace() bool {
	b, err := readFile("/proc/self/uid_map")
	return err == nil && !slices.Equal(strings.Fields(string(b)), []string{"0", "0", "4294967295"})
}

// ownIDs returns how many user and group ids from 0 on this process may use.
func ownIDs() (int, error) {
	n := math.MaxInt
	for _, m := range idMaps() {
		b, err := readFile("/proc/self/" + m.file)
		if err != nil {
			return 0, fmt.Errorf("read the ids of this process: %w", err)
		}
		n = min(n, mapped(string(b)))
	}
	return n, nil
}

// mapped returns how many ids from 0 on the text of a uid_map file maps, whose
// lines are in order.
func mapped(text string) int {
	next := 0
	for line := range strings.Lines(text) {
		var inside, outside, count int
		if n, _ := fmt.Sscan(line, &inside, &outside, &count); n == 3 && inside == next {
			next += count
		}
	}
	return next
}
