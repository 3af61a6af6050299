package pg

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counting returns a Coalescer that doubles numbers, and the sizes of its
// statements. A statement waits until something comes from gate.
func counting(lanes, limit int, gate chan struct{}) (*Coalescer[int, int], *[]int) {
	var mu sync.Mutex
	var sizes []int
	c := &Coalescer[int, int]{
		Lanes: lanes, Limit: limit, Time: time.Minute,
		Together: func(first, q int) bool { return first%2 == q%2 },
		Do: func(_ context.Context, qs []int) []Answered[int] {
			<-gate
			mu.Lock()
			sizes = append(sizes, len(qs))
			mu.Unlock()
			out := make([]Answered[int], len(qs))
			for i, q := range qs {
				out[i].Answer = 2 * q
				if q == 13 {
					out[i].Err = errors.ErrUnsupported
				}
			}
			return out
		},
	}
	return c, &sizes
}

func TestTheFirstIsServedAloneAndACrowdTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, sizes := counting(1, 100, gate)
		var all sync.WaitGroup
		for q := range 41 {
			all.Go(func() {
				got, err := c.Ask(t.Context(), q)
				if got != 2*q || (err != nil) != (q == 13) {
					t.Errorf("%d is Answered with %d, %v", q, got, err)
				}
			})
			if q == 0 {
				synctest.Wait() // it is under way
			}
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		// One for 0; then the odd and the even ones, in two statements.
		if len(*sizes) != 3 || (*sizes)[0] != 1 || (*sizes)[1]+(*sizes)[2] != 40 || (*sizes)[1] != 20 {
			t.Errorf("statements for %v callers", *sizes)
		}
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.working != 0 || len(c.waiting) != 0 {
			t.Errorf("%d lanes are taken and %d wait after the end", c.working, len(c.waiting))
		}
	})
}

func TestThoseWhoDoNotWaitAreToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, sizes := counting(2, 8, gate)
		c.Together = nil
		told := make(chan Answered[int], 100)
		ctx, leave := context.WithCancel(t.Context())
		for q := range 50 {
			c.Tell(ctx, q, func(a Answered[int]) { told <- a })
		}
		leave() // does not matter
		synctest.Wait()
		close(gate)
		synctest.Wait()
		close(told)
		sum, n := 0, 0
		for a := range told {
			sum += a.Answer
			n++
			if (a.Err != nil) != (a.Answer == 26) {
				t.Errorf("%d with %v", a.Answer, a.Err)
			}
		}
		if n != 50 || sum != 2*49*50/2 {
			t.Errorf("%d were told, %d in all", n, sum)
		}
		if len(*sizes) != 2+6 { // two alone, the others in crowds of eight
			t.Errorf("statements for %v callers", *sizes)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.working != 0 || c.waiting != nil {
			t.Errorf("%d lanes are taken and %d wait after the end", c.working, len(c.waiting))
		}
	})
}

func TestAStatementServesNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, sizes := counting(2, 4, gate)
		var all sync.WaitGroup
		for q := range 20 {
			all.Go(func() {
				if got, err := c.Ask(t.Context(), 2*q); got != 4*q || err != nil {
					t.Errorf("%d, %v", got, err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		total := 0
		for _, n := range *sizes {
			total += n
			if n > 4 {
				t.Errorf("a statement served %d", n)
			}
		}
		if total != 20 {
			t.Errorf("%d were served", total)
		}
	})
}

func TestACallerThatLeavesIsNotMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, _ := counting(1, 100, gate)
		var all sync.WaitGroup
		all.Go(func() { _, _ = c.Ask(t.Context(), 2) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := c.Ask(ctx, 4); !errors.Is(err, context.Canceled) {
				t.Errorf("it got %v", err)
			}
		})
		all.Go(func() {
			if got, err := c.Ask(t.Context(), 6); got != 12 || err != nil {
				t.Errorf("the one beside it got %d, %v", got, err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(gate)
		all.Wait()
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.working != 0 {
			t.Error("the lane is still taken")
		}
	})
}
