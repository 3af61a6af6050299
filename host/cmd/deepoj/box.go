package main

import (
	"context"
	"errors"
	"log/slog"

	"deepoj/sandbox"
)

// judgeOnce is the exec CLI: one command in the sandbox, one JSON line. How much
// output is kept comes from the environment, unless flags say otherwise.
func judgeOnce(ctx context.Context, e *env) int {
	c, err := loadConfig("config.yaml", false, e.getenv)
	if err != nil {
		return e.fail(err)
	}
	args := []string{"--stdout-limit", c.get("JUDGE_STDOUT_LIMIT_BYTES"), "--stderr-limit", c.get("JUDGE_STDERR_LIMIT_BYTES")}
	return sandbox.Judge(ctx, append(args, e.args...), e.stdout, e.stderr)
}

// sandboxAgent is the one process that keeps root. [sandbox.Spawn] starts it.
func sandboxAgent(ctx context.Context, e *env) int {
	if len(e.args) != 1 || e.args[0] != "agent" {
		return e.fail(errors.New("usage: deepoj sandbox agent"))
	}
	// A signal of the terminal is for the starter: the agent serves what drains,
	// and ends with its starter.
	ctx, conn, cfg, err := sandbox.Inherited(context.WithoutCancel(ctx))
	if err != nil {
		return e.fail(err)
	}
	cfg.Log = slog.New(slog.NewTextHandler(e.stderr, nil)).With(slog.String("component", "sandbox"))
	if err := sandbox.Serve(ctx, conn, cfg); err != nil {
		return e.fail(err)
	}
	return 0
}
