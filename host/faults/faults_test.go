package faults

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// With FOR (a duration), SEED, JOBS, WORKERS (numbers) and PACE (the mean time
// between two faults) the run is as long and as rough as is wanted: see `make faults`.
func TestNothingIsLostOrDoubledWhateverFails(t *testing.T) {
	length, seed := 8*time.Second, uint64(time.Now().UnixNano()%1_000_000)
	every, jobs, workers := 250*time.Millisecond, 600, 3
	setting(t, "FOR", &length, time.ParseDuration)
	setting(t, "SEED", &seed, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
	setting(t, "PACE", &every, time.ParseDuration)
	setting(t, "JOBS", &jobs, strconv.Atoi)
	setting(t, "WORKERS", &workers, strconv.Atoi)
	t.Parallel()
	t.Logf("SEED=%d", seed)
	w := newWorld(t, seed)
	w.populate(workers, "")
	wanted := append([]string{"worker died", "audits"}, must...)
	w.run(t, length, every, jobs, wanted)
	for _, name := range wanted {
		if w.counts[name] == 0 {
			t.Errorf("%q never happened", name)
		}
	}
	for _, v := range w.violations() {
		t.Error(v)
	}
	w.report(t)
}

// patience bounds every wait for something that must happen.
const patience = 5 * time.Minute

// run breaks things for so long, and until everything wanted has happened. Then
// it lets the system come to rest and compares.
func (w *world) run(t *testing.T, length, every time.Duration, jobs int, wanted []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), length+2*patience)
	defer stop()
	var audits, submits, breaking sync.WaitGroup
	auditing, noAudits := context.WithCancel(ctx)
	audits.Go(func() { w.sample(auditing, max(200*time.Millisecond, min(length/40, 5*time.Second))) })
	rough, noFaults := context.WithCancel(ctx)
	if every > 0 {
		breaking.Go(func() { w.breakThings(rough, every) })
	}
	enough := make(chan struct{})
	submits.Go(func() { w.submitAll(ctx, jobs, length, enough) })
	pause(ctx, length)
	for _, name := range wanted {
		for limit := time.Now().Add(patience); w.counted(name) == 0 && time.Now().Before(limit); {
			pause(ctx, 20*time.Millisecond)
		}
	}
	close(enough)
	submits.Wait() // faults go on while jobs come
	w.calm.Store(true)
	noFaults()
	breaking.Wait()
	w.say("calm")
	w.settle(ctx, w.patience)
	noAudits()
	audits.Wait()
	w.dismiss(t)
	w.verify(context.WithoutCancel(ctx))
}

// report prints what happened; after a failure, and on demand, all of it.
func (w *world) report(t *testing.T) {
	t.Helper()
	t.Logf("%.0f s: %v", time.Since(w.began).Seconds(), w.counts)
	if t.Failed() || os.Getenv("FOR") != "" {
		t.Logf("the schedule:\n%s", w.schedule.String())
	}
	if t.Failed() {
		log := w.log.b.String()
		t.Logf("the processes said:\n%s", log[max(0, len(log)-20_000):])
	}
}

func setting[T any](t *testing.T, name string, value *T, parse func(string) (T, error)) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return
	}
	v, err := parse(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	*value = v
}

// The oracle is worth what it finds: each of these defects must show. The one
// death that some of them need happens for certain.
func TestTheOracleFindsDefects(t *testing.T) {
	for mutant, tt := range map[string]struct {
		death   role
		symptom string
	}{
		mutantNoFence:      {role{Step: stepJudged, Stops: true}, "what another one found"},
		mutantAckFirst:     {role{}, "before the database had decided"},
		mutantNoRedelivery: {role{Step: stepReceived}, "never end"},
		mutantNoReaper:     {role{Step: stepClaimed}, "never end"},
		mutantNoKeys:       {role{}, "and was job"},
		mutantAnswerFirst:  {role{}, "is lost"},
	} {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.stepsPerLife, w.first = 0, tt.death
			if tt.symptom == "never end" {
				w.patience = 6 * time.Second
			}
			w.populate(2, mutant)
			var wanted []string
			if tt.death.Step != "" {
				wanted = []string{map[bool]string{true: "worker stopped", false: "worker died"}[tt.death.Stops]}
			}
			w.run(t, 500*time.Millisecond, 0, 60, wanted)
			found := strings.Join(w.violations(), "\n")
			if !strings.Contains(found, tt.symptom) {
				t.Errorf("no violation says %q; there are:\n%s", tt.symptom, found)
				w.report(t)
			}
		})
	}
}
