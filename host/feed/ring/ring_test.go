package ring

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// The obvious ring: what is claimed in order, what of it is ready.
type model struct {
	slots int
	next  uint64
	head  uint64
	ready map[uint64]int
}

func TestARingDoesWhatTheObviousOneDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := model{slots: rapid.IntRange(1, 5).Draw(t, "slots"), ready: map[uint64]int{}}
		m.head = rapid.SampledFrom([]uint64{1, 7, 1 << 40}).Draw(t, "first")
		m.next = m.head
		r := New[int](m.slots, m.head)
		near := rapid.Map(rapid.IntRange(-2, 7), func(n int) uint64 { return m.head + uint64(n) })
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				seq := near.Draw(t, "seq")
				want := seq == m.next && m.next-m.head < uint64(m.slots)
				if got := r.TryClaim(seq); got != want {
					t.Fatalf("TryClaim(%d) = %t, want %t: %+v", seq, got, want, m)
				}
				if want {
					m.next++
				}
			},
			"claim or wait": func(t *rapid.T) {
				seq := near.Draw(t, "seq")
				mine, err := r.Claim(stopped, seq)
				room := m.next-m.head < uint64(m.slots)
				switch {
				case seq < m.next && (mine || err != nil),
					seq == m.next && room && (!mine || err != nil),
					seq == m.next && !room && !errors.Is(err, context.Canceled),
					seq > m.next && (err == nil || errors.Is(err, context.Canceled)):
					t.Fatalf("Claim(%d) = %t, %v: %+v", seq, mine, err, m)
				}
				if mine {
					m.next++
				}
			},
			"put": func(t *rapid.T) {
				seq := near.Draw(t, "seq")
				_, twice := m.ready[seq]
				want := seq >= m.head && seq < m.next && !twice
				if err := r.Put(seq, int(seq)); (err == nil) != want {
					t.Fatalf("Put(%d) = %v: %+v", seq, err, m)
				}
				if want {
					m.ready[seq] = int(seq)
				}
			},
			"take": func(t *rapid.T) {
				most := rapid.IntRange(0, 4).Draw(t, "most")
				first, got, err := r.Take(stopped, make([]int, 0, most))
				if _, ok := m.ready[m.head]; !ok {
					if !errors.Is(err, context.Canceled) || len(got) > 0 {
						t.Fatalf("Take = %v, %v, and the head is not ready: %+v", got, err, m)
					}
					return
				}
				if err != nil || first != m.head || len(got) == 0 || len(got) > max(most, 1) {
					t.Fatalf("Take = %d, %v, %v: %+v", first, got, err, m)
				}
				for _, v := range got {
					if want, ok := m.ready[m.head]; !ok || v != want {
						t.Fatalf("Take gives %d for %d: %+v", v, m.head, m)
					}
					delete(m.ready, m.head)
					m.head++
				}
				if _, ok := m.ready[m.head]; ok && len(got) < max(most, 1) {
					t.Fatalf("Take leaves %d, which is ready: %+v", m.head, m)
				}
			},
			"": func(t *rapid.T) {
				if r.Head() != m.head || r.Next() != m.next || r.Len() != int(m.next-m.head) || r.Len() > m.slots {
					t.Fatalf("%d to %d, want %+v", r.Head(), r.Next(), m)
				}
			},
		})
	})
}

// A receiver that never waits and a reader of the log share the claims; workers finish in any order.
func TestEverythingIsTakenOnceAndInOrderWhoeverGivesItOut(t *testing.T) {
	t.Parallel()
	const count = 20_000
	r := New[uint64](64, 1)
	work := make(chan uint64, 64)
	var givers, workers sync.WaitGroup
	claimed := [2]int{}
	givers.Go(func() { // the receiver
		for seq := uint64(1); seq <= count; seq++ {
			if r.TryClaim(seq) {
				claimed[0]++
				work <- seq
			}
		}
	})
	givers.Go(func() { // who reads the log
		for {
			seq := r.Next()
			if seq > count {
				return
			}
			mine, err := r.Claim(t.Context(), seq)
			if err != nil {
				t.Error(err)
				return
			}
			if mine {
				claimed[1]++
				work <- seq
			}
		}
	})
	for range 4 {
		workers.Go(func() {
			for seq := range work {
				for range rand.IntN(4) {
					runtime.Gosched()
				}
				if err := r.Put(seq, seq); err != nil {
					t.Error(err)
				}
			}
		})
	}
	next, into := uint64(1), make([]uint64, 0, 16)
	for next <= count {
		first, got, err := r.Take(t.Context(), into)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if first+uint64(i) != next || v != next {
				t.Fatalf("record %d is taken where %d belongs", v, next)
			}
			next++
		}
	}
	givers.Wait()
	close(work)
	workers.Wait()
	if claimed[0]+claimed[1] != count || r.Len() != 0 {
		t.Errorf("%d and %d were claimed, %d are left", claimed[0], claimed[1], r.Len())
	}
}

func TestWaitingEndsWithTheRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New[string](1, 5)
		broken := errors.New("Kafka is away for good")
		ended := make(chan error, 2)
		go func() {
			time.Sleep(time.Second)
			_ = r.TryClaim(5)
			_, err := r.Claim(t.Context(), 6)
			ended <- err
		}()
		go func() {
			_, _, err := r.Take(t.Context(), nil)
			ended <- err
		}()
		time.Sleep(2 * time.Second)
		r.Close(broken)
		for range 2 {
			if err := <-ended; !errors.Is(err, broken) {
				t.Errorf("waiting ended with %v", err)
			}
		}
		if err := r.Put(5, "ready"); err != nil {
			t.Fatal(err)
		}
		if _, got, err := r.Take(t.Context(), nil); err != nil || len(got) != 1 || got[0] != "ready" {
			t.Errorf("what is ready is lost: %v, %v", got, err)
		}
		if r.TryClaim(6) {
			t.Error("a closed ring gives slots")
		}
	})
}

func BenchmarkRing(b *testing.B) {
	r := New[int](1024, 1)
	into := make([]int, 0, 256)
	for seq := uint64(1); b.Loop(); seq++ {
		if !r.TryClaim(seq) {
			b.Fatal(seq)
		}
		if err := r.Put(seq, 1); err != nil {
			b.Fatal(err)
		}
		if r.Len() == 256 {
			if _, _, err := r.Take(b.Context(), into); err != nil {
				b.Fatal(err)
			}
		}
	}
}
