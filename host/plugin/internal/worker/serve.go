package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"golang.org/x/sys/unix"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/host/plugin/internal/wire"
)

// keptModules is how many bytes of modules a worker keeps ready.
const keptModules = 64 << 20

// hostDescriptor is a worker's end of the socket pair.
const hostDescriptor = 3

// maxLoads is after how many modules a worker begins anew with its engine, which does not forget all of a module.
const maxLoads = 500

// server is a worker: it calls one guest at a time.
type server struct {
	dir    string         // of the cache
	engine wazero.Runtime // of all modules
	loads  int            // of modules, since the engine is there
	memory *memory
	cpu    time.Duration      // of this process, when the call before ended
	world  *wasi.World        // of the present call
	ready  map[string]*loaded // by folder
	order  []string           // of ready, the one used last is last
	bytes  int64              // of ready
}

// loaded is a module that is ready to be called.
type loaded struct {
	module wazero.CompiledModule
	bytes  int64
	kept   *instance // at rest; nil when there is none
	image  []piece   // what the memory of a new instance is beside zeros
	imaged bool      // whether that is known
}

// serve answers requests until the host closes its end.
func serve(dir string, guestBytes int64) (int, error) {
	if err := unix.SetNonblock(hostDescriptor, false); err != nil {
		return wire.ExitBroken, fmt.Errorf("worker: take socket: %w", err)
	}
	mem, err := newMemory(guestBytes)
	if err != nil {
		return wire.ExitBroken, fmt.Errorf("worker: %w", err)
	}
	l := wire.WorkerLink(hostDescriptor)
	s, err := newServer(context.Background(), dir, mem)
	if err != nil {
		return wire.ExitBroken, fmt.Errorf("worker: %w", err)
	}
	for {
		if err := s.turn(l); errors.Is(err, io.EOF) {
			return wire.ExitDone, nil
		} else if err != nil {
			return wire.ExitBroken, fmt.Errorf("worker: %w", err)
		}
	}
}

func newServer(ctx context.Context, dir string, mem *memory) (*server, error) {
	s := &server{dir: dir, memory: mem, ready: map[string]*loaded{}}
	return s, s.open(ctx)
}

// open makes an engine.
func (s *server) open(ctx context.Context) error {
	engine, err := newEngine(ctx, s.dir)
	if err != nil {
		return err
	}
	if err := s.offer(ctx, engine); err != nil {
		return errors.Join(err, engine.Close(ctx))
	}
	s.engine, s.loads = engine, 0
	return nil
}

// turn answers one request.
func (s *server) turn(l *wire.Link) error {
	header, blob, fds, err := l.Receive()
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd) // only read
		}
	}()
	var b wire.Batch
	if err == nil {
		b, err = wire.ParseBatch(header)
	}
	s.cpu = fuel.ProcessTime()
	var o wire.Replies
	var parts []byte
	trapped := false
	for _, q := range b.Calls {
		if err != nil {
			break
		}
		n := len(q.Files) + q.Stdin.Descriptors()
		if n > len(fds) {
			return fmt.Errorf("request with %d descriptors for %d files", len(fds), n)
		}
		var a wire.Reply
		var said []byte
		mine := fds[:n]
		fds = fds[n:]
		a, said, err = s.call(q, blob, mine)
		o.All, parts = append(o.All, a), append(parts, said...)
		trapped = trapped || a.Fault == wire.FaultTrap
	}
	if err != nil {
		return err
	}
	if err := l.Send(o.Append, parts, nil); err != nil {
		return err
	}
	if trapped {
		debug.FreeOSMemory() // the stack of a guest that recursed is large
	}
	return nil
}

// module returns a module that is ready, and makes room for it.
func (s *server) module(ctx context.Context, dir string) (*loaded, error) {
	if l := s.ready[dir]; l != nil {
		at := slices.Index(s.order, dir)
		s.order = append(slices.Delete(s.order, at, at+1), dir)
		return l, nil
	}
	if s.loads++; s.loads > maxLoads {
		if err := s.engine.Close(ctx); err != nil {
			return nil, fmt.Errorf("unload all modules: %w", err)
		}
		if err := s.open(ctx); err != nil {
			return nil, err
		}
		clear(s.ready)
		s.order, s.bytes = nil, 0
	}
	l, err := s.load(ctx, dir)
	if err != nil {
		return nil, err
	}
	s.ready[dir] = l
	s.order = append(s.order, dir)
	s.bytes += l.bytes
	for s.bytes > keptModules && len(s.order) > 1 {
		old := s.ready[s.order[0]]
		delete(s.ready, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
		s.bytes -= old.bytes
		if err := errors.Join(old.drop(ctx), old.module.Close(ctx)); err != nil {
			return nil, fmt.Errorf("unload module: %w", err)
		}
	}
	return l, nil
}

// load takes a module from the cache. Machine code that is missing or damaged is an
// error: a worker writes nothing, so that the host has it made again.
func (s *server) load(ctx context.Context, dir string) (*loaded, error) {
	wasm, err := os.ReadFile(filepath.Join(dir, wire.ModuleFile))
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	module, err := s.engine.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	return &loaded{module: module, bytes: int64(len(wasm))}, nil
}

// offer gives the guests of an engine WASI and the fuel import.
func (s *server) offer(ctx context.Context, engine wazero.Runtime) error {
	if _, err := wasi.HostFunctions(engine, func() *wasi.World { return s.world }).Instantiate(ctx); err != nil {
		return fmt.Errorf("offer WASI: %w", err)
	}
	tick := api.GoModuleFunc(func(ctx context.Context, guest api.Module, stack []uint64) { s.world.Meter.Tick(ctx, guest, stack) })
	_, err := engine.NewHostModuleBuilder(fuel.TickModule).NewFunctionBuilder().
		WithGoModuleFunction(tick, nil, []api.ValueType{api.ValueTypeI64}).
		Export(fuel.TickName).Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("offer fuel: %w", err)
	}
	return nil
}
