package sandbox_test

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// crashes are what may be under way when an agent is killed with SIGKILL.
var crashes = map[string]struct {
	program string
	args    []string
	busy    int // processes that there are then, at least
}{
	"a bomb of sessions":               {"process", []string{"setsid-bomb"}, 20},
	"a program that ignores signals":   {"process", []string{"sleep"}, 1},
	"a program that is stopped":        {"process", []string{"stop"}, 1},
	"a program that uses CPU time":     {"process", []string{"threads-spin", "4"}, 1},
	"a program that fills its memory":  {"memory", []string{"hold", "100"}, 9},
	"a program that floods its output": {"output", []string{"stderr"}, 1},
}

func TestAnAgentThatIsKilledLeavesNoProcessAndTheNextOneSweeps(t *testing.T) {
	for name, tt := range crashes {
		t.Run("in the middle of "+name, func(t *testing.T) {
			startOnEveryDriver(t, sandbox.Config{Slots: 2}, func(t *testing.T, p *oneshot.Process, a *sandbox.Client) {
				driver := status(t, a).Driver
				b, err := a.OpenBox(t.Context(), sandbox.BoxOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Put(t.Context(), hostile(t, tt.program)); err != nil {
					t.Fatal(err)
				}
				failed := make(chan error, 1)
				go func() {
					l := generous
					l.Processes, l.OutputBytes = 32, 1<<40
					_, err := b.Run(context.Background(), sandbox.Cmd{Program: "./" + tt.program, Args: tt.args, Limits: l})
					failed <- err
				}()
				eventually(t, name+" is under way", func() bool { return len(strangers(t, driverUID)) >= tt.busy })
				if err := unix.Kill(p.PID(), unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
				if err := <-failed; !errors.Is(err, sandbox.ErrAgentGone) {
					t.Errorf("with driver %s the run ended with %v, want ErrAgentGone", driver, err)
				}
				if err := p.Close(); err == nil {
					t.Error("an agent that was killed ended well")
				}
				eventually(t, "every process is gone", func() bool { return len(strangers(t, driverUID)) == 0 })
				next, _, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID, Driver: driver, AllowDegraded: driver == sandbox.DriverNone})
				if err != nil {
					t.Fatal(err)
				}
				if left := traces(t, p.PID()); len(left) != 0 {
					t.Errorf("with driver %s there are %q after a sweep", driver, left)
				}
				if err := next.Close(); err != nil {
					t.Error(err)
				}
				if left := traces(t, next.PID()); len(left) != 0 {
					t.Errorf("with driver %s the next agent left %q", driver, left)
				}
			})
		})
	}
}
