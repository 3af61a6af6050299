package simulation

import (
	"errors"
	"fmt"
	"time"
)

// Target is what people are promised.
type Target struct {
	Quantile float64       // of all waits, such as 0.95; one of 0.5, 0.95 and 0.99
	Wait     time.Duration // which is at most this
}

// ErrNotByWorkers is returned where no number of workers keeps a promise, because
// something else is too slow.
var ErrNotByWorkers = errors.New("more workers do not help")

// Need returns the fewest workers with which the target is met, and what is
// predicted for them. Config.Workers is not used. It returns an error that wraps
// [ErrNotByWorkers], with the report of the most workers that were tried, when the
// target is never met.
func Need(c Config, t Target) (int, Report, error) {
	if t.Quantile != 0.5 && t.Quantile != 0.95 && t.Quantile != 0.99 {
		return 0, Report{}, fmt.Errorf("simulation: quantile %g is none of 0.5, 0.95 and 0.99", t.Quantile)
	}
	if t.Wait <= 0 {
		return 0, Report{}, fmt.Errorf("simulation: wait %s is not above 0", t.Wait)
	}
	wait := func(r Report) float64 {
		return map[float64]float64{0.5: r.Wait.P50, 0.95: r.Wait.P95, 0.99: r.Wait.P99}[t.Quantile]
	}
	try := func(workers int) (Report, bool, error) {
		c.Workers = workers
		r, err := Run(c)
		return r, err == nil && r.Dead == 0 && wait(r) <= t.Wait.Seconds(), err
	}
	enough, least := 1, 0 // least are too few
	r, ok, err := try(enough)
	for err == nil && !ok {
		before := wait(r)
		least, enough = enough, 2*enough
		r, ok, err = try(min(enough, maxWorkers))
		// Twice as many that change nothing are idle, or wait for the database.
		if err == nil && !ok && (enough >= maxWorkers || wait(r) > 0.99*before) {
			return 0, r, fmt.Errorf("simulation: with %d workers %g of the jobs wait up to %.3g s: %w", enough, t.Quantile, wait(r), ErrNotByWorkers)
		}
	}
	for err == nil && enough-least > 1 {
		middle := (least + enough) / 2
		var m Report
		if m, ok, err = try(middle); ok {
			enough, r = middle, m
		} else {
			least = middle
		}
	}
	return enough, r, err
}
