package judging

import (
	"context"
	"errors"
	"time"

	"deepoj/sandbox"
)

// Look looks at the agent, which may take so long to answer.
func (f *Fallback) Look(ctx context.Context, patience time.Duration) { f.look(ctx, patience) }

// Crowd is what runs at the same time.
type Crowd struct{ crowd }

// NewCrowd returns one that nobody is part of.
func NewCrowd() Crowd { return Crowd{newCrowd()} }

// Join is for those who run with others, Clear for one who runs alone.
func (c Crowd) Join(ctx context.Context) (func(), error)  { return c.join(ctx) }
func (c Crowd) Clear(ctx context.Context) (func(), error) { return c.clear(ctx) }

// RunCompiler runs a compiler as run does, and returns what is on its standard error
// at the end.
func (j *Judge) RunCompiler(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd) (ran sandbox.Result, said string, err error) {
	streams, err := j.streams()
	if err != nil {
		return ran, "", err
	}
	defer func() { err = errors.Join(err, streams.close()) }()
	c.Stdout, c.Stderr = streams.out, streams.err
	if ran, err = j.runCompiler(ctx, run, c, streams); err != nil {
		return ran, "", err
	}
	_, said, err = streams.read()
	return ran, said, err
}
