package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"deepoj/host/judging"
	"deepoj/host/platform"
	"deepoj/host/telemetry"
	"deepoj/sandbox"
)

// defaultData is where `deepoj up` keeps everything.
const defaultData = ".deepoj"

// roles says what a process does.
type roles struct {
	api, scheduler, worker bool
	embedded               bool // run PostgreSQL and Redis where no URL names others
}

// keepsData reports whether the roles need a data folder.
func (r roles) keepsData() bool { return r.worker || r.embedded }

// options are the flags of up, api, scheduler and worker.
type options struct {
	data, listen, auth, user, postgres string
	allowDegraded                      bool

	// Set by the launcher for the unprivileged process that it starts.
	sandboxFD int
	shown     string // the data folder as the user named it
}

func (o *options) define(f *flag.FlagSet, r roles) {
	if r.keepsData() {
		f.StringVar(&o.data, "data", defaultData, "folder for everything that is kept")
		f.StringVar(&o.shown, "shown-data", "", "name of the data folder for people (set by the launcher)")
	}
	f.StringVar(&o.user, "user", "", "unprivileged account to run as, when started as root")
	if r.api {
		f.StringVar(&o.listen, "listen", "", "address to listen on, HOST:PORT (LISTEN_ADDR)")
		f.StringVar(&o.auth, "auth", "", "guest: who reaches a loopback address may submit without an account; required: only accounts (default: guest on a loopback address of `deepoj up` without PUBLIC_HOSTS, TRUSTED_PROXIES and OIDC_ISSUER, else required)")
	}
	if r.embedded {
		f.StringVar(&o.postgres, "postgres", "", "folder of the PostgreSQL programs; found by itself when empty")
	}
	if r.worker {
		f.BoolVar(&o.allowDegraded, "allow-degraded", false, "run programs without control groups, on a loopback address only: memory is not bounded well")
		f.IntVar(&o.sandboxFD, "sandbox-fd", 0, "descriptor that leads to the sandbox (set by the launcher)")
	}
}

// up runs every role and the services they need.
func up(ctx context.Context, e *env) int {
	return runCommand(ctx, e, "up", roles{api: true, scheduler: true, worker: true, embedded: true})
}

// roleCommand runs one role against services that are named.
func roleCommand(name string) func(context.Context, *env) int {
	return func(ctx context.Context, e *env) int {
		return runCommand(ctx, e, name, roles{api: name == "api", scheduler: name == "scheduler", worker: name == "worker"})
	}
}

func runCommand(ctx context.Context, e *env, name string, r roles) int {
	if err := keepDescriptors(); err != nil {
		return e.fail(err)
	}
	f, path := newFlags(e, name, "")
	var o options
	o.define(f, r)
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	if o.auth != "" && o.auth != "guest" && o.auth != "required" {
		return e.fail(fmt.Errorf("--auth %s: must be guest or required", o.auth))
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	if !r.embedded && c.get("DATABASE_URL") == "" {
		return e.fail(fmt.Errorf("DATABASE_URL is not set: `deepoj %s` needs a PostgreSQL; `deepoj up` brings its own", name))
	}
	if o.listen == "" {
		o.listen = c.get("LISTEN_ADDR")
	}
	if o.data, err = filepath.Abs(o.data); err != nil {
		return e.fail(err)
	}
	if o.shown == "" {
		o.shown = o.data
	}
	for _, name := range []string{"BLOB_DIR", "CACHE_DIR", "JOURNAL_DIR", "REDIS_TLS_CA", "REDIS_TLS_CERT", "REDIS_TLS_KEY", "ETCD_TLS_CA", "ETCD_TLS_CERT", "ETCD_TLS_KEY", "OTEL_EXPORTER_OTLP_CERTIFICATE"} {
		if dir := c.get(name); dir != "" {
			if c.values[name], err = filepath.Abs(dir); err != nil {
				return e.fail(err)
			}
		}
	}
	if r.worker && o.sandboxFD == 0 && !o.allowDegraded {
		if err := contain(ctx, e, name, e.args); err != nil {
			return e.fail(err)
		}
	}
	log := newLogger(e, c)
	if os.Geteuid() == 0 {
		return launch(ctx, e, planLaunch(name, r, o, c, log))
	}
	if err := platform.HideMemory(); err != nil {
		return e.fail(err)
	}
	if err := serve(ctx, e, r, o, c, log); err != nil {
		return e.fail(err)
	}
	return 0
}

func newLogger(e *env, c *config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.get("LOG_LEVEL"))) // validated
	return telemetry.Logger(e.stderr, level, c.get("LOG_FORMAT") == "json")
}

// planLaunch turns a command that root called into what the unprivileged
// process is called with. Configuration files may lie where that account cannot
// read, so every setting travels in the environment.
func planLaunch(name string, r roles, o options, c *config, log *slog.Logger) launchPlan {
	p := launchPlan{args: []string{name, "--config", os.DevNull}, user: o.user, log: log}
	if r.keepsData() {
		p.data = o.data
	}
	p.env = handedDown(os.LookupEnv, c.get("DATABASE_URL") != "")
	for _, s := range settings {
		p.env = append(p.env, s.env+"="+c.get(s.env))
	}
	p.env = append(p.env, "HOME=/nonexistent")
	if r.api {
		p.args = append(p.args, "--listen", o.listen)
		if o.auth != "" {
			p.args = append(p.args, "--auth", o.auth)
		}
	}
	if o.postgres != "" {
		p.args = append(p.args, "--postgres", o.postgres)
	}
	if r.worker {
		p.sandbox = new(keeperConfig(o, c, log))
	}
	return p
}

// keeperConfig is how the parts of a worker's sandbox are started.
func keeperConfig(o options, c *config, log *slog.Logger) sandbox.KeeperConfig {
	k := sandbox.KeeperConfig{Sandbox: sandbox.Config{AllowDegraded: o.allowDegraded, Log: log}, Judge: judgeProgram()}
	if c.get("JUDGE_AGENT") != judging.AgentOff {
		k.Agent = []string{"/proc/self/exe", "sandbox", "agent"}
	}
	return k
}
