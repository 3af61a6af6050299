package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

// betweenPasses stands between the conversations of passes, as in the formats' files of that kind.
const betweenPasses = "---\n"

// passes judges a test in several passes. The checker accepts a pass and gives the input of the next one, or decides;
// what it leaves in its feedback folder it finds there again. What it is told to be the input is that of the pass. Each
// pass has the limits of a test, and a room in which nothing ran: the program is the same in all of them, and must know
// of a pass only what it is told.
func (l *lane) passes(ctx context.Context, t *problem.Test, input *os.File) (r runResult, err error) {
	next, err := l.e.j.Scratch()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	feedback := map[string][]byte{}
	for n := 1; ; n++ {
		if err := l.renew(ctx); err != nil {
			return r, err
		}
		before := r
		if r, err = l.pass(ctx, t, input, feedback); err != nil {
			return r, err
		}
		if n > 1 {
			r.follow(before, l.e.interactor != nil)
		}
		switch {
		case r.Verdict != judge.AC || r.next == nil:
			r.feedback, r.next = nil, nil
			return r, nil
		case n >= l.e.pkg.Passes:
			fault := blame.Packagef("the checker asks for pass %d, and the package allows %d (limits.validation_passes)", n+1, l.e.pkg.Passes)
			err = l.blame(ctx, &r, t, fault)
			r.feedback, r.next = nil, nil
			return r, err
		}
		if err := runner.Rewind(next); err != nil {
			return r, err
		}
		if _, err := next.Write(r.next); err != nil {
			return r, fmt.Errorf("write the input of a pass: %w", err)
		}
		feedback, input = r.feedback, next
	}
}

// renew gives the program a room in which nothing ran.
func (l *lane) renew(ctx context.Context) error {
	if l.box == nil { // each run has its own
		return nil
	}
	return l.box.Renew(ctx)
}

// follow adds what the passes before used and said.
func (r *runResult) follow(before runResult, talked bool) {
	if before.output != "" && !strings.HasSuffix(before.output, "\n") {
		before.output += "\n"
	}
	if talked {
		before.output += betweenPasses
	}
	r.usage, r.output = before.usage.Worst(r.usage), runner.Cut(before.output+r.output, keptOutput)
	if r.rerun == nil {
		r.rerun = before.rerun
	}
}

// twice judges a test in two runs, as Polygon has it. The interactor talks with the first, and what it writes is all
// that the second knows of it. What comes of the second is for the checkers, whose input is that of the test. Each run
// has the limits of a test, and a room in which nothing ran.
func (l *lane) twice(ctx context.Context, t *problem.Test, input *os.File) (r runResult, err error) {
	if err := l.renew(ctx); err != nil {
		return r, err
	}
	first, err := l.converse(ctx, r, t, input)
	if err != nil || first.Verdict != judge.AC {
		return l.decide(ctx, first, t, input, err)
	}
	told := l.stdout
	if l.stdout, err = l.e.j.Output(l.e.mayWrite()); err != nil {
		l.stdout = told
		return r, err
	}
	defer func() { err = errors.Join(err, told.Close()) }()
	if err := l.renew(ctx); err != nil {
		return r, err
	}
	second, err := l.output(ctx, r, t, told, l.e.pkg.Twice == problem.SecondTalks)
	second.follow(first, true)
	return l.decide(ctx, second, t, input, err)
}
