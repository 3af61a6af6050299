package sandbox_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// flag is a flag of clone, of a task more that there is.
type flag struct {
	name string
	bits uint32
	made string // what becomes of the task
}

// cloneFlags are all flags of clone, and none. The second child of our own is one of
// a program that the filter lets make it, so that we see it cleaned away.
var cloneFlags = []flag{
	{"alone", 0, ""},
	{"CLONE_VM", unix.CLONE_VM, "worked"},
	{"CLONE_FS", unix.CLONE_FS, "worked"},
	{"CLONE_FILES", unix.CLONE_FILES, "worked"},
	{"CLONE_SIGHAND", unix.CLONE_SIGHAND, "worked"},
	{"CLONE_PIDFD", unix.CLONE_PIDFD, "worked"},
	{"CLONE_PTRACE", unix.CLONE_PTRACE, "worked"},
	{"CLONE_VFORK", unix.CLONE_VFORK, "worked"},
	{"CLONE_PARENT", unix.CLONE_PARENT, "EPERM"},
	{"CLONE_PARENT, undenied", unix.CLONE_PARENT, "worked"},
	{"CLONE_THREAD", unix.CLONE_THREAD, "worked"},
	{"CLONE_NEWNS", unix.CLONE_NEWNS, "EPERM"},
	{"CLONE_SYSVSEM", unix.CLONE_SYSVSEM, "worked"},
	{"CLONE_SETTLS", unix.CLONE_SETTLS, "worked"},
	{"CLONE_PARENT_SETTID", unix.CLONE_PARENT_SETTID, "worked"},
	{"CLONE_CHILD_CLEARTID", unix.CLONE_CHILD_CLEARTID, "worked"},
	{"CLONE_DETACHED", unix.CLONE_DETACHED, "worked"},
	{"CLONE_UNTRACED", unix.CLONE_UNTRACED, "worked"},
	{"CLONE_CHILD_SETTID", unix.CLONE_CHILD_SETTID, "worked"},
	{"CLONE_NEWCGROUP", unix.CLONE_NEWCGROUP, "EPERM"},
	{"CLONE_NEWUTS", unix.CLONE_NEWUTS, "EPERM"},
	{"CLONE_NEWIPC", unix.CLONE_NEWIPC, "EPERM"},
	{"CLONE_NEWUSER", unix.CLONE_NEWUSER, "EPERM"},
	{"CLONE_NEWPID", unix.CLONE_NEWPID, "EPERM"},
	{"CLONE_NEWNET", unix.CLONE_NEWNET, "EPERM"},
	{"CLONE_IO", unix.CLONE_IO, "worked"},
}

// knownFlags returns all flags of clone, or in a virtual machine, where a run takes
// forty times as long, those together that have nothing to do with how a task ends.
func knownFlags() []flag {
	if !insideVM() {
		return cloneFlags
	}
	rest := flag{"all others", unix.CLONE_SIGHAND, "worked"}
	denied := flag{"all that make namespaces", unix.CLONE_NEWNS, "EPERM"}
	var few []flag
	for _, f := range cloneFlags {
		switch {
		case slices.Contains([]uint32{0, unix.CLONE_VM, unix.CLONE_PIDFD, unix.CLONE_VFORK, unix.CLONE_PARENT, unix.CLONE_THREAD}, f.bits):
			few = append(few, f)
		case f.made == "EPERM":
			denied.bits |= f.bits
		case f.bits != unix.CLONE_DETACHED: // which is for threads, if it is not alone
			rest.bits |= f.bits
		}
	}
	return append(few, rest, denied)
}

func (f flag) undenied() bool { return f.bits == unix.CLONE_PARENT && f.made == "worked" }

// endedFirst is what ends first, as ending.c calls it.
var endedFirst = []string{
	"nobody", "child", "leader", "executed", "leader-executed", "leader-of-child", "parent", "daemon", "vfork", "stopped",
}

// reason is a reason for which a run ends.
type reason struct {
	name, does string
	want       sandbox.Verdict // none: the client does not wait for one
}

var reasons = []reason{
	{"CPU time", "spins", sandbox.TLE},
	{"the clock", "sleeps", sandbox.TLE},
	{"memory", "fills", sandbox.MLE},
	{"output", "writes", sandbox.OLE},
	{"the end of the first process", "leaves", sandbox.OK},
	{"that the client is gone", "tells", ""},
	{"that the agent is told to end", "tells", ""},
}

const (
	clientGone = 5
	agentTold  = 6
)

// endingCase is one choice.
type endingCase struct {
	flag
	first string
	reason
	why     int  // index of the reason
	oneShot bool // by the one-shot command, and not by an agent
	driver  string
}

func (c endingCase) String() string {
	by := "by an agent"
	if c.oneShot {
		by = "by the one-shot command"
	}
	return fmt.Sprintf("%s, first ends %s, ended for %s %s", c.flag.name, c.first, c.reason.name, by)
}

func (c endingCase) args() []string {
	return []string{strconv.FormatUint(uint64(c.bits), 16), c.first, c.does}
}

// limits make the reason the one for which the run ends.
func (c endingCase) limits() sandbox.Limits {
	l := generous
	l.MemoryBytes, l.OutputBytes, l.Processes = 64*mib, mib, 32
	scale := time.Duration(1)
	if insideVM() {
		scale = 10
	}
	switch {
	case c.does == "spins" && c.driver == sandbox.DriverNone: // which does not see the time of children
		l.Wall = 150 * ms
	case c.does == "spins":
		l.CPU = 50 * ms * scale
	case c.does == "sleeps":
		l.Wall = 50 * ms * scale
	case c.does == "fills":
		l.MemoryBytes = 16 * mib
	}
	return l
}
