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

// Converse runs a solution of an interactive package while the interactor talks
// with it about an input that has no answer yet. What the interactor writes for the
// checkers, which is the answer, goes to output. A solution that does not do well
// is an error.
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
	wall := runner.Patience*p.Built.Cmd.Limits.CPU + runner.Lenience
	c, err := l.talk(ctx, &problem.Test{}, input, answer, nil, wall, j.Join)
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
		return blame.Packagef("%s ended with exit status %d: %s", p.Name, c.ran.ExitCode, stderr)
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
