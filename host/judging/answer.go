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
// checkers, which is the answer, goes to output; in a problem that runs programs twice, what
// comes of the second run. A solution that does not do well is an error.
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
	if p.from.Twice == "" {
		return p.converse(ctx, l, input, answer, output)
	}
	told, err := p.j.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.Close()) }()
	if err := p.converse(ctx, l, input, answer, told); err != nil {
		return err
	}
	if p.from.Twice == problem.SecondTalks {
		return p.converse(ctx, l, told, answer, output)
	}
	said, err := p.Run(ctx, nil, told, output)
	if err == nil && said.Exit != 0 {
		err = p.badEnd(said.Exit, said.Stderr)
	}
	return err
}

// badEnd is an error of a solution that ended with a status.
func (p *Program) badEnd(exit int, stderr string) error {
	return &packageError{fmt.Errorf("%s ended with exit status %d: %s", p.name, exit, stderr)}
}

// converse is one conversation of a solution.
func (p *Program) converse(ctx context.Context, l *lane, input, answer, output *os.File) error {
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
		return p.badEnd(c.ran.ExitCode, stderr)
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
