package runner

import (
	"context"

	"deepoj/sandbox"
)

// Sandbox opens boxes and finds tools: an agent of package sandbox, or a [judging.Fallback].
type Sandbox interface {
	// Box and OpenBox open a box; they may wait for a free one.
	Box(ctx context.Context) (*sandbox.Box, error)
	OpenBox(ctx context.Context, o sandbox.BoxOptions) (*sandbox.Box, error)

	// Tool returns where a tool is, or sandbox.ErrNoTool.
	Tool(ctx context.Context, name string) (sandbox.Tool, error)

	// Slots is how many programs run at once, Cores how many cores one of them can use.
	Slots() int
	Cores() int
}

var _ Sandbox = (*sandbox.Client)(nil)
