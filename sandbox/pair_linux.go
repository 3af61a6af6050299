package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// RunPair runs two programs, each in its own box, with the standard output of either joined to the standard input of
// the other, and waits for both. The Stdin and Stdout of the commands must be nil. A program that dies of SIGPIPE spoke
// when the other one did not listen any more and did not fail by that: its verdict is OK and Result.Signal tells.
func RunPair(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd) (PairResult, error) {
	return RunPairWith(ctx, a, ac, b, bc, PairOptions{})
}

// PairOptions are what [RunPairWith] does besides.
type PairOptions struct {
	// Hear is told what one of the programs says before the other one hears it, in calls one after the other. Then
	// nobody learns by writing that the other one does not listen any more: what is said to nobody is lost, and no
	// program gets a signal or an error for it. That a program has ended is heard by the other one only when it is
	// known here.
	Hear func(fromA bool, said []byte)

	// Enough is told how B ended, if it ended first, and says whether it does not
	// matter any more how A does. Then A may write no more, and is ended if it goes
	// on for longer than Moment, and its Result is empty. Defaults to never.
	Enough func(b Result) bool
}

// Moment is how long a program may go on whose end does not matter any more.
const Moment = 2 * time.Second

// errEnough ends a program whose end does not matter.
var errEnough = errors.New("the other program has said enough")

// RunPairWith is [RunPair] with options.
func RunPairWith(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd, o PairOptions) (PairResult, error) {
	if a == b {
		return PairResult{}, errors.New("run a pair: both programs have the same box")
	}
	if ac.Stdin != nil || ac.Stdout != nil || bc.Stdin != nil || bc.Stdout != nil {
		return PairResult{}, errors.New("run a pair: standard input and output are taken")
	}
	between, err := join(&ac, &bc, o.Hear)
	if err != nil {
		return PairResult{}, fmt.Errorf("run a pair: %w", err)
	}
	p, err := between.run(ctx, a, ac, b, bc, o.Enough)
	between.end()
	if err != nil {
		return PairResult{}, fmt.Errorf("run a pair: %w", err)
	}
	return p, nil
}

// SameMoment is how long before and after a program fails its last words may be what decides: one that says something
// wrong, and fails at the same moment, is not first to end.
const SameMoment = 200 * time.Millisecond

// run runs both programs. When one cannot be run, the other one is ended.
func (r *relays) run(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd, enough func(Result) bool) (PairResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ofA, endA := context.WithCancelCause(ctx)
	defer endA(nil)
	type outcome struct {
		r   Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := runPiped(ctx, b, bc)
		forgiveBrokenPipe(&res)
		switch {
		case err != nil:
			cancel(err)
		case enough != nil && enough(res):
			r.fromA.hangUp()
			time.AfterFunc(Moment, func() { endA(errEnough) }) // does nothing when A has ended
		}
		r.fromB.known(0)
		done <- outcome{res, err}
	}()
	ar, aerr := runPiped(ofA, a, ac)
	if errors.Is(aerr, errEnough) && ctx.Err() == nil {
		ar, aerr = Result{}, nil
	}
	if aerr != nil {
		cancel(aerr)
	}
	forgiveBrokenPipe(&ar)
	grace := r.fromA.grace(ar)
	r.fromA.known(grace)
	o := <-done
	first := aerr == nil && ar.Verdict != "" && ar.Ended+grace < o.r.Ended
	return PairResult{A: ar, B: o.r, FirstA: first}, errors.Join(aerr, o.err)
}

// relays carry what two programs say, if somebody hears it.
type relays struct {
	fromA, fromB *relay // nil if nobody does
	work         sync.WaitGroup
}

// join gives two commands the ends of pipes that join them.
func join(ac, bc *Cmd, hear func(fromA bool, said []byte)) (*relays, error) {
	r := &relays{}
	var ends []*os.File // of both directions: where one side reads and the other writes
	pipe := func() (from, to *os.File, err error) {
		if from, to, err = os.Pipe(); err == nil {
			ends = append(ends, from, to)
		}
		return from, to, err
	}
	var mu sync.Mutex
	direction := func(speaker, listener **os.File, fromA bool) (_ *relay, err error) {
		if *listener, *speaker, err = pipe(); err != nil || hear == nil {
			return nil, err
		}
		d := &relay{from: *listener, drained: make(chan struct{}), over: make(chan struct{})}
		if *listener, d.to, err = pipe(); err != nil {
			return nil, err
		}
		d.hear = func(said []byte) {
			mu.Lock()
			defer mu.Unlock()
			hear(fromA, said)
		}
		return d, nil
	}
	var err error
	if r.fromA, err = direction(&ac.Stdout, &bc.Stdin, true); err == nil {
		r.fromB, err = direction(&bc.Stdout, &ac.Stdin, false)
	}
	if err != nil {
		wire.CloseAll(ends)
		return nil, err
	}
	for _, d := range []*relay{r.fromA, r.fromB} {
		if d != nil {
			r.work.Go(d.carry)
		}
	}
	return r, nil
}

// relay carries what one program says to the other one.
type relay struct {
	from, to *os.File
	hear     func(said []byte)
	spoke    atomic.Int64  // when the speaker said something, on the machine's monotonic clock
	drained  chan struct{} // closed when all is heard
	over     chan struct{} // closed when the speaker's end is known, or it may say no more
	once     sync.Once
}

// carry carries bytes until the speaker closes its end, and then tells the listener.
// What the listener does not hear is heard here, and lost.
func (d *relay) carry() {
	defer wire.CloseAll([]*os.File{d.from, d.to})
	b := make([]byte, 32<<10)
	for deaf := false; ; {
		n, err := d.from.Read(b)
		if n > 0 {
			d.spoke.Store(int64(machineTime()))
			d.hear(b[:n])
		}
		if n > 0 && !deaf {
			_, werr := d.to.Write(b[:n])
			deaf = werr != nil
		}
		if err != nil {
			break
		}
	}
	close(d.drained)
	select {
	case <-d.over:
	case <-time.After(silence): // it goes on without a word
	}
}

// silence is how long it may take until it is known that a program has ended, and not
// only closed its output. It is much longer than [SameMoment].
const silence = 500 * time.Millisecond

// grace is for how long the last words of a program that has ended may decide.
func (d *relay) grace(r Result) time.Duration {
	if d == nil || r.Verdict != RE {
		return 0
	}
	select {
	case <-d.drained:
	case <-time.After(SameMoment): // the listener is slow
	}
	if r.Ended > time.Duration(d.spoke.Load())+SameMoment {
		return 0
	}
	return SameMoment
}

// machineTime returns the time on the machine's monotonic clock.
func machineTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // the clock always exists on Linux
	}
	return time.Duration(t.Nano())
}

// known says that the speaker has ended. The listener learns of it after a while.
func (d *relay) known(after time.Duration) {
	switch {
	case d == nil:
	case after == 0:
		d.once.Do(func() { close(d.over) })
	default:
		time.AfterFunc(after, func() { d.once.Do(func() { close(d.over) }) })
	}
}

// hangUp lets the speaker say no more.
func (d *relay) hangUp() {
	if d != nil {
		_ = d.from.SetReadDeadline(time.Now()) // fails only when closed
		d.once.Do(func() { close(d.over) })
	}
}

// lastWords is how long what was said may be on its way when both programs are gone.
const lastWords = time.Second

// end waits until all is told.
func (r *relays) end() {
	for _, d := range []*relay{r.fromA, r.fromB} {
		if d != nil {
			_ = d.from.SetReadDeadline(time.Now().Add(lastWords)) // fails only when closed
			_ = d.to.SetWriteDeadline(time.Now().Add(lastWords))
		}
	}
	r.work.Wait()
}

// RunPiped runs one command whose standard input and output are ends of pipes. They are closed here as soon as they are
// passed on, whatever comes of it, so that whoever has the other ends sees the program's end. A program that dies of
// SIGPIPE did not fail by that, as with [RunPair].
func (b *Box) RunPiped(ctx context.Context, c Cmd) (Result, error) {
	if c.Stdin == nil || c.Stdout == nil {
		return Result{}, errors.New("run a piped command: standard input and output are required")
	}
	r, err := runPiped(ctx, b, c)
	if err != nil {
		return Result{}, err
	}
	forgiveBrokenPipe(&r)
	return r, nil
}

// runPiped runs c in b and closes our ends of its pipes when the agent has them,
// so that the other program sees this one's end.
func runPiped(ctx context.Context, b *Box, c Cmd) (Result, error) {
	closed := false
	release := func() {
		if !closed {
			wire.CloseAll([]*os.File{c.Stdin, c.Stdout})
		}
		closed = true
	}
	defer release()
	return b.run(ctx, c, true, release)
}

// forgiveBrokenPipe makes r OK if its program only wrote to one that listened no more. Which of two ends came first
// does not matter: when they are close, each may be noticed before the other.
func forgiveBrokenPipe(r *Result) {
	if r.Verdict == RE && r.Signal == int(syscall.SIGPIPE) {
		r.Verdict = OK
	}
}
