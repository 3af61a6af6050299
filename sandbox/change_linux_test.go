package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// changeSteps are where an agent with stoppingArgument stops in a change of rooms.
var changeSteps = []string{
	"the client has asked", "the room has given its session away", "the session waits for a room",
	"the next room has it", "the next room has taken /box", "the client has its answer",
}

// holding is what an agent of one slot has. Of networks it keeps one at most for rooms to come.
type holding struct {
	reapers, descriptors int
	networks             bool // there are more, beside those of its rooms
}

func holds(t *testing.T, pid int) holding {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	h, networks := holding{reapers: len(childrenOf(t, pid))}, 0
	for _, fd := range fds {
		switch to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name())); {
		case strings.HasPrefix(to, "net:["):
			networks++
		case !strings.HasSuffix(to, "/net/sockstat"):
			h.descriptors++
		}
	}
	h.networks = networks > h.reapers+1
	return h
}

// stopped reports whether a process is stopped.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	return slices.ContainsFunc(processes(t), func(p process) bool { return p.pid == pid && p.state == "T" })
}

// Whoever goes while its room changes, at whatever step, leaves nothing in the agent.
func TestAClientMayGoWhileItsRoomChanges(t *testing.T) {
	wellOnEveryDriver(t, sandbox.Config{Slots: 1}, func(t *testing.T, p *oneshot.Process, a *sandbox.Client) {
		goOn := func() {
			if err := unix.Kill(p.PID(), unix.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(goOn) // for whoever ends it
		// change has a box renewed, whose client goes when the agent has stopped for the
		// last time, if it is to stop so often.
		change := func(t *testing.T, stops int) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			b, err := a.OpenBox(ctx, sandbox.BoxOptions{}) // the only one that can be open
			if err == nil {
				err = b.Put(ctx, hostile(t, "process"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if r, err := b.Run(ctx, sandbox.Cmd{Program: "./process", Args: []string{"nothing"}, Limits: generous}); err != nil || r.Verdict != sandbox.OK {
				t.Fatalf("a run ended %+v, %v", r, err)
			}
			renewed := make(chan error, 1)
			go func() { renewed <- b.Renew(ctx) }()
			for n := range len(changeSteps) {
				eventually(t, changeSteps[n], func() bool { return stopped(t, p.PID()) })
				if n+1 == stops {
					if err := b.Close(); err != nil {
						t.Error(err)
					}
					<-renewed
				}
				goOn()
				if gone := stops > 0 && n+1 >= stops; gone && n == 1 {
					return // the session goes to no other room
				}
			}
			if stops > 0 {
				return
			}
			if err := <-renewed; err != nil {
				t.Errorf("the change ended with %v", err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		change(t, 0)
		before, steady := holding{}, 0
		eventually(t, "the agent rests", func() bool {
			now := holds(t, p.PID())
			if steady++; now != before || now.reapers != 2 { // a room for the box and one more
				before, steady = now, 0
			}
			return steady == 50
		})
		for n, step := range changeSteps {
			left := !t.Run(step, func(t *testing.T) {
				for range 4 {
					change(t, n+1)
				}
				eventually(t, fmt.Sprintf("the agent has %+v, as before", before), func() bool { return holds(t, p.PID()) == before })
			})
			if left { // and would be there after the next step
				return
			}
		}
	}, stoppingArgument)
}
