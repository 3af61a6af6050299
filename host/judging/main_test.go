package judging_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// agentCommand makes the test binary a sandbox agent, and judgeCommand the one-shot
// command.
const (
	agentCommand = "sandbox-agent"
	judgeCommand = "judge"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == judgeCommand {
		os.Exit(sandbox.Judge(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == agentCommand {
		os.Exit(serveSandbox())
	}
	status := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "end of the tests:", err)
		status = 1
	}
	os.Exit(status)
}

func serveSandbox() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, conn, cfg, err := sandbox.Inherited(ctx)
	if err == nil {
		err = sandbox.Serve(ctx, conn, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox agent:", err)
		return 1
	}
	return 0
}

// shared is what all tests work with: one agent, one plugin runtime, one cache.
var shared machine

type machine struct {
	once    sync.Once
	err     error
	process *sandbox.Process
	agent   *sandbox.Agent
	runtime *plugin.Runtime
	blobs   *blob.Dir
	judge   *judging.Judge
	dir     string
}

// get returns the shared machine.
func (m *machine) get(t testing.TB) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root")
	}
	m.once.Do(func() { m.err = m.start() })
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m
}

func (m *machine) start() (err error) {
	if m.dir, err = os.MkdirTemp("", "judging-test-"); err != nil {
		return err
	}
	if m.process, m.agent, err = spawn(sandbox.Config{CgroupRoot: "deepoj-judging"}); err != nil {
		return err
	}
	// The plugins' children are built without the race detector, which would
	// make compiling modules slower than it is allowed to be.
	child := filepath.Join(m.dir, "child")
	if said, err := exec.Command("go", "build", "-o", child, "../plugin/testdata/child").CombinedOutput(); err != nil {
		return fmt.Errorf("build the plugins' child: %w\n%s", err, said)
	}
	if m.runtime, err = plugin.New(plugin.Config{CacheDir: filepath.Join(m.dir, "plugins"), Exe: child}); err != nil {
		return err
	}
	if m.blobs, err = blob.OpenDir(filepath.Join(m.dir, "blobs")); err != nil {
		return err
	}
	m.judge, err = m.open(func(*judging.Config) {})
	return err
}

// spawn starts an agent.
func spawn(cfg sandbox.Config) (*sandbox.Process, *sandbox.Agent, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	p, err := sandbox.Spawn(context.Background(), exe, []string{agentCommand}, cfg)
	if err != nil {
		return nil, nil, err
	}
	a, err := sandbox.Dial(p.Conn())
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	return p, a, nil
}

// brokenProgram is an adapter's example of a program that does not compile.
type brokenProgram struct {
	text string
	line int
}

// broken returns the example of a language.
func (m *machine) broken(t *testing.T, id string) brokenProgram {
	t.Helper()
	adapters, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	module, err := m.runtime.Load(t.Context(), adapters[id], nil)
	if err != nil {
		t.Fatal(err)
	}
	l := module.Manifest.Language
	return brokenProgram{l.Broken[0].Text, l.BrokenLine}
}

// open returns a Judge of this machine with another configuration.
func (m *machine) open(change func(*judging.Config)) (*judging.Judge, error) {
	adapters, err := plugins.Languages()
	if err != nil {
		return nil, err
	}
	cfg := judging.Config{
		Sandbox: m.agent, Plugins: m.runtime, Blobs: m.blobs, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
		CacheDir: filepath.Join(m.dir, "judging"), Log: slog.New(slog.DiscardHandler),
	}
	change(&cfg)
	return judging.New(cfg)
}

func (m *machine) close() error {
	if m.runtime != nil {
		if err := m.runtime.Close(); err != nil {
			return err
		}
	}
	if m.process != nil {
		if err := m.process.Close(); err != nil {
			return err
		}
	}
	if m.dir == "" {
		return nil
	}
	return os.RemoveAll(m.dir)
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
