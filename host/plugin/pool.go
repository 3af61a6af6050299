package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// workerData is what a worker may allocate beside the memory of its guest: the
// machine code of modules, and the stack of a guest that recurses.
const workerData = 1536 << 20

// pool is the worker processes. A worker that has answered waits for the next
// question, so that one that knows the module is asked first.
type pool struct {
	spawner    *spawner
	guestBytes int64
	slots      chan struct{} // one for each worker that may be at work

	mu   sync.Mutex
	idle []*worker // the one used last is last
	all  map[*worker]struct{}
	shut bool
}

// worker is the host's side of a worker process.
type worker struct {
	process *process
	conn    *link
	knows   map[string]struct{} // folders of modules that it has loaded
}

func newPool(s *spawner, workers int, guestBytes int64) *pool {
	return &pool{spawner: s, guestBytes: guestBytes, slots: make(chan struct{}, workers), all: map[*worker]struct{}{}}
}

// diedError is what a call gets whose worker died.
type diedError struct{ how string }

func (e *diedError) Error() string { return "worker " + e.how }

// ask has a worker answer a request.
//
// It returns a [*diedError] if the worker died, [ErrPatience] if it took longer
// than patience, and ctx's error if ctx ended. In each case the worker is gone.
func (p *pool) ask(ctx context.Context, q request, of question, patience time.Duration) (reply, []byte, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return reply{}, nil, ctx.Err()
	}
	defer func() { <-p.slots }()
	w, err := p.take(q.Dir)
	if err != nil {
		return reply{}, nil, err
	}
	a, out, err := w.ask(ctx, q, of, patience)
	if err != nil {
		p.drop(w)
		if died, ok := errors.AsType[*diedError](err); ok {
			died.how = w.process.lastWords()
		}
		return reply{}, nil, err
	}
	w.knows[q.Dir] = struct{}{}
	p.give(w)
	return a, out, nil
}

// take returns an idle worker, best one that knows the module, or starts one.
func (p *pool) take(dir string) (*worker, error) {
	p.mu.Lock()
	if p.shut {
		p.mu.Unlock()
		return nil, errClosed
	}
	p.idle = slices.DeleteFunc(p.idle, p.bury)
	if len(p.idle) > 0 {
		at := len(p.idle) - 1
		for i, w := range p.idle {
			if _, ok := w.knows[dir]; ok {
				at = i
			}
		}
		w := p.idle[at]
		p.idle = slices.Delete(p.idle, at, at+1)
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	w, err := p.start()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		w.end()
		return nil, errClosed
	}
	p.all[w] = struct{}{}
	return w, nil
}

// bury reports whether a worker died while it was idle, and forgets it then.
func (p *pool) bury(w *worker) bool {
	select {
	case <-w.process.ended:
		_ = w.conn.Close() // nobody is at the other end
		delete(p.all, w)
		return true
	default:
		return false
	}
}

// give puts a worker back that may be asked again.
func (p *pool) give(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shut {
		p.idle = append(p.idle, w)
	}
}

// drop ends a worker.
func (p *pool) drop(w *worker) {
	w.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, w)
}

// close ends all workers.
func (p *pool) close() {
	p.mu.Lock()
	p.shut = true
	workers := p.all
	p.all, p.idle = map[*worker]struct{}{}, nil
	p.mu.Unlock()
	for w := range workers {
		w.end()
	}
}

// start starts a worker.
func (p *pool) start() (*worker, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("start worker: socket pair: %w", err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "host")
	defer func() {
		_ = near.Close() // duplicated by FileConn
		_ = far.Close()  // duplicated by the child
	}()
	conn, err := net.FileConn(near)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("start worker: socket is a %T", conn)
	}
	proc, err := p.spawner.spawn(WorkerCommand, childLimits{GuestBytes: p.guestBytes, DataBytes: workerData + p.guestBytes}, far)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &worker{process: proc, conn: newLink(uc), knows: map[string]struct{}{}}, nil
}

// end ends the worker, if it is not dead already.
func (w *worker) end() {
	_ = w.conn.Close() // nothing is in it that anybody wants
	w.process.kill()
}

// ask has the worker answer.
func (w *worker) ask(ctx context.Context, q request, of question, patience time.Duration) (reply, []byte, error) {
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return reply{}, nil, &diedError{}
	}
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var a reply
	var out []byte
	err := w.conn.send(q, of.blob, of.files)
	if err == nil {
		if of.sent != nil {
			of.sent()
		}
		var received []*os.File
		out, received, err = w.conn.receive(&a)
		for _, f := range received {
			_ = f.Close() // a worker sends none
		}
	}
	switch {
	case err == nil && a.fits(out):
		return a, out, nil
	case ctx.Err() != nil:
		return reply{}, nil, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply{}, nil, ErrPatience
	case errors.Is(err, net.ErrClosed):
		return reply{}, nil, errClosed
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET):
		return reply{}, nil, &diedError{}
	default:
		return reply{}, nil, err
	}
}

// fits reports whether the parts that a reply names are in its blob.
func (a *reply) fits(blob []byte) bool {
	left := len(blob)
	for _, p := range a.Parts {
		if p.Bytes < 0 || p.Bytes > left {
			return false
		}
		left -= p.Bytes
	}
	return left == 0
}
