// Package simulation predicts how long jobs wait: it simulates a queue, arrivals,
// workers with slots that fail and come back, and the database they share.
//
// It is a discrete-event simulation without a clock: the same [Config] gives the
// same [Report]. Times inside are in seconds from the first arrival.
package simulation

import (
	"errors"
	"fmt"
	"time"
)

// Config says what is simulated. Arrivals.Rate, Workers and Service.Mean are required, or the times themselves.
type Config struct {
	// Seed chooses the random numbers.
	Seed uint64

	// Arrivals says when jobs come.
	Arrivals Arrivals

	// Workers is how many workers there are, and Slots how many jobs each judges at once. Slots defaults to 1.
	Workers, Slots int

	// Service is how long judging one job takes.
	Service Service

	// Failures says how workers die.
	Failures Failures

	// Database is what the shared database does for each job. Zero = it takes no time.
	Database Database

	// Warmup is how many of the first jobs the figures leave out.
	Warmup int
}

// Pattern is how arrivals are spread over time.
type Pattern string

// The patterns of arrivals.
const (
	Constant Pattern = "constant" // equal distances
	Poisson  Pattern = "poisson"  // independent of each other
	Daily    Pattern = "daily"    // independent, at a rate that follows a cosine: lowest at the beginning, Peak times the mean after 12 hours
	Contest  Pattern = "contest"  // independent: a twentieth of the time slow, the last tenth at Peak times the mean
)

// Arrivals says when jobs come.
type Arrivals struct {
	// Pattern defaults to [Poisson].
	Pattern Pattern

	// Rate is the mean number of jobs per second.
	Rate float64

	// Duration is how long jobs come. Defaults to one hour, and a day for [Daily].
	Duration time.Duration

	// Peak is the highest rate of [Daily] (1 to 2) and [Contest] (1 to 10), as
	// a multiple of the mean. Defaults to 1.8 and 3.
	Peak float64

	// Times, if there are any, are the moments of the arrivals themselves, in
	// order, from the beginning; the other fields are not used.
	Times []time.Duration
}

// Distribution is how service times are spread.
type Distribution string

// The distributions of service times.
const (
	Fixed       Distribution = "fixed"       // all equal
	Exponential Distribution = "exponential" // memoryless: the deviation is the mean
	LogNormal   Distribution = "lognormal"   // a few take long: see Service.CV
)

// Service is how long judging a job takes.
type Service struct {
	// Distribution defaults to [LogNormal].
	Distribution Distribution

	// Mean time.
	Mean time.Duration

	// CV is the standard deviation of [LogNormal] as a multiple of the mean. Defaults to 1.
	CV float64

	// Times, if there are any, are the times of the jobs themselves, one for
	// each arrival; the other fields are not used.
	Times []time.Duration
}

// Failures says how workers die. Zero MTBF = they do not.
type Failures struct {
	// MTBF is the mean time between two failures of one worker; they come independently of each other.
	MTBF time.Duration

	// Lease is how long after a failure the worker's jobs come back to the front of the queue: what was left of the
	// lease, the grace and the sweep. Defaults to 75 seconds.
	Lease time.Duration

	// Repair is how long the worker is away. Defaults to 30 seconds.
	Repair time.Duration

	// MaxTries is how often a job is tried before it is dead; 0 = without end.
	MaxTries int
}

// Database is what the shared database does for each job. Requests of one kind that wait at one place are one
// statement, as in the product: see [Batch].
type Database struct {
	// Cores is how many statements make progress at once. Defaults to 1.
	Cores int

	// Commit is how long the disk takes to write what is committed. It does so for one after the other, and what is
	// committed meanwhile waits and is written together: a statement waits for once to twice as long, beside its work.
	Commit time.Duration

	// Submit, Claim and Finalize are the work of the three statements of a job.
	// Work of a dispatcher counts as part of the claim.
	Submit, Claim, Finalize Batch

	// Beat is the work of all that one worker does again and again, every
	// BeatEvery (default 3 seconds), whether it has jobs or not.
	Beat, BeatEvery time.Duration
}

// Batch is the work of a statement for several jobs.
type Batch struct {
	Each time.Duration // of the statement, however many jobs it is for
	Job  time.Duration // for each of them
}

// of returns the seconds of work for n jobs.
func (b Batch) of(n int) float64 { return b.Each.Seconds() + float64(n)*b.Job.Seconds() }

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	a := c.Arrivals
	if len(a.Times) == 0 {
		bad(!(a.Rate > 0), "Arrivals.Rate %g is not above 0", a.Rate)
		bad(a.Duration <= 0, "Arrivals.Duration %s is not above 0", a.Duration)
		bad(a.Rate*a.Duration.Seconds() > maxJobs, "Arrivals: %.0f jobs are more than %d: shorten Arrivals.Duration", a.Rate*a.Duration.Seconds(), maxJobs)
		switch a.Pattern {
		case Constant, Poisson:
		case Daily:
			bad(!(a.Peak >= 1 && a.Peak <= 2), "Arrivals.Peak %g is not between 1 and 2", a.Peak)
		case Contest:
			bad(!(a.Peak >= 1 && a.Peak <= 10), "Arrivals.Peak %g is not between 1 and 10", a.Peak)
		default:
			bad(true, "Arrivals.Pattern %q is none of constant, poisson, daily, contest", a.Pattern)
		}
	}
	bad(c.Workers < 1 || c.Workers > maxWorkers, "Workers %d is not between 1 and %d", c.Workers, maxWorkers)
	bad(c.Slots < 1 || c.Slots > maxSlots, "Slots %d is not between 1 and %d", c.Slots, maxSlots)
	switch c.Service.Distribution {
	case Fixed, Exponential, LogNormal:
	default:
		bad(true, "Service.Distribution %q is none of fixed, exponential, lognormal", c.Service.Distribution)
	}
	bad(len(c.Service.Times) > 0 && len(c.Service.Times) != len(a.Times), "Service.Times are %d, and Arrivals.Times %d", len(c.Service.Times), len(a.Times))
	bad(c.Service.Mean <= 0, "Service.Mean %s is not above 0", c.Service.Mean)
	bad(!(c.Service.CV > 0 && c.Service.CV <= 100), "Service.CV %g is not above 0 and at most 100", c.Service.CV)
	bad(c.Failures.MaxTries < 0, "Failures.MaxTries %d is negative", c.Failures.MaxTries)
	bad(c.Failures.MTBF > 0 && c.Failures.MaxTries == 0 && c.Service.Mean > 20*c.Failures.MTBF,
		"Failures.MTBF %s: jobs of %s would never end; set Failures.MaxTries", c.Failures.MTBF, c.Service.Mean)
	bad(c.Database.Cores < 1, "Database.Cores %d is not above 0", c.Database.Cores)
	bad(c.Warmup < 0, "Warmup %d is negative", c.Warmup)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Failures.MTBF", c.Failures.MTBF},
		{"Failures.Lease", c.Failures.Lease},
		{"Failures.Repair", c.Failures.Repair},
		{"Database.Commit", c.Database.Commit},
		{"Database.Submit.Each", c.Database.Submit.Each},
		{"Database.Submit.Job", c.Database.Submit.Job},
		{"Database.Claim.Each", c.Database.Claim.Each},
		{"Database.Claim.Job", c.Database.Claim.Job},
		{"Database.Finalize.Each", c.Database.Finalize.Each},
		{"Database.Finalize.Job", c.Database.Finalize.Job},
		{"Database.Beat", c.Database.Beat},
		{"Database.BeatEvery", c.Database.BeatEvery},
	} {
		bad(d.value < 0, "%s %s is negative", d.name, d.value)
	}
	return errors.Join(errs...)
}

// Bounds of what is simulated, so that it ends soon and fits into memory.
const (
	maxJobs    = 5_000_000
	maxWorkers = 1_000_000
	maxSlots   = 10_000
)

func (c Config) withDefaults() Config {
	setDefault(&c.Slots, 1)
	setDefault(&c.Arrivals.Pattern, Poisson)
	duration, peak := time.Hour, 3.0
	if c.Arrivals.Pattern == Daily {
		duration, peak = 24*time.Hour, 1.8
	}
	setDefault(&c.Arrivals.Duration, duration)
	setDefault(&c.Arrivals.Peak, peak)
	if n := len(c.Service.Times); n > 0 {
		var all time.Duration
		for _, d := range c.Service.Times {
			all += d
		}
		c.Service.Mean = all / time.Duration(n)
	}
	setDefault(&c.Service.Distribution, LogNormal)
	setDefault(&c.Service.CV, 1)
	setDefault(&c.Failures.Lease, 75*time.Second)
	setDefault(&c.Failures.Repair, 30*time.Second)
	setDefault(&c.Database.Cores, 1)
	setDefault(&c.Database.BeatEvery, 3*time.Second)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
