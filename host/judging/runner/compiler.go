package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deepoj/sandbox"
)

// RunCompiler runs a compiler once, and once more with more time on the clock if it waited for a CPU until that ran
// out: what else the machine does is no fault of the sources. If that is not enough either, it is a failure of the
// platform.
func (r *Runner) RunCompiler(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd, out *Streams) (sandbox.Result, error) {
	for again := false; ; again = true {
		leave, err := r.Join(ctx)
		if err != nil {
			return sandbox.Result{}, err
		}
		ran, err := Traced(ctx, run, c)
		leave()
		switch {
		case err != nil || !Starved(ran):
			return ran, err
		case again:
			return ran, fmt.Errorf("compile: %s had %s of CPU time in %s on the clock, for %s of which it waited for a CPU: let this machine do less at once",
				c.Tool, tenths(ran.CPU), tenths(ran.Wall), tenths(ran.Pressure))
		}
		r.CountRerun()
		c.Limits.Wall = Patience*ran.Wall + Lenience
		if err := errors.Join(Rewind(out.Out), Rewind(out.Err)); err != nil {
			return ran, err
		}
	}
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
