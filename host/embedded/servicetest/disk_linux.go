package servicetest

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of some MiB that belongs to the account of servers, until the test ends. Only root may
// do so: for others the test is skipped, or fails if DEEPOJ_TEST=require.
func SmallDisk(t testing.TB, mib int) string {
	t.Helper()
	dir := Folder(t)
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", mib))
	if errors.Is(err, syscall.EPERM) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip("a file system can be mounted by root only")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	give(t, dir)
	return dir
}
