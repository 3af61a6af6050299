package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deepoj/sandbox"
)

// rootlessCommand makes the test binary say whether an ordinary user can start an
// agent.
const rootlessCommand = "sandbox-rootless"

// oneID reports whether this process is an ordinary user whose programs have no
// ids of their own.
func oneID() bool {
	_, err := os.Stat(fmt.Sprintf(subordinateIDs, "uid"))
	return os.Geteuid() != 0 && errors.Is(err, os.ErrNotExist)
}

// sharesID reports whether p is a program in a box of an agent that has only one
// user id: it is in a pid namespace of its own, and not its first process.
func sharesID(p process) bool {
	if !oneID() || p.uid != os.Geteuid() {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		return false // ended
	}
	_, ids, _ := bytes.Cut(b, []byte("NSpid:"))
	ids, _, _ = bytes.Cut(ids, []byte("\n"))
	numbers := bytes.Fields(ids)
	return len(numbers) > 1 && string(numbers[1]) != "1"
}

// signalScope is the first version of Landlock that denies signals beyond a run.
const signalScope = 6

// attacksWithOneID returns the attacks that end in another way where programs have
// the only id of their user: it is called root in the agent's user namespace. That
// they have no privilege is tried with all the others.
func attacksWithOneID(w *witness, landlock int) map[string]attack {
	const name = "to be root: worked\nto be in root's group: worked\nto have more groups: EPERM\n" +
		"setuid: worked\nsetgid: worked\nsetresuid: worked\nsetgroups: EPERM\n"
	different := map[string]attack{
		"it cannot become root":               {args: []string{"identity"}, prints: name},
		"a set-user-id program gives nothing": {args: []string{"set-user-id", w.program()}, prints: name},
	}
	if landlock < signalScope {
		// It may, but the kernel spares the first process: the next attack finds it.
		different["the first process cannot be killed"] = attack{args: []string{"kill", "1"}, tries: 1, errors: "worked"}
	}
	return different
}

// asUser asks an ordinary user, in a control group if one is given, whether it
// can start an agent.
func asUser(t *testing.T, group string) string {
	t.Helper()
	cmd := exec.Command(readableTestBinary(t), rootlessCommand)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: vmUser, Gid: vmUser}}
	if group != "" {
		f, err := os.Open(group)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(f.Fd())
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestAnOrdinaryUserIsToldWhatIsMissingAndHowToMendIt(t *testing.T) {
	if os.Geteuid() != 0 {
		missing(t, "root")
	}
	if !insideVM() {
		hs, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		said := asUser(t, "")
		if strings.Contains(string(hs), " - cgroup ") {
			if !strings.Contains(said, "systemd.unified_cgroup_hierarchy=1") {
				t.Errorf("with control groups v1 it said %q", said)
			}
		} else if !strings.Contains(said, "systemd-run --user --scope -p Delegate=yes") {
			t.Errorf("without a delegated control group it said %q", said)
		}
		return
	}
	const slice = "/user.slice/user-1000.slice/told.slice"
	if err := makeGroup(slice, vmUser); err != nil {
		t.Fatal(err)
	}
	told := vmCgroup + slice
	group := func(name string, uid int, delegated ...string) string {
		dir := filepath.Join(told, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(dir) })
		for _, file := range delegated {
			if err := os.Chown(filepath.Join(dir, file), uid, uid); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	all := []string{"", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"}
	poor := group("poor.scope", vmUser, all...) // told.slice hands no controllers on yet
	if said := asUser(t, poor); !strings.Contains(said, "no controller memory") || !strings.Contains(said, "Delegate=memory pids") {
		t.Errorf("without controllers it said %q", said)
	}
	if err := os.Remove(poor); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(told+"/cgroup.subtree_control", []byte("+memory +pids"), 0); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"a group of root's":             group("root.scope", 0),
		"a group whose folder is all":   group("folder.scope", vmUser, ""),
		"a group that hands nothing on": group("procs.scope", vmUser, "", "cgroup.procs"),
	} {
		if said := asUser(t, dir); !strings.Contains(said, "is not delegated to user 1000") || !strings.Contains(said, "systemd-run --user --scope -p Delegate=yes") {
			t.Errorf("in %s it said %q", name, said)
		}
	}
	good := group("good.scope", vmUser, all...)
	if said := asUser(t, good); said != "" {
		t.Errorf("where nothing is missing it said %q", said)
	}
	for _, sysctl := range []struct{ name, off string }{{"user/max_user_namespaces", "0"}, {"kernel/unprivileged_userns_clone", "0"}} {
		path := "/proc/sys/" + sysctl.name
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err) // Debian's kernels have both
		}
		if err := os.WriteFile(path, []byte(sysctl.off), 0); err != nil {
			t.Fatal(err)
		}
		said := asUser(t, good)
		if err := os.WriteFile(path, was, 0); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said, "sysctl "+strings.ReplaceAll(sysctl.name, "/", ".")+"=") {
			t.Errorf("with %s off it said %q", sysctl.name, said)
		}
	}
}

func TestAnOrdinaryUserSeesWhetherProgramsHaveIDsOfTheirOwn(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := a.Status(t.Context())
	if err != nil || s.Rootless != (os.Geteuid() != 0) || s.SelfTest != "" {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if weak := strings.Contains(strings.Join(s.Degraded, "\n"), "/etc/subuid"); weak != oneID() {
		t.Errorf("with one id %t it says %q", oneID(), s.Degraded)
	}
}
