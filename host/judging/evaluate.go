package judging

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"deepoj/host/judge"
	"deepoj/host/judging/build"
	"deepoj/host/judging/grading"
	"deepoj/host/judging/jury"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
)

// evaluation is the judging of one program on the tests of a package.
type evaluation struct {
	j        *Judge
	pkg      *problem.Package
	prog     *build.Program
	checkers []jury.Checker
	progress func(judge.Progress)

	interactor *jury.Checker                  // nil unless the problem is interactive
	static     *jury.Native                   // nil unless the submitted files are looked at
	answers    map[*problem.Test]judge.Source // instead of prog, if the problem takes answers
	total      int

	mu     sync.Mutex
	runs   []*run // in judging order of their first test
	tests  []judge.TestResult
	byTest map[*problem.Test]*run
	index  map[*problem.Test]int
	group  map[*problem.Test]*problem.Group
}

// run is one distinct run; several tests may count it.
type run struct {
	test    *problem.Test
	static  bool // it is the validator of the submitted files that is run
	waiting int  // tests that may still need the result
	started bool
	told    bool               // a test has used the result
	cancel  context.CancelFunc // of a run that is under way
	done    chan struct{}      // closed when result is set
	result  runResult
}

// run judges every test that counts and fills in r.
func (e *evaluation) run(ctx context.Context, r *judge.Result) error {
	e.prepare()
	custom, err := e.j.customGrader(ctx, e.pkg) // before anything runs, for without it all would be in vain
	if err != nil {
		return e.graderFailed(ctx, r, nil, err)
	}
	if err := e.lookAtFiles(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var lanes sync.WaitGroup
	defer lanes.Wait()
	defer cancel(nil)
	for k := range min(e.j.cfg.Cores, len(e.runs)) {
		lanes.Go(func() {
			if err := e.work(ctx, k); err != nil {
				cancel(err)
			}
		})
	}
	g := &grading.Grader{
		Scoring: e.pkg.Scoring, Unbounded: e.pkg.Minimize,
		Points: slices.ContainsFunc(e.checkers, func(c jury.Checker) bool { return c.Points }) || e.interactor != nil && e.interactor.Points,
		Custom: custom,
		Test:   func(t *problem.Test) (grading.Mark, error) { return e.wait(ctx, t) },
		Skip:   e.forget,
	}
	m, err := g.Group(e.pkg.Root)
	if err != nil {
		return e.graderFailed(ctx, r, g.Groups, err)
	}
	r.Verdict, r.Tests, r.Groups = m.Verdict, e.tests, g.Groups
	if e.pkg.Scoring {
		r.Score, r.MaxScore = &m.Score, g.Groups[0].MaxScore
	}
	e.conclude(r)
	r.NamePartial()
	return nil
}

// graderFailed makes a judging error of what the package's grader did wrong. Other errors are returned.
func (e *evaluation) graderFailed(ctx context.Context, r *judge.Result, groups []judge.GroupResult, err error) error {
	r.Tests, r.Groups = e.tests, groups
	*r, err = e.j.blame(ctx, *r, e.pkg, err)
	return err
}

// prepare lists the tests and the distinct runs that they need.
func (e *evaluation) prepare() {
	e.byTest, e.index, e.group = map[*problem.Test]*run{}, map[*problem.Test]int{}, map[*problem.Test]*problem.Group{}
	known := map[signature]*run{}
	var list func(*problem.Group)
	list = func(g *problem.Group) {
		for _, it := range g.Items {
			if it.Group != nil {
				list(it.Group)
				continue
			}
			t := it.Case()
			e.index[t], e.group[t] = len(e.tests), g
			e.tests = append(e.tests, judge.TestResult{Index: len(e.tests) + 1, Name: t.Name, Group: g.Name, Sample: t.Sample})
			is := sign(t)
			is.static = it.Static != nil
			is.answered = e.answers[t].Name
			r := known[is]
			if r == nil {
				r = &run{test: t, static: is.static, done: make(chan struct{})}
				known[is] = r
				e.runs = append(e.runs, r)
			}
			if t.Sample {
				r.test = t // keep the output if any of the tests shows it
			}
			r.waiting++
			e.byTest[t] = r
		}
	}
	list(e.pkg.Root)
}

// work takes runs until none is left, in the lane k as long as there is room for it. It is not an error if there is no
// box for it before the others are done.
func (e *evaluation) work(ctx context.Context, k int) error {
	for ctx.Err() == nil && e.j.crowd.wait(ctx, k) && e.left() > 0 {
		if err := e.workOn(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// workOn opens a lane and takes runs while there is room for it.
func (e *evaluation) workOn(ctx context.Context, k int) error {
	l, err := e.openLane(ctx)
	if err != nil {
		return err
	}
	for {
		if room, _ := e.j.crowd.room(k); !room {
			return l.close()
		}
		r, runCtx := e.next(ctx)
		if r == nil {
			return l.close()
		}
		runCtx, span := telemetry.StartOne(runCtx, "test")
		result, err := l.judge(runCtx, r.test)
		span.Text("test", r.test.Name)
		span.Text("verdict", string(result.Verdict))
		span.End(err)
		if e.finish(r, result, err == nil) {
			continue // nobody waits for it any more, so it may well have been stopped
		}
		if err != nil {
			if cerr := l.close(); cerr != nil {
				err = fmt.Errorf("%w; then %w", err, cerr)
			}
			return err
		}
	}
}

// next returns the first run that is needed and not taken.
func (e *evaluation) next(ctx context.Context) (*run, context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		if !r.started && r.waiting > 0 && ctx.Err() == nil {
			r.started = true
			ctx, r.cancel = context.WithCancel(ctx)
			return r, ctx
		}
	}
	return nil, nil
}

// left returns how many runs are needed and not taken.
func (e *evaluation) left() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, r := range e.runs {
		if !r.started && r.waiting > 0 {
			n++
		}
	}
	return n
}

// finish records the result of a run and reports whether nobody needs it.
func (e *evaluation) finish(r *run, result runResult, ok bool) (unneeded bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.cancel()
	r.cancel = nil
	if ok {
		r.result = result
		close(r.done)
	}
	return r.waiting == 0
}

// forget says that a test is not judged. A run that nobody needs is stopped.
func (e *evaluation) forget(t *problem.Test) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.byTest[t]
	r.waiting--
	if r.waiting == 0 && r.cancel != nil {
		r.cancel()
	}
}

// wait waits for the result of a test, records and reports it.
func (e *evaluation) wait(ctx context.Context, t *problem.Test) (grading.Mark, error) {
	r := e.byTest[t]
	select {
	case <-r.done:
	case <-ctx.Done():
		return grading.Mark{}, context.Cause(ctx)
	}
	e.mu.Lock()
	r.waiting--
	tr := &e.tests[e.index[t]]
	tr.Reused, r.told = r.told, true
	e.mu.Unlock()
	got := r.result
	tr.Verdict, tr.Usage, tr.Rerun = got.Verdict, got.usage, got.rerun
	tr.ExitCode, tr.ExitSignal = got.exitCode, got.exitSignal
	tr.JudgeNote = got.note
	tr.Say(got.message, got.by)
	if t.Sample {
		tr.Output = got.output
	}
	m := grading.Mark{Verdict: got.Verdict, Given: got.Score != nil}
	if e.pkg.Scoring {
		var err error
		rules := e.group[t].Grading
		if t.Points != nil {
			rules.AcceptScore = *t.Points
		}
		if m.Score, err = got.In(rules); err == nil && r.static {
			err = grading.WithinStatic(t, m.Score)
		}
		if err != nil {
			m.Verdict, tr.Verdict, tr.Message, tr.JudgeNote = judge.JE, judge.JE, "", err.Error()
			tr.MessageBy = ""
		} else if !m.InFull(rules) {
			tr.Verdict = m.Verdict
			tr.Say("got a part of the points, and only all of them count here", judge.ByJudge)
		}
		tr.Score = &m.Score
	}
	shown := *tr
	e.progress(judge.Progress{Kind: judge.EventTest, Test: &shown, Total: e.total})
	return m, nil
}

// conclude sums up: the worst figures, and the test that decided.
func (e *evaluation) conclude(r *judge.Result) {
	for i := range r.Tests {
		t := &r.Tests[i]
		r.Usage = r.Usage.Worst(t.Usage)
		if r.Verdict == judge.AC || t.Verdict != r.Verdict || r.Message != "" {
			continue
		}
		if t.Verdict == judge.JE {
			*r = failed(*r, fmt.Sprintf("test %d (%s): %s", t.Index, t.Name, t.JudgeNote))
			continue
		}
		r.Message = fmt.Sprintf("%s on test %d of %d", t.Verdict.Name(), t.Index, len(r.Tests))
		if t.Sample {
			r.Message += " (" + t.Name + ")"
		}
		if t.Message != "" {
			r.Message, r.MessageBy = r.Message+": "+t.Message, t.MessageBy
		}
	}
}
