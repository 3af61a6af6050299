package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

// timed is what a program took on a test, as if its language had no factor.
type timed struct {
	of     problem.Submission
	on     string // name of the test
	millis int64  // CPU time
}

// asked is a program whose time is to be found out, on the tests of its patterns; a nil pattern is about all of them.
type asked struct {
	of    problem.Submission
	about []*regexp.Regexp
}

func (a asked) covers(test string) bool {
	return slices.ContainsFunc(a.about, func(about *regexp.Regexp) bool { return covers(about, test) })
}

// measurement finds out what programs of a package take.
type measurement struct {
	cfg   Config
	pkg   *problem.Package // as it came
	count *counter

	unable []string // programs that cannot be judged here, and why
}

// limited returns the package with another time limit, to measure with.
func (m *measurement) limited(ctx context.Context, limit time.Duration) (*proof, error) {
	pkg, err := m.pkg.WithCPU(ctx, limit, "a measurement")
	if err == nil && m.pkg.Format != problem.FormatLegacy {
		pkg, err = pkg.Exhaustive(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &proof{cfg: m.cfg, pkg: pkg, version: pkg.Version, languages: m.cfg.Judge.Languages(ctx)}, nil
}

// sideBySide judges programs under a limit, several at once, and tells of each result
// from one goroutine at a time. Programs that cannot be judged here are left out. A program is stopped as soon as it is too slow on a
// test that it is asked about; the result then says so of that test alone.
func (m *measurement) sideBySide(ctx context.Context, limit time.Duration, programs []asked, tell func(asked, judge.Payload, judge.Result) error) error {
	p, err := m.limited(ctx, limit)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return inParallel(ctx, m.cfg.Parallel, len(programs), func(ctx context.Context, i int) error {
		a := programs[i]
		payload, why, err := p.payload(ctx, a.of)
		var r judge.Result
		if err == nil && why == "" {
			r, err = m.judge(ctx, p, a, payload)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", short(a.of.Path), err)
		}
		mu.Lock()
		defer mu.Unlock()
		m.count.done(short(a.of.Path))
		if why != "" {
			m.unable = append(m.unable, short(a.of.Path)+": "+why)
			return nil
		}
		return tell(a, payload, r)
	})
}

// judge judges a program until it is too slow.
func (m *measurement) judge(ctx context.Context, p *proof, a asked, payload judge.Payload) (judge.Result, error) {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var slow *judge.TestResult
	r, err := p.cfg.Judge.Judge(within, payload, p.version, func(told judge.Progress) {
		if t := told.Test; t != nil && slow == nil && t.Verdict == judge.TLE && a.covers(t.Name) {
			slow = t
			stop()
		}
	})
	if slow != nil && ctx.Err() == nil {
		return judge.Result{Verdict: judge.TLE, Tests: []judge.TestResult{*slow}}, nil
	}
	return r, err
}

// alone judges a program on one test while nothing else runs on this machine.
func (m *measurement) alone(ctx context.Context, limit time.Duration, of timed) (int64, error) {
	m.count.more(1)
	defer m.count.done(short(of.of.Path) + " alone on " + of.on)
	i := slices.IndexFunc(m.pkg.Tests(), func(t *problem.Test) bool { return t.Name == of.on })
	if i < 0 {
		return of.millis, nil // nothing is run on the test, so there is nothing to measure
	}
	one := *m.pkg
	one.Scoring, one.Grader, one.Static = false, nil, nil
	one.Root = &problem.Group{
		Grading: problem.Grading{Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}, Items: []problem.Item{{Test: m.pkg.Tests()[i]}},
	}
	pkg, err := one.WithCPU(ctx, limit, "a measurement")
	if err != nil {
		return 0, err
	}
	p := &proof{cfg: m.cfg, pkg: pkg, version: pkg.Version, languages: m.cfg.Judge.Languages(ctx)}
	payload, why, err := p.payload(ctx, of.of)
	if err != nil || why != "" {
		return of.millis, err
	}
	r, err := m.judge(runner.Alone(ctx), p, asked{of.of, []*regexp.Regexp{nil}}, payload)
	if err != nil || len(r.Tests) == 0 {
		return of.millis, err
	}
	return p.plain(r.Tests[0].Usage, payload.Language), nil
}

// mostAlone is how many tests are run alone at most.
const mostAlone = 10

// slowest returns what the slowest program takes when it has the machine for itself, in milliseconds. What all took
// side by side is known; what they take alone is told by a function, which is asked as seldom as possible: side by side
// nothing is faster, so that once a program takes as long alone as the next one took, the rest cannot matter, nor can
// it if it gives the same limit.
//
// It asks about no more than mostAlone.
func slowest(all []timed, limit func(millis int64) time.Duration, alone func(timed) (int64, error)) (worst timed, err error) {
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.millis, a.millis) })
	best := timed{}
	for i, t := range all {
		if i >= mostAlone || t.millis <= best.millis || limit(t.millis) == limit(best.millis) {
			if best.of.Path == "" {
				best = t
			}
			break
		}
		if t.millis, err = alone(t); err != nil {
			return best, err
		}
		if t.millis > best.millis || best.of.Path == "" {
			best = t
		}
	}
	return best, nil
}

// inParallel calls f with the numbers below n, several at once, in their order. The
// first error ends the context of the others.
func inParallel(ctx context.Context, parallel, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(parallel, n) {
		workers.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// errNoneAccepted says that a package has no program whose time could give a limit.
var errNoneAccepted = errors.New("no program of submissions/accepted is accepted")
