package simulation

import (
	"math"
	"slices"
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

	// What there is room for: jobs per second without end, of each alone, in the
	// largest statements.
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
	// A slot is taken from the claim until the result is stored.
	held := c.Service.Mean.Seconds() + d.Claim.of(1) + d.Finalize.of(1) + 2*d.Commit.Seconds()
	workers = alive * float64(c.Workers*c.Slots) / held
	if work := d.Submit.of(submitLimit)/submitLimit + claim + finalize; work > 0 {
		database = float64(d.Cores) * max(0, 1-c.beats()) / work
	}
	return workers, database
}
