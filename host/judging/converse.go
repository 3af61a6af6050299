package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
	"deepoj/sandbox"
)

// interactorExtra is what the interactor may take on the clock beyond the program.
const interactorExtra = 30 * time.Second

// converse runs the program while the interactor talks with it. If both are content, what
// the interactor wrote for the checkers is in stdout.
//
// Who ends first decides, as in the reference tools of the formats: an interactor that rejects before the program's
// end; else the program, if it fails by itself; else the interactor. So a program that crashes after a wrong answer
// gave a wrong answer, and one that crashes in mid-sentence crashed, whatever the interactor makes of the silence. An
// interactor that fails is always a judging error, but nobody fails by writing to one that is gone. When each waits for
// the other, the program's time runs out. A program that goes on after a wrong answer is ended, and nobody asks what it
// used.
func (l *lane) converse(ctx context.Context, r runResult, t *problem.Test, input *os.File) (_ runResult, err error) {
	answer, err := l.e.j.File(ctx, t.Answer)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	c, fault := l.talkOnce(ctx, t, input, answer, r.feedback, l.wall(), l.e.j.Company(ctx))
	if wall, doubtful := l.doubtful(c.ran); fault == nil && c.said.Flooded == "" && doubtful {
		first := l.used(c.ran)
		l.e.j.CountRerun()
		c, fault = l.talkOnce(ctx, t, input, answer, r.feedback, wall, l.e.j.Clear)
		r.rerun = &first
	}
	if fault != nil && !blame.AtFault(fault) {
		return r, l.e.prog.Toolchain.Explain(fault)
	}
	if c.ran.Verdict == sandbox.SE && !c.ran.Unfit {
		return r, fmt.Errorf("the sandbox failed: %s", c.ran.Error)
	}
	if c.ran.Verdict != "" {
		r.usage, r.exitCode, r.exitSignal = l.used(c.ran), c.ran.ExitCode, c.ran.Signal
		if err := l.classify(&r, c.ran); err != nil {
			return r, err
		}
	}
	if err = l.weigh(ctx, &r, t, c, fault); t.Sample {
		r.output = c.said.Talk
	}
	return r, err
}

// weigh decides between the program, whose own end is in r, and its interactor.
func (l *lane) weigh(ctx context.Context, r *runResult, t *problem.Test, c conversation, fault error) error {
	switch {
	case c.ran.Unfit: // nobody talked
	case c.said.Flooded != "":
		r.Verdict, r.Score, r.Multiplier = judge.OLE, nil, nil
		r.message = "said more than " + sizeText(l.e.prog.Cmd.Limits.OutputBytes) + ", or went on and on without waiting for an answer"
		r.note = runner.Clean(c.said.Flooded)
	case fault != nil:
		return l.blame(ctx, r, t, fault)
	case r.Verdict == judge.AC || c.settled():
		r.Verdict, r.message, r.note = judge.AC, "", ""
		err := l.blame(ctx, r, t, r.take(*l.e.interactor, c.said.Opinion, l.e.pkg.Scoring))
		if err == nil && r.Verdict == judge.AC {
			err = l.keepTout(c.said.Tout)
		}
		return err
	case r.feedback != nil && c.said.NextPass != nil && jury.Rejects(c.said.Opinion):
		return l.blame(ctx, r, t, blame.Package(errNextPass))
	}
	return nil
}

// keepTout puts what the interactor wrote for the checkers where they look for it.
func (l *lane) keepTout(tout []byte) error {
	if err := runner.Rewind(l.stdout); err != nil {
		return err
	}
	if _, err := l.stdout.Write(tout); err != nil {
		return fmt.Errorf("keep what an interactor wrote: %w", err)
	}
	return nil
}

// errRejected ends a program that goes on after its interactor has rejected it, or could not go on.
var errRejected = errors.New("the interactor has rejected the program")

// errLeftover ends a program that says too much after its interactor has ended.
var errLeftover = errors.New("the program says more than it may, and nobody listens")

// talkOnce is talk, in which a program that is unfit is no error.
func (l *lane) talkOnce(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (c conversation, err error) {
	if l.unfit != "" {
		return conversation{ran: sandbox.Result{Verdict: sandbox.SE, Error: l.unfit, Unfit: true}}, nil
	}
	c, err = l.talk(ctx, t, input, answer, feedback, wall, enter)
	c.ran, err = blame.Fits(c.ran, err)
	return c, err
}

// talk joins program and interactor and waits for both, at most wall on the clock, in the company that enter waits for.
// A fault of the interactor is a [*blame.PackageError].
func (l *lane) talk(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (conversation, error) {
	if l.e.interactor.Native != nil {
		return l.talkNative(ctx, t, input, answer, feedback, wall, enter)
	}
	return l.talkPlugin(ctx, t, input, answer, feedback, wall, enter)
}

// talkPlugin is talk with an interactor that is a plugin.
func (l *lane) talkPlugin(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (v conversation, err error) {
	if err := runner.Rewind(l.stderr); err != nil {
		return v, err
	}
	c := l.e.prog.Cmd
	box, done, err := l.boxFor(ctx, t, &c, input)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, done()) }()
	leave, err := enter(ctx)
	if err != nil {
		return v, err
	}
	defer leave()
	from, to, rest, err := joined(&c)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, rest.close()) }()
	c.Stderr, c.StderrLimit = l.stderr, runner.KeptStderr
	c.Limits.CPU, c.Limits.Wall = ceiling(c.Limits.CPU), wall
	type outcome struct {
		ran sandbox.Result
		err error
	}
	ended := make(chan outcome, 1)
	begun := false
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	asking, span := telemetry.Start(ctx, "interactor")
	span.Text("plugin", l.e.interactor.Name())
	said, err := l.e.j.cfg.Plugins.Interact(asking, l.e.interactor.Module, plugin.Interaction{
		Input: input, Answer: answer, From: from, To: to, Args: slices.Concat(l.e.interactor.Flags, t.Flags),
		Patience: c.Limits.Wall + interactorExtra, Feedback: feedback, SaidBytes: c.Limits.OutputBytes,
		Started: func() {
			begun = true
			go func() {
				ran, err := runner.Traced(running, box.RunPiped, c)
				ended <- outcome{ran, err}
			}()
		},
	})
	span.End(err)
	if err != nil {
		err = jury.GuestFault(err)
	}
	if !begun {
		return v, errors.Join(err, c.Stdin.Close(), c.Stdout.Close())
	}
	if err == nil && said.Flooded == "" && !jury.Rejects(said.Opinion) {
		go rest.hear(c.Limits.OutputBytes, func() { end(errLeftover) })
	} else if closed := rest.close(); closed != nil {
		return v, closed
	}
	if err == nil && (said.Flooded != "" || jury.Rejects(said.Opinion) && said.HeardEnd == 0) {
		timer := time.AfterFunc(sandbox.Moment, func() { end(errRejected) })
		defer timer.Stop()
	}
	o := <-ended
	v.said = said
	switch ended := ctx.Err() == nil; {
	case ended && errors.Is(o.err, errLeftover):
		v.said.Flooded = errLeftover.Error()
		return v, box.Clean(ctx)
	case ended && errors.Is(o.err, errRejected):
		return v, box.Clean(ctx)
	case o.err == nil:
		o.err = box.Clean(ctx)
	}
	v.ran = o.ran
	if o.err != nil {
		return v, o.err
	}
	v.first = programFirst(v.ran, said)
	l.e.j.CountCut(c, v.ran)
	l.late(&v.ran)
	return v, err
}

// joined gives the command of a program the ends of two pipes, and returns those that
// its interactor reads and writes, and what hears the program afterwards.
func joined(c *sandbox.Cmd) (from, to *os.File, rest *leftover, err error) {
	if from, c.Stdout, err = os.Pipe(); err != nil {
		return nil, nil, nil, fmt.Errorf("join a program and its interactor: %w", err)
	}
	if c.Stdin, to, err = os.Pipe(); err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("join a program and its interactor: %w", err), from.Close(), c.Stdout.Close())
	}
	if rest, err = keep(from); err != nil {
		return nil, nil, nil, errors.Join(err, from.Close(), c.Stdout.Close(), c.Stdin.Close(), to.Close())
	}
	return from, to, rest, nil
}
