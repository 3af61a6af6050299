//go:build !linux

package servicetest

import "testing"

// SmallDisk needs a tmpfs, which only Linux has.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("a small file system of its own wants Linux")
	return ""
}
