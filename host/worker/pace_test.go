package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deepoj/host/judge"
)

func TestARunIsStoppedByItsOwnClockWhenTheDatabaseIsOutOfReach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.heartbeat = func(as []judge.Attempt) ([]int64, error) {
			if time.Since(s.began) > 25*time.Second { // renewed at 10 s and 20 s
				return nil, errors.New("connection refused")
			}
			return []int64{7}, nil
		}
		var stopped time.Duration
		_, stop := s.run(t, Config{}, o, func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
			<-ctx.Done()
			stopped = time.Since(s.began)
			return judge.Result{}, ctx.Err()
		})
		<-time.After(5 * time.Minute)
		stop()
		if want := 80 * time.Second; stopped != want { // the renewal of 20 s, and a lease of 60
			t.Errorf("stopped after %s, want %s", stopped, want)
		}
		writes := append(s.asked("fin"), s.asked("fail")...)
		if len(writes) != 1 || !strings.Contains(writes[0], "fail counts=false") || !slices.Equal(o.acks, []int64{7}) {
			t.Errorf("wrote %v and acknowledged %v; want the job given back uncounted, then acknowledged", writes, o.acks)
		}
	})
}

func TestARunThatWasNeverRenewedIsStoppedAfterOneLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.heartbeat = func([]judge.Attempt) ([]int64, error) { return nil, errors.New("connection refused") }
		var stopped time.Duration
		_, stop := s.run(t, Config{}, o, func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
			<-ctx.Done()
			stopped = time.Since(s.began)
			return judge.Result{Verdict: judge.AC}, nil // too late, and not to be written
		})
		<-time.After(5 * time.Minute)
		stop()
		if stopped != time.Minute {
			t.Errorf("stopped after %s, want 1m0s", stopped)
		}
		writes := append(s.asked("fin"), s.asked("fail")...)
		if len(writes) != 1 || !strings.Contains(writes[0], "fail counts=false") || !slices.Equal(o.acks, []int64{7}) {
			t.Errorf("wrote %v and acknowledged %v; want the job given back uncounted, then acknowledged", writes, o.acks)
		}
	})
}

func TestNothingIsAcknowledgedBeforeTheDatabaseHasDecided(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.finalize = func(int) error {
			<-time.After(time.Second)
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.acks) != 0 {
				t.Errorf("acknowledged %v before the commit", o.acks)
			}
			return nil
		}
		_, stop := s.run(t, Config{}, o, accept)
		<-time.After(2 * time.Second)
		stop()
		if !slices.Equal(o.acks, []int64{7}) {
			t.Errorf("acknowledged %v after the commit, want the job", o.acks)
		}
	})
}

func TestARunIsStoppedAtTheHeartbeatThatDoesNotReturnIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7, 8}}
		s.heartbeat = func([]judge.Attempt) ([]int64, error) { return []int64{8}, nil }
		stopped := map[string]time.Duration{}
		var mu sync.Mutex
		_, stop := s.run(t, Config{Slots: 2}, o, func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
			timer := time.NewTimer(15 * time.Second)
			select {
			case <-ctx.Done():
				mu.Lock()
				stopped["lost"] = time.Since(s.began)
				mu.Unlock()
				return judge.Result{}, ctx.Err()
			case <-timer.C:
				return judge.Result{Verdict: judge.AC}, nil
			}
		})
		<-time.After(time.Minute)
		stop()
		if stopped["lost"] != 10*time.Second {
			t.Errorf("the lost run was stopped after %s, want 10s", stopped["lost"])
		}
		if got := s.asked("finalize"); len(got) != 1 || !slices.Equal(o.acks, []int64{8}) {
			t.Errorf("finalized %v, acknowledged %v; want the other one only", got, o.acks)
		}
		if !slices.Equal(o.max, []int{2}) {
			t.Errorf("asked for %v jobs, want as many as slots are free", o.max)
		}
	})
}

func TestProgressIsStoredAfterAMomentAndThenAtItsPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		_, stop := s.run(t, Config{}, o, func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			for i := range 25 { // a test every 10 ms
				progress(judge.Progress{Kind: judge.EventTest, Test: &judge.TestResult{Index: i + 1}})
				<-time.After(10 * time.Millisecond)
			}
			return judge.Result{Verdict: judge.AC}, nil
		})
		<-time.After(time.Second)
		stop()
		var total, n int
		got := s.asked("progress")
		for _, line := range got {
			if _, err := fmt.Sscanf(line[strings.Index(line, "progress"):], "progress %d", &n); err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if total+s.last != 25 || len(got) != 3 || !strings.HasPrefix(got[0], "0.04s progress ") {
			t.Errorf("stored %d tests in %v and %d with the result; want 25 in all, at 0.04 s, 0.1 s and 0.2 s later", total, got, s.last)
		}
	})
}

func TestWhatIsJudgedInAMomentIsStoredWithTheResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		_, stop := s.run(t, Config{}, o, func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			for i := range 12 {
				progress(judge.Progress{Kind: judge.EventTest, Test: &judge.TestResult{Index: i + 1}})
				<-time.After(time.Millisecond)
			}
			return judge.Result{Verdict: judge.AC}, nil
		})
		<-time.After(time.Second)
		stop()
		if got := s.asked("progress"); len(got) != 0 || s.last != 12 {
			t.Errorf("stored %v, and %d with the result, want all 12 tests with the result", got, s.last)
		}
	})
}

func TestTheFirstTestOfWhatWasJustHandedInIsStoredAtOnce(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		age    time.Duration
		tests  int
		stored []string
	}{
		"handed in just now":                        {20 * time.Millisecond, 12, []string{"0.01s progress 2"}},
		"by a clock that is ahead of the worker's":  {-20 * time.Millisecond, 12, []string{"0.01s progress 2"}},
		"it had to wait":                            {justNow, 12, nil},
		"by a clock that is far from the worker's":  {-time.Minute, 12, nil},
		"there is one test, so the result tells it": {20 * time.Millisecond, 1, nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newScript(), &once{jobs: []int64{7}}
				s.created = s.began.Add(-c.age)
				_, stop := s.run(t, Config{}, o, func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
					progress(judge.Progress{Kind: judge.EventCompiled, Total: c.tests})
					<-time.After(10 * time.Millisecond)
					for i := range c.tests {
						<-time.After(time.Millisecond)
						progress(judge.Progress{Kind: judge.EventTest, Test: &judge.TestResult{Index: i + 1}, Total: c.tests})
					}
					return judge.Result{Verdict: judge.AC}, nil
				})
				<-time.After(time.Second)
				stop()
				if got := s.asked("progress"); !slices.Equal(got, c.stored) || s.last != c.tests+1-2*len(c.stored) {
					t.Errorf("stored %v, and %d with the result; want %v, and all else with the result", got, s.last, c.stored)
				}
			})
		})
	}
}

func TestProgressThatCannotBeStoredWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.progress = func(n int) error {
			if n <= 2 {
				return errors.New("connection refused")
			}
			return nil
		}
		_, stop := s.run(t, Config{}, o, func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			progress(judge.Progress{Kind: judge.EventTest})
			progress(judge.Progress{Kind: judge.EventTest})
			<-time.After(time.Second)
			return judge.Result{Verdict: judge.AC}, nil
		})
		<-time.After(2 * time.Second)
		stop()
		if got := s.asked("progress"); len(got) != 3 || !strings.HasSuffix(got[2], "progress 2") {
			t.Errorf("stored %v; want both tests in the third try", got)
		}
	})
}

// A statement that is given up may be carried out all the same: what it tells would be told again with the result, or
// stand behind it.
func TestAResultWaitsForProgressThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.slow = func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				return nil
			}
		}
		_, stop := s.run(t, Config{}, o, func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			progress(judge.Progress{Kind: judge.EventTest})
			<-time.After(100 * time.Millisecond)
			progress(judge.Progress{Kind: judge.EventTest})
			return judge.Result{Verdict: judge.AC}, nil
		})
		<-time.After(2 * time.Second)
		stop()
		if stored, ended := s.asked("progress"), s.asked("finalize"); len(stored) != 1 || len(ended) != 1 || s.last != 1 || !strings.HasPrefix(ended[0], "1.04s") {
			t.Errorf("stored %v, then %v with %d more; want the first test stored once, and the second with the result", stored, ended, s.last)
		}
	})
}

func TestARefusedProgressStopsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.progress = func(int) error { return &judge.RejectedError{JobID: 7, Reason: judge.ReasonStaleAttempt} }
		var stopped atomic.Bool
		_, stop := s.run(t, Config{}, o, func(ctx context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			progress(judge.Progress{Kind: judge.EventTest})
			<-ctx.Done()
			stopped.Store(true)
			return judge.Result{}, ctx.Err()
		})
		<-time.After(time.Second)
		if !stopped.Load() {
			t.Error("the run goes on")
		}
		stop()
		if got := s.asked("fin"); len(got) != 0 {
			t.Errorf("wrote %v", got)
		}
	})
}

func TestAFinishedResultIsKeptThroughALongOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		outage := 10 * time.Minute // ten leases long
		away := func() error {
			if time.Since(s.began) < outage {
				return errors.New("connection refused")
			}
			return nil
		}
		s.heartbeat = func([]judge.Attempt) ([]int64, error) { return []int64{7}, away() }
		s.finalize = func(int) error { return away() }
		_, stop := s.run(t, Config{}, o, accept)
		<-time.After(outage + time.Minute)
		got := s.asked("finalize")
		last := got[len(got)-1]
		if !strings.HasPrefix(last, "600.") && !strings.HasPrefix(last, "601.") && !strings.HasPrefix(last, "602.") &&
			!strings.HasPrefix(last, "603.") && !strings.HasPrefix(last, "604.") && !strings.HasPrefix(last, "605.") {
			t.Errorf("the last of %d tries was at %s, want within 5 s after the outage", len(got), last)
		}
		if !slices.Equal(o.acks, []int64{7}) {
			t.Errorf("acknowledged %v, want the job", o.acks)
		}
		stop()
	})
}

func TestAResultThatAHealthyDatabaseCannotTakeIsAFailureThatCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: []int64{7}}
		s.finalize = func(int) error { return errors.New("invalid input syntax for type json") }
		_, stop := s.run(t, Config{}, o, accept)
		<-time.After(time.Minute)
		got := s.asked("fail")
		if len(got) != 1 || !strings.Contains(got[0], "counts=true") || !strings.Contains(got[0], "invalid input syntax") {
			t.Errorf("failed with %v, want once, counted, with the reason", got)
		}
		if !slices.Equal(o.acks, []int64{7}) {
			t.Errorf("acknowledged %v, want the job", o.acks)
		}
		stop()
	})
}

func TestAStopEndsEvenWhenTheDatabaseNeverAnswers(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"it refuses connections": false, "it says nothing": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newScript(), &once{jobs: []int64{7}}
				s.finalize = func(int) error { return errors.New("connection refused") }
				s.heartbeat = func([]judge.Attempt) ([]int64, error) { return nil, errors.New("connection refused") }
				if silent {
					s.late = make(chan struct{})
				}
				dir := t.TempDir()
				_, stop := s.run(t, Config{Journal: dir}, o, accept)
				<-time.After(time.Second)
				asked := time.Now()
				stop()
				if took, most := time.Since(asked), 20*time.Second+giveBackTime; took > most {
					t.Errorf("stopping took %s, want at most grace and %s", took, giveBackTime)
				}
				if kept := entries(t, dir); len(kept) != 1 {
					t.Errorf("kept %v, want the result", kept)
				}
				if silent { // an answer that nobody waits for does nothing
					close(s.late)
					synctest.Wait()
				}
				if len(o.acks) != 0 {
					t.Errorf("acknowledged %v", o.acks)
				}
			})
		})
	}
}

func TestAConfigNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Slots: -1, Lease: time.Second, Heartbeat: time.Second, Grace: -1}, newScript(), &once{}, judgeFunc(accept), newScript())
	for _, want := range []string{"Name is empty", "Languages is missing", "Slots -1", "three heartbeats", "Grace"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
