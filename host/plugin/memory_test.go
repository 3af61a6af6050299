package plugin

import (
	"math/rand/v2"
	"testing"
)

func TestMemoryIsZeroAfterEveryGuest(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	m, err := newMemory(most)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for guest := range 60 {
		size := uint64(1+r.IntN(1024)) << 16
		if guest%3 == 0 {
			size = 1 << 17
		}
		m.allot(most)
		memory := m.Reallocate(size)
		writes := 1 + r.IntN(30)
		if guest%5 == 0 {
			writes = 2_000 // more than stays mapped
		}
		written := []int{len(memory) - 1}
		for range writes {
			written = append(written, r.IntN(len(memory)))
		}
		for _, at := range written {
			memory[at] = byte(1 + at%255)
		}
		if err := m.wipe(); err != nil {
			t.Fatal(err)
		}
		for _, at := range written { // no other byte: looking at a page maps it
			if b := m.mapping[at]; b != 0 {
				t.Fatalf("byte %d of %d is %d after guest %d", at, size, b, guest)
			}
		}
	}
}
