//go:build !linux

package platform

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// DieWithParent does nothing here: what a process started that is killed goes on.
func DieWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// MemoryFile returns an empty file without a name.
func MemoryFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	return f, nil
}

// SyncFileSystem brings everything on the file system of f to the disk.
func SyncFileSystem(*os.File) error {
	syscall.Sync()
	return nil
}

// SyncData waits until the content of f is on disk.
func SyncData(f *os.File) error { return f.Sync() }

// HideMemory cannot be done here.
func HideMemory() error { return Missing("hiding memory from other processes") }

// RenouncePrivileges cannot be done here.
func RenouncePrivileges() error { return Missing("renouncing privileges") }

// Changed is when the content of a file was changed last.
func Changed(info fs.FileInfo) time.Time { return info.ModTime().UTC() }
