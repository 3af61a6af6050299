package room

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wait"
)

// Thread is a room's thread, from before there is the room.
type Thread struct {
	rooms     chan *Room     // delivers one, or is closed
	delivered wait.Semaphore // counts what was delivered to the thread, or never will be
	serves    bool           // was given a room
}

// BeginThread begins a thread with namespaces of its own, for the room that it is
// given, unless it is dismissed. To make them takes long, so whoever still has to
// find out what room it wants begins with this.
func BeginThread() (*Thread, error) {
	b, err := wait.NewSemaphore()
	if err != nil {
		return nil, err
	}
	t := &Thread{rooms: make(chan *Room, 1), delivered: b}
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
	err := isolate()
	t.delivered.Wait()
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
