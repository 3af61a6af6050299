package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// channels are the ways in which channel.c tells a later run something.
var channels = []string{
	"process", "thread", "file in /tmp", "file in /dev/shm", "nameless file", "packet", "time of change", "time of reading", "lock",
}

func TestARunTellsTheNextNothing(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		nothingIsTold(t, newBench(t, a, "channel", sandbox.BoxOptions{}), func(*testing.T) {})
	})
}

func TestARenewedBoxIsToldNothing(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "channel", sandbox.BoxOptions{})
		nothingIsTold(t, b, func(t *testing.T) {
			if err := b.box.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// nothingIsTold tells runs something in every way, and fails the test if one after it,
// with what comes in between, hears it.
func nothingIsTold(t *testing.T, b bench, between func(*testing.T)) {
	t.Helper()
	for _, way := range channels {
		t.Run("by a "+way, func(t *testing.T) {
			hear := func() string {
				o := run(t, b.box, sandbox.Cmd{Program: "./channel", Args: []string{"hear", way}, Limits: generous})
				if o.Verdict != sandbox.OK {
					t.Fatalf("hearing ended %v", o)
				}
				between(t)
				return o.stdout
			}
			before := hear()
			for range 2 {
				if o := run(t, b.box, sandbox.Cmd{Program: "./channel", Args: []string{"tell", way}, Limits: generous}); o.Verdict != sandbox.OK {
					t.Fatalf("telling ended %v", o)
				}
				between(t)
				if after := hear(); after != before {
					t.Errorf("the next run heard %q, and before that %q", after, before)
				}
			}
			b.look(t)
		})
	}
}

func TestARenewedBoxIsTheSameButForItsRoom(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		const tmp = 3 << 20
		b := newBench(t, a, "channel", sandbox.BoxOptions{TmpBytes: tmp})
		is := func(what string, l sandbox.Limits) sandbox.Cmd {
			return sandbox.Cmd{Program: "./channel", Args: []string{"is", what}, Limits: l}
		}
		renew := func(t *testing.T) {
			t.Helper()
			if err := b.box.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		renew(t) // of a box that was not used
		said := func(t *testing.T) (uid, rest string) {
			t.Helper()
			o := run(t, b.box, is("itself", generous))
			uid, rest, _ = strings.Cut(o.stdout, " ")
			if o.Verdict != sandbox.OK || rest != fmt.Sprintf("ours %d %d %d", tmp, tmp, tmp) {
				t.Fatalf("it is %v", o)
			}
			return uid, rest
		}
		uid, _ := said(t)
		if same, _ := said(t); same != uid {
			t.Errorf("the user id was %s and is %s, without being renewed", uid, same)
		}
		for range 6 { // more often than there are rooms in stock
			renew(t)
			next, _ := said(t)
			if next == uid && len(status(t, a).Degraded) == 0 {
				t.Errorf("the user id is %s as before", next)
			}
			uid = next
		}
		t.Run("with its limits", func(t *testing.T) {
			renew(t)
			limits := sandbox.Limits{CPU: 200 * ms, Wall: generous.Wall}
			if o := run(t, b.box, is("busy", limits)); o.Verdict != sandbox.TLE {
				t.Errorf("it ended %v", o)
			}
		})
		t.Run("and can be cancelled", func(t *testing.T) {
			renew(t)
			in, say, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer say.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hear, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = hear.Read(make([]byte, 1))
				cancel()
			}()
			c := is("waiting", generous)
			c.Stdin, c.Stdout = in, out
			_, err = b.box.RunPiped(ctx, c)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			_ = hear.Close()
			said(t)
		})
		t.Run("unless it can be written", func(t *testing.T) {
			w := open(t, a, sandbox.BoxOptions{Writable: true})
			if err := w.Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "Writable") {
				t.Errorf("Renew = %v", err)
			}
		})
	})
}

// An agent that cannot set the counter of process ids has another room for each run.
func TestWithoutACounterOfProcessesEachRunHasARoomOfItsOwn(t *testing.T) {
	needRoot(t)
	if insideVM() {
		return // nothing in it could hide the counter
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const hide = `c=/proc/sys/kernel/ns_last_pid; mount --bind $c $c && mount -o remount,bind,ro $c && exec "$0" "$@"`
	p, err := oneshot.Spawn(t.Context(), "/usr/bin/unshare", []string{"-m", "sh", "-c", hide, exe, agentCommand}, sandbox.Config{Slots: 2, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, err := sandbox.Dial(p.Conn())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, a, "channel", sandbox.BoxOptions{})
	nothingIsTold(t, b, func(*testing.T) {})
	id := sandbox.Cmd{Program: "./channel", Args: []string{"is", "itself"}, Limits: generous}
	if first, second := run(t, b.box, id), run(t, b.box, id); first.stdout == second.stdout {
		t.Errorf("two runs in one room: %v", first)
	}
}

func TestProcTellsOfNothingButTheRunsProcesses(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "channel", sandbox.BoxOptions{}).box
		o := run(t, b, sandbox.Cmd{Program: "./channel", Args: []string{"is", "processes"}, Limits: generous})
		names := strings.Fields(o.stdout)
		slices.Sort(names)
		if o.Verdict != sandbox.OK || strings.Join(names, " ") != "1 2 self thread-self" {
			t.Errorf("/proc has %v", o)
		}
		mounts := run(t, b, sandbox.Cmd{Program: "./channel", Args: []string{"is", "mounted"}, Limits: generous})
		if mounts.Verdict != sandbox.OK || !strings.Contains(mounts.stdout, " /box ") {
			t.Fatalf("mountinfo is %v", mounts)
		}
		for _, name := range []string{"room-", "agent-", "cgroup", "/sys", "/run", "/var", "/home"} {
			for line := range strings.Lines(mounts.stdout) {
				if where := strings.Fields(line); strings.Contains(where[3]+where[4]+line[strings.Index(line, " - "):], name) {
					t.Errorf("mountinfo names %s: %s", name, line)
				}
			}
		}
	})
}
