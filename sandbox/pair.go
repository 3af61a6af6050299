package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// RunPair runs two programs, each in its own box, with the standard output of
// either joined to the standard input of the other, and waits for both. The
// Stdin and Stdout of the commands must be nil. A program that dies of SIGPIPE
// spoke when the other one did not listen any more and did not fail by that: its
// verdict is OK and Result.Signal tells.
func RunPair(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd) (PairResult, error) {
	return RunPairWith(ctx, a, ac, b, bc, PairOptions{})
}

// PairOptions are what [RunPairWith] does besides.
type PairOptions struct {
	// Hear is told what one of the programs says before the other one hears it, in
	// calls one after the other.
	Hear func(fromA bool, said []byte)

	// Enough is told how B ended, if it ended first, and says whether it does not
	// matter any more how A does. Then A is ended if it goes on for longer than
	// Moment, and its Result is empty. Defaults to never.
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
	p, err := runBoth(ctx, a, ac, b, bc, o.Enough)
	between.end()
	if err != nil {
		return PairResult{}, fmt.Errorf("run a pair: %w", err)
	}
	forgiveBrokenPipe(&p.A)
	forgiveBrokenPipe(&p.B)
	return p, nil
}

// runBoth runs both programs. When one cannot be run, the other one is ended.
func runBoth(ctx context.Context, a *Box, ac Cmd, b *Box, bc Cmd, enough func(Result) bool) (PairResult, error) {
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
		r, err := runPiped(ctx, b, bc)
		switch {
		case err != nil:
			cancel(err)
		case enough != nil && enough(r):
			time.AfterFunc(Moment, func() { endA(errEnough) }) // does nothing when A has ended
		}
		done <- outcome{r, err}
	}()
	ar, aerr := runPiped(ofA, a, ac)
	if errors.Is(aerr, errEnough) && ctx.Err() == nil {
		ar, aerr = Result{}, nil
	}
	if aerr != nil {
		cancel(aerr)
	}
	o := <-done
	return PairResult{A: ar, B: o.r, FirstA: aerr == nil && ar.Verdict != "" && ar.Ended < o.r.Ended}, errors.Join(aerr, o.err)
}

// relays carry what two programs say, if somebody hears it.
type relays struct {
	pipes []*os.File
	work  sync.WaitGroup
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
	direction := func(speaker, listener **os.File, fromA bool) (err error) {
		if *listener, *speaker, err = pipe(); err != nil || hear == nil {
			return err
		}
		from := *listener
		var to *os.File
		if *listener, to, err = pipe(); err != nil {
			return err
		}
		r.pipes = append(r.pipes, from, to)
		r.work.Go(func() {
			relay(from, to, func(said []byte) {
				mu.Lock()
				defer mu.Unlock()
				hear(fromA, said)
			})
		})
		return nil
	}
	err := direction(&ac.Stdout, &bc.Stdin, true)
	if err == nil {
		err = direction(&bc.Stdout, &ac.Stdin, false)
	}
	if err != nil {
		closeAll(ends)
		r.work.Wait()
		return nil, err
	}
	return r, nil
}

// relay carries bytes until one side closes its end, and then closes the other.
func relay(from, to *os.File, hear func([]byte)) {
	defer closeAll([]*os.File{from, to})
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			hear(b[:n])
			if _, werr := to.Write(b[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// lastWords is how long what was said may be on its way when both programs are gone.
const lastWords = time.Second

// end waits until all is told.
func (r *relays) end() {
	for _, f := range r.pipes {
		_ = f.SetDeadline(time.Now().Add(lastWords)) // fails only when closed
	}
	r.work.Wait()
}

// RunPiped runs one command whose standard input and output are ends of pipes.
// They are closed here as soon as they are passed on, whatever comes of it, so
// that whoever has the other ends sees the program's end. A program that dies of
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
			closeAll([]*os.File{c.Stdin, c.Stdout})
		}
		closed = true
	}
	defer release()
	return b.run(ctx, c, true, release)
}

// forgiveBrokenPipe makes r OK if its program only wrote to one that listened no
// more. Which of two ends came first does not matter: when they are close, each
// may be noticed before the other.
func forgiveBrokenPipe(r *Result) {
	if r.Verdict == RE && r.Signal == int(syscall.SIGPIPE) {
		r.Verdict = OK
	}
}
