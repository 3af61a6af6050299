//go:build !linux

package oneshot

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"deepoj/sandbox/internal/wire"
)

// KeeperConfig says what a [Keeper] starts.
type KeeperConfig struct {
	Sandbox        wire.Config
	Agent, OneShot []string
}

// Keeper keeps a sandbox agent running, and starts one-shot runs.
type Keeper struct{}

// Keep starts a keeper.
func Keep(KeeperConfig) (*Keeper, error) { return nil, wire.Supported() }

// Conn returns the client's end of the connection.
func (k *Keeper) Conn() *os.File { return nil }

// Settle waits until the agent is ready.
func (k *Keeper) Settle(time.Duration) {}

// Close ends the agent and the runs.
func (k *Keeper) Close() {}

// Process is an agent that runs as a child.
type Process struct{}

// Spawn starts the agent as a child.
func Spawn(context.Context, string, []string, wire.Config) (*Process, error) {
	return nil, wire.Supported()
}

// Conn returns the client's end of the connection.
func (p *Process) Conn() *os.File { return nil }

// PID returns the process id of the agent.
func (p *Process) PID() int { return 0 }

// Wait waits until the agent ended.
func (p *Process) Wait() error { return wire.Supported() }

// Close tells the agent to end.
func (p *Process) Close() error { return wire.Supported() }

// Inherited returns what [Spawn] gave to the process of the agent.
func Inherited(ctx context.Context) (context.Context, *os.File, wire.Config, error) {
	return ctx, nil, wire.Config{}, wire.Supported()
}

// Serve is the agent.
func Serve(context.Context, *os.File, wire.Config) error { return wire.Supported() }

// ExitStatus returns the exit status of an agent.
func ExitStatus(err error) int {
	if err == nil {
		return 0
	}
	return 1
}

// Rootless reports why the calling process cannot start an agent.
func Rootless() error { return wire.Supported() }

// Main is the one-shot command.
func Main(_ context.Context, _ []string, _, stderr io.Writer) int {
	fmt.Fprintln(stderr, wire.Supported())
	return 1
}
