//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// KeeperConfig says what a [Keeper] starts.
type KeeperConfig struct {
	Sandbox      Config
	Agent, Judge []string
}

// Keeper keeps a sandbox agent running, and starts one-shot runs.
type Keeper struct{}

// Keep starts a keeper.
func Keep(KeeperConfig) (*Keeper, error) { return nil, supported() }

// Conn returns the client's end of the connection.
func (k *Keeper) Conn() *os.File { return nil }

// Settle waits until the agent is ready.
func (k *Keeper) Settle(time.Duration) {}

// Close ends the agent and the runs.
func (k *Keeper) Close() {}

// Process is an agent that runs as a child.
type Process struct{}

// Spawn starts the agent as a child.
func Spawn(context.Context, string, []string, Config) (*Process, error) { return nil, supported() }

// Conn returns the client's end of the connection.
func (p *Process) Conn() *os.File { return nil }

// PID returns the process id of the agent.
func (p *Process) PID() int { return 0 }

// Wait waits until the agent ended.
func (p *Process) Wait() error { return supported() }

// Close tells the agent to end.
func (p *Process) Close() error { return supported() }

// Inherited returns what [Spawn] gave to the process of the agent.
func Inherited(ctx context.Context) (context.Context, *os.File, Config, error) {
	return ctx, nil, Config{}, supported()
}

// Serve is the agent.
func Serve(context.Context, *os.File, Config) error { return supported() }

// ExitStatus returns the exit status of an agent.
func ExitStatus(err error) int {
	if err == nil {
		return 0
	}
	return 1
}

// Rootless reports why the calling process cannot start an agent.
func Rootless() error { return supported() }

// Judge is the one-shot command.
func Judge(_ context.Context, _ []string, _, stderr io.Writer) int {
	fmt.Fprintln(stderr, supported())
	return 1
}
