package simulation

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func simulate(t *testing.T, c Config) Report {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Finished+r.Dead != r.Jobs {
		t.Errorf("%d jobs came, %d have a result and %d are dead", r.Jobs, r.Finished, r.Dead)
	}
	return r
}

// busy has everything that can happen.
func busy() Config {
	return Config{
		Workers: 20, Slots: 3, Service: Service{Mean: 2 * time.Second, CV: 2}, Arrivals: Arrivals{Pattern: Contest, Rate: 20, Duration: 10 * time.Minute},
		Failures: Failures{MTBF: 2 * time.Minute, Lease: 10 * time.Second, Repair: 20 * time.Second, MaxTries: 5},
		Database: Database{Cores: 2, Commit: 2 * time.Millisecond, Submit: Batch{time.Millisecond, 100 * time.Microsecond}, Claim: Batch{time.Millisecond, 100 * time.Microsecond}, Finalize: Batch{time.Millisecond, 100 * time.Microsecond}, Beat: time.Millisecond},
	}
}

func TestTheSeedDecidesEverything(t *testing.T) {
	t.Parallel()
	c := busy()
	first := simulate(t, c)
	if again := simulate(t, c); again != first {
		t.Errorf("the same seed gave %+v and %+v", first, again)
	}
	c.Seed = 1
	if other := simulate(t, c); other == first {
		t.Error("another seed gave the same")
	}
	if first.Failures == 0 || first.LostAttempts == 0 || first.Backlog == 0 || first.WorkersUse <= 0 || first.WorkersUse > 1 || first.DatabaseUse <= 0 || first.DatabaseUse > 1 {
		t.Errorf("nothing much has happened: %+v", first)
	}
}

func TestAJobThatFailsTooOftenIsDead(t *testing.T) {
	t.Parallel()
	r := simulate(t, Config{
		Workers: 2, Service: Service{Distribution: Fixed, Mean: time.Hour}, Arrivals: Arrivals{Pattern: Constant, Rate: 0.01, Duration: 1000 * time.Second},
		Failures: Failures{MTBF: time.Minute, Lease: time.Minute, MaxTries: 3},
	})
	if r.Dead != 10 || r.LostAttempts != 30 {
		t.Errorf("%d jobs are dead after %d attempts, want 10 after 30", r.Dead, r.LostAttempts)
	}
}

// TestWhatIsTooLittleBoundsTheThroughput floods the simulation and compares with
// the limit that it names.
func TestWhatIsTooLittleBoundsTheThroughput(t *testing.T) {
	t.Parallel()
	costs := Database{Cores: 2, Submit: Batch{Job: 50 * time.Microsecond}, Claim: Batch{Job: 100 * time.Microsecond}, Finalize: Batch{Job: 100 * time.Microsecond}}
	for name, tt := range map[string]struct {
		workers int
		mean    time.Duration
		want    Bottleneck
		limit   float64
	}{
		"few workers, and jobs that are short": {20, 10 * time.Millisecond, OfWorkers, 20 / 0.01},
		"few workers, and jobs that are not":   {20, 300 * time.Millisecond, OfWorkers, 20 / 0.3002},
		"ten thousands":                        {10_000, 10 * time.Millisecond, OfDatabase, 2 / 250e-6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := simulate(t, Config{
				Workers: tt.workers, Service: Service{Distribution: Fixed, Mean: tt.mean}, Arrivals: Arrivals{Rate: 20_000, Duration: 2 * time.Second}, Database: costs,
			})
			limit := r.WorkersLimit
			if tt.want == OfDatabase {
				limit = r.DatabaseLimit
			}
			if r.Bottleneck != tt.want || math.Abs(limit-tt.limit) > 0.001*tt.limit {
				t.Errorf("the bottleneck is %s at %g/s, want %s at %g/s", r.Bottleneck, limit, tt.want, tt.limit)
			}
			if r.Throughput > 1.001*limit || r.Throughput < 0.9*limit {
				t.Errorf("%g jobs per second are judged; there is room for %g", r.Throughput, limit)
			}
		})
	}
}

func TestLargerStatementsMoveTheDatabasesLimit(t *testing.T) {
	t.Parallel()
	c := Config{
		Workers: 64, Service: Service{Distribution: Fixed, Mean: time.Millisecond}, Arrivals: Arrivals{Rate: 20_000, Duration: time.Second},
		Database: Database{Claim: Batch{Each: time.Millisecond, Job: 10 * time.Microsecond}, Finalize: Batch{Each: time.Millisecond, Job: 10 * time.Microsecond}},
	}
	one := simulate(t, c)
	c.Slots = 16
	many := simulate(t, c)
	if one.Bottleneck != OfDatabase || many.Throughput < 4*one.Throughput {
		t.Errorf("%g jobs per second with one slot, %g with 16", one.Throughput, many.Throughput)
	}
}

func TestTheNeedIsTheFewestWorkersThatKeepThePromise(t *testing.T) {
	t.Parallel()
	c := Config{Service: Service{Distribution: Exponential, Mean: 2 * time.Second}, Arrivals: Arrivals{Rate: 10, Duration: 5 * time.Minute}}
	target := Target{0.95, time.Second}
	n, r, err := Need(c, target)
	if err != nil {
		t.Fatal(err)
	}
	if r.Wait.P95 > 1 || n <= 20 || n > 30 {
		t.Errorf("%d workers, with which 95 %% wait %g s", n, r.Wait.P95)
	}
	c.Workers = n - 1
	if fewer := simulate(t, c); fewer.Wait.P95 <= 1 {
		t.Errorf("one fewer suffices too: %g s", fewer.Wait.P95)
	}
	c.Database.Claim.Job = 200 * time.Millisecond
	if n, _, err := Need(c, target); !errors.Is(err, ErrNotByWorkers) {
		t.Errorf("a database that is too slow needs %d workers, %v", n, err)
	}
}

func TestTimesThatAreGivenAreSimulatedAsTheyAre(t *testing.T) {
	t.Parallel()
	const second = time.Second
	r := simulate(t, Config{
		Workers: 1, Arrivals: Arrivals{Times: []time.Duration{0, second, 2 * second, 20 * second}}, Service: Service{Times: []time.Duration{3 * second, 4 * second, second, second}},
	})
	// The second waits from 1 to 3, the third from 2 to 7.
	if want := (Quantiles{Mean: 7.0 / 4, P50: 0, P95: 5, P99: 5, Max: 5}); r.Wait != want || r.Turnaround.Max != 6 || r.Seconds != 21 || r.Backlog != 2 {
		t.Errorf("%+v, want waits %+v", r, want)
	}
	if _, err := Run(Config{Workers: 1, Arrivals: Arrivals{Times: []time.Duration{0}}, Service: Service{Times: []time.Duration{1, 2}}}); err == nil || !strings.Contains(err.Error(), "Service.Times are 2, and Arrivals.Times 1") {
		t.Errorf("times that do not match: %v", err)
	}
}

func TestABadConfigNamesEveryField(t *testing.T) {
	t.Parallel()
	_, err := Run(Config{
		Slots: -1, Arrivals: Arrivals{Pattern: "tides", Rate: -1, Duration: -1}, Service: Service{Distribution: "zipf", CV: math.NaN()},
		Failures: Failures{MaxTries: -1, MTBF: -1, Lease: -1, Repair: -1}, Database: Database{Cores: -1, Beat: -1, Claim: Batch{Job: -1}}, Warmup: -1,
	})
	for _, field := range []string{
		"Slots", "Arrivals.Pattern", "Arrivals.Rate", "Arrivals.Duration", "Workers", "Service.Distribution", "Service.Mean", "Service.CV", "Failures.MaxTries",
		"Failures.MTBF", "Failures.Lease", "Failures.Repair", "Database.Cores", "Database.Beat", "Database.Claim.Job", "Warmup",
	} {
		if err == nil || !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	endless := Config{Workers: 1, Service: Service{Mean: time.Hour}, Arrivals: Arrivals{Rate: 1}, Failures: Failures{MTBF: time.Second}}
	if _, err := Run(endless); err == nil || !strings.Contains(err.Error(), "MaxTries") {
		t.Errorf("jobs that would never end: %v", err)
	}
	for _, target := range []Target{{0.9, time.Second}, {0.95, 0}} {
		if _, _, err := Need(endless, target); err == nil {
			t.Errorf("%+v is accepted", target)
		}
	}
}

// A job of 300 ms is not short: with one of them among short ones, what its worker had claimed ahead goes to another.
func TestNoJobWaitsBehindALongOneWhileAnotherWorkerIsFree(t *testing.T) {
	t.Parallel()
	c := Config{Workers: 1, Service: Service{Distribution: Fixed}, Database: Database{Cores: 2, Claim: Batch{Each: time.Millisecond}}}
	for i := range 12 {
		c.Arrivals.Times = append(c.Arrivals.Times, 0)
		c.Service.Times = append(c.Service.Times, 10*time.Millisecond)
		if i == 6 {
			c.Service.Times[i] = time.Hour
		}
	}
	alone := simulate(t, c)
	c.Workers = 2
	two := simulate(t, c)
	if alone.Wait.Max < 3600 || two.Wait.Max > 2*shortJudging {
		t.Errorf("jobs wait up to %g s for one worker and %g s for two, want an hour and hardly more than a short judging", alone.Wait.Max, two.Wait.Max)
	}
}

// One flush of the disk is for all that was to be written when it began, and they come one after the other.
func TestCommitsShareTheDisk(t *testing.T) {
	t.Parallel()
	c := Config{
		Workers: 100, Service: Service{Distribution: Fixed, Mean: time.Second}, Arrivals: Arrivals{Times: make([]time.Duration, 100)},
		Database: Database{Cores: 100, Commit: 100 * time.Millisecond},
	}
	// The jobs are handed in with at most two statements and flushes, and claimed and recorded with two each.
	if r := simulate(t, c); r.Seconds < 1.3 || r.Seconds > 1.61 {
		t.Errorf("it took %g s, want a second and three to six flushes of 0.1 s", r.Seconds)
	}
}
