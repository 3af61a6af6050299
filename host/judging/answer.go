package judging

import (
	"context"
	"errors"
	"fmt"
	"os"

	"deepoj/host/plugin"
	"deepoj/host/problem"
)

// Converse runs a solution of an interactive package while the interactor talks
// with it about an input that has no answer yet. What the interactor writes for the
// checkers, which is the answer, goes to output. A solution that does not do well
// is an error.
func (p *Program) Converse(ctx context.Context, input, output *os.File) (err error) {
	talker, err := p.j.interactor(ctx, p.from)
	if err != nil {
		return err
	}
	answer, err := p.j.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	l, err := (&evaluation{j: p.j, pkg: p.from, prog: p.prog, interactor: talker}).openLane(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	wall := patience*p.prog.cmd.Limits.CPU + lenience
	c, err := l.talk(ctx, &problem.Test{}, input, answer, nil, wall, p.j.crowd.join)
	if err != nil {
		return p.prog.tc.explain(err)
	}
	stderr, err := head(l.stderr, keptWords)
	if err != nil {
		return err
	}
	if err := p.failure(c.ran, stderr); err != nil {
		return err
	}
	switch {
	case c.ran.ExitCode != 0:
		return &packageError{fmt.Errorf("%s ended with exit status %d: %s", p.name, c.ran.ExitCode, stderr)}
	case c.said.Flooded != "":
		return &packageError{fmt.Errorf("%s said too much to the interactor: %s", p.name, c.said.Flooded)}
	case c.said.Outcome != plugin.Accepted:
		return &packageError{fmt.Errorf("the interactor says %s: %s", c.said.Outcome, c.said.Message)}
	}
	if _, err := output.Write(c.said.Tout); err != nil {
		return fmt.Errorf("keep what an interactor wrote: %w", err)
	}
	return nil
}
