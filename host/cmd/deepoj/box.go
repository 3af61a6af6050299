package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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

// judgeProgram is the command of one-shot runs: deepoj-judge beside this program,
// which begins much faster because it holds nothing else, or this program. It is
// kept in memory, because its starter may be root, and who owns the file may not
// be.
func judgeProgram() []string {
	exe, err := os.Executable()
	if err == nil {
		if fd, err := inMemory(filepath.Join(filepath.Dir(exe), "deepoj-judge")); err == nil {
			return []string{"/proc/self/fd/" + strconv.Itoa(fd)}
		}
	}
	return []string{"/proc/self/exe", "judge"}
}

// sandboxAgent is the one process that keeps root. [sandbox.Spawn] starts it. A
// quiet one tells of warnings only.
func sandboxAgent(ctx context.Context, e *env) int {
	quiet := slices.Equal(e.args, []string{"agent", "--quiet"})
	if !quiet && !slices.Equal(e.args, []string{"agent"}) {
		return e.fail(errors.New("usage: deepoj sandbox agent [--quiet]"))
	}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	// A signal of the terminal is for the starter: the agent serves what drains,
	// and ends with its starter.
	ctx, conn, cfg, err := sandbox.Inherited(context.WithoutCancel(ctx))
	if err != nil {
		return e.fail(err)
	}
	cfg.Log = slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level})).With(slog.String("component", "sandbox"))
	err = sandbox.Serve(ctx, conn, cfg)
	if err != nil && ctx.Err() == nil { // else its starter ends, and says why
		e.fail(err)
	}
	return sandbox.ExitStatus(err) // by which its keeper knows why it ended
}
