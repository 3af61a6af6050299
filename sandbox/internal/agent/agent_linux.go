// Package agent is the process that keeps rooms ready and lets each serve a client.
package agent

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/wire"
)

// agent is what Serve runs: a few rooms ready for use, and as many sessions at once as there are slots.
type agent struct {
	*room.Host
	health health
	uids   chan int      // free user ids
	slots  chan struct{} // that are taken
	loads  loads
	ready  chan *room.Room // made in advance
	work   sync.WaitGroup
}

// newAgent prepares everything but rooms. It runs a program with each control group driver until one works.
func newAgent(ctx context.Context, cfg wire.Config) (*agent, error) {
	unix.Umask(0o022) // what it makes is for programs to read
	h, err := room.NewHost(cfg)
	if err != nil {
		return nil, err
	}
	a := &agent{Host: h, ready: make(chan *room.Room)}
	a.EndsWithStarter()
	a.PrepareRuns()
	a.uids = make(chan int, room.UserIDs(a.Config.Slots))
	for i := range room.UserIDs(a.Config.Slots) {
		a.uids <- a.UID(i)
	}
	a.describe()
	err = a.ChooseDriver(func() error { return a.selfTest(ctx) })
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.health.passed = time.Now()
	a.loads.boxes = make([]int, len(a.Cores))
	a.slots = make(chan struct{}, a.Config.Slots)
	// A room's thread waits in system calls, for programs above all. With as few processors as cores, the runtime takes
	// its processor away each time, for which its monitor wakes every 20 µs: a tenth of the agent's time.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 2*a.Config.Slots+2))
	return a, nil
}

// describe says what this agent is able to do.
func (a *agent) describe() {
	a.Status.Slots, a.Status.Cores, a.Status.Seccomp = a.Config.Slots, a.Cores, true
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		a.Status.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if b, err := os.ReadFile("/proc/swaps"); err == nil {
		a.Status.Swap = strings.Count(string(b), "\n") > 1
	}
}

// close removes what the agent made besides rooms.
func (a *agent) close() error {
	return errors.Join(a.Driver.Close(), a.Close())
}
