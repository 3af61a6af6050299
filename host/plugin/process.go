package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"deepoj/host/platform"
	"deepoj/host/plugin/internal/wire"
)

// maxCrash is how much of a dead child's last words is kept.
const maxCrash = 4 << 10

// spawner starts children that die with this process. The kernel kills them when
// the thread that started them ends, so they are all started by one thread that
// ends with the runtime.
type spawner struct {
	exe   string
	start chan func()
	once  sync.Once
	done  chan struct{}
}

func newSpawner(exe string) *spawner {
	s := &spawner{exe: exe, start: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		for {
			select {
			case start := <-s.start:
				start()
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *spawner) close() { s.once.Do(func() { close(s.done) }) }

// errClosed is what calls get when the runtime is closed.
var errClosed = errors.New("plugin runtime is closed")

// process is a child that is under way.
type process struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer // read after ended only
	crash  head
	ended  chan struct{} // closed when it is gone
	err    error         // how it went, after ended
}

// spawn starts a child with no environment, in a session of its own.
func (s *spawner) spawn(command string, limits wire.Limits, extra ...*os.File) (*process, error) {
	arg, err := json.Marshal(limits)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(s.exe, command, string(arg))
	p.cmd.Env = []string{}
	p.cmd.Dir = "/"
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.crash
	p.cmd.ExtraFiles = extra
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	platform.DieWithParent(p.cmd.SysProcAttr, syscall.SIGKILL)
	started := make(chan error, 1)
	select {
	case s.start <- func() { started <- p.cmd.Start() }:
	case <-s.done:
		return nil, errClosed
	}
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends the child and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.ended
}

// wait waits for the child to end by itself, and kills it when ctx ends.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		p.kill()
		return ctx.Err()
	}
}

// lastWords says how the child ended: by which status or signal, and the first
// line of what it said.
func (p *process) lastWords() string {
	<-p.ended
	how := "ended"
	if p.err != nil {
		how = p.err.Error()
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(p.crash.data)), "\n")
	if said != "" {
		how += ": " + said
	}
	return how
}

// head keeps the beginning of what is written to it.
type head struct{ data []byte }

func (h *head) Write(p []byte) (int, error) {
	h.data = append(h.data, p[:min(len(p), maxCrash-len(h.data))]...)
	return len(p), nil
}
