package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// clientCommand makes the test binary a client on descriptor 3.
const clientCommand = "sandbox-client"

// client is the process of an unprivileged client: it runs one command and
// prints how it ended.
func client() error {
	a, err := sandbox.Dial(os.NewFile(3, "conn"))
	if err != nil {
		return err
	}
	b, err := a.Box(context.Background())
	if err != nil {
		return err
	}
	if err := b.Put(context.Background(), sandbox.File{Path: "main.py", Data: []byte("print(6 * 7)\n")}); err != nil {
		return err
	}
	r, err := b.Run(context.Background(), sandbox.Cmd{Tool: "python3", Args: []string{"main.py"}, Stdout: os.Stdout})
	if err != nil {
		return err
	}
	fmt.Println(os.Getuid(), r.Verdict)
	return b.Close()
}

func TestAClientNeedsNoPrivilege(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := a.Tool(t.Context(), "python3"); err != nil {
		missing(t, "python3")
	}
	exe := readableTestBinary(t)
	cmd := exec.Command(exe, clientCommand)
	cmd.ExtraFiles = []*os.File{p.Conn()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "42\n65534 OK\n" {
		t.Errorf("the client said %q, %v", out, err)
	}
}

// readableTestBinary returns a copy of this program that everybody may execute.
func readableTestBinary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sandbox-client-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "client")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// traces lists what an agent with process id pid has on this machine: control
// groups, processes and mounts.
func traces(t *testing.T, pid int) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{
		"/sys/fs/cgroup/*/deepoj/agent-%d", "/sys/fs/cgroup/deepoj/agent-%d", "/sys/fs/cgroup/user.slice/*/*/*/*/agent-%d",
	} {
		for _, ending := range []string{"", "-*"} { // of one that ends with its starter
			dirs, err := filepath.Glob(fmt.Sprintf(pattern, pid) + ending)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, dirs...)
		}
	}
	for _, p := range processes(t) {
		if p.parent == pid || p.pid == pid && p.state != "Z" {
			found = append(found, fmt.Sprintf("process %d %s", p.pid, p.name))
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.HasPrefix(line, "deepoj ") {
			found = append(found, "mount "+line)
		}
	}
	return found
}

type process struct {
	pid, parent, uid int
	name, state      string
}

func processes(t *testing.T) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, path := range dirs {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // ended
		}
		head, rest, _ := strings.Cut(string(b), ") ")
		number, name, _ := strings.Cut(head, " (")
		f := strings.Fields(rest)
		var st unix.Stat_t
		if unix.Stat(filepath.Dir(path), &st) != nil {
			continue // ended
		}
		p := process{name: name, state: f[0], uid: int(st.Uid)}
		p.pid, _ = strconv.Atoi(number)
		p.parent, _ = strconv.Atoi(f[1])
		found = append(found, p)
	}
	return found
}

// strangers lists the processes of users that only this test's boxes use.
func strangers(t *testing.T, firstUID int) []process {
	t.Helper()
	if os.Geteuid() != 0 {
		firstUID += vmFirstID - 1 // its 1 is the first id of the machine's
	}
	return slices.DeleteFunc(processes(t), func(p process) bool {
		return p.state == "Z" || (p.uid < firstUID || p.uid >= firstUID+64) && !sharesID(p)
	})
}

// eventually waits until f reports true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	timeout := time.NewTimer(2 * time.Minute)
	defer timeout.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-timeout.C:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func TestAnAgentLeavesNothing(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 2, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.OpenBox(t.Context(), sandbox.BoxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), hostile(t, "process")); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Run(t.Context(), sandbox.Cmd{Program: "./process", Args: []string{"orphan"}}); err != nil || r.Verdict != sandbox.OK {
		t.Fatal(r, err)
	}
	// The box is still open.
	if err := p.Close(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	if left := append(traces(t, p.PID()), fmt.Sprint(strangers(t, driverUID))); len(left) != 1 || left[0] != "[]" {
		t.Errorf("the agent left %q", left)
	}
	if _, err := b.Run(t.Context(), sandbox.Cmd{Program: "./process", Args: []string{"nothing"}}); !errors.Is(err, sandbox.ErrAgentGone) {
		t.Errorf("a run without an agent: %v, want ErrAgentGone", err)
	}
	if _, err := a.Box(t.Context()); err == nil {
		t.Error("a dead agent opened a box")
	}
}

func TestTwoAgentsLeaveEachOtherAlone(t *testing.T) {
	first := shared.get(t)
	b := newBench(t, first, "process", sandbox.BoxOptions{})
	p, _, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if o := b.run(t, sandbox.Limits{}, "nothing"); o.Verdict != sandbox.OK {
		t.Errorf("ended %v", o)
	}
}

func TestACancelledRunIsKilled(t *testing.T) {
	a := shared.get(t)
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	begun, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	defer out.Close()
	go func() {
		begun.Read(make([]byte, 1))
		cancel()
	}()
	_, err = b.box.Run(ctx, sandbox.Cmd{
		Tool: "python3", Args: []string{"-uc", "print(1)\nwhile True: pass"}, Stdout: out, Limits: sandbox.Limits{CPU: time.Minute},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want context.Canceled", err)
	}
	if o := b.run(t, sandbox.Limits{}, "nothing"); o.Verdict != sandbox.OK {
		t.Errorf("afterwards a run ended %v", o)
	}
}

func TestABoxThatIsClosedInTheMiddleOfARunIsGivenBack(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		b, err := a.Box(t.Context()) // waits for the only slot
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Put(t.Context(), hostile(t, "process")); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := b.Run(context.Background(), sandbox.Cmd{
				Program: "./process", Args: []string{"fork-bomb"}, Limits: sandbox.Limits{CPU: time.Minute},
			})
			done <- err
		}()
		eventually(t, "the program runs", func() bool { return len(strangers(t, driverUID)) > 0 })
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err == nil {
			t.Error("a run in a closed box ended well")
		}
		eventually(t, "the program is gone", func() bool { return len(strangers(t, driverUID)) == 0 })
	}
}

func TestWhoWaitsForABoxMayGiveUp(t *testing.T) {
	needRoot(t)
	p, a, err := start(sandbox.Config{Slots: 1, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b, err := a.Box(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*ms)
	defer cancel()
	if _, err := a.Box(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Box = %v, want DeadlineExceeded", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = a.Box(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

// A run is cancelled at the moment it ends, and another one follows at once.
func TestACancelThatComesTooLateEndsNoOtherRun(t *testing.T) {
	b := newBench(t, shared.get(t), "process", sandbox.BoxOptions{}).box
	nothing := sandbox.Cmd{Program: "./process", Args: []string{"nothing"}}
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(i%60)*50*time.Microsecond, cancel)
		r, err := b.Run(ctx, nothing)
		if err != nil && !errors.Is(err, context.Canceled) || err == nil && r.Verdict != sandbox.OK {
			t.Fatalf("round %d: the run that is cancelled gives %+v, %v", i, r, err)
		}
		timer.Stop()
		cancel()
		if r, err := b.Run(t.Context(), nothing); err != nil || r.Verdict != sandbox.OK {
			t.Fatalf("round %d: the run after it gives %+v, %v", i, r, err)
		}
	}
}
