package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/op"
)

// Making an instance costs more than most checks, so a worker uses one again where nothing of a call can stay in it.
// What an instance remembers are its memory, globals, tables and dropped segments. Memory, its size too, and globals are
// set back to what they were when it was made; modules that write tables or drop segments get a new instance for each
// call, and so does the call after one that failed.

// instance is an instance of a module in a worker's memory.
type instance struct {
	module api.Module
	start  api.Function
	state  []api.MutableGlobal // what a call may change; none if that is not all
	was    []uint64            // state, when the instance was new
	size   uint64              // of the memory then, in bytes
}

// piece is some of a memory's content.
type piece struct {
	at   int
	data []byte
}

// errNoMemory is how making an instance fails that may not have its first memory.
var errNoMemory = errors.New("no memory")

// guestConfig is how all instances are made: the world that WASI shows them is that of the call, see [wasi.World].
var guestConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// instance returns the one that is at rest, as if it were new, or a new one.
func (s *server) instance(ctx context.Context, l *loaded) (g *instance, err error) {
	if g = l.kept; g != nil && g.size <= uint64(s.memory.limit) && g.shrink(s.memory) {
		l.kept = nil
		for i, v := range g.was {
			g.state[i].Set(v)
		}
		s.memory.restore(g.size, l.image)
		return g, nil
	}
	if err := l.drop(ctx); err != nil {
		return nil, err
	}
	defer func() {
		// Only making the instance panics, when even its first memory is denied.
		if p := recover(); p != nil {
			g, err = nil, fmt.Errorf("%w: %v", errNoMemory, p)
		}
	}()
	module, err := s.engine.InstantiateModule(experimental.WithMemoryAllocator(ctx, s.memory), l.module, guestConfig)
	if err != nil {
		return nil, err
	}
	g = &instance{module: module, start: module.ExportedFunction(op.EntryPoint), size: s.memory.used}
	for i := 0; ; i++ {
		global, ok := module.ExportedGlobal(fuel.State(i)).(api.MutableGlobal)
		if !ok {
			break
		}
		g.state, g.was = append(g.state, global), append(g.was, global.Get())
	}
	if len(g.state) > 0 && !l.imaged {
		l.image, err = s.memory.image()
		l.imaged = err == nil
	}
	return g, err
}

// shrink gives the instance memory of the size that it had when it was new, and reports whether it has that. Memory can
// only grow, but the engine takes what the allocator gives: see [memory.Reallocate]. One that has grown to the most that
// its module declares stays as it is.
func (g *instance) shrink(m *memory) bool {
	at := g.module.Memory()
	if at == nil || uint64(at.Size()) == g.size {
		return true
	}
	m.anew = g.size
	at.Grow(1)
	m.anew = 0
	return uint64(at.Size()) == g.size
}

// leave puts an instance to rest after a call that went well, if it can be used again.
func (l *loaded) leave(ctx context.Context, g *instance, well bool) error {
	if well && len(g.state) > 0 {
		l.kept = g
		return nil
	}
	return g.module.Close(ctx)
}

// drop closes the instance at rest.
func (l *loaded) drop(ctx context.Context) error {
	if l.kept == nil {
		return nil
	}
	g := l.kept
	l.kept = nil
	return g.module.Close(ctx)
}

// image returns what is in the memory of a new guest beside zeros.
func (m *memory) image() ([]piece, error) {
	page := len(m.zeros)
	if err := m.look((int(m.used) + page - 1) / page); err != nil {
		return nil, fmt.Errorf("look at a guest's memory: %w", err)
	}
	var pieces []piece
	for _, i := range m.mapped {
		if p := m.mapping[i*page:][:page]; !bytes.Equal(p, m.zeros) {
			pieces = append(pieces, piece{i * page, bytes.Clone(p)})
		}
	}
	return pieces, nil
}

// restore makes the memory, which is all zeros, that of a new guest again.
func (m *memory) restore(size uint64, image []piece) {
	m.used = size
	for _, p := range image {
		copy(m.mapping[p.at:], p.data)
	}
}
