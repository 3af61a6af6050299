package wal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// smallDisk names the folder on which the test, started anew in a namespace of its own, mounts a disk of 256 KiB.
const smallDisk = "DEEPOJ_SMALL_DISK"

// Nothing is lost when the disk is full, and receiving goes on when it has room again.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	dir := os.Getenv(smallDisk)
	if dir == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestAFullDiskIsWaitedFor$", "-test.v")
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
	o := Options{Dir: filepath.Join(dir, "log"), SegmentBytes: 50_000, Start: place(0)}
	l := open(t, o)
	var seq uint64
	receive := func() error { // until it is full
		for {
			if _, err := l.Append(11, place(seq+1), payload(seq+1)); err != nil {
				return err
			}
			seq++
			if err := l.wait(t.Context(), func() bool { return l.durable.Seq >= seq || l.noRoom }); err != nil {
				return err
			}
		}
	}
	if err := receive(); !errors.Is(err, ErrFull) {
		t.Fatalf("the disk is full, and it says %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := l.WaitRoom(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the disk is full, and there is room: %v", err)
	}
	expect(t, l, 1, l.Durable().Seq)
	// A death now loses what was not durable, and no more.
	if rep, err := Verify(t.Context(), o.Dir); err != nil || rep.Faults != nil || rep.Torn != nil || rep.Last.Seq != l.Durable().Seq {
		t.Errorf("Verify reports %+v, %v, durable is %+v", rep, err, l.Durable())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := l.WaitRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.WaitDurable(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	expect(t, l, 1, seq)
	if err := receive(); !errors.Is(err, ErrFull) {
		t.Fatalf("the disk is full again: %v", err)
	}
	l.Release(seq - 1) // what has left makes room, too
	if err := l.WaitRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.WaitDurable(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	expect(t, l, l.First(), seq)
	if err := receive(); !errors.Is(err, ErrFull) {
		t.Fatalf("the disk is full a third time: %v", err)
	}
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("closed without what was not written: %v", err)
	}
	l = open(t, o)
	expect(t, l, l.First(), l.Durable().Seq)
}
