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
	"time"

	"deepoj/host/platform"
	"deepoj/host/plugin/internal/wire"
	"deepoj/host/plugin/internal/worker"
)

// maxCrash is how much of a dead child's last words is kept.
const maxCrash = 4 << 10

// spawner starts children that die with this process. The kernel kills them when the thread that started them ends, so
// they are all started by one thread that ends with the runtime.
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

// lastWords says how the child ended: by which status or signal, and the first line of what it said.
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

// The hidden commands that a program must hand to [Child].
const (
	CompileCommand = wire.CompileCommand
	WorkerCommand  = wire.WorkerCommand
)

// Child is the whole life of a compile child or a worker: args are those of the process without its name, so args[0] is
// [CompileCommand] or [WorkerCommand]. It returns the exit status. A main calls it before anything else:
//
//	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
//		os.Exit(plugin.Child(os.Args[1:]))
//	}
func Child(args []string) int { return worker.Main(args) }

// compileTries is how often a compile child is started that somebody kills.
const compileTries = 2

// compile compiles the module in dir in a child process, since small modules can cost gigabytes and minutes, and
// nothing in this process could stop that. One that is compiled anew was compiled before.
func (r *Runtime) compile(ctx context.Context, dir string, anew bool) error {
	select {
	case r.compiling <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.compiling }()
	from := time.Now()
	defer func() { r.metrics.compileSeconds.Observe(time.Since(from).Seconds()) }()
	for try := 1; ; try++ {
		again, err := r.compileOnce(ctx, dir, anew)
		if !again || try == compileTries {
			return err
		}
	}
}

// compileOnce reports, with the error, whether it is worth to try again.
func (r *Runtime) compileOnce(ctx context.Context, dir string, anew bool) (again bool, err error) {
	p, err := r.spawner.spawn(wire.CompileCommand, wire.Limits{Dir: dir, Again: anew, DataBytes: r.cfg.CompileBytes, CPU: r.cfg.CompileCPU})
	if err != nil {
		return false, err
	}
	patient, cancel := context.WithTimeoutCause(ctx, r.cfg.Patience, ErrPatience)
	defer cancel()
	if err := p.wait(patient); ctx.Err() != nil {
		return false, ctx.Err()
	} else if err != nil {
		return false, r.tooCostly("it took longer than " + r.cfg.Patience.String())
	}
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return false, nil
	case !errors.As(p.err, &exit):
		return false, fmt.Errorf("compile module: %w", p.err)
	case exit.ExitCode() == wire.ExitInvalid:
		return false, &Refusal{Rule: "invalid", Offender: cut(p.stdout.String(), wire.MaxDetail), Remedy: "the module does not validate: build it anew with a current compiler"}
	case exit.ExitCode() == wire.ExitBroken:
		return false, fmt.Errorf("compile module: %s", p.lastWords())
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	killed := ok && status.Signal() == syscall.SIGKILL && exit.UserTime()+exit.SystemTime() < r.cfg.CompileCPU-time.Second/2
	return killed, r.tooCostly(p.lastWords())
}

// tooCostly refuses a module that cannot be compiled within the limits.
func (r *Runtime) tooCostly(how string) *Refusal {
	return &Refusal{
		Rule:     "compile-cost",
		Offender: fmt.Sprintf("compiling it within %s and %d MiB failed: %s", r.cfg.CompileCPU, r.cfg.CompileBytes>>20, how),
		Remedy:   "split large functions, or build with optimization for size",
	}
}

// cut shortens s to n bytes.
func cut(s string, n int) string { return s[:min(len(s), n)] }
