package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// keptModules is how many bytes of modules a worker keeps ready.
const keptModules = 64 << 20

// workerSocket is the descriptor of a worker's end of the socket pair.
const workerSocket = 3

// server is a worker: it calls one guest at a time.
type server struct {
	memory *memory
	meter  *meter             // of the present call
	ready  map[string]*loaded // by folder
	order  []string           // of ready, the one used last is last
	bytes  int64              // of ready
}

// loaded is a module that is ready to be called.
type loaded struct {
	engine wazero.Runtime
	module wazero.CompiledModule
	bytes  int64
}

// serve answers requests until the host closes its end.
func serve(guestBytes int64) (int, error) {
	f := os.NewFile(workerSocket, "host")
	conn, err := net.FileConn(f)
	if err != nil {
		return exitBroken, fmt.Errorf("worker: take socket: %w", err)
	}
	if err := f.Close(); err != nil {
		return exitBroken, fmt.Errorf("worker: take socket: %w", err)
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return exitBroken, fmt.Errorf("worker: descriptor %d is a %T", workerSocket, conn)
	}
	mem, err := newMemory(guestBytes)
	if err != nil {
		return exitBroken, fmt.Errorf("worker: %w", err)
	}
	l := newLink(uc)
	s := &server{memory: mem, ready: map[string]*loaded{}}
	for {
		if err := s.turn(l); errors.Is(err, io.EOF) {
			return exitDone, nil
		} else if err != nil {
			return exitBroken, fmt.Errorf("worker: %w", err)
		}
	}
}

// turn answers one request.
func (s *server) turn(l *link) error {
	var b batch
	blob, files, err := l.receive(&b)
	defer func() {
		for _, f := range files {
			_ = f.Close() // only read
		}
	}()
	var o replies
	var parts []byte
	trapped := false
	for _, q := range b.Calls {
		if err != nil {
			break
		}
		n := len(q.Files) + q.Stdin.descriptors()
		if n > len(files) {
			return fmt.Errorf("request with %d descriptors for %d files", len(files), n)
		}
		var a reply
		var said []byte
		a, said, err = s.call(q, blob, files[:n])
		for _, f := range files[:n] {
			_ = f.Close() // so that a program sees the end of its interactor
		}
		files = files[n:]
		o.All, parts = append(o.All, a), append(parts, said...)
		trapped = trapped || a.Fault == faultTrap
	}
	if err != nil {
		return err
	}
	if err := l.send(o, parts, nil); err != nil {
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
		if err := old.engine.Close(ctx); err != nil {
			return nil, fmt.Errorf("unload module: %w", err)
		}
	}
	return l, nil
}

// load takes a module from the cache. Machine code that is missing or damaged is
// made again here: a module that was admitted is known to compile within bounds.
func (s *server) load(ctx context.Context, dir string) (*loaded, error) {
	wasm, err := os.ReadFile(filepath.Join(dir, moduleFile))
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	l, err := s.compiled(ctx, dir, wasm)
	if err == nil {
		return l, nil
	}
	if removed := os.RemoveAll(filepath.Join(dir, codeDir)); removed != nil {
		return nil, errors.Join(err, removed)
	}
	return s.compiled(ctx, dir, wasm)
}

// compiled makes a module ready from its machine code.
func (s *server) compiled(ctx context.Context, dir string, wasm []byte) (*loaded, error) {
	engine, err := newEngine(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := s.host(ctx, engine); err != nil {
		return nil, errors.Join(err, engine.Close(ctx))
	}
	module, err := engine.CompileModule(ctx, wasm)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load module: %w", err), engine.Close(ctx))
	}
	return &loaded{engine, module, int64(len(wasm))}, nil
}

// host offers WASI and the fuel import to the guests of an engine.
func (s *server) host(ctx context.Context, engine wazero.Runtime) error {
	wasi := engine.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	i32 := api.ValueTypeI32
	wasi.NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(poll), []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}).
		Export("poll_oneoff")
	if _, err := wasi.Instantiate(ctx); err != nil {
		return fmt.Errorf("offer WASI: %w", err)
	}
	tick := api.GoModuleFunc(func(ctx context.Context, guest api.Module, stack []uint64) { s.meter.tick(ctx, guest, stack) })
	_, err := engine.NewHostModuleBuilder(tickModule).NewFunctionBuilder().
		WithGoModuleFunction(tick, nil, []api.ValueType{api.ValueTypeI64}).
		Export(tickName).Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("offer fuel: %w", err)
	}
	return nil
}
