package sandbox

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
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
	eachDriver(t, func(t *testing.T, cfg Config) {
		d := choose(t, cfg, "signals")
		g, err := d.open("room-1")
		if err != nil {
			t.Fatal(err)
		}
		defer g.remove()
		defer bombard()()
		for i := range 1000 {
			if err := g.begin(int64(32+i%2*32)<<20, 8+i%2); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
			if err := g.tidy(); err != nil {
				t.Fatalf("after run %d: %v", i, err)
			}
		}
	})
}
