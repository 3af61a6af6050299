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
