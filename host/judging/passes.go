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

// betweenPasses stands between the conversations of passes, as in the formats' files of
// that kind.
const betweenPasses = "---\n"

// passes judges a test in several passes. The checker accepts a pass and gives the
// input of the next one, or decides; what it leaves in its feedback folder it finds
// there again. What it is told to be the input is that of the pass. Each pass has the
// limits of a test, and a room in which nothing ran: the program is the same in all of
// them, and must know of a pass only what it is told.
func (l *lane) passes(ctx context.Context, t *problem.Test, input *os.File) (r runResult, err error) {
	next, err := l.e.j.Scratch()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	feedback := map[string][]byte{}
	var used judge.Usage
	for n := 1; ; n++ {
		if l.box != nil {
			if err := l.box.Renew(ctx); err != nil {
				return r, err
			}
		}
		before := r
		if r, err = l.pass(ctx, t, input, feedback); err != nil {
			return r, err
		}
		if before.output != "" && !strings.HasSuffix(before.output, "\n") {
			before.output += "\n"
		}
		if l.e.interactor != nil && n > 1 {
			before.output += betweenPasses
		}
		used = worst(used, r.usage)
		r.usage, r.output = used, runner.Cut(before.output+r.output, keptOutput)
		if r.rerun == nil {
			r.rerun = before.rerun
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
