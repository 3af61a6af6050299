// Package servicetest runs real servers on loopback ports for tests, with
// certificates and passwords as an operator would give them.
//
// Everything that it starts and writes ends with the test.
package servicetest

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
)

// patience is how long anything may take that a test waits for.
const patience = 90 * time.Second

// Process is one running server.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a program in dir as the unprivileged account that servers have, until the test ends. Without the program
// the test is skipped, or fails if DEEPOJ_TEST=require.
func Start(t testing.TB, dir, program string, args ...string) *Process {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	account := account(t)
	p := &Process{exec.Command(path, args...), make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C"}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	if account != nil {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: account.UID, Gid: account.GID}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // it is killed in the end
	}()
	t.Cleanup(p.Kill)
	return p
}

// Kill ends the server at once, as a crash does, and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// Folder returns a fresh folder that belongs to the account of servers.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-service-") // t.TempDir is closed to that account
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	give(t, dir)
	return dir
}

// give gives a file or folder to the account of servers.
func give(t testing.TB, path string) {
	t.Helper()
	if a := account(t); a != nil {
		if err := os.Chown(path, int(a.UID), int(a.GID)); err != nil {
			t.Fatal(err)
		}
	}
}

func account(t testing.TB) *embedded.Account {
	t.Helper()
	a, err := embedded.Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// FreePort returns a TCP port of the loopback address that nobody listens on. It is
// below those that Linux gives to clients, so that no connection takes it.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(20_000) //nolint:gosec // G404: nobody gains by guessing a port of a test
		if l, err := net.Listen("tcp", Address(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Address is a port of the loopback address.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Await waits until ok returns true.
func Await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}
