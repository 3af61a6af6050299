package runner

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestWhoRunsAloneRunsAlone(t *testing.T) {
	t.Parallel()
	c, err := New(t.TempDir(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var together, most atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			enter, alone := c.Join, i%10 == 0
			if alone {
				enter = c.Clear
			}
			leave, err := enter(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			n := together.Add(1)
			defer together.Add(-1)
			for high := most.Load(); n > high && !most.CompareAndSwap(high, n); high = most.Load() {
			}
			for range 50 {
				runtime.Gosched()
				if alone && together.Load() != 1 {
					t.Errorf("%d run beside one that runs alone", together.Load()-1)
				}
			}
		})
	}
	all.Wait()
	if most.Load() < 2 {
		t.Error("none ever ran beside another")
	}

	leave, err := c.Clear(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Join(ctx); err == nil {
		t.Error("it ran beside one that runs alone, because nobody waited for it any more")
	}
}
