package simulation

import (
	"math"
	"testing"
	"time"
)

// sample is what independent runs gave for one figure.
type sample struct{ mean, err float64 } // err is the standard error of the mean

// repeat runs a configuration with as many seeds, and returns for each figure the
// mean over the runs with its standard error.
func repeat(t *testing.T, c Config, runs int, figures ...func(Report) float64) []sample {
	t.Helper()
	sums, squares := make([]float64, len(figures)), make([]float64, len(figures))
	for i := range runs {
		c.Seed = uint64(i) + 1
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		for f, figure := range figures {
			x := figure(r)
			sums[f] += x
			squares[f] += x * x
		}
	}
	n := float64(runs)
	out := make([]sample, len(figures))
	for f := range figures {
		mean := sums[f] / n
		out[f] = sample{mean, math.Sqrt(max(0, squares[f]/n-mean*mean) / (n - 1))}
	}
	return out
}

// is checks a figure against what theory says: within four standard errors, which
// must be small enough to say something.
func (s sample) is(t *testing.T, what string, theory float64) {
	t.Helper()
	t.Logf("%s: %g ± %g, theory says %g", what, s.mean, s.err, theory)
	if s.err > 0.07*theory {
		t.Errorf("%s: %g ± %g is too uncertain to compare with %g", what, s.mean, s.err, theory)
	}
	if math.Abs(s.mean-theory) > 4*s.err+1e-9 {
		t.Errorf("%s: %g ± %g, theory says %g", what, s.mean, s.err, theory)
	}
}

func mean(r Report) float64 { return r.Wait.Mean }
func p95(r Report) float64  { return r.Wait.P95 }

// erlangC is the probability that a job has to wait for one of c servers that are
// offered a load of a (Erlang 1917).
func erlangC(c int, a float64) float64 {
	b := 1.0 // Erlang's B formula, by its recursion
	for n := 1; n <= c; n++ {
		b = a * b / (float64(n) + a*b)
	}
	return b / (1 - a/float64(c)*(1-b))
}

// TestWaitsAreThoseOfErlang compares with M/M/c: waits are longer than t with
// probability C·exp(-(cμ-λ)t).
func TestWaitsAreThoseOfErlang(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		workers, slots int
		load           float64 // of each server
	}{
		"one server":                {1, 1, 0.7},
		"four workers of two slots": {4, 2, 0.75},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tt.workers * tt.slots
			rate := tt.load * float64(c)
			duration := time.Duration(5_000 / rate * float64(time.Second))
			got := repeat(t, Config{
				Workers: tt.workers, Slots: tt.slots, Service: Service{Distribution: Exponential, Mean: time.Second},
				Arrivals: Arrivals{Rate: rate, Duration: duration}, Warmup: 500,
			}, 20, mean, p95)
			waits, spare := erlangC(c, rate), float64(c)-rate
			got[0].is(t, "mean wait", waits/spare)
			got[1].is(t, "wait of 95 %", math.Log(waits/0.05)/spare)
		})
	}
}

// TestWaitsAreThoseOfPollaczekAndKhinchine compares with M/G/1: the mean wait is
// ρs(1+cv²)/2(1-ρ), for fixed times and for long-tailed ones.
func TestWaitsAreThoseOfPollaczekAndKhinchine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service Service
		cv      float64
	}{
		"fixed times (M/D/1)": {Service{Distribution: Fixed, Mean: time.Second}, 0},
		"lognormal times":     {Service{Distribution: LogNormal, Mean: time.Second, CV: 0.5}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const load = 0.6
			got := repeat(t, Config{Workers: 1, Service: tt.service, Arrivals: Arrivals{Rate: load, Duration: 10_000 * time.Second}, Warmup: 500}, 16, mean)
			got[0].is(t, "mean wait", load*(1+tt.cv*tt.cv)/(2*(1-load)))
		})
	}
}

// TestTheDatabaseIsAServerLikeOthers compares waits of idle workers with M/D/1: all
// that jobs wait for is the work of the claims.
func TestTheDatabaseIsAServerLikeOthers(t *testing.T) {
	t.Parallel()
	const load, work = 0.5, 10 * time.Millisecond
	rate := load / work.Seconds()
	got := repeat(t, Config{
		Workers: 1000, Service: Service{Distribution: Fixed, Mean: time.Millisecond}, Arrivals: Arrivals{Rate: rate, Duration: 100 * time.Second}, Warmup: 500,
		Database: Database{Claim: Batch{Job: work}},
	}, 8, mean, func(r Report) float64 { return r.DatabaseUse })
	got[0].is(t, "mean wait", work.Seconds()+work.Seconds()*load/(2*(1-load)))
	got[1].is(t, "use of the database", load)
}

// TestALostLeaseDelaysAsLongAsItLasts compares the time to a result where workers
// die: a job of fixed length s that fails at rate f begins exp(fs) times, and each
// failure costs what was done and the lease.
func TestALostLeaseDelaysAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	const s, f, lease = 10.0, 1.0 / 20, 30.0
	c := Config{
		Workers: 60, Service: Service{Distribution: Fixed, Mean: s * time.Second}, Arrivals: Arrivals{Rate: 0.5, Duration: time.Hour},
		Failures: Failures{MTBF: time.Duration(float64(time.Second) / f), Lease: lease * time.Second, Repair: time.Second},
	}
	got := repeat(t, c, 8, func(r Report) float64 { return r.Turnaround.Mean }, func(r Report) float64 { return float64(r.LostAttempts) / float64(r.Jobs) })
	failures := math.Exp(f*s) - 1
	done := 1/f - s/failures // of an attempt that fails, on average
	got[0].is(t, "mean time to a result", s+failures*(done+lease))
	got[1].is(t, "failures of a job", failures)
}

// TestArrivalsFollowTheirPattern compares how many come when with the rates.
func TestArrivalsFollowTheirPattern(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrivals Arrivals
		from, to float64 // parts of the duration
		want     float64 // part of the jobs
	}{
		"constant":                      {Arrivals{Pattern: Constant, Rate: 3, Duration: 1000 * time.Second}, 0, 0.25, 0.25},
		"a day at noon":                 {Arrivals{Pattern: Daily, Rate: 1, Peak: 2}, 0.375, 0.625, 0.25 + 1/(math.Sqrt2*math.Pi)},
		"a day at midnight":             {Arrivals{Pattern: Daily, Rate: 1, Peak: 2}, 0, 0.125, 0.125 - 1/(2*math.Sqrt2*math.Pi)},
		"the beginning of a contest":    {Arrivals{Pattern: Contest, Rate: 5, Duration: 5 * time.Hour}, 0, 0.05, 0.01},
		"the last minutes of a contest": {Arrivals{Pattern: Contest, Rate: 5, Duration: 5 * time.Hour}, 0.9, 1, 0.3},
		"a contest with nothing else":   {Arrivals{Pattern: Contest, Rate: 5, Duration: 5 * time.Hour, Peak: 10}, 0.9, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{Workers: 1, Service: Service{Mean: time.Second}, Arrivals: tt.arrivals}.withDefaults()
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			s := newSimulation(c)
			end, in := c.Arrivals.Duration.Seconds(), 0
			for _, j := range s.jobs {
				if j.arrived >= tt.from*end && j.arrived < tt.to*end {
					in++
				}
			}
			n, expected := float64(len(s.jobs)), c.Arrivals.Rate*end
			if math.Abs(n-expected) > 4*math.Sqrt(expected) {
				t.Errorf("%g jobs came, want about %g", n, expected)
			}
			if got := float64(in) / n; math.Abs(got-tt.want) > 4*math.Sqrt(tt.want*(1-tt.want)/n)+1/n {
				t.Errorf("%g of the jobs came there, want %g", got, tt.want)
			}
		})
	}
}
