package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
	"deepoj/sandbox"
)

// interactorExtra is what the interactor may take on the clock beyond the program.
const interactorExtra = 30 * time.Second

// converse runs the program while the interactor talks with it.
//
// Whoever fell silent first decides when both have something to complain of: a
// program that crashes after a wrong answer gave a wrong answer, and one that
// crashes in mid-sentence crashed, whatever the interactor makes of the silence. A
// program that goes on after a wrong answer is ended, and nobody asks what it used.
func (l *lane) converse(ctx context.Context, r runResult, t *problem.Test, input *os.File) (_ runResult, err error) {
	answer, err := l.e.j.File(ctx, t.Answer)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	ran, said, fault := l.talkOnce(ctx, t, input, answer, r.feedback, l.wall(), l.e.j.crowd.join)
	if wall, doubtful := l.doubtful(ran); fault == nil && said.Flooded == "" && doubtful {
		first := l.used(ran)
		l.e.j.metrics.reruns.Inc()
		ran, said, fault = l.talkOnce(ctx, t, input, answer, r.feedback, wall, l.e.j.crowd.clear)
		r.rerun = &first
	}
	if _, guilty := errors.AsType[*packageError](fault); fault != nil && !guilty {
		return r, l.e.prog.tc.explain(fault)
	}
	if ran.Verdict == sandbox.SE && !ran.Unfit {
		return r, fmt.Errorf("the sandbox failed: %s", ran.Error)
	}
	if ran.Verdict != "" {
		r.usage, r.exitCode, r.exitSignal = l.used(ran), ran.ExitCode, ran.Signal
		if err := l.classify(&r, ran); err != nil {
			return r, err
		}
	}
	switch {
	case ran.Unfit: // nobody talked
	case said.Flooded != "":
		r.verdict, r.score, r.multiplier = judge.OLE, nil, nil
		r.message = "said more than " + sizeText(l.e.prog.cmd.Limits.OutputBytes) + ", or went on and on without waiting for an answer"
		r.note = clean(said.Flooded)
	case fault != nil:
		err = l.blame(ctx, &r, t, fault)
	case r.verdict == judge.AC || rejects(said.Opinion) && !said.HeardEnd:
		r.verdict, r.message, r.note = judge.AC, "", ""
		if err = l.blame(ctx, &r, t, r.take(*l.e.interactor, said.Opinion, l.e.pkg.Scoring)); err == nil && r.verdict == judge.AC {
			err = l.checkTout(ctx, &r, t, input, said.Tout)
		}
	}
	if t.Sample {
		r.output = said.Talk
	}
	l.e.j.metrics.runs.WithLabelValues(string(r.verdict)).Inc()
	return r, err
}

// checkTout asks the checkers about what the interactor wrote for them.
func (l *lane) checkTout(ctx context.Context, r *runResult, t *problem.Test, input *os.File, tout []byte) error {
	if len(l.e.checkers) == 0 {
		return nil
	}
	if err := rewind(l.stdout); err != nil {
		return err
	}
	if _, err := l.stdout.Write(tout); err != nil {
		return fmt.Errorf("keep what an interactor wrote: %w", err)
	}
	return l.check(ctx, r, t, input)
}

// errRejected ends a program that goes on after its interactor has rejected it, or
// could not go on.
var errRejected = errors.New("the interactor has rejected the program")

// talkOnce is talk, in which a program that is unfit is no error.
func (l *lane) talkOnce(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (ran sandbox.Result, said plugin.Judgement, err error) {
	if l.unfit != "" {
		return sandbox.Result{Verdict: sandbox.SE, Error: l.unfit, Unfit: true}, said, nil
	}
	ran, said, err = l.talk(ctx, t, input, answer, feedback, wall, enter)
	ran, err = fits(ran, err)
	return ran, said, err
}

// talk joins program and interactor and waits for both, at most wall on the
// clock, in the company that enter waits for. A fault of the interactor is a
// [*packageError].
func (l *lane) talk(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (ran sandbox.Result, said plugin.Judgement, err error) {
	if l.e.interactor.native != nil {
		return l.talkNative(ctx, t, input, answer, feedback, wall, enter)
	}
	if err := rewind(l.stderr); err != nil {
		return ran, said, err
	}
	c := l.e.prog.cmd
	box, done, err := l.boxFor(ctx, t, &c, input)
	if err != nil {
		return ran, said, err
	}
	defer func() { err = errors.Join(err, done()) }()
	leave, err := enter(ctx)
	if err != nil {
		return ran, said, err
	}
	defer leave()
	from, out, err := os.Pipe()
	if err != nil {
		return ran, said, fmt.Errorf("join a program and its interactor: %w", err)
	}
	in, to, err := os.Pipe()
	if err != nil {
		return ran, said, errors.Join(fmt.Errorf("join a program and its interactor: %w", err), from.Close(), out.Close())
	}
	c.Stdin, c.Stdout, c.Stderr, c.StderrLimit = in, out, l.stderr, keptStderr
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
	span.Text("plugin", l.e.interactor.name())
	said, err = l.e.j.cfg.Plugins.Interact(asking, l.e.interactor.module, plugin.Interaction{
		Input: input, Answer: answer, From: from, To: to, Args: slices.Concat(l.e.interactor.flags, t.Flags),
		Patience: c.Limits.Wall + interactorExtra, Feedback: feedback, SaidBytes: c.Limits.OutputBytes,
		Started: func() {
			begun = true
			go func() {
				ran, err := runTraced(running, box.RunPiped, c)
				ended <- outcome{ran, err}
			}()
		},
	})
	span.End(err)
	if err != nil {
		err = guestFault(err)
	}
	if !begun {
		return ran, said, errors.Join(err, in.Close(), out.Close())
	}
	if err == nil && (said.Flooded != "" || rejects(said.Opinion) && !said.HeardEnd) {
		timer := time.AfterFunc(sandbox.Moment, func() { end(errRejected) })
		defer timer.Stop()
	}
	o := <-ended
	if errors.Is(o.err, errRejected) && ctx.Err() == nil {
		return o.ran, said, box.Clean(ctx)
	}
	if o.err == nil {
		o.err = box.Clean(ctx)
	}
	if o.err != nil {
		return o.ran, said, o.err
	}
	l.e.j.metrics.truncated(c, o.ran)
	l.late(&o.ran)
	return o.ran, said, err
}
