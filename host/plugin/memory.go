package plugin

import (
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// keptBytes is how much of a guest's memory stays mapped between calls. Memory
// of more is given back to the system, which then gives zeros again.
const keptBytes = 512 << 10

// memory is the linear memory of a worker's guests: one mapping that never
// moves, so that growing costs nothing, used by one guest after the other. A
// worker calls one guest at a time and a guest has one memory.
type memory struct {
	mapping []byte
	limit   int64 // of the present guest
	used    uint64
	denied  int // how often it asked for more than it may have
}

// newMemory reserves memory for guests of up to size bytes.
func newMemory(size int64) (*memory, error) {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes for guests: %w", size, err)
	}
	return &memory{mapping: b}, nil
}

// allot makes the memory ready for a guest of at most limit bytes.
func (m *memory) allot(limit int64) {
	m.limit, m.used, m.denied = min(limit, int64(len(m.mapping))), 0, 0
}

// wipe makes the memory zero again, after a guest.
func (m *memory) wipe() error {
	used := m.mapping[:m.used]
	if m.used <= keptBytes {
		clear(used)
		return nil
	}
	if err := unix.Madvise(used, unix.MADV_DONTNEED); err != nil {
		return errors.Join(errors.New("wipe a guest's memory"), err)
	}
	return nil
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory]. It answers nil to a guest
// that wants too much.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(m.limit) {
		m.denied++
		return nil
	}
	m.used = max(m.used, size)
	return m.mapping[:size:m.limit]
}

// Free implements [experimental.LinearMemory]. The worker wipes the memory after
// the call instead.
func (m *memory) Free() {}
