package roles

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"
)

// process is what runs in this process, and what has to be closed at its end.
type process struct {
	log     *slog.Logger
	runners []runner
	closers []func() // in reverse order
}

// runner is one blocking part of the process. It returns nil when ctx ends.
type runner struct {
	name string
	run  func(ctx context.Context) error
}

// add has a part run until the process ends.
func (p *process) add(name string, run func(ctx context.Context) error) {
	p.runners = append(p.runners, runner{name, run})
}

// closing has something closed at the end, before what was opened earlier.
func (p *process) closing(f func()) { p.closers = append(p.closers, f) }

func (p *process) close() {
	for _, c := range slices.Backward(p.closers) {
		c()
	}
}

// run runs all parts until one fails or ctx ends.
func (p *process) run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	for _, part := range p.runners {
		g.Go(func() error {
			if err := part.run(gctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// keep runs a service in the background until the process closes: it outlives the
// parts that are added, so that what drains can still write.
func (p *process) keep(ctx context.Context, name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil {
			p.log.ErrorContext(ctx, "service ended badly", slog.String("service", name), slog.Any("err", err))
		}
	}()
	p.closing(func() { cancel(); <-done })
}
