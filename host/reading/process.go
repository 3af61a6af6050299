package reading

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"deepoj/host/platform"
	"deepoj/host/problem"
)

// errKilled says that somebody killed the process, which did nothing wrong.
var errKilled = errors.New("the process that read the package was killed")

// errSilent ends a process that does not answer.
var errSilent = errors.New("no answer")

// process is a reader that is under way.
type process struct {
	cfg   Config
	ctx   context.Context // of whoever asked
	alive context.Context // ends with it, and when the process is to end
	kill  context.CancelCauseFunc
	cmd   *exec.Cmd
	ask   *os.File
	hear  *os.File
	in    *bufio.Reader
	words words
	ended chan struct{} // closed when it is gone

	mu     sync.Mutex // held while a file is open
	number map[string]int
	sizes  map[string]int64
}

// start starts a reader that dies with ctx and with this process.
func (c Config) start(ctx context.Context, o order, source *os.File) (*process, error) {
	arg, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	questions, ask, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	hear, answers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the reader of a package: %w", err), questions.Close(), ask.Close())
	}
	p := &process{cfg: c, ctx: ctx, ask: ask, hear: hear, in: bufio.NewReaderSize(hear, maxData), ended: make(chan struct{})}
	p.alive, p.kill = context.WithCancelCause(ctx)
	p.cmd = exec.Command(c.Exe, Command, string(arg)) // this program again
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
		p.end()
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	return p, nil
}

// live starts the process and waits for its end. The kernel kills it when the thread
// that started it ends, so the thread does nothing else meanwhile.
func (p *process) live(started chan<- error) {
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

// end ends the process, if it has not ended, and waits for that.
func (p *process) end() {
	p.kill(nil)
	<-p.ended
	_, _ = p.ask.Close(), p.hear.Close() // they may be closed already
}

// head returns the answer about the package.
func (p *process) head() ([]byte, error) {
	defer p.patience()()
	_, head, err := readFrame(p.in, map[byte]uint32{frameHead: maxHead}, nil)
	if err != nil {
		return nil, p.why(err)
	}
	return head, nil
}

// patience ends the process when it does not answer in time, unless what it returns is called before.
func (p *process) patience() (stop func()) {
	timer := time.AfterFunc(p.cfg.Patience, func() { p.kill(errSilent) })
	return func() { timer.Stop() }
}

// why ends the process, which did not answer well, and says why it did not.
func (p *process) why(err error) error {
	silent := errors.Is(context.Cause(p.alive), errSilent)
	if cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); cut && p.alive.Err() == nil {
		p.await()
	}
	p.end()
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
		return &FailureError{fmt.Sprintf("reading the package took more than %.0f s of CPU: a statement, a name or a table in it is made in a way that takes very long to read", p.cfg.CPU.Seconds())}
	case strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") || strings.Contains(said, "stack exceeds"):
		return &FailureError{fmt.Sprintf("reading the package took more than %d MiB of memory", p.cfg.Bytes>>20)}
	case state.ExitCode() == exitBroken:
		return fmt.Errorf("read package: %s", firstLine(said))
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return errKilled
	case state.ExitCode() == 0 || status.Signaled() && status.Signal() == syscall.SIGPIPE:
		return &FailureError{fmt.Sprintf("the reader's answer cannot be read: %v", err)}
	}
	return &FailureError{fmt.Sprintf("reading the package broke off (%s): %s", state, firstLine(said))}
}

// await waits for a process that has closed its end, but not for ever.
func (p *process) await() {
	defer p.patience()()
	<-p.ended
}

// expect says which files there are to ask for.
func (p *process) expect(all []problem.File) {
	p.number, p.sizes = make(map[string]int, len(all)), make(map[string]int64, len(all))
	for i, f := range all {
		p.number[f.Path], p.sizes[f.Path] = i, f.Size
	}
}

// files are those of a package that a process has read, as it sends them. One is open at a time.
type files struct{ p *process }

// Open implements fs.FS.
func (s files) Open(name string) (fs.File, error) {
	number, known := s.p.number[name]
	if !known {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	s.p.mu.Lock()
	var question [questionSize]byte
	binary.BigEndian.PutUint32(question[:], uint32(number))
	if _, err := s.p.ask.Write(question[:]); err != nil {
		s.p.mu.Unlock()
		return nil, s.p.why(io.ErrUnexpectedEOF)
	}
	return &file{p: s.p, name: name, size: s.p.sizes[name], left: s.p.sizes[name]}, nil
}

// file is a file that is on its way.
type file struct {
	p      *process
	name   string
	size   int64
	left   int64 // that may still come
	buffer [maxData]byte
	rest   []byte
	err    error // after rest
	closed bool
}

// Read implements fs.File.
func (f *file) Read(b []byte) (int, error) {
	for len(f.rest) == 0 && f.err == nil {
		f.next()
	}
	if len(f.rest) == 0 {
		return 0, f.err
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next reads a frame.
func (f *file) next() {
	defer f.p.patience()()
	kind, content, err := readFrame(f.p.in, map[byte]uint32{frameData: maxData, frameEnd: 0, frameError: maxError}, f.buffer[:])
	switch {
	case err != nil:
		f.err = f.p.why(err)
	case kind == frameError:
		f.err = errors.New(strings.ToValidUTF8(string(content), "\uFFFD"))
	case kind == frameEnd && f.left == 0:
		f.err = io.EOF
	case kind == frameEnd || int64(len(content)) > f.left:
		f.p.kill(nil) // and never in step again
		f.err = fmt.Errorf("it is not of %d bytes", f.size)
	default:
		f.left -= int64(len(content))
		f.rest = content
	}
}

// Close implements fs.File. A process whose file was not read to the end is of no more use, except to say so.
func (f *file) Close() error {
	if !f.closed {
		f.closed = true
		for f.err == nil {
			f.next()
		}
		f.p.mu.Unlock()
	}
	return nil
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return about{path.Base(f.name), f.size}, nil }

// about describes a file.
type about struct {
	name string
	size int64
}

func (a about) Name() string       { return a.name }
func (a about) Size() int64        { return a.size }
func (a about) Mode() fs.FileMode  { return 0o444 }
func (a about) ModTime() time.Time { return time.Time{} }
func (a about) IsDir() bool        { return false }
func (a about) Sys() any           { return nil }

// words keeps the beginning of what a process says before it dies.
type words struct {
	mu   sync.Mutex
	data []byte
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p[:min(len(p), maxError-len(w.data))]...)
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
