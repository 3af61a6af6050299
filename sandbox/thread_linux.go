package sandbox

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// thread is a room's thread, from before there is the room.
type thread struct {
	rooms  chan *room // delivers one, or is closed
	bell   bell       // rings when something was delivered to the thread, or never will be
	serves bool       // was given a room
}

// beginThread begins a thread with namespaces of its own, for the room that it is
// given, unless it is dismissed. To make them takes long, so whoever still has to
// find out what room it wants begins with this.
func beginThread() (*thread, error) {
	b, err := newBell()
	if err != nil {
		return nil, err
	}
	t := &thread{rooms: make(chan *room, 1), bell: b}
	go t.live()
	return t, nil
}

// serve gives a thread its room.
func (t *thread) serve(r *room) {
	r.thread = t
	t.rooms <- r
	t.bell.ring()
	t.serves = true
}

// dismiss ends a thread unless it was given a room.
func (t *thread) dismiss() {
	if !t.serves {
		close(t.rooms)
		t.bell.ring()
	}
}

// live is what the thread does.
func (t *thread) live() {
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
	err := isolate()
	t.bell.await()
	r, ok := <-t.rooms
	if !ok {
		return
	}
	r.live(err)
}

// isolate moves the thread into namespaces of its own.
func isolate() error {
	flags := unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("make namespaces: %w", err)
	}
	unix.Umask(0o022)
	return nil
}
