package simulation_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/simulation"
	"deepoj/sql/sqltest"
)

// BenchmarkScale asks how many workers one PostgreSQL bears. Their judge sleeps instead of judging, so that they need
// no cores of their own. Tests of a second show what is left of the ideal, which is as many jobs per second as there
// are slots; with tests of nothing, workers are added until that brings nothing more, and it is told what is used up.
func BenchmarkScale(b *testing.B) {
	for _, delivery := range []string{"postgres", "streams"} {
		b.Run("1s/"+delivery, func(b *testing.B) { ideal(b, delivery == "streams") })
		b.Run("20ms/"+delivery, func(b *testing.B) {
			s := newSystem(b)
			for _, workers := range []int{1, 2} {
				l := s.load(workers, loadSlots, 6000, 20*time.Millisecond, delivery == "streams")
				b.Logf("%d workers: %s; %.0f %% of the ideal", workers, l, 100*l.rate*0.02/float64(workers*loadSlots))
				b.ReportMetric(l.rate, fmt.Sprintf("jobs/s-with-%d", workers))
			}
		})
		b.Run("0s/"+delivery, func(b *testing.B) { saturate(b, delivery == "streams") })
	}
}

const (
	idealSlots = 4
	idealFor   = 30 // seconds; the first second goes to opening connections, three for each worker, and to their plans
	wanted     = 0.9
	quiet      = 0.25 // how idle the processors must have been for a ratio to be judged

	loadSlots = 16
	loadJobs  = 12_000
)

// ideal has 1 to 64 workers judge for half a minute jobs that take a second.
func ideal(b *testing.B, streams bool) {
	s := newSystem(b)
	for workers := 1; workers <= 64; workers *= 2 {
		jobs := workers * idealSlots * idealFor
		l := s.load(workers, idealSlots, jobs, time.Second, streams)
		part := l.rate / float64(workers*idealSlots)
		b.Logf("%d workers of %d slots: %.3f of the ideal; %s", workers, idealSlots, part, l)
		b.ReportMetric(part, fmt.Sprintf("of-ideal-with-%d", workers))
		if l.idle < quiet {
			b.Logf("the processors were idle for %.0f %% of the time, less than %.0f %%: that says more of them than of workers and database", 100*l.idle, 100*quiet)
			continue
		}
		if part < wanted {
			b.Errorf("%d workers do %.3f of the ideal, want %.1f", workers, part, wanted)
		}
		r, err := simulation.Run(simulation.Config{
			Workers: workers, Slots: idealSlots, Service: simulation.Service{Distribution: simulation.Fixed, Mean: time.Second},
			Arrivals: simulation.Arrivals{Times: make([]time.Duration, jobs)}, Database: usual(),
		})
		if err != nil {
			b.Fatal(err)
		}
		within(b, fmt.Sprintf("the rate of %d workers", workers), r.Throughput, l.rate)
	}
}

// usual is what `deepoj simulate` takes the database for unless it is told otherwise.
func usual() simulation.Database {
	batch := func(job time.Duration) simulation.Batch {
		return simulation.Batch{Each: 300 * time.Microsecond, Job: job}
	}
	return simulation.Database{
		Cores: 2, Commit: 2 * time.Millisecond, Beat: 200 * time.Microsecond,
		Submit: batch(74 * time.Microsecond), Claim: batch(51 * time.Microsecond), Finalize: batch(57 * time.Microsecond),
	}
}

// saturate adds workers until that brings nothing more, and says what is used up then, and what the simulation says.
func saturate(b *testing.B, streams bool) {
	s := newSystem(b)
	var best, one load
	most := 0
	for workers := 1; workers <= 64; workers *= 2 {
		l := s.load(workers, loadSlots, loadJobs, 0, streams)
		b.Logf("%d workers of %d slots: %s", workers, loadSlots, l)
		b.ReportMetric(l.rate, fmt.Sprintf("jobs/s-with-%d", workers))
		if workers == 1 {
			one = l
		}
		if l.rate < 1.05*best.rate && workers > 2*most {
			break // twice as many, and twice again, bring nothing
		}
		if l.rate > best.rate {
			best, most = l, workers
		}
	}
	b.Logf("%d workers do most, %.0f jobs per second; used up is %s", most, best.rate, best.usedUp())
	b.ReportMetric(best.commits, "transactions/job")
	b.ReportMetric(best.wal, "WAL-B/job")
	predict := fit(b, one.rate, best)
	for workers := 1; workers <= 2*most; workers *= 2 {
		r := predict(workers)
		b.Logf("%d workers: %.0f jobs per second are predicted, at most %.0f by the database, of which %.0f %% are used", workers, r.Throughput, r.DatabaseLimit, 100*r.DatabaseUse)
	}
}

// load is what it took to judge many jobs.
type load struct {
	rate              float64 // jobs per second
	took              time.Duration
	servers, programs time.Duration // of the processors
	idle              float64       // of the processors: the part of the time in which nobody used them
	jobs              int
	commits           float64        // transactions that were committed, for each job, also those in which listening connections read a notification
	wal               float64        // bytes of the write-ahead log, for each job
	waits             map[string]int // what active connections of PostgreSQL were seen to wait for; "" = for nothing
}

// cores is how many cores were busy with it, of those that there are.
func (l load) cores() (servers, programs float64) {
	return l.servers.Seconds() / l.took.Seconds(), l.programs.Seconds() / l.took.Seconds()
}

func (l load) String() string {
	servers, programs := l.cores()
	n := float64(runtime.NumCPU())
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(l.jobs) }
	return fmt.Sprintf("%.0f jobs/s; CPU time of a job %.0f µs in the servers and %.0f µs in the workers; processors: %.0f %% servers, %.0f %% workers, %.0f %% others, %.0f %% idle; %.2f transactions and %.0f bytes of WAL for a job; active connections: %s",
		l.rate, each(l.servers), each(l.programs), 100*servers/n, 100*programs/n, 100*max(0, 1-l.idle-(servers+programs)/n), 100*l.idle, l.commits, l.wal, l.seen())
}

// seen says what active connections were seen to do, most often first.
func (l load) seen() string {
	all := 0
	var whats []string
	for what, n := range l.waits {
		all += n
		whats = append(whats, what)
	}
	slices.SortFunc(whats, func(x, y string) int { return l.waits[y] - l.waits[x] })
	for i, what := range whats {
		whats[i] = fmt.Sprintf("%s %d %%", what, 100*l.waits[what]/max(1, all))
	}
	return strings.Join(whats[:min(4, len(whats))], ", ")
}

// usedUp names what there is no more of.
func (l load) usedUp() string {
	if l.idle < 0.1 {
		return "the processors"
	}
	return "not the processors; connections wait for " + l.seen()
}

// load gives jobs to so many workers and measures until they are all judged.
func (s *system) load(workers, slots, jobs int, each time.Duration, streams bool) load {
	s.b.Helper()
	if err := s.store.PauseQueue(s.b.Context(), judge.DefaultQueue, true, "bench"); err != nil {
		s.b.Fatal(err)
	}
	for batch := range slices.Chunk(submissions(jobs, func(int) time.Duration { return each }), 256) {
		if _, err := s.store.SubmitMany(s.b.Context(), batch); err != nil {
			s.b.Fatal(err)
		}
	}
	stop := s.start(workers, slots, streams)
	commits := s.commits()
	wal := s.wal()
	servers, programs := s.use()
	waits, watched := map[string]int{}, time.Now()
	idle, all := s.idle()
	began := time.Now()
	if err := s.store.PauseQueue(s.b.Context(), judge.DefaultQueue, false, "bench"); err != nil {
		s.b.Fatal(err)
	}
	s.until(func() bool {
		q, err := s.store.QueueStats(s.b.Context())
		if time.Since(watched) > 50*time.Millisecond {
			s.watch(waits)
			watched = time.Now()
		}
		return err == nil && q.Pending+q.Delivered+q.Running == 0
	})
	l := load{took: time.Since(began), jobs: jobs, waits: waits}
	serversNow, programsNow := s.use()
	idleNow, allNow := s.idle()
	l.idle = (idleNow - idle) / (allNow - all)
	l.rate = float64(jobs) / l.took.Seconds()
	l.servers, l.programs = serversNow-servers, programsNow-programs
	l.wal = float64(s.wal()-wal) / float64(jobs)
	stop() // a connection that ends tells its figures
	l.commits = float64(s.commits()-commits) / float64(jobs)
	return l
}

// idle is for how long the processors had nothing to do so far, waiting for a disk included, and how long that is of all.
func (s *system) idle() (idle, all float64) {
	s.b.Helper()
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		s.b.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	for i, f := range strings.Fields(first)[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			s.b.Fatal(err)
		}
		all += n
		if i == 3 || i == 4 {
			idle += n
		}
	}
	return idle, all
}

// commits is how many transactions were committed so far; connections that are open tell theirs late.
func (s *system) commits() int64 {
	s.b.Helper()
	time.Sleep(200 * time.Millisecond)
	return sqltest.One[int64](s.b, s.store, "select pg_stat_get_db_xact_commit(oid) from pg_database where datname = current_database()")
}

// wal is how many bytes of the write-ahead log there were so far.
func (s *system) wal() int64 {
	s.b.Helper()
	return sqltest.One[int64](s.b, s.store, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
}

// watch counts what active connections wait for at the moment.
func (s *system) watch(waits map[string]int) {
	s.b.Helper()
	for _, what := range sqltest.All[string](s.b, s.store, `select coalesce(wait_event, 'on a processor or waiting for one')
		from pg_stat_activity where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`) {
		waits[what]++
	}
}

// fit returns a simulation of jobs that take no time: their work is what the processors did for a job in the best load,
// and a commit takes what one worker then waits for.
func fit(b *testing.B, one float64, best load) func(workers int) simulation.Report {
	b.Helper()
	cores := runtime.NumCPU()
	work := time.Duration(float64(best.servers+best.programs) / float64(best.jobs) / 2) // of the claim, and of the result
	run := func(workers int, commit time.Duration) simulation.Report {
		r, err := simulation.Run(simulation.Config{
			Workers: workers, Slots: loadSlots, Service: simulation.Service{Distribution: simulation.Fixed, Mean: time.Nanosecond},
			Arrivals: simulation.Arrivals{Times: make([]time.Duration, loadJobs)},
			Database: simulation.Database{Cores: cores, Commit: commit, Beat: 200 * time.Microsecond, Claim: simulation.Batch{Job: work}, Finalize: simulation.Batch{Job: work}},
		})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	least, most := time.Duration(0), time.Second
	for most-least > 10*time.Microsecond {
		if middle := (least + most) / 2; run(1, middle).Throughput > one {
			least = middle
		} else {
			most = middle
		}
	}
	b.Logf("a commit takes %v, it seems", most)
	return func(workers int) simulation.Report { return run(workers, most) }
}
