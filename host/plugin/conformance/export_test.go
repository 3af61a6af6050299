package conformance

import (
	"context"
	"sync/atomic"

	"deepoj/host/plugin"
)

// RunDisturbed is [Run] with a checker whose fuel differs in every n-th answer,
// as no guest's does.
func RunDisturbed(ctx context.Context, rt *plugin.Runtime, wasm []byte, o Options, n int64) (Report, error) {
	var asked atomic.Int64
	return run(ctx, rt, wasm, o, func(ctx context.Context, m *plugin.Module, c plugin.Check) (plugin.Opinion, error) {
		opinion, err := rt.Check(ctx, m, c)
		if asked.Add(1)%n == 0 {
			opinion.Fuel++
		}
		return opinion, err
	})
}
