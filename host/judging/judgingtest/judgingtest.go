// Package judgingtest gives tests a machine that judges: a sandbox agent, a
// plugin runtime, a blob store and a Judge, one of each for a test binary.
//
// TestMain must call [Main], because the agent is the test binary again.
package judgingtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/host/plugin/plugintest"
	"deepoj/plugins"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// AgentCommand as the first argument makes the test binary a sandbox agent.
const AgentCommand = "sandbox-agent"

// Machine is what all tests of a binary work with.
type Machine struct {
	Agent   *sandbox.Client
	Runtime *plugin.Runtime
	Blobs   *blob.Dir
	Judge   *judging.Judge
	Dir     string // for caches; removed after the tests
	Exe     string // of the children of further plugin runtimes

	plugins plugintest.Shared
	process *oneshot.Process
	once    sync.Once
	err     error
}

// shared is a variable because tests have no other common place.
var shared struct {
	Machine

	cgroup   string
	firstUID int
}

// Main runs tests and returns the status for os.Exit. Binaries that run at the same time need names and ranges of user
// ids of their own: 64 from firstUID. What they begin with the first test that needs it, they end after the last.
func Main(m *testing.M, name string, firstUID int, tests func() int) int {
	if len(os.Args) > 1 && os.Args[1] == AgentCommand {
		return agent()
	}
	shared.cgroup, shared.firstUID = "deepoj-"+name, firstUID
	if tests == nil {
		tests = m.Run
	}
	if os.Geteuid() != 0 && os.Getenv("DEEPOJ_TEST") != "require" {
		if err := flag.Set("test.skip", "^Example"); err != nil {
			fmt.Fprintln(os.Stderr, "judgingtest:", err)
			return 1
		}
	}
	status := tests()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "judgingtest:", err)
		status = max(status, 1)
	}
	return status
}

func agent() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, conn, cfg, err := oneshot.Inherited(ctx)
	if err == nil {
		cfg.Log = warnings()
		err = oneshot.Serve(ctx, conn, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox agent:", err)
	}
	return oneshot.ExitStatus(err)
}

// warnings logs what somebody must look at when a test fails for it.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Get returns the machine. Without root the test is skipped, or fails if DEEPOJ_TEST=require.
func Get(t testing.TB) *Machine {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "root")
	}
	m, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Open returns the machine to an example, which without root is not run.
func Open() (*Machine, error) {
	shared.once.Do(func() { shared.err = shared.start(shared.cgroup, shared.firstUID) })
	return &shared.Machine, shared.err
}

func (m *Machine) start(cgroup string, firstUID int) (err error) {
	if m.Dir, err = os.MkdirTemp("", cgroup+"-"); err != nil {
		return err
	}
	if m.process, m.Agent, err = Spawn(sandbox.Config{CgroupRoot: cgroup, FirstUID: firstUID}); err != nil {
		return err
	}
	if m.plugins, err = plugintest.Open(); err != nil {
		return err
	}
	m.Exe = m.plugins.Exe
	if m.Runtime, err = plugin.New(plugin.Config{CacheDir: m.plugins.CacheDir, Exe: m.Exe}); err != nil {
		return err
	}
	if m.Blobs, err = blob.OpenDir(filepath.Join(m.Dir, "blobs")); err != nil {
		return err
	}
	if err := m.prepare(filepath.Join(m.Dir, "judging")); err != nil {
		return err
	}
	m.Judge, err = m.Open(nil)
	return err
}

// Open returns a Judge of this machine with another configuration.
func (m *Machine) Open(change func(*judging.Config)) (*judging.Judge, error) {
	adapters, err := plugins.Languages()
	if err != nil {
		return nil, err
	}
	cfg := judging.Config{
		Sandbox: m.Agent, Plugins: m.Runtime, Blobs: m.Blobs, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
		CacheDir: filepath.Join(m.Dir, "judging"), Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	return judging.New(cfg)
}

// prepare makes dir a cache of a Judge with what every Judge of this computer finds out: what its tools are, and the
// compile caches of languages. The first process that comes here does it for all, from nothing.
func (m *Machine) prepare(dir string) error {
	adapters, err := plugins.Languages()
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := m.plugins.Compile(ctx, m.Runtime, adapters.Names(), adapters.Digest, adapters.Read); err != nil {
		return err
	}
	unlock, err := m.plugins.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	var warnings bytes.Buffer
	common := filepath.Join(m.plugins.Dir, "judging")
	j, err := m.Open(func(c *judging.Config) {
		c.CacheDir, c.Log = common, slog.New(slog.NewTextHandler(&warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	if err != nil {
		return err
	}
	if err := j.Prepare(ctx); err != nil || warnings.Len() > 0 {
		return errors.Join(fmt.Errorf("prepare to judge: %s", warnings.String()), err)
	}
	return os.CopyFS(dir, os.DirFS(common))
}

// Warm makes dir, which must not exist, what CACHE_DIR would be after an earlier deepoj, for the account uid and gid.
// Without root, which judging needs, the folder is empty. Nothing of the machine that does it stays.
func Warm(dir string, uid, gid int) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil || os.Geteuid() != 0 {
		return err
	}
	var m Machine
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.start(shared.cgroup, shared.firstUID); err != nil {
		return err
	}
	if err := m.plugins.Copy(filepath.Join(dir, "plugins")); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(m.Dir, "judging"), filepath.Join(dir, "judging")); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, uid, gid))
	})
}

func (m *Machine) close() error {
	var errs []error
	if m.Runtime != nil {
		errs = append(errs, m.Runtime.Close())
	}
	if m.process != nil {
		errs = append(errs, m.process.Close())
	}
	if m.Dir != "" {
		errs = append(errs, os.RemoveAll(m.Dir))
	}
	return errors.Join(errs...)
}

// Spawn starts another agent, which the caller closes.
func Spawn(cfg sandbox.Config) (*oneshot.Process, *sandbox.Client, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	p, err := oneshot.Spawn(context.Background(), exe, []string{AgentCommand}, cfg)
	if err != nil {
		return nil, nil, err
	}
	a, err := sandbox.Dial(p.Conn())
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	return p, a, nil
}

// Missing skips a test for want of something, or fails it where everything is required.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("this test needs %s", what)
}
