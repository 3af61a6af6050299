package room

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/spawn"
	"deepoj/sandbox/internal/wait"
)

// Thread is a room's thread, from before there is the room.
type Thread struct {
	rooms     chan *Room     // delivers one, or is closed
	delivered wait.Semaphore // counts what was delivered to the thread, or never will be
	serves    bool           // was given a room
	networks  networks
	network   *network // nil where none are kept
}

// BeginThread begins a thread with namespaces of its own, for the room that it is given, unless it is dismissed. To
// make them takes long, so whoever still has to find out what room it wants begins with this.
func BeginThread() (*Thread, error) { return beginThread(nil) }

func beginThread(n networks) (*Thread, error) {
	b, err := wait.NewSemaphore()
	if err != nil {
		return nil, err
	}
	t := &Thread{rooms: make(chan *Room, 1), delivered: b, networks: n}
	go t.live()
	return t, nil
}

// serve gives a thread its room.
func (t *Thread) serve(r *Room) {
	r.thread = t
	t.rooms <- r
	t.delivered.Post()
	t.serves = true
}

// Dismiss ends a thread unless it was given a room.
func (t *Thread) Dismiss() {
	if !t.serves {
		close(t.rooms)
		t.delivered.Post()
	}
}

// live is what the thread does.
func (t *Thread) live() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the room
	if unix.Gettid() == os.Getpid() {
		// The main thread never ends, so it must not become a room. While this
		// goroutine holds it, another one gets another thread.
		moved := make(chan struct{})
		go func() {
			close(moved)
			t.live()
		}()
		<-moved
		runtime.UnlockOSThread()
		return
	}
	var err error
	t.network, err = t.networks.isolate()
	t.delivered.Wait()
	r, ok := <-t.rooms
	if !ok {
		return
	}
	r.live(err)
}

// The first process of a room's pid namespace only has to exist: it is born ignoring SIGCHLD, which makes the kernel
// reap orphans, and when it dies the kernel kills the whole namespace. It dies with the room's thread, and so with the
// agent; if that is killed before it could ask for this, it hears the end of a pipe that only the agent can write to.
// Its program is a few bytes that we write ourselves, so it shares no memory with the agent and needs no file of the
// host.

// nobody is the user and group id of the reaper. Programs have another one, but where there is only one id.
const nobody = 65534

// startReaper makes a pid namespace for the thread's children and starts its
// first process, which mounts /proc: it shows the namespace of who mounts it.
func startReaper(lifeline, null, id int) (pid int, err error) {
	if err := unix.Unshare(unix.CLONE_NEWPID); err != nil {
		return 0, fmt.Errorf("make a pid namespace: %w", err)
	}
	s := &spawn.Script{}
	s.Stdio([3]int{lifeline, null, null})
	ignore := &[4]uint64{1} // struct sigaction with SIG_IGN
	s.Add("ignore the end of children", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), spawn.Pointer(s, ignore), 0, 8)
	s.Add("leave the session", unix.SYS_SETSID)
	s.Add("enter the new root", unix.SYS_CHDIR, spawn.Text(s, "/"))
	s.Add("mount /proc", unix.SYS_MOUNT, spawn.Text(s, "proc"), spawn.Text(s, "/proc"), spawn.Text(s, "proc"),
		rootfs.ProcFlags, 0)
	s.Become(id)
	s.Add("die with the agent", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	if err := s.Exec(rootfs.ReaperPath, []string{"reaper"}, nil); err != nil {
		return 0, err
	}
	pid, pidfd, err := s.Start(0, -1)
	if err != nil {
		return 0, fmt.Errorf("start the reaper: %w", err)
	}
	return pid, errors.Join(unix.Close(pidfd), os.Remove(rootfs.ReaperPath))
}
