package worker

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

func TestPagesOfOneLargeGuestAreNotLookedAtForEver(t *testing.T) {
	t.Parallel()
	const size = 100 << 12
	m, err := newMemory(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	guest := func(pages int) {
		t.Helper()
		m.allot(size)
		memory := m.Reallocate(size)
		for i := range pages {
			if memory[i<<12] != 0 {
				t.Fatalf("page %d is not zero", i)
			}
			memory[i<<12] = 1
		}
		if err := m.wipe(); err != nil {
			t.Fatal(err)
		}
	}
	guest(100)
	for range 2 * bearFirst {
		guest(3)
	}
	if len(m.mapped) != 3 {
		t.Errorf("%d pages are mapped, 3 are used", len(m.mapped))
	}
	for range 2_000 { // a guest that only reads most of its pages
		m.allot(size)
		memory, sum := m.Reallocate(size), byte(0)
		for i := range 100 {
			sum += memory[i<<12]
		}
		if memory[0] = 1; sum != 0 {
			t.Fatal("a page is not zero")
		}
		if err := m.wipe(); err != nil {
			t.Fatal(err)
		}
	}
	if m.bear != bearMost {
		t.Errorf("it is given back in vain every %d calls", m.bear)
	}
}
