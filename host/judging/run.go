package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/grading"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// keptOutput is what is kept of the output of a sample for the page, in bytes.
const keptOutput = 4 << 10

// runResult is what one run of the program and its check gave.
type runResult struct {
	grading.Worth // the verdict, and what a checker gave

	usage      judge.Usage
	rerun      *judge.Usage
	exitCode   int
	exitSignal int
	message    string
	by         judge.Speaker // of message
	note       string
	output     string

	scoreIgnored bool // a checker gives a score that does not count

	// With several passes: what the checker left for the next one, nil with one
	// pass, and its input, nil after the last.
	feedback map[string][]byte
	next     []byte
}

// lane runs tests one after the other in one box, or each in its own if box is nil.
type lane struct {
	e      *evaluation
	box    *sandbox.Box
	stdout *os.File
	stderr *os.File
	merge  bool // what goes to stderr goes to stdout

	unfit  string // why the program's files cannot lie in box; "" = they do
	spoilt bool   // something went wrong, so that somebody may still have what was written
}

// openLane waits for a box and puts the program into it.
func (e *evaluation) openLane(ctx context.Context) (l *lane, err error) {
	l = &lane{e: e}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if !e.apart() && e.answers == nil {
		if l.box, err = e.j.cfg.Sandbox.Box(ctx); err != nil {
			return l, err
		}
		var put sandbox.Result
		if put, err = blame.Fits(put, e.prog.Put(ctx, l.box)); err != nil {
			return l, err
		}
		l.unfit = put.Error
	}
	if l.stdout, err = e.j.Output(e.mayWrite()); err == nil {
		l.stderr, err = e.j.Output(runner.KeptStderr)
	}
	return l, err
}

// mayWrite returns how many bytes a program may write, or an answer have.
func (e *evaluation) mayWrite() int64 {
	if e.prog == nil {
		return e.pkg.Limits.OutputMiB << 20
	}
	return e.prog.Cmd.Limits.OutputBytes
}

func (l *lane) close() error {
	var errs []error
	spoilt := l.spoilt || l.box == nil
	if l.box != nil {
		err := l.box.Close()
		errs, spoilt = append(errs, err), spoilt || err != nil
	}
	for _, f := range []*os.File{l.stdout, l.stderr} {
		switch {
		case f == nil:
		case spoilt:
			errs = append(errs, f.Close())
		default:
			errs = append(errs, l.e.j.GiveBack(f))
		}
	}
	return errors.Join(errs...)
}

// judge runs the program on a test and checks its output.
func (l *lane) judge(ctx context.Context, t *problem.Test) (r runResult, err error) {
	defer func() { l.spoilt = l.spoilt || err != nil }()
	if l.e.answers != nil {
		return l.answer(ctx, t)
	}
	input, err := l.e.j.File(ctx, t.Input)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	switch {
	case l.e.pkg.Passes > 0:
		return l.passes(ctx, t, input)
	case l.e.pkg.Twice != "":
		return l.twice(ctx, t, input)
	}
	return l.pass(ctx, t, input, nil)
}

// pass runs the program once on an input, and has its output checked.
func (l *lane) pass(ctx context.Context, t *problem.Test, input *os.File, feedback map[string][]byte) (runResult, error) {
	r, err := l.output(ctx, runResult{feedback: feedback}, t, input, l.e.interactor != nil)
	return l.decide(ctx, r, t, input, err)
}

// output runs the program once. In stdout is what the checkers are asked about.
func (l *lane) output(ctx context.Context, r runResult, t *problem.Test, input *os.File, talks bool) (runResult, error) {
	if talks {
		return l.converse(ctx, r, t, input)
	}
	return l.listen(ctx, r, t, input)
}

// decide asks the checkers about a run that ended well.
func (l *lane) decide(ctx context.Context, r runResult, t *problem.Test, input *os.File, err error) (runResult, error) {
	if err == nil && r.Verdict == judge.AC {
		err = l.check(ctx, &r, t, input)
	}
	if err == nil {
		l.e.j.metrics.runs.WithLabelValues(string(r.Verdict)).Inc()
	}
	return r, err
}

// listen runs the program once with nobody to talk to.
func (l *lane) listen(ctx context.Context, r runResult, t *problem.Test, input *os.File) (runResult, error) {
	ran, err := l.run(ctx, t, input, l.wall(), l.e.j.Company(ctx))
	if err != nil {
		err = l.blame(ctx, &r, t, err)
		return r, err
	}
	if wall, doubtful := l.doubtful(ran); doubtful {
		first := l.used(ran)
		l.e.j.CountRerun()
		if ran, err = l.run(ctx, t, input, wall, l.e.j.Clear); err != nil {
			return r, err
		}
		r.rerun = &first
	}
	r.usage, r.exitCode, r.exitSignal = l.used(ran), ran.ExitCode, ran.Signal
	if err := l.classify(&r, ran); err != nil {
		return r, err
	}
	if t.Sample {
		r.output, err = runner.Head(l.stdout, keptOutput)
	}
	return r, err
}

// run runs the program once, for at most wall on the clock, in the company that
// enter waits for. A run that is an SE is an error, unless the program is unfit.
func (l *lane) run(ctx context.Context, t *problem.Test, input *os.File, wall time.Duration, enter func(context.Context) (func(), error)) (sandbox.Result, error) {
	if l.unfit != "" {
		return sandbox.Result{Verdict: sandbox.SE, Error: l.unfit, Unfit: true}, nil
	}
	return blame.Fits(l.runOnce(ctx, t, input, wall, enter))
}

func (l *lane) runOnce(ctx context.Context, t *problem.Test, input *os.File, wall time.Duration, enter func(context.Context) (func(), error)) (ran sandbox.Result, err error) {
	for _, f := range []*os.File{l.stdout, l.stderr} {
		if err := runner.Rewind(f); err != nil {
			return ran, err
		}
	}
	defer func() { l.spoilt = l.spoilt || err != nil }()
	c := l.e.prog.Cmd
	c.Stdin, c.Stdout, c.Stderr = input, l.stdout, l.stderr
	c.Limits.CPU, c.Limits.Wall = ceiling(c.Limits.CPU), wall
	c.StdoutLimit, c.StderrLimit = -1, runner.KeptStderr
	if l.merge {
		c.Stderr = l.stdout
	}
	box, done, err := l.boxFor(ctx, t, &c, input) // before the others are waited for, who may hold the last one
	if err != nil {
		return ran, err
	}
	defer func() { err = errors.Join(err, done()) }()
	leave, err := enter(ctx)
	if err != nil {
		return ran, err
	}
	ran, err = runner.Traced(ctx, box.Run, c)
	leave()
	if err == nil && l.box == nil && ran.Verdict == sandbox.OK {
		err = jury.Collect(ctx, l.e.pkg, box, c.Limits.OutputBytes, l.stdout)
	}
	if err != nil {
		return ran, l.e.prog.Toolchain.Explain(err)
	}
	if ran.Verdict == sandbox.SE && !ran.Unfit {
		return ran, fmt.Errorf("the sandbox failed: %s", ran.Error)
	}
	l.e.j.CountCut(c, ran)
	l.late(&ran)
	return ran, nil
}

// classify sets the verdict of a run that used too much or failed, with words
// for the contestant, and AC of one that only needs its output checked.
func (l *lane) classify(r *runResult, ran sandbox.Result) error {
	limits := l.e.prog.Cmd.Limits
	r.by = judge.ByJudge
	switch ran.Verdict {
	case sandbox.OK:
		r.Verdict = judge.AC
		return nil
	case sandbox.TLE:
		r.Verdict = judge.TLE
		r.message = fmt.Sprintf("used more than %s of CPU time", limits.CPU)
		if ran.OverWall {
			r.message = fmt.Sprintf("did not end in %s on the clock", ran.Wall.Round(100*time.Millisecond))
		}
	case sandbox.MLE:
		r.Verdict = judge.MLE
		r.message = fmt.Sprintf("used more than %d MiB", l.e.pkg.Limits.MemoryMiB)
		if own := limits.MemoryBytes>>20 - l.e.pkg.Limits.MemoryMiB; own > 0 {
			r.message += fmt.Sprintf(" and the %d MiB of its language's runtime", own)
		}
	case sandbox.OLE:
		r.Verdict = judge.OLE
		r.message = "wrote more than " + sizeText(limits.OutputBytes)
		if ran.StderrBytes > limits.OutputBytes {
			r.message += " to standard error"
		}
	case sandbox.RE:
		r.Verdict = judge.RE
		r.message = fmt.Sprintf("ended with exit status %d", ran.ExitCode)
		if ran.Signal != 0 {
			r.message = fmt.Sprintf("was ended by signal %d (%s)", ran.Signal, syscall.Signal(ran.Signal))
		}
	case sandbox.SE:
		if !ran.Unfit {
			return fmt.Errorf("the sandbox failed: %s", ran.Error)
		}
		r.Verdict, r.message = judge.RE, runner.Cut(runner.Clean(ran.Error), runner.KeptWords)
		return nil
	default:
		return fmt.Errorf("the sandbox gave the unknown verdict %q", ran.Verdict)
	}
	said, err := runner.Head(l.stderr, runner.KeptStderr)
	if err != nil {
		return err
	}
	if p := l.e.prog.MemoryExit; r.Verdict == judge.RE && p != nil && p.MatchString(said) {
		r.Verdict = judge.MLE
		r.message = fmt.Sprintf("ran out of its %d MiB", l.e.pkg.Limits.MemoryMiB)
	}
	r.note = runner.Cut(said, runner.KeptWords)
	return nil
}

// sizeText writes a limit for people.
func sizeText(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// used is what a run of the program used, and what its memory is held against where
// the language's runtime has some of its own.
func (l *lane) used(ran sandbox.Result) judge.Usage {
	u := runner.Usage(ran)
	if charged := l.e.prog.Cmd.Limits.MemoryBytes; charged != l.e.pkg.Limits.MemoryMiB<<20 {
		u.ChargedKiB = charged >> 10
	}
	return u
}

// signature is what decides the result of a run within one submission: equal ones are run once.
type signature struct {
	input, answer, flags, files, answered string
	static                                bool
}

func sign(t *problem.Test) signature {
	var files strings.Builder
	for _, f := range t.Files {
		fmt.Fprintf(&files, "%q %s ", f.Name, f.File.Digest)
	}
	return signature{input: string(t.Input.Digest), answer: string(t.Answer.Digest), flags: fmt.Sprintf("%q %q", t.Flags, t.Args), files: files.String()}
}

// check asks the checkers about the output of a run that ended well.
func (l *lane) check(ctx context.Context, r *runResult, t *problem.Test, input *os.File) (err error) {
	answer, err := l.e.j.File(ctx, t.Answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	for _, c := range l.e.checkers {
		args := slices.Concat(c.Flags, t.Flags)
		err := l.e.j.opinion(ctx, r, c, input, l.stdout, answer, args, l.e.pkg.Scoring)
		if err := l.blame(ctx, r, t, err); err != nil {
			return err
		}
		if r.Verdict != judge.AC {
			return nil
		}
	}
	return nil
}

// blame makes r a judging error if a guest is at fault. Other errors are returned.
func (l *lane) blame(ctx context.Context, r *runResult, t *problem.Test, err error) error {
	if !blame.AtFault(err) {
		return err
	}
	l.spoilt = true
	l.e.j.tellFault(ctx, l.e.pkg, t.Name, err)
	r.Verdict, r.Score, r.Multiplier, r.message, r.note = judge.JE, nil, nil, "", runner.Clean(err.Error())
	return nil
}

// apart reports whether each run of the program needs a box of its own, which it
// gives back before somebody else needs one to judge it.
func (e *evaluation) apart() bool {
	return usesFiles(e.pkg) || e.interactor != nil && e.interactor.Native != nil ||
		slices.ContainsFunc(e.checkers, func(c jury.Checker) bool { return c.Native != nil })
}

// usesFiles reports whether programs read or write files of their working directory.
func usesFiles(pkg *problem.Package) bool {
	return pkg.InputFile != "" || pkg.OutputFile != "" || pkg.Writable ||
		slices.ContainsFunc(pkg.Tests(), func(t *problem.Test) bool { return len(t.Files) > 0 })
}

// boxFor returns the box in which a test is run, and a function that gives it back
// if it is for this test alone. It changes c so that it runs there.
func (l *lane) boxFor(ctx context.Context, t *problem.Test, c *sandbox.Cmd, input *os.File) (*sandbox.Box, func() error, error) {
	c.Args = slices.Concat(c.Args, t.Args)
	if l.box != nil {
		return l.box, func() error { return nil }, nil
	}
	files, err := l.e.j.TestFiles(ctx, l.e.pkg, t.Files)
	if err != nil {
		return nil, nil, err
	}
	// The program comes last: no file of a test takes the place of one of its own.
	box, err := l.e.j.OpenFolder(ctx, l.e.pkg, append(files, l.e.prog.Files...), c, input)
	if err != nil {
		return nil, nil, err
	}
	return box, box.Close, nil
}
