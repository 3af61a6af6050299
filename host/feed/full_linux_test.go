package feed_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"deepoj/host/feed"
	"deepoj/host/feed/feedtest"
)

// smallDisk names the folder on which the test, started anew in a namespace of its own, mounts a disk of 256 KiB.
const smallDisk = "DEEPOJ_SMALL_DISK_OF_A_FEED"

func TestAFullDiskStopsReceivingAndLosesNothing(t *testing.T) {
	dir := os.Getenv(smallDisk)
	if dir == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestAFullDiskStopsReceivingAndLosesNothing$", "-test.v")
		cmd.Env = append(os.Environ(), smallDisk+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) && os.Getenv("DEEPOJ_TEST") != "require" {
			t.Skipf("this machine allows no namespaces: %v", err)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSetup(t, false)
	s.change = func(o *feed.Options) {
		impatient(o)
		o.WAL.Dir, o.WAL.SegmentBytes, o.Checkpoint = filepath.Join(dir, "wal"), 16<<10, filepath.Join(dir, "checkpoint.json")
	}
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	back := s.away()
	s.source.Produce(1200)
	f.until("the disk is full", func(s feed.Status) bool { return s.WAL.FullSince != nil })
	if got := s.source.Acknowledged(); got >= 1200 {
		t.Errorf("the source is acknowledged up to %d", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	f.until("there is room again", func(st feed.Status) bool { return st.WAL.FullSince == nil && s.source.Acknowledged() > 900 })
	back()
	f.has(1200)
	s.check(1200, feedtest.Rules{})

	// What has left makes room, too.
	back = s.away()
	s.source.Produce(3000)
	f.until("the disk is full again", func(s feed.Status) bool { return s.WAL.FullSince != nil })
	back()
	f.has(3000)
	s.check(3000, feedtest.Rules{})
}
