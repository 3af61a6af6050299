package simulation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Quantiles describes times in seconds.
type Quantiles struct {
	Mean float64 `json:"mean_seconds"`
	P50  float64 `json:"p50_seconds"`
	P95  float64 `json:"p95_seconds"`
	P99  float64 `json:"p99_seconds"`
	Max  float64 `json:"max_seconds"`
}

// quantiles sorts times and describes them; an empty slice gives zeros.
func quantiles(times []float64) (q Quantiles) {
	if len(times) == 0 {
		return q
	}
	slices.Sort(times)
	for _, t := range times {
		q.Mean += t / float64(len(times))
	}
	at := func(p float64) float64 { return times[max(0, int(math.Ceil(p*float64(len(times))))-1)] }
	q.P50, q.P95, q.P99, q.Max = at(0.5), at(0.95), at(0.99), times[len(times)-1]
	return q
}

// Bottleneck is what bounds how many jobs per second can be judged.
type Bottleneck string

// What there may be too little of.
const (
	OfWorkers  Bottleneck = "workers"
	OfDatabase Bottleneck = "database"
)

// Report is what a simulation predicts.
type Report struct {
	Jobs     int `json:"jobs"`     // that came
	Finished int `json:"finished"` // with a result
	Dead     int `json:"dead"`     // given up after MaxTries

	Wait       Quantiles `json:"wait"`       // from handing in to the beginning of the first try
	Turnaround Quantiles `json:"turnaround"` // from handing in to the stored result

	Seconds    float64 `json:"seconds"`         // until all was judged
	Throughput float64 `json:"jobs_per_second"` // over that time
	Backlog    int     `json:"backlog"`         // most jobs that waited at once

	WorkersUse  float64 `json:"workers_use"`  // share of the living slots that judged, 0 to 1
	DatabaseUse float64 `json:"database_use"` // share of its cores that worked, with beats

	Failures     int `json:"failures"`      // of workers
	LostAttempts int `json:"lost_attempts"` // that they took with them

	// What there is room for: jobs per second without end, of each alone, in the largest statements.
	WorkersLimit  float64    `json:"workers_limit_jobs_per_second"`
	DatabaseLimit float64    `json:"database_limit_jobs_per_second"` // 0 = it takes no time
	Bottleneck    Bottleneck `json:"bottleneck"`
}

// figures are summed up while the simulation runs.
type figures struct {
	waiting, running, up, backlog int
	failures, lost, dead          int
	slotSeconds, upSeconds        float64 // of slots that judged, and of those that lived
	busySeconds                   float64 // of the database's cores
}

// advance moves the time on.
func (s *simulation) advance(to float64) {
	dt := to - s.now
	s.now = to
	f := &s.figures
	f.backlog = max(f.backlog, f.waiting)
	f.slotSeconds += dt * float64(f.running)
	f.upSeconds += dt * float64(f.up*s.cfg.Slots)
	f.busySeconds += dt * float64(s.db.busy)
}

func (s *simulation) report() Report {
	f := s.figures
	r := Report{Jobs: len(s.jobs), Dead: f.dead, Seconds: s.now, Backlog: f.backlog, Failures: f.failures, LostAttempts: f.lost}
	var waits, turnarounds []float64
	for i, j := range s.jobs {
		if j.ended < 0 {
			continue
		}
		r.Finished++
		if i >= s.cfg.Warmup {
			waits = append(waits, j.began-j.arrived)
			turnarounds = append(turnarounds, j.ended-j.arrived)
		}
	}
	r.Wait, r.Turnaround = quantiles(waits), quantiles(turnarounds)
	if s.now > 0 {
		r.Throughput = float64(r.Finished) / s.now
		r.DatabaseUse = min(1, s.cfg.beats()+f.busySeconds*s.db.speed/s.now/float64(s.db.cores))
	}
	if f.upSeconds > 0 {
		r.WorkersUse = f.slotSeconds / f.upSeconds
	}
	r.WorkersLimit, r.DatabaseLimit = s.cfg.limits()
	r.Bottleneck = OfWorkers
	if r.DatabaseLimit > 0 && r.DatabaseLimit < r.WorkersLimit {
		r.Bottleneck = OfDatabase
	}
	return r
}

// limits returns how many jobs per second workers and database can do at most.
func (c Config) limits() (workers, database float64) {
	d := c.Database
	claim, finalize := d.Claim.of(c.Slots)/float64(c.Slots), d.Finalize.of(min(c.Slots, finalizeLimit))/float64(min(c.Slots, finalizeLimit))
	alive := 1.0
	if m := c.Failures.MTBF.Seconds(); m > 0 {
		alive = m / (m + c.Failures.Repair.Seconds())
	}
	// A slot is taken from the claim until the result is stored; while jobs are short, only by judging, and by results
	// of which there are more than slots.
	claiming, storing := d.Claim.of(1)+d.Commit.Seconds(), d.Finalize.of(1)+d.Commit.Seconds()
	held := c.Service.Mean.Seconds() + claiming + storing
	if c.Service.Mean.Seconds() < shortJudging {
		held = max(c.Service.Mean.Seconds(), storing/2)
	}
	workers = alive * float64(c.Workers*c.Slots) / held
	if work := d.Submit.of(submitLimit)/submitLimit + claim + finalize; work > 0 {
		database = float64(d.Cores) * max(0, 1-c.beats()) / work
	}
	return workers, database
}

// Target is what people are promised.
type Target struct {
	Quantile float64       // of all waits, such as 0.95; one of 0.5, 0.95 and 0.99
	Wait     time.Duration // which is at most this
}

// ErrNotByWorkers is returned where no number of workers keeps a promise, because something else is too slow.
var ErrNotByWorkers = errors.New("more workers do not help")

// Need returns the fewest workers with which the target is met, and what is predicted for them. Config.Workers is not
// used. It returns an error that wraps [ErrNotByWorkers], with the report of the most workers that were tried, when the
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
