package plugin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"deepoj/host/plugin/internal/wire"
)

// workerData is what a worker may allocate beside the memory of its guest: the
// machine code of modules, and the stack of a guest that recurses.
const workerData = 1536 << 20

// pool is the worker processes. A worker that has answered waits for the next
// question, so that one that knows the module is asked first.
type pool struct {
	spawner    *spawner
	dir        string // of the cache
	guestBytes int64
	workers    int

	mu      sync.Mutex
	waiting []*call
	working int                      // workers that are at work, at most workers
	costs   map[string]time.Duration // CPU time of a call by folder of its module
	idle    []*workerProcess         // the one used last is last
	all     map[*workerProcess]struct{}
	shut    bool
}

// workerProcess is the host's side of a worker process.
type workerProcess struct {
	process *process
	conn    *net.UnixConn
	link    *wire.Link
	knows   map[string]struct{} // folders of modules that it has loaded
}

func newPool(s *spawner, dir string, workers int, guestBytes int64) *pool {
	return &pool{spawner: s, dir: dir, guestBytes: guestBytes, workers: workers, all: map[*workerProcess]struct{}{}, costs: map[string]time.Duration{}}
}

// diedError is what a call gets whose worker died. Of the calls that it had, one does not share the error.
type diedError struct {
	how    string
	shared bool
}

func (e *diedError) Error() string { return "worker " + e.how }

// take returns an idle worker, best one that knows the module, or starts one.
func (p *pool) take(dir string) (*workerProcess, error) {
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
func (p *pool) bury(w *workerProcess) bool {
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
func (p *pool) give(w *workerProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shut {
		p.idle = append(p.idle, w)
	}
}

// drop ends a worker.
func (p *pool) drop(w *workerProcess) {
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
	p.all, p.idle = map[*workerProcess]struct{}{}, nil
	p.mu.Unlock()
	for w := range workers {
		w.end()
	}
}

// start starts a worker.
func (p *pool) start() (*workerProcess, error) {
	pair, err := wire.SocketPair()
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
	proc, err := p.spawner.spawn(wire.WorkerCommand, wire.Limits{Dir: p.dir, GuestBytes: p.guestBytes, DataBytes: workerData + p.guestBytes}, far)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &workerProcess{process: proc, conn: uc, link: wire.HostLink(uc), knows: map[string]struct{}{}}, nil
}

// end ends the worker, if it is not dead already.
func (w *workerProcess) end() {
	_ = w.conn.Close() // nothing is in it that anybody wants
	w.process.kill()
}
