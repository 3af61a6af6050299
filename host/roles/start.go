package roles

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"deepoj/host/launch"
	"deepoj/host/platform"
	"deepoj/host/settings"
	"deepoj/host/telemetry"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// Roles says what a process does.
type Roles struct {
	API, Scheduler, Worker bool
	Embedded               bool // run PostgreSQL and Redis where no URL names others
}

// KeepsData reports whether the roles need a data folder.
func (r Roles) KeepsData() bool { return r.Worker || r.Embedded }

// Options are what a command line says of roles.
type Options struct {
	Data     string // folder for everything that is kept, where the roles keep data
	Listen   string // address of the web side; "" = LISTEN_ADDR
	Auth     string // guest, required, or "": guest where only this machine reaches a web side of [Roles].Embedded
	User     string // account to become, when started as root
	Postgres string // folder of the PostgreSQL programs; "" = found by itself

	AllowDegraded bool // run programs without control groups
	SandboxFD     int  // descriptor that leads to the sandbox, set by the launcher; 0 = none

	AdminPasswordFile string // of the first account; "" = none
	AdminPasswordFD   int    // descriptor of that file, set by the launcher; 0 = none
}

// Config says what is started.
type Config struct {
	Command  string   // its name, such as "up"
	Args     []string // its flags as they were given
	Version  string   // of the program
	Roles    Roles
	Options  Options
	Settings *settings.Loaded
	Out, Err io.Writer

	password *passwordFile // nil = none
}

// Start runs the roles until ctx ends. A process of root becomes the launcher of one
// without root. It returns the exit status.
func Start(ctx context.Context, c Config) (status int, err error) {
	if err := launch.KeepDescriptors(); err != nil {
		return 0, err
	}
	o := &c.Options
	if o.Auth != "" && o.Auth != "guest" && o.Auth != "required" {
		return 0, fmt.Errorf("--auth %s: must be guest or required", o.Auth)
	}
	if !c.Roles.Embedded && c.Settings.DatabaseURL == "" {
		return 0, fmt.Errorf("DATABASE_URL is not set: `deepoj %s` needs a PostgreSQL; `deepoj up` brings its own", c.Command)
	}
	o.Listen = cmp.Or(o.Listen, c.Settings.Listen)
	if o.Data, err = filepath.Abs(o.Data); err != nil {
		return 0, err
	}
	if c.Roles.Worker && o.SandboxFD == 0 && !o.AllowDegraded {
		if err := launch.Contain(ctx, c.Err, c.Command, c.Args); err != nil {
			return 0, err
		}
	}
	log := newLogger(c)
	if o.AdminPasswordFile != "" {
		if c.password, err = openPasswordFile(o.AdminPasswordFile); err != nil {
			return 0, err
		}
		defer c.password.close()
	}
	if os.Geteuid() == 0 {
		return launch.Run(ctx, c.plan(log))
	}
	if err := platform.HideMemory(); err != nil {
		return 0, err
	}
	return 0, serve(ctx, c, log)
}

func newLogger(c Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Settings.LogLevel)) // validated
	return telemetry.Logger(c.Err, level, c.Settings.LogFormat == "json")
}

// plan turns a command that root called into what the unprivileged process is called with. Configuration files may lie
// where that account cannot read, so every setting travels in the environment.
func (c Config) plan(log *slog.Logger) launch.Plan {
	o := c.Options
	p := launch.Plan{Args: []string{c.Command, "--config", os.DevNull}, User: o.User, Log: log, Out: c.Out, Err: c.Err}
	if c.Roles.KeepsData() {
		p.Data = o.Data
	}
	p.Env = append(launch.HandedDown(os.LookupEnv, c.Settings.DatabaseURL != ""), c.Settings.Environment()...)
	p.Env = append(p.Env, "HOME=/nonexistent")
	if c.Roles.API {
		p.Args = append(p.Args, "--listen", o.Listen)
		if o.Auth != "" {
			p.Args = append(p.Args, "--auth", o.Auth)
		}
	}
	if c.password != nil {
		p.Inherited, p.InheritedFlag = c.password.file, "--admin-password-fd"
	}
	if o.Postgres != "" {
		p.Args = append(p.Args, "--postgres", o.Postgres)
	}
	if c.Roles.Worker {
		p.Sandbox = new(c.keeper(log))
	}
	return p
}

// keeper is how the parts of a worker's sandbox are started.
func (c Config) keeper(log *slog.Logger) oneshot.KeeperConfig {
	k := oneshot.KeeperConfig{Sandbox: sandbox.Config{AllowDegraded: c.Options.AllowDegraded, Log: log}, OneShot: launch.JudgeProgram()}
	if c.Settings.Agent != agentOff {
		k.Agent = []string{"/proc/self/exe", "sandbox", "agent"}
	}
	return k
}
