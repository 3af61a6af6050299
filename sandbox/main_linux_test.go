package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/seccomp"
	"deepoj/sandbox/oneshot"
)

// agentCommand makes the test binary an agent.
const agentCommand = "sandbox-agent"

// undeniedArgument, as its argument or that of [judgeCommand], lets programs make
// children of the agent.
const undeniedArgument = "--undenied"

// stoppingArgument, as the argument of agentCommand, makes the agent stop at every step of
// a change of rooms.
const stoppingArgument = "--stopping"

func TestMain(m *testing.M) {
	if os.Getpid() == 1 && insideVM() {
		initVM()
	}
	if len(os.Args) > 2 && os.Args[2] == undeniedArgument {
		seccomp.CloneDenied &^= unix.CLONE_PARENT
		os.Args = append(os.Args[:2], os.Args[3:]...)
	}
	if slices.Equal(os.Args[1:], []string{agentCommand, stoppingArgument}) {
		stopAtEveryStep()
	}
	if len(os.Args) > 1 && os.Args[1] == agentCommand {
		os.Exit(serve())
	}
	if len(os.Args) > 1 && os.Args[1] == judgeCommand {
		os.Exit(oneshot.Main(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == clientCommand {
		if err := client(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == starterCommand {
		fmt.Fprintln(os.Stderr, starter())
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[1] == attackerCommand {
		if err := runAttack(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == inheritCommand {
		if err := inherit(os.Args[2]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == rootlessCommand {
		if err := oneshot.Rootless(); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	status := m.Run()
	atEnd(shared.close)
	for _, f := range ends {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "at the end of all tests:", err)
			status = 1
		}
	}
	os.Exit(status)
}

// stopAtEveryStep makes the agent that this process is stop, as by SIGSTOP, at every step of
// a change of rooms. It collects no garbage either, which would close what is kept open, and
// ends with its starter though it is stopped.
func stopAtEveryStep() {
	debug.SetGCPercent(-1)
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		panic(err)
	}
	room.Changing = func() {
		if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
			panic(err)
		}
	}
}

// ends are called when all tests have ended.
var ends []func() error

// atEnd has f called when all tests have ended.
func atEnd(f func() error) { ends = append(ends, f) }

func serve() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, conn, cfg, err := oneshot.Inherited(ctx)
	if err == nil {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		err = oneshot.Serve(ctx, conn, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return oneshot.ExitStatus(err)
}

// shared is the agent that most tests use.
var shared sharedAgent

type sharedAgent struct {
	once    sync.Once
	process *oneshot.Process
	agent   *sandbox.Client
	err     error
}

func (s *sharedAgent) get(t testing.TB) *sandbox.Client {
	t.Helper()
	needRoot(t)
	s.once.Do(func() { s.process, s.agent, s.err = start(sandbox.Config{Slots: 3}) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.agent
}

func (s *sharedAgent) close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Close()
}

// start starts an agent.
func start(cfg sandbox.Config) (*oneshot.Process, *sandbox.Client, error) {
	return startWith(cfg, []string{agentCommand})
}

func startWith(cfg sandbox.Config, args []string) (*oneshot.Process, *sandbox.Client, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	p, err := oneshot.Spawn(context.Background(), exe, args, cfg)
	if err != nil {
		return nil, nil, err
	}
	a, err := sandbox.Dial(p.Conn())
	if err != nil {
		return nil, nil, fmt.Errorf("%w; the agent: %w", err, p.Close())
	}
	return p, a, nil
}

// needRoot skips a test that needs root, or what an ordinary user needs instead,
// unless nothing may be skipped.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if err := oneshot.Rootless(); err != nil {
		missing(t, "root, or: "+err.Error())
	}
}

// missing skips a test for want of something, or fails it where everything is
// required.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("this test needs %s", what)
}

// open opens a box that is closed with the test.
func open(t testing.TB, a *sandbox.Client, o sandbox.BoxOptions) *sandbox.Box {
	t.Helper()
	b, err := a.OpenBox(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// outcome is a result with what was written.
type outcome struct {
	sandbox.Result
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("%s exit=%d signal=%d cpu=%s wall=%s memory=%d KiB oom=%t stdout=%d stderr=%d error=%q\n%.2000s\n%.4000s",
		o.Verdict, o.ExitCode, o.Signal, o.CPU.Round(time.Microsecond), o.Wall.Round(time.Microsecond), o.MemoryBytes>>10,
		o.OOM, o.StdoutBytes, o.StderrBytes, o.Error, o.stdout, o.stderr)
}

// run runs c in b and keeps what it writes.
func run(t testing.TB, b *sandbox.Box, c sandbox.Cmd) outcome {
	t.Helper()
	var o outcome
	out, err := memory(nil), memory(nil)
	defer out.Close()
	defer err.Close()
	c.Stdout, c.Stderr = out, err
	r, e := b.Run(t.Context(), c)
	if e != nil {
		t.Fatal(e)
	}
	o.Result, o.stdout, o.stderr = r, text(out), text(err)
	return o
}

// memory returns a memfd that holds data.
func memory(data []byte) *os.File {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		panic(err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.Write(data); err != nil {
		panic(err)
	}
	return f
}

func text(f *os.File) string {
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.NewSectionReader(f, 0, 1<<30)); err != nil {
		panic(err)
	}
	return b.String()
}
