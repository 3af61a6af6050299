package judging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deepoj/sandbox"
)

// runCompiler runs a compiler once, and once more with more time on the clock if it
// waited for a CPU until that ran out: what else the machine does is no fault of the
// sources. If that is not enough either, it is a failure of the
// platform.
func (j *Judge) runCompiler(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd, out *streams) (sandbox.Result, error) {
	for again := false; ; again = true {
		leave, err := j.crowd.join(ctx)
		if err != nil {
			return sandbox.Result{}, err
		}
		ran, err := runTraced(ctx, run, c)
		leave()
		switch {
		case err != nil || !starved(ran):
			return ran, err
		case again:
			return ran, fmt.Errorf("compile: %s had %s of CPU time in %s on the clock, for %s of which it waited for a CPU: let this machine do less at once",
				c.Tool, tenths(ran.CPU), tenths(ran.Wall), tenths(ran.Pressure))
		}
		j.metrics.reruns.Inc()
		c.Limits.Wall = patience*ran.Wall + lenience
		if err := errors.Join(rewind(out.out), rewind(out.err)); err != nil {
			return ran, err
		}
	}
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
