package oneshot

import (
	"context"
	"os"

	"deepoj/sandbox/internal/agent"
	"deepoj/sandbox/internal/wire"
)

// Serve is the agent. It keeps rooms ready, answers the clients at the other end
// of conn, and returns nil when conn reaches its end or ctx ends, with nothing
// left behind. It sweeps what agents left that died otherwise. When something that
// was killed does not go, it returns an error at once, and the process must end with
// [ExitStatus]. It must run as root, if only of a user namespace (see [Spawn]), and
// should have a process to itself.
func Serve(ctx context.Context, conn *os.File, cfg wire.Config) error {
	return agent.Serve(ctx, conn, cfg)
}
