// Package e2e tests the whole program: the binary that users run, real
// PostgreSQL, Redis, sandbox, plugins and a browser.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
	"deepoj/host/embedded/accounttest"
	"deepoj/host/judging/judgingtest"
	"deepoj/web/client"
)

// binary is the program under test, built once for all tests. Cache is a folder
// in which all of them keep compiled plugins and programs.
var binary, cache string

func TestMain(m *testing.M) {
	if err := accounttest.Main(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(judgingtest.Main(m, "e2e", 67000, func() int {
		dir, err := os.MkdirTemp("", "deepoj-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// Readable for the unprivileged account that the program becomes.
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary, cache = filepath.Join(dir, "deepoj"), filepath.Join(dir, "cache")
		if err := makeCache(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		build := exec.Command("go", "build", "-trimpath", "-o", binary, "../cmd/deepoj")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build deepoj: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}))
}

// makeCache makes the shared cache for the account that deepoj becomes.
func makeCache() error {
	account, err := embedded.Unprivileged("")
	if err != nil {
		return err
	}
	if account == nil {
		return os.Mkdir(cache, 0o700)
	}
	return judgingtest.Warm(cache, int(account.UID), int(account.GID))
}

// process is one running deepoj.
type process struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{}
	err  error
}

// lockedBuffer collects output while others look at it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs `deepoj args...` with env added, until the test ends.
func start(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	return startProgram(t, binary, env, args...)
}

// startProgram is start for another version of deepoj.
func startProgram(t testing.TB, program string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: args[0], cmd: exec.Command(program, args...), log: &lockedBuffer{}, done: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), "CACHE_DIR="+cache), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("output of deepoj %s:\n%s", p.name, tail(p.log.String(), 200))
		}
	})
	return p
}

// stop asks the process to end and waits for it.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(90 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.t.Errorf("deepoj %s did not stop within 90 s of SIGTERM", p.name)
	}
}

// await waits until the process has printed something that matches pattern, and
// returns the submatches.
func (p *process) await(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if m := re.FindStringSubmatch(p.log.String()); m != nil {
			return m
		}
		select {
		case <-p.done:
			if m := re.FindStringSubmatch(p.log.String()); m != nil {
				return m
			}
			p.t.Fatalf("deepoj %s ended (%v) before it printed %q:\n%s", p.name, p.err, pattern, p.log)
		case <-deadline:
			p.t.Fatalf("deepoj %s never printed %q:\n%s", p.name, pattern, tail(p.log.String(), 100))
		case <-tick.C:
		}
	}
}

// inner returns the pid of the unprivileged process that a deepoj started as
// root runs its roles in.
func (p *process) inner() int {
	p.t.Helper()
	if os.Getuid() != 0 {
		return p.cmd.Process.Pid
	}
	for _, pid := range children(p.cmd.Process.Pid) {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && !bytes.Contains(args, []byte("sandbox\x00agent")) && !bytes.Contains(args, []byte("--attempt-id=")) {
			return pid
		}
	}
	p.t.Fatalf("deepoj %s has no inner process", p.name)
	return 0
}

// children returns the pids of the children of pid, over all its threads.
func children(pid int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var pids []int
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for s := range strings.FieldsSeq(string(data)) {
			if n, err := strconv.Atoi(s); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// up starts everything on an embedded default and returns the process, its
// address and a client.
func up(t testing.TB, data string, env []string, flags ...string) (*process, string, *client.Client) {
	t.Helper()
	p := start(t, env, append([]string{"up", "--data", data, "--listen", "127.0.0.1:0"}, flags...)...)
	url := p.await(`Deep-OJ is ready: (http://\S+)`)[1]
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	return p, url, c
}

// firstAdmin logs in as the administrator that the first start made, and changes
// the password. It returns their client, its token and the new password.
func firstAdmin(t testing.TB, p *process, url string) (c *client.Client, token, password string) {
	t.Helper()
	first := p.await(`The first account is admin with the password (\S+)`)[1]
	c, err := client.New(url)
	if err == nil {
		token, err = c.Login(t.Context(), "admin", first)
	}
	if err == nil {
		c, err = client.New(url, client.WithToken(token))
	}
	const fresh = "correct horse battery"
	if err == nil {
		err = c.ChangePassword(t.Context(), first, fresh)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, token, fresh
}

// deepoj runs a command to its end and returns its output and exit status.
func deepoj(t testing.TB, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// folder returns a fresh folder that every account may pass through.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-e2e-data-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// tail returns the last n lines of s.
func tail(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// needRoot fails or skips a test that needs the sandbox's control groups.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() == 0 {
		return
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatal("this test starts the sandbox agent and needs root")
	}
	t.Skip("needs root for the sandbox agent")
}
