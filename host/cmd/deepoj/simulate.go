package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/simulation"
)

// simulate predicts waits for a load that is described by flags. It needs no database.
func simulate(f *command.Flags) command.Run {
	cfg, need := simulationFlags(f)
	return func(_ context.Context, c *command.Call) (err error) {
		out := simulated{}
		switch {
		case cfg.Workers > 0 && need.Wait > 0:
			err = errors.New("--workers and --wait: give the workers, or the wait for which they are wanted")
		case need.Wait > 0:
			out.Workers, out.Report, err = simulation.Need(*cfg, *need)
		default:
			out.Workers = cfg.Workers
			out.Report, err = simulation.Run(*cfg)
		}
		if err != nil {
			return err
		}
		out.Slots = max(1, cfg.Slots)
		return c.Print(out, out.table())
	}
}

// simulationFlags returns what the flags will be parsed into.
func simulationFlags(f *command.Flags) (*simulation.Config, *simulation.Target) {
	c, need := &simulation.Config{}, &simulation.Target{}
	f.StringVar((*string)(&c.Arrivals.Pattern), "arrivals", string(simulation.Poisson), "constant, poisson, daily (a day, most at noon) or contest (most in its last tenth)")
	f.Float64Var(&c.Arrivals.Rate, "rate", 0, "jobs per second, on average")
	f.DurationVar(&c.Arrivals.Duration, "duration", 0, "how long jobs come (default 1h, and 24h for daily)")
	f.Float64Var(&c.Arrivals.Peak, "peak", 0, "highest rate of daily and contest as a multiple of the average (default 1.8 and 3)")
	f.IntVar(&c.Workers, "workers", 0, "how many workers; or leave it out and give --wait")
	f.IntVar(&c.Slots, "slots", 1, "jobs that a worker judges at once")
	f.DurationVar(&c.Service.Mean, "service", 0, "how long judging a job takes, on average")
	f.StringVar((*string)(&c.Service.Distribution), "distribution", string(simulation.LogNormal), "of that time: fixed, exponential or lognormal")
	f.Float64Var(&c.Service.CV, "cv", 1, "standard deviation of lognormal as a multiple of the average")
	f.DurationVar(&c.Failures.MTBF, "mtbf", 0, "mean time between two failures of a worker; 0 = it never fails")
	f.DurationVar(&c.Failures.Lease, "lease", 75*time.Second, "how long after a failure a job comes back: JOB_LEASE_SEC and JOB_RECLAIM_GRACE_SEC")
	f.DurationVar(&c.Failures.Repair, "repair", 30*time.Second, "how long a failed worker is away")
	f.IntVar(&c.Failures.MaxTries, "max-tries", 5, "tries after which a job is dead")
	f.IntVar(&c.Database.Cores, "db-cores", 2, "cores of PostgreSQL")
	f.DurationVar(&c.Database.Commit, "db-commit", 2*time.Millisecond, "how long a commit waits for the disk")
	f.DurationVar(&c.Database.Beat, "db-beat", 200*time.Microsecond, "its work for one sign of life of a worker, every 3 s")
	batch := func(b *simulation.Batch, name, what string, each, job time.Duration) {
		*b = simulation.Batch{Each: each, Job: job}
		f.Func("db-"+name, fmt.Sprintf("its work for %s: of a statement + for each job in it (default %s+%s)", what, each, job), func(s string) (err error) {
			first, second, both := strings.Cut(s, "+")
			if b.Each, err = time.ParseDuration(first); err == nil && both {
				b.Job, err = time.ParseDuration(second)
			}
			if err != nil || !both {
				return errors.New("want two durations such as 300µs+60µs")
			}
			return nil
		})
	}
	batch(&c.Database.Submit, "submit", "handing in", 300*time.Microsecond, 74*time.Microsecond)
	batch(&c.Database.Claim, "claim", "picking and claiming", 300*time.Microsecond, 51*time.Microsecond)
	batch(&c.Database.Finalize, "finalize", "results", 300*time.Microsecond, 57*time.Microsecond)
	f.Uint64Var(&c.Seed, "seed", 1, "the same seed gives the same figures")
	f.IntVar(&c.Warmup, "warmup", 0, "first jobs that the figures leave out")
	f.DurationVar(&need.Wait, "wait", 0, "ask for the fewest workers with which the wait is at most this")
	need.Quantile = 0.95
	f.Func("quantile", "for which part of the jobs --wait holds: 0.5, 0.95 or 0.99 (default 0.95)", func(s string) (err error) {
		need.Quantile, err = strconv.ParseFloat(s, 64)
		return err
	})
	return c, need
}

// simulated is what the command prints.
type simulated struct {
	Workers int `json:"workers"`
	Slots   int `json:"slots"`
	simulation.Report
}

// remedies say what moves each bottleneck.
var remedies = map[simulation.Bottleneck]string{
	simulation.OfWorkers:  "more workers or slots",
	simulation.OfDatabase: "more slots per worker, so that statements share their work; more cores for PostgreSQL; a faster disk does not move it",
}

func (s simulated) table() (t command.Table) {
	span := func(seconds float64) string {
		d := time.Duration(seconds * float64(time.Second))
		switch {
		case d >= time.Minute:
			return d.Round(time.Second).String()
		case d >= time.Second:
			return d.Round(10 * time.Millisecond).String()
		}
		return d.Round(10 * time.Microsecond).String()
	}
	t.Add("workers", fmt.Sprintf("%d of %d slots", s.Workers, s.Slots))
	t.Add("jobs", fmt.Sprintf("%d in %s, %.4g per second; %d dead; at most %d waited", s.Jobs, span(s.Seconds), s.Throughput, s.Dead, s.Backlog))
	for _, q := range []struct {
		name string
		q    simulation.Quantiles
	}{{"wait", s.Wait}, {"until the result", s.Turnaround}} {
		t.Add(q.name, fmt.Sprintf("mean %s, p50 %s, p95 %s, p99 %s, longest %s", span(q.q.Mean), span(q.q.P50), span(q.q.P95), span(q.q.P99), span(q.q.Max)))
	}
	t.Add("failures", fmt.Sprintf("%d of workers, %d attempts lost", s.Failures, s.LostAttempts))
	t.Add("in use", fmt.Sprintf("%.0f %% of the slots, %.0f %% of the database", 100*s.WorkersUse, 100*s.DatabaseUse))
	database := "without end"
	if s.DatabaseLimit > 0 {
		database = fmt.Sprintf("%.4g", s.DatabaseLimit)
	}
	t.Add("room for", fmt.Sprintf("%.4g jobs per second by the workers, %s by the database", s.WorkersLimit, database))
	t.Add("bottleneck", fmt.Sprintf("%s; what moves it: %s", s.Bottleneck, remedies[s.Bottleneck]))
	return t
}
