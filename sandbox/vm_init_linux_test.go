package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What happens in the virtual machine: this program is its first process, lays
// the machine out as systemd would, and runs the suites one after the other.

const (
	vmInit          = "/init"          // this program
	vmGroups        = "/cgroup.test"   // the tests of internal/cgroup
	vmPrograms      = "/hostile"       // where the hostile programs are
	vmArgumentsFile = "/arguments"     // what is added to the arguments of suites
	vmCgroup        = "/sys/fs/cgroup" // the unified hierarchy
	vmUser          = 1000             // the ordinary user
	vmFirstID       = 100000           // the first of its subordinate ids
	subordinateIDs  = "/etc/sub%s"     // uid or gid
)

// idPrograms map user ids for an ordinary user.
var idPrograms = []string{"/usr/bin/newuidmap", "/usr/bin/newgidmap"}

// suite is one run of a program's tests.
type suite struct {
	name    string
	program string
	uid     int
	group   string // below vmCgroup; a program that hands on controllers leaves no place in it for another one
	run     string // names of tests; tool chains are not there
	least   int    // how many tests and subtests there are at least
	ready   func() error
}

func (s suite) begin() string { return "=== suite " + s.name + "\n" }
func (s suite) end(status int) string {
	return fmt.Sprintf("=== suite %s ended with status %d\n", s.name, status)
}

// The groups of the suites, as systemd would make them.
const (
	serviceGroup = "/system.slice/deepoj.service"
	testGroup    = "/system.slice/deepoj-test.service"
	userScopes   = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-"
)

// lengthy are tests of many files that have nothing to do with control groups, and
// attacks that are tried in another box already.
const lengthy = "^TestOutputIs/v2/(inodes|flood_of_files)|^TestNothingLeadsOutOfABox$/v2/to_compile_in"

// suites are what runs in the virtual machine: as root all that needs no tool
// chain, and for an ordinary user what could be another there.
var suites = []suite{
	{
		name: "root", program: vmInit, group: serviceGroup, least: 200,
		run: "^Test(NothingIsLeft|MemoryIsB|ProcessesAre|OutputIs|NothingLeads|Foreign|ARunLeaves|EveryDriver|ManyRuns|AnAgent(Says|Leaves|ThatIs)|" +
			"AnOrdinary|TwoAgents|WhoWaits|ABoxThatIsClosed)",
	},
	{name: "root, of control groups", program: vmGroups, group: testGroup, least: 6, run: "^Test(Killing|WhatAnAgent|ThePeak)"},
	{
		name: "an ordinary user with ids", program: vmInit, uid: vmUser, group: userScopes + "1.scope", least: 80, ready: giveIDs,
		run: "^Test(MemoryIsB|NothingLeads|NothingIsLeftInA|ARunLeaves|AnAgent(Says|Leaves|ThatIs)|AnOrdinaryUserSees|TwoAgents|TheOneShotCommandSays|ARunWithout)",
	},
	{
		name: "an ordinary user with ids, of control groups", program: vmGroups, uid: vmUser, group: userScopes + "2.scope", least: 4,
		run: "^Test(Killing|WhatAnAgent)",
	},
	{
		name: "an ordinary user with one id", program: vmInit, uid: vmUser, group: userScopes + "3.scope", least: 80, ready: takeIDs,
		run: "^Test(ProcessesAre|NothingLeads|NothingIsLeftInA|Foreign|AnAgent(Says|Leaves|ThatIs)|AnOrdinaryUserSees|ABoxThatIsClosed)",
	},
	{
		name: "an ordinary user with one id, of control groups", program: vmGroups, uid: vmUser, group: userScopes + "4.scope", least: 4,
		run: "^Test(Killing|WhatAnAgent)",
	},
}

// giveIDs gives the ordinary user ids for programs.
func giveIDs() error {
	var errs []error
	for _, kind := range []string{"uid", "gid"} {
		line := fmt.Sprintf("tester:%d:262144\n", vmFirstID)
		errs = append(errs, os.WriteFile(fmt.Sprintf(subordinateIDs, kind), []byte(line), 0o644))
	}
	return errors.Join(errs...)
}

// takeIDs takes them away.
func takeIDs() error {
	return errors.Join(os.Remove(fmt.Sprintf(subordinateIDs, "uid")), os.Remove(fmt.Sprintf(subordinateIDs, "gid")))
}

// initVM is the first process of the virtual machine. It moves to a root that can
// be left, runs the suites and switches the machine off.
func initVM() {
	if err := prepareVM(); err != nil {
		fmt.Println("the virtual machine cannot begin:", err)
	} else {
		for _, s := range suites {
			if err := s.start(); err != nil {
				fmt.Printf("suite %s: %v\n", s.name, err)
			}
		}
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// start runs the suite in its group and waits for its end.
func (s suite) start() error {
	if s.ready != nil {
		if err := s.ready(); err != nil {
			return err
		}
	}
	if err := makeGroup(s.group, s.uid); err != nil {
		return err
	}
	group, err := os.Open(vmCgroup + s.group)
	if err != nil {
		return err
	}
	defer group.Close()
	args := []string{"-test.v", "-test.timeout", "20m", "-test.run", s.run, "-test.skip", lengthy}
	if b, err := os.ReadFile(vmArgumentsFile); err == nil {
		args = append(args, strings.Fields(string(b))...)
	}
	cmd := exec.Command(s.program, args...)
	cmd.Env = []string{"PATH=/usr/bin", "HOME=/tmp", "TMPDIR=/tmp", "DEEPOJ_TEST=require"}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)},
		UseCgroupFD: true, CgroupFD: int(group.Fd()),
	}
	fmt.Print(s.begin())
	if err := cmd.Start(); err != nil {
		return err
	}
	status, err := reap(cmd.Process.Pid)
	fmt.Print(s.end(status))
	return err
}

// reap waits for the process pid and all others that end meanwhile, as the first
// process must.
func reap(pid int) (status int, err error) {
	for {
		var ws unix.WaitStatus
		ended, err := unix.Wait4(-1, &ws, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return -1, err
		}
		if ended == pid {
			return ws.ExitStatus(), nil
		}
	}
}

// makeGroup makes the group path and those above it, with controllers, and
// delegates it to a user.
func makeGroup(path string, uid int) error {
	dir := vmCgroup
	for part := range strings.SplitSeq(path[1:], "/") {
		if err := os.WriteFile(dir+"/cgroup.subtree_control", []byte("+memory +pids"), 0); err != nil {
			return err
		}
		dir += "/" + part
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return delegate(dir, uid)
}

// delegate gives a control group to a user.
func delegate(dir string, uid int) error {
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, name), uid, uid); err != nil {
			return err
		}
	}
	return nil
}

func prepareVM() error {
	if err := unix.Mount("root", "/new", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	err := filepath.WalkDir("/", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "/" {
			return err
		}
		switch {
		case path == "/new":
			return fs.SkipDir
		case e.IsDir():
			return os.Mkdir("/new"+path, 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile("/new"+path, b, 0o755), os.Remove(path))
	})
	if err != nil {
		return err
	}
	for _, program := range idPrograms {
		if err := os.Chmod("/new"+program, 0o755|fs.ModeSetuid); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("/new/etc", 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"passwd": fmt.Sprintf("root:x:0:0::/:/bin/false\ntester:x:%d:%[1]d::/tmp:/bin/false\n", vmUser),
		"group":  fmt.Sprintf("root:x:0:\ntester:x:%d:\n", vmUser),
	} {
		if err := os.WriteFile("/new/etc/"+name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, m := range []struct{ source, target, kind, data string }{
		{"proc", "/new/proc", "proc", ""},
		{"sys", "/new/sys", "sysfs", ""},
		{"dev", "/new/dev", "devtmpfs", ""},
		{"cgroup", "/new" + vmCgroup, "cgroup2", "nsdelegate,memory_recursiveprot"}, // as systemd does
		{"tmp", "/new/tmp", "tmpfs", "mode=1777"},
	} {
		if err := unix.Mount(m.source, m.target, m.kind, 0, m.data); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := errors.Join(os.MkdirAll("/new/var/tmp", 0o755), os.Chmod("/new/var/tmp", 0o777|fs.ModeSticky)); err != nil {
		return err
	}
	if err := unix.Chdir("/new"); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// vmProgram returns a program that the virtual machine brought along.
func vmProgram(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vmPrograms, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
