package judging

import (
	"context"

	"deepoj/host/telemetry"
	"deepoj/sandbox"
)

// runTraced runs a command in a box and shows it in the trace of the job.
func runTraced(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd) (sandbox.Result, error) {
	ctx, span := telemetry.Start(ctx, "sandbox run")
	ran, err := run(ctx, c)
	span.Text("verdict", string(ran.Verdict))
	span.Number("cpu_ms", ran.CPU.Milliseconds())
	span.Number("memory_kib", ran.MemoryBytes>>10)
	span.End(err)
	return ran, err
}
