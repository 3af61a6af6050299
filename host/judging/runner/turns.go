package runner

import (
	"context"
	"fmt"
)

// everybody is more than ever run at the same time.
const everybody = 1 << 20

// Join waits until nobody runs alone.
func (r *Runner) Join(ctx context.Context) (leave func(), err error) { return r.enter(ctx, 1) }

// Clear waits until nobody runs, and keeps others from it.
func (r *Runner) Clear(ctx context.Context) (leave func(), err error) {
	return r.enter(ctx, everybody)
}

// aloneKey marks a context of [Alone].
type aloneKey struct{}

// Alone returns a context in which programs of submissions are run one after the other, each while nothing else runs or
// compiles on this machine, so that what they use can be compared.
func Alone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// Company returns how a program that is judged waits for its turn.
func (r *Runner) Company(ctx context.Context) func(context.Context) (func(), error) {
	if ctx.Value(aloneKey{}) != nil {
		return r.Clear
	}
	return r.Join
}

func (r *Runner) enter(ctx context.Context, n int64) (leave func(), err error) {
	if err := r.places.Acquire(ctx, n); err != nil {
		return nil, fmt.Errorf("wait for other runs: %w", err)
	}
	return func() { r.places.Release(n) }, nil
}
