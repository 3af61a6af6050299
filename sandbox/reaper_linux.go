package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The first process of a room's pid namespace only has to exist: it is born
// ignoring SIGCHLD, which makes the kernel reap orphans, and when it dies the
// kernel kills the whole namespace. It dies with the room's thread, and so with
// the agent; if that is killed before it could ask for this, it hears the end of
// a pipe that only the agent can write to. Its program is a few bytes that we write ourselves, so it shares no
// memory with the agent and needs no file of the host.

// reaperPath is where the program lies until it runs.
const reaperPath = "/.reaper"

// nobody is the user and group id of the reaper. Programs have another one, but
// where there is only one id.
const nobody = 65534

// reaperProgram returns an executable that sleeps until its standard input ends.
func reaperProgram() []byte { return smallProgram(reaperCode) }

// smallProgram returns an ELF executable that holds nothing but code.
func smallProgram(code []byte) []byte {
	const base, head = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = le.AppendUint16(b, 2) // executable
	b = le.AppendUint16(b, reaperMachine)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+head) // entry
	b = le.AppendUint64(b, 64)        // program headers
	b = le.AppendUint64(b, 0)         // no sections
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 64, 0, 0} { // header sizes and counts
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(b, 1) // load
	b = le.AppendUint32(b, 5) // read and execute
	size := uint64(head + len(code))
	for _, v := range []uint64{0, base, base, size, size, 0x1000} {
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}

// startReaper makes a pid namespace for the thread's children and starts its
// first process, which mounts /proc: it shows the namespace of who mounts it.
func startReaper(lifeline, null, id int) (pid int, err error) {
	if err := unix.Unshare(unix.CLONE_NEWPID); err != nil {
		return 0, fmt.Errorf("make a pid namespace: %w", err)
	}
	s := &script{}
	s.stdio([3]int{lifeline, null, null})
	ignore := &[4]uint64{1} // struct sigaction with SIG_IGN
	s.add("ignore the end of children", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), pointer(s, ignore), 0, 8)
	s.add("leave the session", unix.SYS_SETSID)
	s.add("enter the new root", unix.SYS_CHDIR, text(s, "/"))
	s.add("mount /proc", unix.SYS_MOUNT, text(s, "proc"), text(s, "/proc"), text(s, "proc"),
		procFlags, 0)
	s.become(id)
	s.add("die with the agent", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	if err := s.exec(reaperPath, []string{"reaper"}, nil); err != nil {
		return 0, err
	}
	pid, pidfd, err := s.start(0, -1)
	if err != nil {
		return 0, fmt.Errorf("start the reaper: %w", err)
	}
	return pid, errors.Join(unix.Close(pidfd), os.Remove(reaperPath))
}
