package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"deepoj/sandbox/internal/selftest"
	"deepoj/sandbox/internal/wire"
)

// KeeperClient is a client of a keeper: it leads to the agent, and to boxes without one, of which every run is a new
// process that speaks protocol v1. It is safe for concurrent use.
type KeeperClient struct {
	conn   wire.Conn
	size   Status
	cfg    KeeperClientConfig
	serial atomic.Int64

	mu   sync.Mutex
	seen Status // what the last run said of itself
}

// KeeperClientConfig says how one-shot runs are read.
type KeeperClientConfig struct {
	// StdoutLimit and StderrLimit are how many bytes of the standard output and error of the command itself, and
	// not of the program, are kept; what is beyond is read and dropped. Default: 256 KiB and 1 MiB.
	StdoutLimit, StderrLimit int64

	// Refused is called with the reason when a line is refused. Defaults to nothing.
	Refused func(reason string)
}

// DialKeeper talks to the keeper at the other end of conn, which [Keeper.Conn] made and a child process may have
// inherited. The children of this process do not inherit it from here on.
func DialKeeper(ctx context.Context, conn *os.File, cfg KeeperClientConfig) (*KeeperClient, error) {
	cfg.StdoutLimit = cmp.Or(cfg.StdoutLimit, wire.DefaultStdoutLimit)
	cfg.StderrLimit = cmp.Or(cfg.StderrLimit, wire.DefaultStderrLimit)
	if cfg.Refused == nil {
		cfg.Refused = func(string) {}
	}
	if err := wire.CloseOnExec(conn); err != nil {
		return nil, fmt.Errorf("dial the sandbox keeper: %w", err)
	}
	k := &KeeperClient{conn: wire.Conn{File: conn}, cfg: cfg}
	r, files, err := k.conn.Ask(ctx, wire.Request{Op: wire.OpStatus})
	wire.CloseAll(files)
	if err == nil && r.Status == nil {
		err = errors.New("it sent no status")
	}
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox keeper for its size: %w", err)
	}
	k.size = *r.Status
	return k, nil
}

// Agent talks to the agent that runs now, or says why there is none.
func (k *KeeperClient) Agent(ctx context.Context) (*Client, error) {
	_, files, err := k.conn.Ask(ctx, wire.Request{Op: wire.OpAgent})
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		wire.CloseAll(files)
		return nil, errors.New("the sandbox keeper sent no connection")
	}
	a, err := dial(ctx, files[0])
	if err != nil {
		wire.CloseAll(files)
		return nil, err
	}
	return a, nil
}

// Tool returns where the tool with a logical name such as "g++" is. The error is [ErrNoTool] when there is none.
func (k *KeeperClient) Tool(ctx context.Context, name string) (Tool, error) {
	return k.conn.FindTool(ctx, name)
}

// Slots returns how many one-shot runs there may be at once; more of them wait.
func (k *KeeperClient) Slots() int { return k.size.Slots }

// Cores returns how many cores one box can use at once.
func (k *KeeperClient) Cores() int { return len(k.size.Cores) }

// Status runs programs of its own and says what one-shot runs are able to do.
func (k *KeeperClient) Status(ctx context.Context) (Status, error) {
	b, err := k.OpenBox(ctx, BoxOptions{})
	if err != nil {
		return Status{}, err
	}
	err = selftest.Run(func(program []byte, limits Limits) (Result, error) {
		if err := b.Put(ctx, File{Path: "selftest", Mode: 0o755, Data: program}); err != nil {
			return Result{}, err
		}
		return b.Run(ctx, Cmd{Program: "./selftest", Limits: limits})
	})
	err = errors.Join(err, b.Close())
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.seen
	s.Slots, s.Cores, s.Seccomp = k.size.Slots, k.size.Cores, true
	if err != nil {
		s.SelfTest = err.Error()
	}
	return s, nil
}

// Box opens a box that the program cannot write to but in /tmp and /dev/shm.
func (k *KeeperClient) Box(ctx context.Context) (*Box, error) { return k.OpenBox(ctx, BoxOptions{}) }

// OpenBox opens a box. What is in it is kept in memory between its runs; links,
// empty folders and the times of files are not.
func (k *KeeperClient) OpenBox(_ context.Context, o BoxOptions) (*Box, error) {
	return &Box{&oneShotBox{keeper: k, options: o}}, nil
}

// jobKey is the key of the job in a context.
type jobKey struct{}

type jobIDs struct {
	job     int64
	attempt int32
}

// WithJob says for which job and attempt the runs with ctx are. One-shot runs repeat them in their line.
func WithJob(ctx context.Context, job int64, attempt int32) context.Context {
	return context.WithValue(ctx, jobKey{}, jobIDs{job, attempt})
}

// ids returns the ids for one run: those of its job, or else fresh ones.
func (k *KeeperClient) ids(ctx context.Context) jobIDs {
	if ids, ok := ctx.Value(jobKey{}).(jobIDs); ok {
		return ids
	}
	return jobIDs{k.serial.Add(1), 1}
}

// Replaced returns how often an agent ended and another one was started, for each of [ReplacedReasons] that there was.
func (k *KeeperClient) Replaced(ctx context.Context) (map[string]int64, error) {
	r, files, err := k.conn.Ask(ctx, wire.Request{Op: wire.OpStatus})
	wire.CloseAll(files)
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox keeper for its agents: %w", err)
	}
	return r.Replaced, nil
}

// Client is a client of a sandbox agent. It is safe for concurrent use.
type Client struct {
	conn   wire.Conn
	status Status
}

// Dial talks to the agent at the other end of conn, which oneshot.Process.Conn made and a child process may have
// inherited. The children of this process do not inherit it from here on. The agent keeps conn open until Close.
func Dial(conn *os.File) (*Client, error) {
	if err := wire.CloseOnExec(conn); err != nil {
		return nil, fmt.Errorf("dial the sandbox agent: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return dial(ctx, conn)
}

func dial(ctx context.Context, conn *os.File) (*Client, error) {
	c := &Client{conn: wire.Conn{File: conn}}
	s, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	c.status = s
	return c, nil
}

// Alive reports whether the agent is still there.
func (c *Client) Alive() bool { return c.conn.Alive() }

// Close closes the connection. Open boxes stay open.
func (c *Client) Close() error { return c.conn.Close() }

// Slots returns how many boxes may be open at once.
func (c *Client) Slots() int { return c.status.Slots }

// Cores returns how many cores one box can use at once.
func (c *Client) Cores() int { return len(c.status.Cores) }

// Status asks the agent what it is able to do.
func (c *Client) Status(ctx context.Context) (Status, error) {
	r, files, err := c.conn.Ask(ctx, wire.Request{Op: wire.OpStatus})
	wire.CloseAll(files)
	if err != nil {
		return Status{}, fmt.Errorf("ask the sandbox agent for its status: %w", err)
	}
	if r.Status == nil {
		return Status{}, errors.New("the sandbox agent sent no status")
	}
	return *r.Status, nil
}

// Tool returns where the tool with a logical name such as "g++" is. The error is [ErrNoTool] when there is none.
func (c *Client) Tool(ctx context.Context, name string) (Tool, error) {
	return c.conn.FindTool(ctx, name)
}

// Box opens a box that the program cannot write to but in /tmp and /dev/shm. It waits for a free one.
func (c *Client) Box(ctx context.Context) (*Box, error) { return c.OpenBox(ctx, BoxOptions{}) }

// OpenBox opens a box. It waits for a free one until ctx ends.
func (c *Client) OpenBox(ctx context.Context, o BoxOptions) (*Box, error) {
	s, err := c.conn.Dial(wire.Request{Op: wire.OpOpen, Options: &o})
	if err != nil {
		return nil, fmt.Errorf("open a box: %w", err)
	}
	if _, _, err := s.Receive(ctx); err != nil {
		_ = s.Close() // the error that matters is the other one
		return nil, fmt.Errorf("open a box: %w", err)
	}
	return &Box{&agentBox{s}}, nil
}
