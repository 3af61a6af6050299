package room

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// One session may be served by several rooms, one after the other, so that nothing of
// a room is left for a later run but /box, to which no program could write.

// moved is what goes to the next room of a session besides its socket.
type moved struct {
	box   *os.File // what is mounted at /box, as a mount of its own
	tools []string // that are shown
	asked bool     // the client waits for an answer
}

// Changing is called at each step of a change of rooms. Tests stop the agent there.
var Changing = func() {}

// move gives the session to another room. Nothing of this one runs any more.
func (r *Room) move(asked bool) error {
	Changing()
	defer Changing()
	if err := r.killAll(); err != nil {
		return err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, "/box", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("take /box to another room: %w", err)
	}
	r.next = &Handover{
		Sock: r.sock, Options: wire.BoxOptions{TmpBytes: r.tmpBytes, Locks: r.locks}, Core: r.core, Movable: true,
		moved: &moved{os.NewFile(uintptr(fd), "/box"), slices.Sorted(maps.Keys(r.tools)), asked},
	}
	return nil
}

// takeOver makes the room go on for another one.
func (r *Room) takeOver(m moved) error {
	Changing()
	defer Changing()
	err := unix.Unmount("/box", unix.MNT_DETACH)
	if err == nil {
		err = unix.MoveMount(int(m.box.Fd()), "", unix.AT_FDCWD, "/box", unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
	if err := errors.Join(err, m.box.Close()); err != nil {
		return fmt.Errorf("take /box from another room: %w", err)
	}
	for _, name := range m.tools {
		if _, err := r.tool(name); err != nil {
			return err
		}
	}
	return nil
}

// Changes reports whether the session comes from another room.
func (h *Handover) Changes() bool { return h.moved != nil }

// Refuse closes what nobody takes: the client sees that the agent is gone.
func (h *Handover) Refuse() {
	_ = h.Sock.Close()
	if h.moved != nil {
		_ = h.moved.box.Close()
	}
}
