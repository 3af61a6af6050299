package faults

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The run is as long and as rough as is wanted: with FOR (a duration), SEED,
// JOBS, WORKERS, STEPS (how often a worker comes to its last step at most) and
// PACE (the mean time between two faults). See `make faults`.
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
	setting(t, "STEPS", &w.stepsPerLife, strconv.Atoi)
	wanted := []string{"worker died", "audits", blobsMet}
	for _, f := range faults {
		wanted = append(wanted, f.name)
	}
	if w.stepsPerLife > 0 {
		w.deaths = everyDeath()
		w.shuffle(len(w.deaths), func(i, j int) { w.deaths[i], w.deaths[j] = w.deaths[j], w.deaths[i] })
		for _, d := range w.deaths {
			wanted = append(wanted, d.death())
		}
	}
	w.populate(workers, "")
	w.run(t, length, every, jobs, func() bool {
		return !slices.ContainsFunc(wanted, func(name string) bool { return w.counted(name) == 0 })
	})
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

// patience bounds every wait for something that must happen. It is longer than
// the longest pause of a job between two tries, which is five minutes.
const patience = 6 * time.Minute

// run breaks things for so long, and until it is enough. Then it lets the system
// come to rest and compares.
func (w *world) run(t *testing.T, length, every time.Duration, jobs int, enough func() bool) {
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
	ended := make(chan struct{})
	submits.Go(func() { w.submitAll(ctx, jobs, length, ended) })
	pause(ctx, length)
	for limit := time.Now().Add(patience); !enough() && time.Now().Before(limit); {
		pause(ctx, 20*time.Millisecond)
	}
	close(ended)
	submits.Wait() // faults go on while jobs come
	w.calm.Store(true)
	noFaults()
	breaking.Wait()
	w.say("calm")
	w.settle(ctx, w.patience)
	w.applySets(ctx)
	if w.first.Stops { // now it comes back, when others have done its work
		w.of("worker")[0].signal(syscall.SIGCONT)
		for limit := time.Now().Add(patience); w.overwritten(ctx) == 0 && time.Now().Before(limit); {
			pause(ctx, 20*time.Millisecond)
		}
	}
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
		mutantShowsSets:    {role{}, "a set that was not applied"},
	} {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.stepsPerLife, w.first = 0, tt.death
			if tt.symptom == "never end" {
				w.patience = 6 * time.Second
			}
			w.populate(2, mutant)
			w.run(t, 500*time.Millisecond, 0, 60, func() bool {
				switch {
				case tt.death.Stops:
					return w.counted("worker stopped") > 0
				case tt.death.Step != "":
					return w.counted("worker died") > 0
				case mutant == mutantAckFirst:
					return w.acknowledged()
				case mutant == mutantShowsSets:
					if w.judgedInSets(t.Context()) == 0 {
						w.startSet(t.Context())
						return false
					}
					w.resolve(t.Context(), "cancel")
					return true
				default:
					return true
				}
			})
			found := strings.Join(w.violations(), "\n")
			if !strings.Contains(found, tt.symptom) {
				t.Errorf("no violation says %q; there are:\n%s", tt.symptom, found)
				w.report(t)
			}
		})
	}
}
