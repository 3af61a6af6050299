package room

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/toolbox"
	"deepoj/sandbox/internal/wire"
)

// Tool chains beyond what every box shows are shown when a run names them.

// onHost calls f on a thread that sees the host's root.
func onHost(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// tool looks a tool up and makes what it needs visible in the box.
func (r *Room) tool(name string) (wire.Tool, error) {
	if t, ok := r.tools[name]; ok {
		return t, nil
	}
	var t wire.Tool
	var err error
	onHost(func() { t, err = r.host.Tools.Find(name) })
	if err != nil {
		return wire.Tool{}, err
	}
	for _, path := range t.Roots {
		if toolbox.Shown(path, r.host.Config.ReadOnly) || r.sees(path) {
			continue
		}
		var tree *os.File
		var folder bool
		onHost(func() { tree, folder, err = openTree(path) })
		if err == nil {
			err = errors.Join(attach(tree, path, folder), tree.Close())
		}
		if err != nil {
			return wire.Tool{}, fmt.Errorf("show the tool %s: %w", t.Name, err)
		}
	}
	r.tools[name] = t
	return t, nil
}

// sees reports whether a root of a tool is shown already.
func (r *Room) sees(root string) bool {
	for _, t := range r.tools {
		if slices.Contains(t.Roots, root) {
			return true
		}
	}
	return false
}

// openTree opens path as a mount of its own that can be attached elsewhere.
func openTree(path string) (*os.File, bool, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", path, err)
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, false, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), st.IsDir(), nil
}

// attach shows a tool chain that was opened in the host's mount namespace, at
// the same path. The program is not running.
func attach(tree *os.File, path string, folder bool) error {
	if err := rootfs.Seal(false); err != nil {
		return err
	}
	err := rootfs.MountPoint(unix.AT_FDCWD, path, folder)
	if err == nil {
		err = rootfs.Restrict(int(tree.Fd()), "", rootfs.ReadOnly)
	}
	if err == nil {
		err = unix.MoveMount(int(tree.Fd()), "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
	if err != nil {
		err = fmt.Errorf("show %s: %w", path, err)
	}
	return errors.Join(err, rootfs.Seal(true))
}

// What the agent itself keeps in memory for a box is charged to no run: the files that were put into it, and the copy
// of an input. So each box has a share of the machine, and all boxes together have no more than half of it. What is
// collected has no more bytes than a share either, and is the client's then.

// LeastShare is the share of a box where many boxes share little.
const LeastShare = 64 << 20

// share is how many bytes a box may keep that no run is charged for.
func (h *Host) share() int64 {
	return max(h.machine.memoryBytes/int64(2*h.Config.Slots), LeastShare)
}

// boxBytes is how many bytes /box may hold.
func (r *Room) boxBytes() int64 { return min(r.tmpBytes, r.host.share()) }

// fewBytes are nothing to ask about.
const fewBytes = 1 << 20

// spare reports why there is no place in the share of a box for so many bytes more than /box has.
func (r *Room) spare(bytes int64) error {
	if bytes <= fewBytes {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs("/box", &st); err != nil {
		return fmt.Errorf("look at /box: %w", err)
	}
	used := int64(st.Blocks-st.Bfree) * st.Bsize
	if share := r.host.share(); bytes > share-used {
		return fmt.Errorf("%d bytes, with %d in the box, are more than the %d that it may have on this machine: use fewer slots or a machine with more memory",
			bytes, used, share)
	}
	return nil
}
