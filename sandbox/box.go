package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Box is one private root file system, working directory /box and control
// group, held until Close. Its methods run one at a time.
type Box struct{ in interior }

// interior is how the files and runs of a box are made: by an agent, or by one
// process for each run.
type interior interface {
	// put writes packed files.
	put(ctx context.Context, packed *os.File) error

	// run runs c and calls sent, if any, once c's descriptors are passed on. With
	// raw the program itself gets c.Stdout.
	run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error)

	// collect returns packed files.
	collect(ctx context.Context, globs []string, maxBytes int64) (*os.File, error)

	clean(ctx context.Context) error
	close() error
}

// Put writes files below /box, making folders as needed and replacing what is
// there. They belong to root unless the box was opened Writable.
func (b *Box) Put(ctx context.Context, files ...File) error {
	f, err := pack(files)
	if err != nil {
		return fmt.Errorf("put files into a box: %w", err)
	}
	defer f.Close()
	if err := b.in.put(ctx, f); err != nil {
		return fmt.Errorf("put files into a box: %w", err)
	}
	return nil
}

// Run runs one command and waits for its end. The error is a failure of the
// platform; whatever the program does is in the Result. When ctx ends, the run
// is killed and its error returned.
func (b *Box) Run(ctx context.Context, c Cmd) (Result, error) { return b.run(ctx, c, false, nil) }

func (b *Box) run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error) {
	r, err := b.in.run(ctx, c, raw, sent)
	if err != nil {
		return Result{}, fmt.Errorf("run a command: %w", err)
	}
	return r, nil
}

// Collect returns the regular files below /box that match one of globs, in
// order of their paths. In a glob, * and ? match within a name and ** crosses
// folders. Symbolic links are neither followed nor returned. It is an error if
// the files together have more than maxBytes bytes.
func (b *Box) Collect(ctx context.Context, globs []string, maxBytes int64) ([]File, error) {
	packed, err := b.in.collect(ctx, globs, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("collect files from a box: %w", err)
	}
	defer packed.Close()
	files, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("collect files from a box: %w", err)
	}
	return files, nil
}

// Clean waits until everything that a run left is gone: processes, what is in
// /tmp and /dev/shm, charged memory. Every run begins clean anyway. What is in
// /box stays.
func (b *Box) Clean(ctx context.Context) error {
	if err := b.in.clean(ctx); err != nil {
		return fmt.Errorf("clean a box: %w", err)
	}
	return nil
}

// Close kills what is left in the box and gives it back. It may be called more
// than once.
func (b *Box) Close() error {
	if err := b.in.close(); err != nil {
		return fmt.Errorf("close a box: %w", err)
	}
	return nil
}

// agentBox is a box that an agent holds.
type agentBox struct{ s *session }

func (b *agentBox) put(ctx context.Context, packed *os.File) error {
	_, passed, err := b.call(ctx, request{Op: opPut}, nil, packed)
	closeAll(passed)
	return err
}

func (b *agentBox) run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error) {
	q, files := c.request(raw)
	r, passed, err := b.call(ctx, request{Op: opRun, Run: &q}, sent, files...)
	closeAll(passed)
	if err != nil {
		return Result{}, err
	}
	if r.Result == nil {
		return Result{}, errors.New("the sandbox agent sent no result")
	}
	return *r.Result, nil
}

// request returns what travels of c, and the descriptors of its streams.
func (c Cmd) request(raw bool) (runRequest, []*os.File) {
	q := runRequest{
		Tool: c.Tool, Program: c.Program, Args: c.Args, Env: c.Env, ExtraTools: c.ExtraTools,
		StdoutLimit: c.StdoutLimit, StderrLimit: c.StderrLimit, Limits: c.Limits, Raw: raw,
	}
	var files []*os.File
	for i, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f != nil {
			q.Stdio[i] = true
			files = append(files, f)
		}
	}
	return q, files
}

func (b *agentBox) collect(ctx context.Context, globs []string, maxBytes int64) (*os.File, error) {
	_, passed, err := b.call(ctx, request{Op: opCollect, Globs: globs, MaxBytes: maxBytes}, nil)
	if err == nil && len(passed) != 1 {
		err = errors.New("the sandbox agent sent none")
	}
	if err != nil {
		closeAll(passed)
		return nil, err
	}
	return passed[0], nil
}

func (b *agentBox) clean(ctx context.Context) error {
	_, passed, err := b.call(ctx, request{Op: opClean}, nil)
	closeAll(passed)
	return err
}

func (b *agentBox) close() error {
	if err := b.s.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// cancelGrace is how long a cancelled run may take to be gone before the box is
// given up.
const cancelGrace = 15 * time.Second

// call makes one request and waits for its reply. When ctx ends it asks the
// agent to stop, and gives the box up if that takes too long.
func (b *agentBox) call(ctx context.Context, q request, sent func(), files ...*os.File) (reply, []*os.File, error) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return reply{}, nil, err
	}
	fds, err := descriptors(files)
	if err != nil {
		return reply{}, nil, err
	}
	err = b.s.send(q, fds...)
	if sent != nil {
		sent()
	}
	if err != nil {
		return reply{}, nil, err
	}
	ended := onEnd(ctx, func() {
		_ = b.s.send(request{Op: opCancel})                       // gone is as good as cancelled
		_ = b.s.conn.SetReadDeadline(time.Now().Add(cancelGrace)) // fails only when closed
	})
	r, passed, err := b.s.read()
	if ended() {
		closeAll(passed)
		return reply{}, nil, errors.Join(context.Cause(ctx), b.s.conn.SetReadDeadline(time.Time{}))
	}
	return r, passed, err
}

// RunPair runs two programs, each in its own box, with the standard output of
// either joined to the standard input of the other, and waits for both. The
// Stdin and Stdout of the commands must be nil. A program that dies of SIGPIPE
// spoke when the other one did not listen any more and did not fail by that: its
// verdict is OK and Result.Signal tells.
func RunPair(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd) (PairResult, error) {
	if a == b {
		return PairResult{}, errors.New("run a pair: both programs have the same box")
	}
	if ac.Stdin != nil || ac.Stdout != nil || bc.Stdin != nil || bc.Stdout != nil {
		return PairResult{}, errors.New("run a pair: standard input and output are taken")
	}
	fromA, toB, err := os.Pipe()
	if err != nil {
		return PairResult{}, fmt.Errorf("run a pair: %w", err)
	}
	fromB, toA, err := os.Pipe()
	if err != nil {
		return PairResult{}, errors.Join(fmt.Errorf("run a pair: %w", err), fromA.Close(), toB.Close())
	}
	ac.Stdin, ac.Stdout = fromB, toB
	bc.Stdin, bc.Stdout = fromA, toA
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type outcome struct {
		r   Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := runPiped(ctx, b, bc)
		if err != nil {
			cancel(err)
		}
		done <- outcome{r, err}
	}()
	ar, aerr := runPiped(ctx, a, ac)
	if aerr != nil {
		cancel(aerr)
	}
	o := <-done
	if err := errors.Join(aerr, o.err); err != nil {
		return PairResult{}, fmt.Errorf("run a pair: %w", err)
	}
	p := PairResult{A: ar, B: o.r, FirstA: ar.Ended < o.r.Ended}
	forgiveBrokenPipe(&p.A)
	forgiveBrokenPipe(&p.B)
	return p, nil
}

// RunPiped runs one command whose standard input and output are ends of pipes.
// They are closed here as soon as they are passed on, whatever comes of it, so
// that whoever has the other ends sees the program's end. A program that dies of
// SIGPIPE did not fail by that, as with [RunPair].
func (b *Box) RunPiped(ctx context.Context, c Cmd) (Result, error) {
	if c.Stdin == nil || c.Stdout == nil {
		return Result{}, errors.New("run a piped command: standard input and output are required")
	}
	r, err := runPiped(ctx, b, c)
	if err != nil {
		return Result{}, err
	}
	forgiveBrokenPipe(&r)
	return r, nil
}

// runPiped runs c in b and closes our ends of its pipes when the agent has them,
// so that the other program sees this one's end.
func runPiped(ctx context.Context, b *Box, c Cmd) (Result, error) {
	closed := false
	release := func() {
		if !closed {
			closeAll([]*os.File{c.Stdin, c.Stdout})
		}
		closed = true
	}
	defer release()
	return b.run(ctx, c, true, release)
}

// forgiveBrokenPipe makes r OK if its program only wrote to one that listened no
// more. Which of two ends came first does not matter: when they are close, each
// may be noticed before the other.
func forgiveBrokenPipe(r *Result) {
	if r.Verdict == RE && r.Signal == int(syscall.SIGPIPE) {
		r.Verdict = OK
	}
}
