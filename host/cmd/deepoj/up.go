package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"deepoj/host/command"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/shortcut"
	"deepoj/sandbox/oneshot"
)

func startUp(f *command.Flags) command.Run {
	return start(f, roles.Roles{API: true, Scheduler: true, Worker: true, Embedded: true})
}

func startAPI(f *command.Flags) command.Run { return start(f, roles.Roles{API: true}) }

func startScheduler(f *command.Flags) command.Run { return start(f, roles.Roles{Scheduler: true}) }

func startWorker(f *command.Flags) command.Run { return start(f, roles.Roles{Worker: true}) }

// start runs roles until the process is told to end.
func start(f *command.Flags, r roles.Roles) command.Run {
	var o roles.Options
	load := settingsFlag(f)
	if r.KeepsData() {
		f.StringVar(&o.Data, "data", defaultData, "`folder` for everything that is kept")
	}
	f.StringVar(&o.User, "user", "", "unprivileged `account` to run as, when started as root")
	if r.API {
		f.StringVar(&o.Listen, "listen", "", "`address` to listen on, HOST:PORT (LISTEN_ADDR)")
		f.StringVar(&o.Auth, "auth", "", "guest: who reaches a loopback address may submit without an account; required: only accounts (default: guest on a loopback address of deepoj up without PUBLIC_HOSTS, TRUSTED_PROXIES and OIDC_ISSUER, else required)")
		f.OneOf("auth", "guest", "required")
	}
	if r.API {
		f.StringVar(&o.AdminPasswordFile, "admin-password-file", "", "`file` with the password that the first account gets; where it is missing, it is made with a one-time password, which is not printed then")
		f.IntVar(&o.AdminPasswordFD, "admin-password-fd", 0, "descriptor of that file")
		f.Internal("admin-password-fd")
	}
	if r.Embedded {
		f.StringVar(&o.Postgres, "postgres", "", "`folder` of the PostgreSQL programs; found by itself when empty")
	}
	if r.Worker {
		f.BoolVar(&o.AllowDegraded, "allow-degraded", false, "run programs without control groups, on a loopback address only: memory is not bounded well")
		f.IntVar(&o.SandboxFD, "sandbox-fd", 0, "descriptor that leads to the sandbox")
		f.Internal("sandbox-fd")
	}
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		status, err := roles.Start(ctx, roles.Config{
			Command: c.Name, Args: c.Given, Version: shortcut.Version, Roles: r, Options: o, Settings: l, Out: c.Out, Err: c.Err,
		})
		if err == nil && status != 0 {
			return command.Exit(status)
		}
		return err
	}
}

// judgeOnce is the exec CLI: one command in the sandbox, one JSON line. How much
// output is kept comes from the environment, unless flags say otherwise.
func judgeOnce(*command.Flags) command.Run {
	return func(ctx context.Context, c *command.Call) error {
		l, err := settings.Load("config.yaml", false, c.Getenv)
		if err != nil {
			return err
		}
		return exit(oneshot.Main(ctx, append([]string{"--stdout-limit", fmt.Sprint(l.StdoutLimit), "--stderr-limit", fmt.Sprint(l.StderrLimit)}, c.Args...), c.Out, c.Err))
	}
}

// exit is the error of a status that was told by others.
func exit(status int) error {
	if status == 0 {
		return nil
	}
	return command.Exit(status)
}

// sandboxAgent is the one process that keeps root. [oneshot.Spawn] starts it. A quiet one tells of warnings only.
func sandboxAgent(*command.Flags) command.Run {
	return func(ctx context.Context, c *command.Call) error {
		quiet := slices.Equal(c.Args, []string{"--quiet"})
		if !quiet && len(c.Args) > 0 {
			return command.ErrUsage
		}
		level := slog.LevelInfo
		if quiet {
			level = slog.LevelWarn
		}
		// A signal of the terminal is for the starter: the agent serves what drains, and ends with its starter.
		ctx, conn, cfg, err := oneshot.Inherited(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		cfg.Log = slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: level})).With(slog.String("component", "sandbox"))
		err = oneshot.Serve(ctx, conn, cfg)
		if err != nil && ctx.Err() == nil { // else its starter ends, and says why
			c.Complain(err)
		}
		return exit(oneshot.ExitStatus(err)) // by which its keeper knows why it ended
	}
}
