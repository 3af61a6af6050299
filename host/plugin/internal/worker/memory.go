package worker

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// keptBytes is how much of a guest's memory stays mapped between calls. Memory
// of more is given back to the system, which then gives zeros again.
const keptBytes = 1 << 22

// memory is the linear memory of a worker's guests: one mapping that never moves, so that growing costs nothing, used
// by one guest after the other. A worker calls one guest at a time and a guest has one memory.
type memory struct {
	mapping []byte
	limit   int64 // of the present guest
	used    uint64
	denied  int    // how often it asked for more than it may have
	anew    uint64 // what an instance that is used again gets instead of more; 0 = there is none
	zeros   []byte // a page that nobody used

	looked int    // how many pages were looked at
	mapped []int  // those of them that are mapped
	faults int64  // of this process, when they were
	states []byte // of pages, as mincore says

	sparse int // calls in turn that left most of the mapped pages zero
	bear   int // how many of them are borne before nothing is mapped any more
}

// Pages that one large check mapped are looked at after each small one that follows. When most are zero for some calls,
// the memory is given back, so that only what is used is mapped again. Some guests only read most of their pages; to do
// this in vain costs less and less.
const (
	bearFirst = 16 // calls
	bearMost  = 1024
)

// newMemory reserves memory for guests of up to size bytes.
func newMemory(size int64) (*memory, error) {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes for guests: %w", size, err)
	}
	return &memory{bear: bearFirst, mapping: b, zeros: make([]byte, os.Getpagesize())}, nil
}

// allot makes the memory ready for a guest of at most limit bytes.
func (m *memory) allot(limit int64) {
	m.limit, m.used, m.denied = min(limit, int64(len(m.mapping))), 0, 0
}

// wipe makes the memory zero again, after a guest. Most of what a guest may use it never touches: only pages that the
// system has mapped are looked at, and only those that are not zero are written.
func (m *memory) wipe() error {
	page := len(m.zeros)
	if err := m.look((int(m.used) + page - 1) / page); err != nil {
		return fmt.Errorf("look at a guest's memory: %w", err)
	}
	if len(m.mapped)*page > keptBytes {
		return m.giveBack()
	}
	dirty := 0
	for _, i := range m.mapped {
		if p := m.mapping[i*page:][:page]; !bytes.Equal(p, m.zeros) {
			clear(p)
			dirty++
		}
	}
	if m.sparse++; len(m.mapped) < 2*dirty+8 {
		m.sparse, m.bear = 0, bearFirst
	}
	if m.sparse < m.bear {
		return nil
	}
	m.bear = min(2*m.bear, bearMost)
	return m.giveBack()
}

// giveBack gives the memory to the system.
func (m *memory) giveBack() error {
	m.looked, m.mapped, m.sparse = 0, m.mapped[:0], 0
	if m.used == 0 {
		return nil
	}
	if err := unix.Madvise(m.mapping[:m.used], unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("wipe a guest's memory: %w", err)
	}
	return nil
}

// look finds the mapped ones of the first n pages. A page is mapped by a page
// fault, so that what was found before still holds if there was none.
//
// The system does not tell pages that it has swapped out from those that were
// never touched. Where it could have, all count as mapped.
func (m *memory) look(n int) error {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return err
	}
	faults := use.Minflt + use.Majflt
	if n <= m.looked && faults == m.faults {
		return nil
	}
	if cap(m.states) < n {
		m.states = make([]byte, n)
	}
	states := m.states[:n]
	if n > 0 {
		_, _, errno := unix.RawSyscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m.mapping[0])), uintptr(n*len(m.zeros)), uintptr(unsafe.Pointer(&states[0])))
		if errno != 0 {
			return errno
		}
	}
	swaps, err := swaps()
	if err != nil {
		return err
	}
	m.faults, m.looked, m.mapped = faults, n, m.mapped[:0]
	for i, state := range states {
		if state&1 != 0 || swaps {
			m.mapped = append(m.mapped, i)
		}
	}
	return nil
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory]. It answers nil to a guest that wants too much.
func (m *memory) Reallocate(size uint64) []byte {
	if m.anew > 0 {
		return m.mapping[:m.anew:m.limit]
	}
	if size > uint64(m.limit) {
		m.denied++
		return nil
	}
	m.used = max(m.used, size)
	return m.mapping[:size:m.limit]
}

// Free implements [experimental.LinearMemory]. The worker wipes the memory after the call instead.
func (m *memory) Free() {}
