package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
)

// What is killed may stay all the same, for a reason that nobody foresaw. These tests
// have one: a process that somebody traces is there until its tracer lets it go.

// hold traces a process until the returned function is called.
func hold(t *testing.T, pid int) (letGo func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root")
	}
	held, enough, done := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: what it traces is free when the thread ends
		held <- unix.PtraceSeize(pid)
		<-enough
	}()
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	return func() {
		close(enough)
		<-done
	}
}

// apart is the first user id of the nth test that has its agents beside other tests.
func apart(n int) int { return driverUID + 100_000*(1+n) }

// programOf waits for the program of a user's box, and returns its process id.
func programOf(t *testing.T, firstUID int, name string) (pid int) {
	t.Helper()
	eventually(t, name+" runs", func() bool {
		for _, p := range strangers(t, firstUID) {
			if p.name == name {
				pid = p.pid
			}
		}
		return pid != 0
	})
	return pid
}

func TestAnAgentThatCannotEmptyARoomIsReplacedAtOnceAndCounted(t *testing.T) {
	needRoot(t)
	adopt(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := keep(t, sandbox.Config{Slots: 2, FirstUID: driverUID}, true)
	a, err := d.Agent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	open := func(a *sandbox.Client) *sandbox.Box {
		b, err := a.OpenBox(ctx, sandbox.BoxOptions{})
		if err == nil {
			err = b.Put(ctx, hostile(t, "process"), hostile(t, "ending"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	culprit, innocent := open(a), open(a)
	run := func(b *sandbox.Box, program string, args ...string) <-chan error {
		failed := make(chan error, 1)
		go func() {
			r, err := b.Run(ctx, sandbox.Cmd{Program: "./" + program, Args: args, Limits: generous})
			if err == nil {
				err = fmt.Errorf("the run ended as %+v", r)
			}
			failed <- err
		}()
		return failed
	}
	ofInnocent := run(innocent, "process", "sleep")
	programOf(t, driverUID, "process")
	ofCulprit := run(culprit, "ending", "0", "nobody", "sleeps")
	letGo := hold(t, programOf(t, driverUID, "ending"))
	defer func() {
		letGo()
		new(enders).check(t)
	}()
	if err := culprit.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ofInnocent; !errors.Is(err, sandbox.ErrAgentGone) {
		t.Errorf("what ran besides ended with: %v, want ErrAgentGone", err)
	}
	<-ofCulprit // which heard nothing after it was closed
	var next *sandbox.Client
	eventually(t, "there is another agent", func() bool {
		next, err = d.Agent(ctx)
		return err == nil
	})
	defer next.Close()
	again := open(next)
	if r, err := again.Run(ctx, sandbox.Cmd{Program: "./process", Args: []string{"nothing"}, Limits: generous}); err != nil || r.Verdict != sandbox.OK {
		t.Errorf("with the next agent a program ended with %+v, %v", r, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	replaced, err := d.Replaced(ctx)
	if err != nil || len(replaced) != 1 || replaced[sandbox.ReplacedRoom] != 1 {
		t.Errorf("agents were replaced %v, %v, want one because of its room", replaced, err)
	}
}

func TestAnAgentThatDoesNotAnswerIsReplacedAndCounted(t *testing.T) {
	needRoot(t)
	adopt(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience) // nobody else would give up
	defer cancel()
	before := childrenOf(t, os.Getpid())
	d := keep(t, sandbox.Config{Slots: 1, FirstUID: driverUID}, true)
	a, err := d.Agent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	mute := slices.DeleteFunc(childrenOf(t, os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
	if len(mute) != 1 {
		t.Fatalf("the agents are %v", mute)
	}
	if _, err := a.Tool(ctx, "gcc"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // it has answered the keeper, too, which waits longer for a first answer
	if err := unix.Kill(mute[0], unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var replaced map[string]int64
	for len(replaced) == 0 { // a thread of the old one may answer once more before it stops
		if next, err := d.Agent(ctx); err == nil {
			err = next.Close()
			if err == nil {
				replaced, err = d.Replaced(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-ctx.Done():
			t.Fatal("there is no other agent")
		case <-time.After(20 * time.Millisecond):
		}
	}
	if len(replaced) != 1 || replaced[sandbox.ReplacedSilent] != 1 {
		t.Errorf("agents were replaced %v, want one because it said nothing", replaced)
	}
	if left := traces(t, mute[0]); len(left) != 0 {
		t.Errorf("it left %q", left)
	}
}

// childrenOf returns the process ids of the children of a process that live.
func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	for _, p := range processes(t) {
		if p.parent == parent && p.state != "Z" {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func TestAOneShotRunThatCannotBeEndedEndsItself(t *testing.T) {
	needRoot(t)
	adopt(t)
	var said bytes.Buffer
	cmd := oneShotCommand(t, "--job-id", "1", "--attempt-id", "1", "--wall-ms", "600000", "--until", "/dev/fd/3", "--dir", folder(t, hostile(t, "ending")),
		"--", "./ending", "0", "nobody", "sleeps")
	cmd.Env = append(os.Environ(), fmt.Sprintf(`DEEPOJ_SANDBOX_AGENT={"first_uid":%d,"slots":1}`, driverUID))
	cmd.Stdout, cmd.Stderr = &said, os.Stderr
	until, alive, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer until.Close()
	cmd.ExtraFiles = []*os.File{until}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	letGo := hold(t, programOf(t, driverUID, "ending"))
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err = errors.Join(alive.Close(), cmd.Wait())
	hangs.Stop()
	p, refused := wire.ParseReport(said.Bytes(), 1, 1)
	if err := errors.Join(err, refused); err != nil || p.Verdict != sandbox.SE || !strings.Contains(p.SandboxError, "does not go") {
		t.Errorf("it said %q, %v", said.String(), err)
	}
	letGo()
	new(enders).check(t)
	if line, _, _ := judged(t, "--job-id", "1", "--attempt-id", "1", "--", "true"); !strings.Contains(line, `"verdict":"OK"`) {
		t.Errorf("the next run said %s", line)
	}
	if left := traces(t, cmd.Process.Pid); len(left) != 0 {
		t.Errorf("after the next run there is %q", left)
	}
}

func TestAnAgentThatDoesNotEndIsKilled(t *testing.T) {
	needRoot(t)
	adopt(t)
	p, a, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, a, "process", sandbox.BoxOptions{}).box
	ended := make(chan error, 1)
	go func() {
		_, err := b.Run(context.Background(), sandbox.Cmd{Program: "./process", Args: []string{"sleep"}, Limits: generous})
		ended <- err
	}()
	programOf(t, driverUID, "process")
	if err := unix.Kill(p.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.Close() }()
	select {
	case err := <-closed:
		if err == nil {
			t.Error("an agent that was stopped ended well")
		}
	case <-time.After(patience):
		t.Error("who ends the agent waits for ever")
		_ = unix.Kill(p.PID(), unix.SIGKILL)
	}
	if err := <-ended; !errors.Is(err, sandbox.ErrAgentGone) {
		t.Errorf("its run ended with %v, want ErrAgentGone", err)
	}
	new(enders).check(t)
}

// starterCommand makes the test binary a process that starts an agent, or a one-shot
// run, with a configuration, says its process id and waits to be killed.
const starterCommand = "sandbox-starter"

func starter() error {
	if os.Args[2] == agentCommand {
		p, a, err := start(sandbox.Config{Slots: 1, FirstUID: number(os.Args[4]), Driver: os.Args[3]})
		if err != nil {
			return err
		}
		b, err := a.Box(context.Background())
		if err != nil {
			return err
		}
		go func() {
			_, _ = b.Run(context.Background(), sandbox.Cmd{Program: "/usr/bin/sleep", Args: []string{"600"}, Limits: generous})
		}()
		fmt.Println(p.PID())
		return p.Wait()
	}
	until, _, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", judgeCommand, "--job-id", "1", "--attempt-id", "1", "--driver", os.Args[3], "--until", "/dev/fd/3",
		"--wall-ms", "600000", "--", "/usr/bin/sleep", "600")
	cmd.Env = append(os.Environ(), fmt.Sprintf(`DEEPOJ_SANDBOX_AGENT={"first_uid":%s,"slots":1}`, os.Args[4]))
	cmd.ExtraFiles = []*os.File{until}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return cmd.Wait()
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func TestWhatOutlivesItsStarterIsEndedByTheNextStart(t *testing.T) {
	needRoot(t)
	adopt(t)
	for _, driver := range slices.DeleteFunc(drivers(t), func(d string) bool { return d == sandbox.DriverNone }) {
		for _, what := range []string{agentCommand, judgeCommand} {
			t.Run(what+" with driver "+driver, func(t *testing.T) {
				first := exec.Command("/proc/self/exe", starterCommand, what, driver, strconv.Itoa(driverUID))
				first.Stderr = os.Stderr
				out, err := first.StdoutPipe()
				if err == nil {
					err = first.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				pid := number(strings.TrimSpace(line))
				defer unix.Kill(pid, unix.SIGKILL)
				programOf(t, driverUID, "sleep")
				if err := errors.Join(unix.Kill(pid, unix.SIGSTOP), first.Process.Kill()); err != nil {
					t.Fatal(err)
				}
				_ = first.Wait() // as killed
				if len(traces(t, pid)) == 0 {
					t.Fatal("nothing outlived its starter")
				}
				next, _, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID, Driver: driver})
				if err != nil {
					t.Fatal(err)
				}
				new(enders).check(t)
				if left := traces(t, pid); len(left) != 0 {
					t.Errorf("after the next start there is %q", left)
				}
				if err := next.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A starter that lives keeps what it started.
func TestTheNextStartLeavesAloneWhoseStarterLives(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := unix.Kill(p.PID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	next, _, err := start(sandbox.Config{Slots: 1, FirstUID: apart(0)})
	if err := errors.Join(err, unix.Kill(p.PID(), unix.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	if s := status(t, a); s.SelfTest != "" {
		t.Errorf("Status = %+v", s)
	}
}
