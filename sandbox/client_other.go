//go:build !linux

package sandbox

import (
	"context"
	"os"
	"time"

	"deepoj/sandbox/internal/wire"
)

// Here everything says why there is no sandbox.

// Client is a client of a sandbox agent.
type Client struct{}

// Dial talks to an agent.
func Dial(*os.File) (*Client, error) { return nil, wire.Supported() }

// Alive reports whether the agent is still there.
func (c *Client) Alive() bool { return false }

// Close closes the connection.
func (c *Client) Close() error { return wire.Supported() }

// Slots returns how many boxes may be open at once.
func (c *Client) Slots() int { return 0 }

// Cores returns how many cores one box can use at once.
func (c *Client) Cores() int { return 0 }

// Status asks the agent what it is able to do.
func (c *Client) Status(context.Context) (Status, error) { return Status{}, wire.Supported() }

// Tool returns where a tool is.
func (c *Client) Tool(context.Context, string) (Tool, error) { return Tool{}, wire.Supported() }

// Box opens a box.
func (c *Client) Box(context.Context) (*Box, error) { return nil, wire.Supported() }

// OpenBox opens a box.
func (c *Client) OpenBox(context.Context, BoxOptions) (*Box, error) { return nil, wire.Supported() }

// Box is one private root file system.
type Box struct{}

// OneShot reports whether each run in the box waits for a place of its own.
func (b *Box) OneShot() bool { return false }

// Put writes files below /box.
func (b *Box) Put(context.Context, ...File) error { return wire.Supported() }

// Packed are files that can be put into several boxes.
type Packed struct{}

// Pack returns files packed.
func Pack(...File) (*Packed, error) { return nil, wire.Supported() }

// PutPacked is [Box.Put] of packed files.
func (b *Box) PutPacked(context.Context, *Packed) error { return wire.Supported() }

// Run runs one command and waits for its end.
func (b *Box) Run(context.Context, Cmd) (Result, error) { return Result{}, wire.Supported() }

// RunPiped runs one command whose standard input and output are ends of pipes.
func (b *Box) RunPiped(context.Context, Cmd) (Result, error) { return Result{}, wire.Supported() }

// Collect returns files below /box.
func (b *Box) Collect(context.Context, []string, int64) ([]File, error) { return nil, wire.Supported() }

// CollectPacked returns files below /box, packed as well.
func (b *Box) CollectPacked(context.Context, []string, int64) ([]File, *Packed, error) {
	return nil, nil, wire.Supported()
}

// Clean waits until everything that a run left is gone.
func (b *Box) Clean(context.Context) error { return wire.Supported() }

// Renew has the next run begin where nothing ever ran.
func (b *Box) Renew(context.Context) error { return wire.Supported() }

// Close gives the box back.
func (b *Box) Close() error { return wire.Supported() }

// Moment is how long a program may go on whose end does not matter any more.
const Moment = 2 * time.Second

// SameMoment is how long before and after a program fails its last words may be what decides.
const SameMoment = 200 * time.Millisecond

// PairOptions are what [RunPairWith] does besides.
type PairOptions struct {
	Hear   func(fromA bool, said []byte)
	Enough func(b Result) bool
}

// RunPair runs two programs that talk to each other.
func RunPair(context.Context, *Box, Cmd, *Box, Cmd) (PairResult, error) {
	return PairResult{}, wire.Supported()
}

// RunPairWith is [RunPair] with options.
func RunPairWith(context.Context, *Box, Cmd, *Box, Cmd, PairOptions) (PairResult, error) {
	return PairResult{}, wire.Supported()
}

// KeeperClient is a client of a keeper.
type KeeperClient struct{}

// KeeperClientConfig says how one-shot runs are read.
type KeeperClientConfig struct {
	StdoutLimit, StderrLimit int64
	Refused                  func(reason string)
}

// DialKeeper talks to a keeper.
func DialKeeper(context.Context, *os.File, KeeperClientConfig) (*KeeperClient, error) {
	return nil, wire.Supported()
}

// Agent talks to the agent that runs now.
func (k *KeeperClient) Agent(context.Context) (*Client, error) { return nil, wire.Supported() }

// Tool returns where a tool is.
func (k *KeeperClient) Tool(context.Context, string) (Tool, error) { return Tool{}, wire.Supported() }

// Slots returns how many one-shot runs there may be at once.
func (k *KeeperClient) Slots() int { return 0 }

// Cores returns how many cores one box can use at once.
func (k *KeeperClient) Cores() int { return 0 }

// Status says what one-shot runs are able to do.
func (k *KeeperClient) Status(context.Context) (Status, error) { return Status{}, wire.Supported() }

// Box opens a box.
func (k *KeeperClient) Box(context.Context) (*Box, error) { return nil, wire.Supported() }

// OpenBox opens a box.
func (k *KeeperClient) OpenBox(context.Context, BoxOptions) (*Box, error) {
	return nil, wire.Supported()
}

// Replaced returns how often an agent was replaced, by reason.
func (k *KeeperClient) Replaced(context.Context) (map[string]int64, error) {
	return nil, wire.Supported()
}

// WithJob says for which job and attempt the runs with ctx are.
func WithJob(ctx context.Context, _ int64, _ int32) context.Context { return ctx }
