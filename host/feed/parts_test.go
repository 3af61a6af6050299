package feed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowUpToABoundAndDiffer(t *testing.T) {
	t.Parallel()
	p := newPause(&Options{Pause: time.Second, MaxPause: 10 * time.Second})
	for range 2 {
		for _, most := range []time.Duration{1, 2, 4, 8, 10, 10} {
			if got := p.length(); got < most*time.Second/2 || got > most*time.Second {
				t.Errorf("a pause of %s, want one of up to %d s and no less than half of it", got, most)
			}
		}
		p.reset()
	}
	seen := map[time.Duration]bool{}
	for range 20 {
		p.reset()
		seen[p.length()] = true
	}
	if len(seen) < 2 {
		t.Error("all feeds come back together")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p.wait(ctx) {
		t.Error("a pause goes on when nobody waits any more")
	}
}

func TestABudgetBoundsBytesAndLetsOneLargeRecordThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		if !b.try(60) || b.try(41) || !b.try(40) {
			t.Fatal("a budget of 100 has no room for 60 and 40, or has some for more")
		}
		done := make(chan error, 1)
		go func() { done <- b.take(t.Context(), 500) }()
		synctest.Wait()
		b.add(-60)
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("500 bytes join 40 that are under way: %v", err)
		default:
		}
		b.add(-40)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		b.add(10) // it turned out to be larger
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("there is room beside a large record: %v", err)
		}
		b.add(-510)
		if !b.try(100) {
			t.Error("what was given back is not there")
		}
	})
}

func TestOptionsThatAreLeftOutAreNamed(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a feed of nothing is made")
	}
}
