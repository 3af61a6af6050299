package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// Box is one private root file system, working directory /box and control
// group, held until Close. Its methods run one at a time.
type Box struct{ in interior }

// interior is how the files and runs of a box are made: by an agent, or by one process for each run.
type interior interface {
	// put writes packed files.
	put(ctx context.Context, packed *os.File) error

	// run runs c and calls sent, if any, once c's descriptors are passed on. With
	// raw the program itself gets c.Stdout.
	run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error)

	// collect returns packed files.
	collect(ctx context.Context, globs []string, maxBytes int64) (*os.File, error)

	clean(ctx context.Context) error
	renew(ctx context.Context) error
	close() error
}

// OneShot reports whether each run in the box waits for a place of its own, as the
// boxes of a [KeeperClient] do. Two of them that need each other must find two places free.
func (b *Box) OneShot() bool {
	_, is := b.in.(*oneShotBox)
	return is
}

// Put writes files below /box, making folders as needed and replacing what is
// there. They belong to root unless the box was opened Writable.
func (b *Box) Put(ctx context.Context, files ...File) error {
	p, err := Pack(files...)
	if err != nil {
		return err
	}
	defer p.f.Close()
	return b.PutPacked(ctx, p)
}

// Packed are files that can be put into several boxes, in memory that is given back when nobody refers to them.
type Packed struct{ f *os.File }

// Pack returns files packed.
func Pack(files ...File) (*Packed, error) {
	f, err := wire.Pack(files)
	if err != nil {
		return nil, fmt.Errorf("put files into a box: %w", err)
	}
	return &Packed{f}, nil
}

// PutPacked is [Box.Put] of packed files.
func (b *Box) PutPacked(ctx context.Context, p *Packed) error {
	defer runtime.KeepAlive(p) // its descriptor travels as a number
	if err := b.in.put(ctx, p.f); err != nil {
		return fmt.Errorf("put files into a box: %w", err)
	}
	return nil
}

// Run runs one command and waits for its end. The error is a failure of the platform; whatever the program does is in
// the Result. When ctx ends, the run is killed and its error returned.
func (b *Box) Run(ctx context.Context, c Cmd) (Result, error) { return b.run(ctx, c, false, nil) }

func (b *Box) run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error) {
	r, err := b.in.run(ctx, c, raw, sent)
	if err != nil {
		return Result{}, fmt.Errorf("run a command: %w", err)
	}
	return r, nil
}

// Collect returns the regular files below /box that match one of globs, in order of their paths. In a glob, * and ?
// match within a name and ** crosses folders. Symbolic links are neither followed nor returned. It is an error if the
// files together have more than maxBytes bytes.
func (b *Box) Collect(ctx context.Context, globs []string, maxBytes int64) ([]File, error) {
	files, p, err := b.CollectPacked(ctx, globs, maxBytes)
	if err != nil {
		return nil, err
	}
	return files, p.f.Close()
}

// CollectPacked is [Box.Collect] of files that are then put into other boxes: it returns them packed, too.
func (b *Box) CollectPacked(ctx context.Context, globs []string, maxBytes int64) ([]File, *Packed, error) {
	packed, err := b.in.collect(ctx, globs, maxBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("collect files from a box: %w", err)
	}
	files, err := wire.Unpack(packed)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("collect files from a box: %w", err), packed.Close())
	}
	return files, &Packed{packed}, nil
}

// Clean waits until everything that a run left is gone: processes, what is in /tmp and /dev/shm, charged memory. Every
// run begins clean anyway. What is in /box stays.
func (b *Box) Clean(ctx context.Context) error {
	if err := b.in.clean(ctx); err != nil {
		return fmt.Errorf("clean a box: %w", err)
	}
	return nil
}

// Renew has the next run begin in namespaces, private folders and control groups in
// which nothing ever ran, under another user id. What is in /box stays, so a box that
// is Writable cannot be renewed. A box that was not used is fresh already.
func (b *Box) Renew(ctx context.Context) error {
	if err := b.in.renew(ctx); err != nil {
		return fmt.Errorf("renew a box: %w", err)
	}
	return nil
}

// Close kills what is left in the box and gives it back. It may be called more than once.
func (b *Box) Close() error {
	if err := b.in.close(); err != nil {
		return fmt.Errorf("close a box: %w", err)
	}
	return nil
}

// agentBox is a box that an agent holds.
type agentBox struct{ s *wire.Session }

func (b *agentBox) put(ctx context.Context, packed *os.File) error {
	_, passed, err := b.s.Call(ctx, wire.Request{Op: wire.OpPut}, nil, packed)
	wire.CloseAll(passed)
	return err
}

func (b *agentBox) run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error) {
	q, files, done, err := c.request(raw)
	defer done()
	if err != nil {
		return Result{}, err
	}
	r, passed, err := b.s.Call(ctx, wire.Request{Op: wire.OpRun, Run: &q}, sent, files...)
	wire.CloseAll(passed)
	if err != nil {
		return Result{}, err
	}
	if r.Result == nil {
		return Result{}, errors.New("the sandbox agent sent no result")
	}
	return *r.Result, nil
}

// request returns what travels of c, and the descriptors of its streams. What it
// returns besides must be called when they are passed on.
func (c Cmd) request(raw bool) (q wire.RunRequest, files []*os.File, done func(), err error) {
	in := c.Stdin
	if in != nil {
		if in, err = presentable(in); err != nil {
			return q, nil, func() {}, err
		}
	}
	done = func() {
		if in != c.Stdin {
			_ = in.Close() // a memory file
		}
	}
	q = wire.RunRequest{
		Tool: c.Tool, Program: c.Program, Args: c.Args, Env: c.Env, ExtraTools: c.ExtraTools,
		StdoutLimit: c.StdoutLimit, StderrLimit: c.StderrLimit, Limits: c.Limits, Raw: raw,
	}
	for i, f := range []*os.File{in, c.Stdout, c.Stderr} {
		if f != nil {
			q.Stdio[i] = true
			files = append(files, f)
		}
	}
	return q, files, done, nil
}

func (b *agentBox) collect(ctx context.Context, globs []string, maxBytes int64) (*os.File, error) {
	_, passed, err := b.s.Call(ctx, wire.Request{Op: wire.OpCollect, Globs: globs, MaxBytes: maxBytes}, nil)
	if err == nil && len(passed) != 1 {
		err = errors.New("the sandbox agent sent none")
	}
	if err != nil {
		wire.CloseAll(passed)
		return nil, err
	}
	return passed[0], nil
}

func (b *agentBox) clean(ctx context.Context) error {
	_, passed, err := b.s.Call(ctx, wire.Request{Op: wire.OpClean}, nil)
	wire.CloseAll(passed)
	return err
}

func (b *agentBox) renew(ctx context.Context) error {
	_, passed, err := b.s.Call(ctx, wire.Request{Op: wire.OpRenew}, nil)
	wire.CloseAll(passed)
	return err
}

func (b *agentBox) close() error { return b.s.Close() }

// presentable returns the input f, or a copy of one that an agent would not take from
// us: it reads no files that the kernel or a program makes up.
func presentable(f *os.File) (*os.File, error) {
	var st unix.Stat_t
	var fs unix.Statfs_t
	fds, err := wire.Descriptors([]*os.File{f})
	if err == nil {
		err = errors.Join(unix.Fstat(fds[0], &st), unix.Fstatfs(fds[0], &fs))
	}
	if err != nil {
		return nil, fmt.Errorf("look at the input: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || wire.RealFileSystem(fs.Type) {
		return f, nil
	}
	m, err := wire.MemoryFile("stdin")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(m, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the input: %w", err), m.Close())
	}
	return m, nil
}
