package judging

import (
	"context"
	"errors"
	"fmt"
	"os"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
)

// Converse runs a solution of an interactive package while the interactor talks with it about an input that has no
// answer yet. What the interactor writes for the checkers, which is the answer, goes to output; in a problem that runs
// programs twice, what comes of the second run. A solution that does not do well is an error.
func (j *Judge) Converse(ctx context.Context, p *jury.Program, input, output *os.File) (err error) {
	talker, err := j.Interactor(ctx, p.From)
	if err != nil {
		return err
	}
	answer, err := j.Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	l, err := (&evaluation{j: j, pkg: p.From, prog: p.Built, interactor: talker}).openLane(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if p.From.Twice == "" {
		return converse(ctx, p, l, input, answer, output)
	}
	told, err := j.Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.Close()) }()
	if err := converse(ctx, p, l, input, answer, told); err != nil {
		return err
	}
	if p.From.Twice == problem.SecondTalks {
		return converse(ctx, p, l, told, answer, output)
	}
	said, err := p.Run(ctx, nil, told, output)
	if err == nil && said.Exit != 0 {
		err = badEnd(p, said.Exit, said.Stderr)
	}
	return err
}

// badEnd is an error of a solution that ended with a status.
func badEnd(p *jury.Program, exit int, stderr string) error {
	return blame.Packagef("%s ended with exit status %d: %s", p.Name, exit, stderr)
}

// converse is one conversation of a solution.
func converse(ctx context.Context, p *jury.Program, l *lane, input, answer, output *os.File) error {
	wall := runner.Patience*p.Built.Cmd.Limits.CPU + runner.Lenience
	c, err := l.talk(ctx, &problem.Test{}, input, answer, nil, wall, l.e.j.Join)
	if err != nil {
		return p.Built.Toolchain.Explain(err)
	}
	stderr, err := runner.Head(l.stderr, runner.KeptWords)
	if err != nil {
		return err
	}
	if err := p.Failure(c.ran, stderr); err != nil {
		return err
	}
	switch {
	case c.ran.ExitCode != 0:
		return badEnd(p, c.ran.ExitCode, stderr)
	case c.said.Flooded != "":
		return blame.Packagef("%s said too much to the interactor: %s", p.Name, c.said.Flooded)
	case c.said.Outcome != plugin.Accepted:
		return blame.Packagef("the interactor says %s: %s", c.said.Outcome, c.said.Message)
	}
	if _, err := output.Write(c.said.Tout); err != nil {
		return fmt.Errorf("keep what an interactor wrote: %w", err)
	}
	return nil
}
