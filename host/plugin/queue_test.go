package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"deepoj/host/plugin"
	"deepoj/plugins"
)

// oneWorker returns a runtime with one worker and two modules, whose calls have been
// short.
func oneWorker(t *testing.T, cfg plugin.Config) (r *plugin.Runtime, tokens, lines *plugin.Module) {
	t.Helper()
	cfg.Workers = 1
	r = open(t, cfg)
	load := func(name string) *plugin.Module {
		wasm, err := plugins.Checker(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Load(t.Context(), wasm, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Check(t.Context(), m, check(t, "", "1\n", "1\n")); err != nil {
			t.Fatal(err)
		}
		return m
	}
	return r, load("tokens"), load("lines")
}

func TestEachOfManyWaitingCallsGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	r, tokens, lines := oneWorker(t, plugin.Config{})
	var all errgroup.Group
	for i := range 200 {
		m, want := tokens, plugin.Accepted
		if i%3 == 0 {
			m = lines
		}
		answer := strings.Repeat("1 ", i) + "2\n"
		output, says := answer, ""
		if i%2 == 0 {
			output, want = strings.Repeat("1 ", i)+"3\n", plugin.Wrong
			if m == tokens {
				says = fmt.Sprintf("token %d ", i+1)
			}
		}
		q := check(t, "", output, answer)
		all.Go(func() error {
			o, err := r.Check(t.Context(), m, q)
			if err == nil && (o.Outcome != want || !strings.Contains(o.Message, says)) {
				err = fmt.Errorf("call %d says %+v; want %s and %q", i, o, want, says)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

func TestACallThatIsGivenUpTakesNoOtherWithIt(t *testing.T) {
	t.Parallel()
	r, tokens, _ := oneWorker(t, plugin.Config{})
	var all sync.WaitGroup
	for i := range 100 {
		q := check(t, "", "1\n", "1\n")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		all.Go(func() {
			o, err := r.Check(ctx, tokens, q)
			if i%4 == 0 && errors.Is(err, context.Canceled) {
				return
			}
			if err != nil || o.Outcome != plugin.Accepted {
				t.Errorf("call %d: %+v, %v", i, o, err)
			}
		})
		if i%4 == 0 {
			all.Go(cancel)
		}
	}
	all.Wait()
}

func TestAWorkerThatDiesCostsWaitingCallsNothing(t *testing.T) {
	t.Parallel()
	r, tokens, _ := oneWorker(t, plugin.Config{})
	stop := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for kills := 0; kills < 3; {
			select {
			case <-stop:
				return
			default:
			}
			for _, pid := range r.WorkerPIDs() {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					kills++
				}
			}
		}
	})
	var all sync.WaitGroup
	for range 20 {
		q := check(t, "", "1\n", "1\n")
		all.Go(func() {
			for range 20 {
				o, err := r.Check(t.Context(), tokens, q)
				if errors.Is(err, plugin.ErrDied) {
					continue // killed in both of its tries
				}
				if err != nil || o.Outcome != plugin.Accepted {
					t.Errorf("%+v, %v", o, err)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	killer.Wait()
}
