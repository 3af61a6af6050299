package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin/dialogue"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Why a conversation is ended.
var (
	errFlood  = errors.New("the program said more than it may")
	errBabble = blame.Package(errors.New("the interactor says more than it may to a program that does not ask for it"))
)

// talkNative is talk with an interactor that runs as a program.
func (l *lane) talkNative(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (v conversation, err error) {
	n := l.e.interactor.Native
	if err := runner.Rewind(l.stderr); err != nil {
		return v, err
	}
	files, size, err := n.World(feedback, map[string]*os.File{jury.InputFile: input, jury.AnswerFile: answer})
	if err != nil {
		return v, err
	}
	c := l.e.prog.Cmd
	box, other, err := l.openPair(ctx, t, &c, input, func(ctx context.Context) (*sandbox.Box, error) { return n.Open(ctx, files, size) })
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, box.Close(), other.Close()) }()
	if box.OneShot() || other.OneShot() {
		enter = l.e.j.Clear // a program must not wait while its interactor has no place
	}
	talker, err := n.Command(ctx, slices.Concat(n.Names(), l.e.interactor.Flags, t.Flags), size)
	if err != nil {
		return v, err
	}
	stderr, err := l.e.j.Scratch()
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, stderr.Close()) }()
	leave, err := enter(ctx)
	if err != nil {
		return v, err
	}
	c.Stderr, c.StderrLimit = l.stderr, runner.KeptStderr
	c.Limits.CPU, c.Limits.Wall = ceiling(c.Limits.CPU), wall
	talker.Stderr, talker.Limits.Wall = stderr, wall+interactorExtra
	talking, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := &witness{most: c.Limits.OutputBytes, sample: t.Sample, end: end}
	pair, err := sandbox.RunPairWith(talking, box, c, other, talker, sandbox.PairOptions{Hear: w.hear, Enough: func(ran sandbox.Result) bool {
		w.gone.Store(true)
		w.settled.Store(n.Rejects(ran))
		return w.settled.Load()
	}})
	leave()
	v.said.Talk = w.talk.String()
	if errors.Is(err, errFlood) && ctx.Err() == nil {
		v.said.Flooded = errFlood.Error()
		return v, nil
	}
	if fault, ok := errors.AsType[*blame.PackageError](err); ok && ctx.Err() == nil {
		return v, fault
	}
	if err != nil {
		return v, l.e.prog.Toolchain.Explain(err)
	}
	v.ran, v.first = pair.A, pair.FirstA
	if v.ran.Verdict != "" {
		l.e.j.CountCut(c, v.ran)
		l.late(&v.ran)
	}
	if v.said.Flooded = w.unbearable(pair.B); v.said.Flooded != "" {
		return v, nil
	}
	if v.said.Opinion, err = n.Opinion(ctx, other, pair.B, stderr, feedback != nil); err == nil && n.Protocol == abi.Testlib1 {
		v.said.Tout, err = n.Tout(ctx, other)
	}
	return v, err
}

// witness hears what a program and its interactor say to each other.
type witness struct {
	most    int64 // bytes that the program may say
	sample  bool  // what they say is kept
	end     func(error)
	gone    atomic.Bool // the interactor has ended
	settled atomic.Bool // and rejected: what the program says does not matter any more

	talk                  dialogue.Transcript
	program, since, other int64 // bytes of the program, of these without an answer, and of the interactor
}

// hear hears one of both.
func (w *witness) hear(program bool, words []byte) {
	n := int64(len(words))
	switch {
	case !program:
		w.other, w.since = w.other+n, 0
	case w.gone.Load():
		w.program += n
	default:
		w.program, w.since = w.program+n, w.since+n
	}
	switch {
	case w.program > w.most && !w.settled.Load():
		w.end(errFlood)
	case dialogue.TooMuch(w.other, w.program):
		w.end(errBabble)
	}
	switch {
	case !w.sample:
	case program:
		w.talk.Program(words)
	default:
		w.talk.Interactor(words)
	}
}

// unbearable says what an interactor did not bear that the program had said without
// waiting for an answer, "" if it did.
func (w *witness) unbearable(ran sandbox.Result) string {
	limits := []sandbox.Verdict{sandbox.TLE, sandbox.MLE, sandbox.OLE}
	if w.since <= dialogue.FloodBytes || !slices.Contains(limits, ran.Verdict) {
		return ""
	}
	return fmt.Sprintf("the interactor got %s while the program had said %d bytes without an answer", ran.Verdict, w.since)
}

// pairing is how long a program holds its box while its interactor waits for one:
// programs that others judge on this machine might each hold what the other needs.
// Each waits a little longer than that, by chance, or they would never meet.
const pairing = time.Second

// openPair opens a box for the program and one for its interactor, both or none. One pair at a time is waited for.
func (l *lane) openPair(ctx context.Context, t *problem.Test, c *sandbox.Cmd, input *os.File, other func(context.Context) (*sandbox.Box, error)) (program, talker *sandbox.Box, err error) {
	if slots := l.e.j.cfg.Sandbox.Slots(); slots < 2 {
		return nil, nil, &blame.UnavailableError{
			What: "a pair of boxes", Reason: fmt.Sprintf("an interactor that is no plugin needs a box beside that of the program, and there is %d", slots),
			Remedy: "give the worker more cores",
		}
	}
	if err := l.e.j.pairs.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("wait for a pair of boxes: %w", err)
	}
	defer l.e.j.pairs.Release(1)
	for {
		mine := *c
		if program, _, err = l.boxFor(ctx, t, &mine, input); err != nil {
			return nil, nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, pairing+time.Duration(time.Now().UnixNano())%pairing)
		talker, err = other(waiting)
		hurried := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil {
			*c = mine
			return program, talker, nil
		}
		if cerr := program.Close(); cerr != nil || !hurried {
			return nil, nil, errors.Join(err, cerr)
		}
	}
}
