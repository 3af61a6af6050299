package simulation_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/simulation"
)

// within compares a prediction with what was measured.
func within(b *testing.B, what string, predicted, measured float64) {
	b.Helper()
	off := predicted/measured - 1
	b.Logf("%s: predicted %.4g, measured %.4g, %+.0f %%", what, predicted, measured, 100*off)
	if math.Abs(off) > 0.15 {
		b.Errorf("%s is predicted %.0f %% off; wanted is 15 %%", what, 100*off)
	}
}

// BenchmarkWaits hands in jobs at random moments, to workers that are busy for four
// fifths of their time, and compares waits with the simulation of the same jobs.
func BenchmarkWaits(b *testing.B) {
	const workers, slots, load, jobs = 2, 2, 0.8, 600
	mean := 300 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 1))
	var services, moments []time.Duration
	var at float64
	for range jobs {
		services = append(services, time.Duration(rng.ExpFloat64()*float64(mean)))
		moments = append(moments, time.Duration(at*float64(time.Second)))
		at += rng.ExpFloat64() * mean.Seconds() / (load * workers * slots)
	}
	s := newSystem(b)
	stop := s.start(workers, slots, true)
	defer stop()
	// What is beside the judging, when nothing waits.
	const quiet = 50
	var besides, pickups []time.Duration
	for _, n := range submissions(quiet, func(int) time.Duration { return mean / 10 }) {
		r, err := s.store.Submit(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		s.drained()
		sub, err := s.store.Submission(b.Context(), r.JobID)
		if err != nil {
			b.Fatal(err)
		}
		besides = append(besides, sub.Finished.Sub(*sub.Started)-mean/10)
		pickups = append(pickups, sub.Started.Sub(sub.Created))
	}
	slices.Sort(besides)
	slices.Sort(pickups)
	beside, pickup := besides[quiet/2], pickups[quiet/2]
	b.Logf("to take a job takes %v, and beside judging it takes %v", pickup, beside)
	began := time.Now()
	ids := make([]int64, jobs)
	var handed errgroup.Group
	for i, n := range submissions(jobs, func(i int) time.Duration { return services[i] }) {
		time.Sleep(time.Until(began.Add(moments[i])))
		handed.Go(func() error {
			r, err := s.store.Submit(context.WithoutCancel(b.Context()), n)
			ids[i] = r.JobID
			return err
		})
	}
	if err := handed.Wait(); err != nil {
		b.Fatal(err)
	}
	s.drained()
	// Waits begin with the commit, which is what the table has.
	type handedIn struct {
		created      time.Time
		service      time.Duration
		wait, result time.Duration
	}
	var all []handedIn
	for i, id := range ids {
		sub, err := s.store.Submission(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, handedIn{sub.Created, services[i], sub.Started.Sub(sub.Created), sub.Finished.Sub(sub.Created)})
	}
	slices.SortFunc(all, func(x, y handedIn) int { return x.created.Compare(y.created) })
	c := simulation.Config{Workers: workers, Slots: slots, Database: simulation.Database{Cores: workers * slots, Claim: simulation.Batch{Each: pickup}}}
	var waits, results []float64
	for _, h := range all {
		c.Arrivals.Times = append(c.Arrivals.Times, h.created.Sub(all[0].created))
		c.Service.Times = append(c.Service.Times, h.service+beside)
		waits, results = append(waits, h.wait.Seconds()), append(results, h.result.Seconds())
	}
	r, err := simulation.Run(c)
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name      string
		measured  []float64
		predicted simulation.Quantiles
	}{{"wait", waits, r.Wait}, {"time to the result", results, r.Turnaround}} {
		slices.Sort(x.measured)
		sum := 0.0
		for _, v := range x.measured {
			sum += v
		}
		within(b, "mean "+x.name, x.predicted.Mean, sum/jobs)
		within(b, "median "+x.name, x.predicted.P50, x.measured[jobs/2])
		within(b, x.name+" of 95 %", x.predicted.P95, x.measured[jobs*95/100])
	}
}
