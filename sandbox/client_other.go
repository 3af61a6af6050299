//go:build !linux

package sandbox

import (
	"context"
	"os"
	"time"
)

// Here everything says why there is no sandbox.

// Agent is a client of a sandbox agent.
type Agent struct{}

// Dial talks to an agent.
func Dial(*os.File) (*Agent, error) { return nil, supported() }

// Alive reports whether the agent is still there.
func (a *Agent) Alive() bool { return false }

// Close closes the connection.
func (a *Agent) Close() error { return supported() }

// Slots returns how many boxes may be open at once.
func (a *Agent) Slots() int { return 0 }

// Cores returns how many cores one box can use at once.
func (a *Agent) Cores() int { return 0 }

// Status asks the agent what it is able to do.
func (a *Agent) Status(context.Context) (Status, error) { return Status{}, supported() }

// Tool returns where a tool is.
func (a *Agent) Tool(context.Context, string) (Tool, error) { return Tool{}, supported() }

// Box opens a box.
func (a *Agent) Box(context.Context) (*Box, error) { return nil, supported() }

// OpenBox opens a box.
func (a *Agent) OpenBox(context.Context, BoxOptions) (*Box, error) { return nil, supported() }

// Box is one private root file system.
type Box struct{}

// OneShot reports whether each run in the box waits for a place of its own.
func (b *Box) OneShot() bool { return false }

// Put writes files below /box.
func (b *Box) Put(context.Context, ...File) error { return supported() }

// Run runs one command and waits for its end.
func (b *Box) Run(context.Context, Cmd) (Result, error) { return Result{}, supported() }

// RunPiped runs one command whose standard input and output are ends of pipes.
func (b *Box) RunPiped(context.Context, Cmd) (Result, error) { return Result{}, supported() }

// Collect returns files below /box.
func (b *Box) Collect(context.Context, []string, int64) ([]File, error) { return nil, supported() }

// Clean waits until everything that a run left is gone.
func (b *Box) Clean(context.Context) error { return supported() }

// Renew has the next run begin where nothing ever ran.
func (b *Box) Renew(context.Context) error { return supported() }

// Close gives the box back.
func (b *Box) Close() error { return supported() }

// Moment is how long a program may go on whose end does not matter any more.
const Moment = 2 * time.Second

// SameMoment is how long before and after a program fails its last words may be what
// decides.
const SameMoment = 200 * time.Millisecond

// PairOptions are what [RunPairWith] does besides.
type PairOptions struct {
	Hear   func(fromA bool, said []byte)
	Enough func(b Result) bool
}

// RunPair runs two programs that talk to each other.
func RunPair(context.Context, *Box, Cmd, *Box, Cmd) (PairResult, error) {
	return PairResult{}, supported()
}

// RunPairWith is [RunPair] with options.
func RunPairWith(context.Context, *Box, Cmd, *Box, Cmd, PairOptions) (PairResult, error) {
	return PairResult{}, supported()
}

// Door is a client of a [Keeper].
type Door struct{}

// DoorConfig says how one-shot runs are read.
type DoorConfig struct {
	StdoutLimit, StderrLimit int64
	Refused                  func(reason string)
}

// OpenDoor talks to a keeper.
func OpenDoor(context.Context, *os.File, DoorConfig) (*Door, error) { return nil, supported() }

// Agent talks to the agent that runs now.
func (d *Door) Agent(context.Context) (*Agent, error) { return nil, supported() }

// Tool returns where a tool is.
func (d *Door) Tool(context.Context, string) (Tool, error) { return Tool{}, supported() }

// Slots returns how many one-shot runs there may be at once.
func (d *Door) Slots() int { return 0 }

// Cores returns how many cores one box can use at once.
func (d *Door) Cores() int { return 0 }

// Status says what one-shot runs are able to do.
func (d *Door) Status(context.Context) (Status, error) { return Status{}, supported() }

// Box opens a box.
func (d *Door) Box(context.Context) (*Box, error) { return nil, supported() }

// OpenBox opens a box.
func (d *Door) OpenBox(context.Context, BoxOptions) (*Box, error) { return nil, supported() }

// Replaced returns how often an agent was replaced, by reason.
func (d *Door) Replaced(context.Context) (map[string]int64, error) { return nil, supported() }

// WithJob says for which job and attempt the runs with ctx are.
func WithJob(ctx context.Context, _ int64, _ int32) context.Context { return ctx }
