// Package apart runs this program once more as a process that reads something strangers made, with bounded memory and time, and
// that may do nothing else.
//
// The process gets one open file. It has no environment and can open no other file, no connection and no program. What it
// answers is for its caller to bound and to check. It is killed when the context of the caller ends, and with this process.
//
//	apart.go  what the caller has
//	child.go  what the process does first
package apart

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"deepoj/host/platform"
)

// Config bounds what reading one thing may cost. Every field has a default.
type Config struct {
	// Exe is the program that is run again: its main must hand the command of the reader to it.
	// Defaults to the running program.
	Exe string

	// CPU is the time that all of it may take, in whole seconds. Defaults to 60 s.
	CPU time.Duration

	// Bytes is the memory that it may use. Defaults to 1 GiB.
	Bytes int64

	// Patience is how long the process may be silent when it was asked for something. Defaults to 10 minutes.
	Patience time.Duration

	// Slow is what may be the cause where it takes too long, to be said to whoever made the package. Defaults to nothing.
	Slow string
}

// WithDefaults fills in what is not set.
func (c Config) WithDefaults() Config {
	c.Exe = cmp.Or(c.Exe, "/proc/self/exe")
	c.CPU = cmp.Or(c.CPU, time.Minute)
	c.Bytes = cmp.Or(c.Bytes, 1<<30)
	c.Patience = cmp.Or(c.Patience, 10*time.Minute)
	return c
}

// FailureError is why something could not be read to its end. That is its own doing: it takes too long or too much, or breaks
// the reader.
type FailureError struct{ Why string }

func (e *FailureError) Error() string { return e.Why }

// tries is how often a process is started that somebody kills.
const tries = 2

// Try has once run until no one killed its process, or a second time has come.
func Try(once func() error) error {
	for try := 1; ; try++ {
		err := once()
		if errors.Is(err, errKilled) && try < tries {
			continue
		}
		if errors.Is(err, errKilled) {
			err = &FailureError{"the process that read the package was killed twice"}
		}
		return err
	}
}

// errKilled says that somebody killed the process, which did nothing wrong.
var errKilled = errors.New("the process that read the package was killed")

// errSilent ends a process that does not answer.
var errSilent = errors.New("no answer")

// Process is a reader that is under way.
type Process struct {
	Answers *bufio.Reader // what it says

	cfg   Config
	ctx   context.Context // of whoever asked
	alive context.Context // ends with it, and when the process is to end
	kill  context.CancelCauseFunc
	cmd   *exec.Cmd
	ask   *os.File
	hear  *os.File
	words words
	ended chan struct{} // closed when it is gone
}

// buffer is how much of an answer is read at once, in bytes.
const buffer = 64 << 10

// Start starts a reader with args that dies with ctx and with this process. Source is what it reads; nil = nothing is open.
func (c Config) Start(ctx context.Context, source *os.File, args ...string) (*Process, error) {
	c = c.WithDefaults()
	questions, ask, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	hear, answers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the reader of a package: %w", err), questions.Close(), ask.Close())
	}
	p := &Process{Answers: bufio.NewReaderSize(hear, buffer), cfg: c, ctx: ctx, ask: ask, hear: hear, ended: make(chan struct{})}
	p.alive, p.kill = context.WithCancelCause(ctx)
	p.cmd = exec.Command(c.Exe, args...) // this program again
	p.cmd.Env, p.cmd.Dir = []string{}, "/"
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = questions, answers, &p.words
	if source != nil {
		p.cmd.ExtraFiles = []*os.File{source}
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	platform.DieWithParent(p.cmd.SysProcAttr, syscall.SIGKILL)
	started := make(chan error)
	go p.live(started)
	err = <-started
	err = errors.Join(err, questions.Close(), answers.Close())
	if err != nil {
		p.End()
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	return p, nil
}

// live starts the process and waits for its end. The kernel kills it when the thread
// that started it ends, so the thread does nothing else meanwhile.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	stop := context.AfterFunc(p.alive, func() {
		_ = p.cmd.Process.Kill()             // it may be gone already
		_, _ = p.ask.Close(), p.hear.Close() // one of another account ends by this
	})
	defer stop()
	_ = p.cmd.Wait() // how it ended is in its state
}

// Ask tells the process something.
func (p *Process) Ask(question []byte) error {
	_, err := p.ask.Write(question)
	return err
}

// Kill ends the process without waiting for that.
func (p *Process) Kill() { p.kill(nil) }

// End ends the process, if it has not ended, and waits for that.
func (p *Process) End() {
	p.kill(nil)
	<-p.ended
	_, _ = p.ask.Close(), p.hear.Close() // they may be closed already
}

// Patience ends the process when it does not answer in time, unless what it returns is called before.
func (p *Process) Patience() (stop func()) {
	timer := time.AfterFunc(p.cfg.Patience, func() { p.kill(errSilent) })
	return func() { timer.Stop() }
}

// Why ends the process, whose answer could not be read because of err, and says why it did not answer well: a [FailureError], or
// something that the package has nothing to do with.
func (p *Process) Why(err error) error {
	silent := errors.Is(context.Cause(p.alive), errSilent)
	if cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); cut && p.alive.Err() == nil {
		p.await()
	}
	p.End()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	state := p.cmd.ProcessState
	used := state.UserTime() + state.SystemTime()
	status, _ := state.Sys().(syscall.WaitStatus)
	said := p.words.String()
	switch {
	case silent:
		return &FailureError{fmt.Sprintf("reading the package took longer than %s", p.cfg.Patience)}
	case status.Signaled() && used >= p.cfg.CPU-time.Second/2:
		return &FailureError{fmt.Sprintf("reading the package took more than %.0f s of CPU%s", p.cfg.CPU.Seconds(), p.cfg.Slow)}
	case starved(said):
		return &FailureError{fmt.Sprintf("reading the package took more than %d MiB of memory", p.cfg.Bytes>>20)}
	case state.ExitCode() == ExitBroken:
		return fmt.Errorf("read package: %s", firstLine(said))
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return errKilled
	case state.ExitCode() == 0 || status.Signaled() && status.Signal() == syscall.SIGPIPE:
		return &FailureError{fmt.Sprintf("the reader's answer cannot be read: %v", err)}
	}
	return &FailureError{fmt.Sprintf("reading the package broke off (%s): %s", state, firstLine(said))}
}

// starved reports whether a program died for want of memory. Some of the collector of Go 1.26 takes the nil that it is given then
// for memory, so the runtime faults on the stack of the system, which nothing else does. Tests are programs with C in them, and under
// the race detector: these have words of their own for it.
func starved(said string) bool {
	return strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") || strings.Contains(said, "stack exceeds") ||
		strings.Contains(said, "ThreadSanitizer failed to allocate") || strings.Contains(said, "pthread_create failed") ||
		strings.HasPrefix(said, "SIGSEGV") && strings.Contains(said, "goroutine 0 ")
}

// await waits for a process that has closed its end, but not for ever.
func (p *Process) await() {
	defer p.Patience()()
	<-p.ended
}

// maxWords is how much is kept of what a process says before it dies, in bytes.
const maxWords = 4 << 10

// words keeps the beginning of what a process says before it dies.
type words struct {
	mu   sync.Mutex
	data []byte
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p[:min(len(p), maxWords-len(w.data))]...)
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.data), "\uFFFD")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
