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

// distant is a script whose answers about results take their time, all at once.
type distant struct {
	*script
	away   time.Duration
	claims time.Duration // how long a claim takes

	mu         sync.Mutex
	unanswered int
	most       int // that were unanswered at once
}

func (d *distant) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	time.Sleep(d.claims)
	return d.script.Claim(ctx, ids, owner, token, lease)
}

func (d *distant) FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error)) {
	d.mu.Lock()
	d.unanswered++
	d.most = max(d.most, d.unanswered)
	away := d.away
	d.mu.Unlock()
	time.AfterFunc(away, func() {
		d.mu.Lock()
		d.unanswered--
		d.mu.Unlock()
		then(d.Finalize(ctx, a, *r, last...))
	})
}

// many returns the jobs 1 to n.
func many(n int) (ids []int64) {
	for i := range n {
		ids = append(ids, int64(i+1))
	}
	return ids
}

// lasting judges for d, and counts.
func lasting(d time.Duration, running, most *atomic.Int32) judgeFunc {
	return func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
		progress(judge.Progress{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true}})
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(d)
		running.Add(-1)
		return judge.Result{Verdict: judge.AC}, nil
	}
}

func TestShortJobsAreClaimedAheadSeveralAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		each  time.Duration
		ahead bool
	}{{"short", 20 * time.Millisecond, true}, {"not short", shortJudging, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const slots, jobs = 4, 400
				d, o := &distant{script: newScript(), away: 15 * time.Millisecond}, &once{jobs: many(jobs)}
				var running, most atomic.Int32
				w, stop := runOn(t, d, Config{Slots: slots}, d.script, o, lasting(c.each, &running, &most))
				for len(d.asked("finalize")) < jobs && time.Since(d.began) < 5*time.Minute {
					time.Sleep(time.Millisecond)
				}
				took := time.Since(d.began)
				time.Sleep(time.Second)
				synctest.Wait()
				if n := w.busy(); n != 0 {
					t.Errorf("%d runs are left", n)
				}
				stop()
				if most.Load() != slots {
					t.Errorf("%d jobs were judged at once, want %d", most.Load(), slots)
				}
				// A slot that waits for its answer is idle for nearly half of the time when a job is as short as that.
				alone, ideal := jobs/slots*(c.each+d.away), jobs/slots*c.each
				claims, asked := len(d.asked("claim")), slices.Max(o.max)
				if c.ahead {
					if took > ideal+ideal/10 || asked <= slots || asked > 2*slots || claims > jobs/(slots/2)+slots || d.most > 2*slots {
						t.Errorf("took %s, asked for up to %d jobs in %d claims, %d results unanswered; want %s, more than %d, one for two jobs or more, at most %d",
							took, asked, claims, d.most, ideal, slots, 2*slots)
					}
				} else if back := len(d.asked("fail")); took < alone || asked > slots || d.most > slots || back > 0 {
					t.Errorf("took %s, asked for up to %d jobs, %d results unanswered, %d jobs given back; want at least %s, at most %d, none", took, asked, d.most, back, alone, slots)
				}
			})
		})
	}
}

// compiling judges for compile and then for tests, and tells when each begins.
func compiling(compile, tests time.Duration, began, compiled func()) judgeFunc {
	return func(_ context.Context, _ judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
		began()
		time.Sleep(compile)
		progress(judge.Progress{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true}})
		compiled()
		time.Sleep(tests)
		return judge.Result{Verdict: judge.AC}, nil
	}
}

// Each of these programs is compiled, which is far from short: a slot that waits for its answer would be idle for a
// quarter of the time.
func TestJobsAreClaimedAheadOfTestsThatAreShortThoughTheirProgramsAreCompiled(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const jobs, compile, tests = 240, 400 * time.Millisecond, 50 * time.Millisecond // on average
				d, o := &distant{script: newScript(), away: 100 * time.Millisecond, claims: 40 * time.Millisecond}, &once{jobs: many(jobs)}
				var begun atomic.Int32
				_, stop := runOn(t, d, Config{Slots: slots}, d.script, o, func(ctx context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
					uneven := time.Duration(begun.Add(1)*37%101-50) * compile / 100
					return compiling(compile+uneven, tests, func() {}, func() {})(ctx, p, progress)
				})
				for len(d.asked("finalize")) < jobs && time.Since(d.began) < 5*time.Minute {
					time.Sleep(20 * time.Millisecond)
				}
				took, ideal := time.Since(d.began), time.Duration(jobs/slots)*(compile+tests)
				stop()
				if took > ideal+ideal/10 {
					t.Errorf("took %s, want %s; one after the other it is %s", took, ideal, time.Duration(jobs/slots)*(compile+tests+d.away+d.claims))
				}
				if got := d.asked("fail"); len(got) != 0 {
					t.Errorf("%d jobs were given back, %s", len(got), got[0])
				}
			})
		})
	}
}

func TestNoJobWaitsBehindOneThatIsBeingCompiled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: many(20)}
		var worker atomic.Pointer[Worker]
		var judged atomic.Int32
		judge := compiling(400*time.Millisecond, 50*time.Millisecond, func() {
			judged.Add(1)
			time.AfterFunc(200*time.Millisecond, func() {
				if n := worker.Load().busy(); n != 1 {
					t.Errorf("%d jobs are claimed while the program of the %d-th is compiled, want that one", n, judged.Load())
				}
			})
		}, func() {
			time.AfterFunc(25*time.Millisecond, func() {
				n, nth := worker.Load().busy(), judged.Load()
				if want := 1 + min(1, (nth-1)/fewestShort) - nth/20; n != int(want) {
					t.Errorf("%d jobs are claimed while the %d-th is about to end, want %d", n, nth, want)
				}
			})
		})
		w, stop := s.run(t, Config{Slots: 1}, o, judge)
		worker.Store(w)
		time.Sleep(time.Minute)
		stop()
		if n := len(s.asked("finalize")); n != 20 {
			t.Errorf("%d results were recorded, want 20", n)
		}
	})
}

// The seventh has tests that take long: what was claimed as it seemed about to end goes back.
func TestWhatWaitsBehindTestsThatTakeLongIsGivenBackThoughTheyWereCompiled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: many(10)}
		var judged atomic.Int32
		_, stop := s.run(t, Config{Slots: 1}, o, func(ctx context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			tests := 50 * time.Millisecond
			if judged.Add(1) == 7 {
				tests = 10 * time.Second
			}
			return compiling(400*time.Millisecond, tests, func() {}, func() {})(ctx, p, progress)
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		got := s.asked("fail")
		if len(got) != 1 || !strings.Contains(got[0], "counts=false "+errBehind.Error()) {
			t.Errorf("wrote %v; want the job that waited given back, uncounted, once", got)
		}
		if n := len(s.asked("finalize")); n != 9 {
			t.Errorf("%d results were recorded, want those of all others", n)
		}
		stop()
	})
}

// behind has a worker of one slot judge six short jobs, and then job 7, which goes on until its context ends or let is
// called. It returns 50 ms after that began: job 8 waits.
func behind(t *testing.T, s *script, cfg Config, jobs int) (w *Worker, o *once, stop, let func()) {
	t.Helper()
	o = &once{jobs: many(jobs)}
	var judged atomic.Int32
	begun, end := make(chan struct{}), make(chan struct{})
	cfg.Slots = 1
	w, stop = s.run(t, cfg, o, func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		if judged.Add(1) == 7 {
			close(begun)
			select {
			case <-ctx.Done():
				return judge.Result{}, ctx.Err()
			case <-end:
			}
		}
		time.Sleep(20 * time.Millisecond)
		return judge.Result{Verdict: judge.AC}, nil
	})
	<-begun
	time.Sleep(50 * time.Millisecond)
	if n := w.busy(); n != 2 {
		t.Fatalf("%d jobs are claimed while one is judged, want one more", n)
	}
	return w, o, stop, func() { close(end) }
}

func TestWhatWaitsBehindAJobThatTakesLongIsGivenBackUncounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		w, o, stop, let := behind(t, s, Config{}, 10)
		began := time.Since(s.began) - 50*time.Millisecond
		time.Sleep(time.Minute)
		synctest.Wait()
		got := s.asked("fail")
		if len(got) != 1 || !strings.Contains(got[0], "counts=false "+errBehind.Error()) {
			t.Fatalf("wrote %v; want the job that waited given back, uncounted, with the reason", got)
		}
		at, err := time.ParseDuration(strings.Fields(got[0])[0])
		if err != nil {
			t.Fatal(err)
		}
		if waited := at - began; waited < shortJudging-20*time.Millisecond || waited > shortJudging+20*time.Millisecond {
			t.Errorf("given back after %s, want %s", waited, shortJudging)
		}
		if !slices.Contains(o.acks, 8) || w.busy() != 1 {
			t.Errorf("acknowledged %v with %d claimed; want job 8 among them, and one", o.acks, w.busy())
		}
		let()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.asked("finalize"); len(got) != 9 || !slices.Equal(o.max[len(o.max)-2:], []int{1, 1}) {
			t.Errorf("recorded %d results, asking for %v; want all others, one by one", len(got), o.max)
		}
		stop()
	})
}

func TestWhatWaitsBehindAJudgingThatFailsIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newScript(), &once{jobs: many(10)}
		var judged atomic.Int32
		_, stop := s.run(t, Config{Slots: 1}, o, func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
			time.Sleep(20 * time.Millisecond)
			if judged.Add(1) == 7 {
				return judge.Result{}, errors.New("the sandbox failed")
			}
			return judge.Result{Verdict: judge.AC}, nil
		})
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		got := s.asked("fail")
		if len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "counts=false "+errBehind.Error()) || !strings.Contains(strings.Join(got, "\n"), "counts=true") {
			t.Errorf("wrote %v; want the job that failed, and the one that waited given back, uncounted", got)
		}
		stop()
	})
}

func TestAStopGivesBackWhatWaitsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		_, o, stop, let := behind(t, s, Config{}, 10)
		go stop()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if got := s.asked("fail"); len(got) != 1 || !strings.Contains(got[0], "counts=false "+errStopping.Error()) || !slices.Contains(o.acks, 8) {
			t.Errorf("wrote %v, acknowledged %v; want the job that waited given back, uncounted", got, o.acks)
		}
		let()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.asked("finalize"); len(got) != 7 || len(o.jobs) != 2 {
			t.Errorf("recorded %d results and left %v; want the job that was judged, and no other taken", len(got), o.jobs)
		}
	})
}

func TestAWorkerThatLacksSomethingGivesBackWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		var gone atomic.Bool
		w, o, stop, let := behind(t, s, Config{Sandbox: func(context.Context) (string, error) {
			if gone.Load() {
				return "", errors.New("no sandbox")
			}
			return "", nil
		}}, 8)
		gone.Store(true)
		w.LookAgain()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if got := s.asked("fail"); len(got) != 1 || !strings.Contains(got[0], "counts=false sandbox: no sandbox") || !slices.Contains(o.acks, 8) {
			t.Errorf("wrote %v, acknowledged %v; want the job that waited given back, uncounted", got, o.acks)
		}
		let()
		stop()
	})
}

func TestTheLeaseOfAJobThatWaitsIsRenewedAndHeeded(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		t.Run(map[bool]string{false: "held", true: "lost"}[lost], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript()
				w, o, stop, let := behind(t, s, Config{}, 8)
				var renewed []int64
				s.mu.Lock()
				s.heartbeat = func(as []judge.Attempt) (alive []int64, err error) {
					for _, a := range as {
						renewed = append(renewed, a.JobID)
						if a.JobID != 8 || !lost {
							alive = append(alive, a.JobID)
						}
					}
					return alive, nil
				}
				s.mu.Unlock()
				w.Renew()
				time.Sleep(10 * time.Millisecond)
				synctest.Wait()
				if !slices.Equal(renewed, []int64{7, 8}) {
					t.Errorf("renewed the leases of %v, want also that of the job that waits", renewed)
				}
				if n := w.busy(); lost != (n == 1) {
					t.Errorf("%d jobs are claimed after that, lost: %t", n, lost)
				}
				let()
				time.Sleep(time.Second)
				synctest.Wait()
				stop()
				want := 8
				if lost {
					want = 7
				}
				if got := s.asked("f"); len(got) != want || slices.Contains(o.acks, 8) == lost || w.busy() != 0 {
					t.Errorf("wrote %v and acknowledged %v; want %d results and nothing of a lost job", got, o.acks, want)
				}
			})
		})
	}
}

func TestNoMoreResultsGoUnansweredThanThereAreSlotsAndAsManyAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 4
		d, o := &distant{script: newScript()}, &once{jobs: many(200)}
		var running, most atomic.Int32
		var away atomic.Bool
		_, stop := runOn(t, d, Config{Slots: slots}, d.script, o, func(ctx context.Context, p judge.Payload, progress func(judge.Progress)) (judge.Result, error) {
			if len(d.asked("finalize")) > 40 && away.CompareAndSwap(false, true) {
				d.mu.Lock()
				d.away = time.Minute
				d.mu.Unlock()
			}
			return lasting(20*time.Millisecond, &running, &most)(ctx, p, progress)
		})
		time.Sleep(30 * time.Second)
		d.mu.Lock()
		unanswered := d.unanswered
		d.mu.Unlock()
		if unanswered != 2*slots {
			t.Errorf("%d results are unanswered, want those of all slots twice", unanswered)
		}
		d.mu.Lock()
		d.away = 0
		d.mu.Unlock()
		time.Sleep(2 * time.Minute)
		stop()
		// What waited behind them was given back, so that another worker could have it: as many as there are slots, or
		// fewer by less than the half of them that is asked for at once.
		if n, back := len(d.asked("finalize")), len(d.asked("fail")); n+back != 200 || back > slots || back <= slots/2 {
			t.Errorf("%d results were recorded and %d jobs given back, want 200 together and more than %d, at most %d of these", n, back, slots/2, slots)
		}
	})
}
