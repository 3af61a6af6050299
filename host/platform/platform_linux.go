package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DieWithParent has a process get a signal when the thread that starts it ends.
func DieWithParent(a *syscall.SysProcAttr, signal syscall.Signal) { a.Pdeathsig = signal }

// MemoryFile returns an empty file without a name.
func MemoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// SyncFileSystem brings everything on the file system of f to the disk.
func SyncFileSystem(f *os.File) error { return unix.Syncfs(int(f.Fd())) }

// SyncData waits until the content of f is on disk, and as much about f as it takes to read it.
func SyncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// HideMemory keeps other processes of this account from reading this process's memory
// and environment, and from taking its descriptors.
func HideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide memory: %w", err)
	}
	return nil
}

// RenouncePrivileges lets the calling thread and those that it starts never have more rights than now.
func RenouncePrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renounce new privileges: %w", err)
	}
	return nil
}

// Changed is when a file was changed last, or what is known of it, which nobody can set.
func Changed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix()).UTC()
}
