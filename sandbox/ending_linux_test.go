package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/wire"
	"deepoj/sandbox/oneshot"
)

// A run ends when we say so, whatever its tasks are to each other, which of them ended
// first, who says so and why; and then nothing of it is left. What there is to combine
// is in dimensions. `make test` tries any two values of any two dimensions together,
// `make test-hostile` everything with everything.

// hostileVariable is set to "whole" for everything with everything.
const hostileVariable = "DEEPOJ_HOSTILE"

// drivers returns the control group drivers that this machine can have.
func drivers(t *testing.T) []string {
	t.Helper()
	var found []string
	startOnEveryDriver(t, sandbox.Config{Slots: 1}, func(t *testing.T, p *oneshot.Process, a *sandbox.Client) {
		found = append(found, status(t, a).Driver)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return found
}

func TestNothingIsLeftOfARunWhateverEndsFirst(t *testing.T) {
	needRoot(t)
	adopt(t)
	known := drivers(t)
	choose, words := pairs, "any two values together"
	if os.Getenv(hostileVariable) == "whole" {
		choose, words = product, "everything with everything"
	}
	flags := knownFlags()
	sizes := []int{len(flags), len(endedFirst), len(reasons), 2, len(known)}
	var cases []endingCase
	for _, c := range choose(sizes) {
		cases = append(cases, endingCase{flags[c[0]], endedFirst[c[1]], reasons[c[2]], c[2], c[3] == 1, known[c[4]]})
	}
	fmt.Printf("%d combinations of %d flags of clone, %d things that end first, %d reasons, 2 ways to run and the drivers %s: %s\n",
		len(cases), sizes[0], sizes[1], sizes[2], strings.Join(known, ", "), words)
	for _, driver := range known {
		for _, undenied := range []bool{false, true} {
			of := slices.DeleteFunc(slices.Clone(cases), func(c endingCase) bool { return c.driver != driver || c.undenied() != undenied })
			t.Run(fmt.Sprintf("%s, undenied %t", driver, undenied), func(t *testing.T) { endAll(t, driver, undenied, of) })
		}
	}
}

// endAll tries cases with one driver.
func endAll(t *testing.T, driver string, undenied bool, cases []endingCase) {
	e := &enders{t: t, undenied: undenied, cfg: sandbox.Config{
		Slots: 2, FirstUID: driverUID, Driver: driver, AllowDegraded: driver == sandbox.DriverNone,
	}}
	t.Cleanup(func() { e.close(t) })
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			if c.oneShot {
				e.endOneShot(t, c)
			} else {
				e.endBox(t, c)
			}
			e.check(t)
		})
	}
	t.Run("every user id of a room is there again", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for range room.UserIDs(e.cfg.Slots) + 1 {
			b, err := e.get(t).OpenBox(ctx, sandbox.BoxOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// patience is how long nothing may hang.
const patience = 2 * time.Minute

// enders are an agent and a box in it, made when they are needed.
type enders struct {
	t        *testing.T
	cfg      sandbox.Config
	undenied bool
	process  *oneshot.Process
	agent    *sandbox.Client
	box      *sandbox.Box
}

// get returns the agent.
func (e *enders) get(t *testing.T) *sandbox.Client {
	t.Helper()
	if e.agent != nil {
		return e.agent
	}
	args := []string{agentCommand}
	if e.undenied {
		args = append(args, undeniedArgument)
	}
	var err error
	if e.process, e.agent, err = startWith(e.cfg, args); err != nil {
		t.Fatal(err)
	}
	return e.agent
}

// open returns the box.
func (e *enders) open(t *testing.T) *sandbox.Box {
	t.Helper()
	if e.box != nil {
		return e.box
	}
	a := e.get(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	if e.box, err = a.OpenBox(ctx, sandbox.BoxOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.box.Put(ctx, hostile(t, "ending"), hostile(t, "leftover"), sandbox.File{Path: "ours", Data: []byte("ours")}); err != nil {
		t.Fatal(err)
	}
	return e.box
}

// close ends the agent, which must end well and leave nothing.
func (e *enders) close(t *testing.T) {
	t.Helper()
	if e.process == nil {
		return
	}
	if err := e.process.Close(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	if left := traces(t, e.process.PID()); len(left) != 0 {
		t.Errorf("the agent left %q", left)
	}
	e.process, e.agent, e.box = nil, nil, nil
}

// endBox runs a case in a box of the agent.
func (e *enders) endBox(t *testing.T, c endingCase) {
	b := e.open(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, errs := memory(nil), memory(nil)
	defer out.Close()
	defer errs.Close()
	cmd := sandbox.Cmd{Program: "./ending", Args: c.args(), Limits: c.limits(), Stdout: out, Stderr: errs}
	if c.want != "" {
		r, err := b.Run(ctx, cmd)
		c.judge(t, r, err, text(errs))
		if err != nil {
			e.box = nil // of which nothing more is known
			return
		}
		look := run(t, b, sandbox.Cmd{Program: "./leftover", Args: []string{"look"}, Limits: generous})
		if look.Verdict != sandbox.OK || look.stdout != "" {
			t.Errorf("the next run found %v", look)
		}
		return
	}
	said, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout = told
	ended := make(chan error, 1)
	go func() {
		_, err := b.Run(ctx, cmd)
		ended <- errors.Join(err, told.Close())
	}()
	c.await(t, said)
	if c.why == agentTold {
		e.close(t)
	} else {
		e.box = nil
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; err == nil || ctx.Err() != nil {
		t.Errorf("the run ended with %v", err)
	}
}

// endOneShot runs a case with the one-shot command.
func (e *enders) endOneShot(t *testing.T, c endingCase) {
	dir := folder(t, hostile(t, "ending"))
	l := c.limits()
	args := []string{
		"--job-id", "1", "--attempt-id", "1", "--driver", c.driver, "--until", "/dev/fd/3", "--stdout", "/dev/fd/4", "--stderr", "/dev/fd/5",
		"--time-ms", fmt.Sprint(l.CPU.Milliseconds()), "--wall-ms", fmt.Sprint(l.Wall.Milliseconds()), "--memory-kb", fmt.Sprint(l.MemoryBytes >> 10),
		"--output-kb", fmt.Sprint(l.OutputBytes >> 10), "--procs", fmt.Sprint(l.Processes), "--dir", dir, "--", "./ending",
	}
	cmd := oneShotCommand(t, append(args, c.args()...)...)
	if e.undenied {
		cmd = exec.Command("/proc/self/exe", append([]string{judgeCommand, undeniedArgument}, append(args, c.args()...)...)...)
	}
	cmd.Env = append(os.Environ(), fmt.Sprintf(`DEEPOJ_SANDBOX_AGENT={"first_uid":%d,"slots":%d,"allow_degraded":%t}`, e.cfg.FirstUID, e.cfg.Slots, e.cfg.AllowDegraded))
	until, alive, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer until.Close()
	defer alive.Close()
	said, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	errs, out := memory(nil), memory(nil)
	defer errs.Close()
	defer out.Close()
	cmd.ExtraFiles = []*os.File{until, told, errs}
	if c.want != "" {
		cmd.ExtraFiles[1] = out
	}
	var line, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &line, &complaint
	err = cmd.Start()
	if err := errors.Join(err, told.Close()); err != nil {
		t.Fatal(err)
	}
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	if c.want == "" {
		c.await(t, said)
		if c.why == clientGone {
			err = alive.Close()
		} else {
			err = cmd.Process.Signal(unix.SIGTERM)
		}
		if err != nil {
			t.Error(err)
		}
	}
	err = cmd.Wait()
	if !hangs.Stop() {
		t.Errorf("the command did not end within %s", patience)
	}
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() && c.why == agentTold {
		return // before it heard signals: the next one sweeps
	}
	if left := traces(t, cmd.Process.Pid); len(left) != 0 {
		t.Errorf("the command left %q", left)
	}
	p, refused := wire.ParseReport(line.Bytes(), 1, 1)
	if err := errors.Join(err, refused); err != nil {
		t.Fatalf("%v; it said %q %q", err, line.String(), complaint.String())
	}
	if c.want == "" {
		if p.Verdict != sandbox.SE || p.SandboxError != "cancelled" {
			t.Errorf("it said %s", line.String())
		}
		return
	}
	c.judge(t, p.Result(), nil, text(errs))
}

// await waits until the last task of a run is there.
func (c endingCase) await(t *testing.T, said *os.File) {
	t.Helper()
	if err := said.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Errorf("the program does not say that it is there: %v", err)
	}
}

// judge says what is wrong with how a run ended, and with what it said of the task
// more.
func (c endingCase) judge(t *testing.T, r sandbox.Result, err error, said string) {
	t.Helper()
	if err != nil || r.Verdict != c.want {
		t.Errorf("it ended as %s and not as %s: %+v, %v", r.Verdict, c.want, r, err)
	}
	want := c.made
	if want != "" {
		want += "\n"
	}
	if said != want && (said != "" || c.want != sandbox.TLE) { // on a busy machine it has no time to say so
		t.Errorf("it said %q of the task more, want %q", said, want)
	}
}

// check looks for what is left on the machine when a run has ended and, if its client
// did not wait, in a moment.
func (e *enders) check(t *testing.T) {
	t.Helper()
	var left []process
	found := func() bool {
		left = slices.DeleteFunc(processes(t), func(p process) bool { return !e.ours(p) })
		return len(left) == 0
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(5 * ms)
	defer tick.Stop()
	for !found() {
		select {
		case <-limit.C:
			t.Fatalf("there still is %+v", left)
		case <-tick.C:
		}
	}
}

// ours reports whether a process is what a run left: a program, also one that has
// ended and that nobody waited for, or a first process that cannot end.
func (e *enders) ours(p process) bool {
	agent := -1
	if e.process != nil {
		agent = e.process.PID()
	}
	first := driverUID
	if os.Geteuid() != 0 {
		first += vmFirstID - 1
	}
	if p.parent == os.Getpid() && p.pid != agent && p.state == "Z" { // which we were given
		_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
	}
	switch {
	case p.uid >= first && p.uid < first+64, sharesID(p):
		return true
	case p.parent == os.Getpid() && p.name == ".reaper":
		return true
	}
	return p.parent == agent && p.state == "Z"
}

// adopt makes what loses its parent ours for the time of a test, so that nothing gets
// lost.
func adopt(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	})
}
