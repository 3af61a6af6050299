package judging

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"deepoj/sandbox"
)

// A run may go beyond its CPU limit by a tenth before it is ended. One that ends
// there is run again while nothing else runs or compiles on this machine: what
// others do to caches and cores costs a few per cent, and must not decide. The
// second run counts.

// nearPart is how far beyond its limit a run is in doubt, as a part of the limit.
const nearPart = 10

// ceiling is the CPU time at which a run is ended.
func ceiling(limit time.Duration) time.Duration { return limit + limit/nearPart }

// wall is how long a run may take on the clock, if it need not wait for a CPU.
func (l *lane) wall() time.Duration {
	if limits := l.e.prog.cmd.Limits; limits.Wall > 0 {
		return limits.Wall
	}
	return 2*l.e.prog.cmd.Limits.CPU + time.Second
}

// late makes a TLE of a run that went on beyond its limit, however it ended. Only
// memory is more certain.
func (l *lane) late(ran *sandbox.Result) {
	if ran.CPU > l.e.prog.cmd.Limits.CPU && ran.Verdict != sandbox.MLE && ran.Verdict != sandbox.SE {
		ran.Verdict, ran.OverWall = sandbox.TLE, false
	}
}

// doubtful reports whether a run may be TLE by what else the machine did: it is
// beyond its limit by little, or waited for a CPU until the clock ran out. The
// wall time is what another run may take.
func (l *lane) doubtful(ran sandbox.Result) (wall time.Duration, doubtful bool) {
	switch {
	case starved(ran):
		return patience * l.wall(), true
	case ran.Verdict == sandbox.TLE && !ran.OverWall && ran.CPU < ceiling(l.e.prog.cmd.Limits.CPU):
		return l.wall(), true
	default:
		return 0, false
	}
}

// crowd is what runs or compiles on this machine at the same time.
type crowd struct{ places *semaphore.Weighted }

// everybody is more than ever run at the same time.
const everybody = 1 << 20

func newCrowd() crowd { return crowd{semaphore.NewWeighted(everybody)} }

// join waits until nobody runs alone.
func (c crowd) join(ctx context.Context) (leave func(), err error) { return c.enter(ctx, 1) }

// clear waits until nobody runs, and keeps others from it.
func (c crowd) clear(ctx context.Context) (leave func(), err error) { return c.enter(ctx, everybody) }

// aloneKey marks a context of [Alone].
type aloneKey struct{}

// Alone returns a context in which a [Judge] runs programs of submissions one after
// the other, each while nothing else runs or compiles on this machine, so that what
// they use can be compared.
func Alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// company returns how a program that is judged waits for its turn.
func (c crowd) company(ctx context.Context) func(context.Context) (func(), error) {
	if ctx.Value(aloneKey{}) != nil {
		return c.clear
	}
	return c.join
}

func (c crowd) enter(ctx context.Context, n int64) (leave func(), err error) {
	if err := c.places.Acquire(ctx, n); err != nil {
		return nil, fmt.Errorf("wait for other runs: %w", err)
	}
	return func() { c.places.Release(n) }, nil
}
