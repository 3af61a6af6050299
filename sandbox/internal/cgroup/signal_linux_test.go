package cgroup

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// bombard sends a signal that the Go runtime ignores to the calling thread, over
// and over, until what it returns is called.
func bombard() (end func()) {
	runtime.LockOSThread()
	target := unix.Gettid()
	var over atomic.Bool
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for !over.Load() {
			_ = unix.Tgkill(os.Getpid(), target, unix.SIGURG) // the thread is there until the end
		}
	}()
	return func() {
		over.Store(true)
		<-gone
		runtime.UnlockOSThread()
	}
}

func TestSignalsDoNotKeepLimitsFromBeingSet(t *testing.T) {
	eachDriver(t, func(t *testing.T, cfg wire.Config) {
		d := choose(t, cfg, "signals")
		g, err := d.Open("room-1")
		if err != nil {
			t.Fatal(err)
		}
		defer g.Remove()
		defer bombard()()
		for i := range 1000 {
			if err := g.Begin(int64(32+i%2*32)<<20, 8+i%2); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
			if err := g.Tidy(); err != nil {
				t.Fatalf("after run %d: %v", i, err)
			}
		}
	})
}
