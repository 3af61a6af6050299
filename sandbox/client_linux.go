package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"deepoj/sandbox/internal/wire"
)

// Client is a client of a sandbox agent. It is safe for concurrent use.
type Client struct {
	conn   wire.Conn
	status Status
}

// Dial talks to the agent at the other end of conn, which oneshot.Process.Conn made
// and a child process may have inherited. The children of this process do not inherit
// it from here on. The agent keeps conn open until Close.
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

// Tool returns where the tool with a logical name such as "g++" is. The error
// is [ErrNoTool] when there is none.
func (c *Client) Tool(ctx context.Context, name string) (Tool, error) {
	return c.conn.FindTool(ctx, name)
}

// Box opens a box that the program cannot write to but in /tmp and /dev/shm. It
// waits for a free one.
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
