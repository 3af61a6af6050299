// Package roles runs the roles of Deep-OJ in one process: web side, scheduler and worker,
// each made by a constructor of what the ones before it made.
//
//	start.go       what is started, and by whom
//	serve.go       the order in which parts are made, parts that run, and what is closed at the end
//	base.go        what all roles share: services, database, blobs
//	scheduler.go   the dispatcher and the sweepers
//	judging.go     the worker with all that judging needs
//	rendering.go   statements that an older version rendered
//	needs.go       what judging needs, whether it is there, and what is remembered of languages
//	password.go    the password of the first account
//	web.go         the web side: the only file that knows the HTTP package
//	samples.go     the sample problems
//	examine.go     services as doctor looks at them
//	services.go    PostgreSQL, Redis and etcd, and what to do when they refuse
//	stores.go      the store of packages and plugins, and what commands open
package roles

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"deepoj/host/telemetry"
)

// rarely is how much memory, in bytes, may become garbage before Go collects it. Otherwise that is as much as is in
// use, some megabytes, which a busy role uses up many times per second.
const rarely = 32 << 20

// serve runs the roles until ctx ends. It runs unprivileged.
func serve(ctx context.Context, c Config, log *slog.Logger) error {
	unused := make([]byte, rarely) // counts as in use; nothing touches it, so that it takes no memory
	defer runtime.KeepAlive(unused)
	p := &process{log: log}
	defer p.close()
	b, err := newBase(ctx, c, p)
	if err != nil {
		return err
	}
	wake := func() {}
	if c.Roles.Scheduler {
		if wake, err = newScheduler(b, p); err != nil {
			return err
		}
	}
	var j *judges
	if c.Roles.Worker {
		if j, err = newJudges(ctx, b, p, wake); err != nil {
			return err
		}
	}
	var ready func(context.Context) (bool, any)
	if c.Roles.API {
		if ready, err = newWeb(ctx, b, p, j); err != nil {
			return err
		}
	}
	b.serveFigures(ctx, p, ready)
	return p.run(ctx)
}

// serveFigures serves the metrics on an address of their own, if there is one. Every role has them.
func (b *base) serveFigures(ctx context.Context, p *process, ready func(context.Context) (bool, any)) {
	if b.figures == nil {
		return
	}
	f := telemetry.Figures{Registry: b.reg, Ready: ready, Token: b.MetricsToken}
	name, _, _ := net.SplitHostPort(b.MetricsListen) // validated
	for _, host := range append(append([]string{}, b.PublicHosts...), name) {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		f.Hosts = append(f.Hosts, strings.Trim(host, "[]"))
	}
	p.add("metrics", func(ctx context.Context) error { return f.Serve(ctx, b.figures) })
	b.log.InfoContext(ctx, "metrics are served", slog.String("url", "http://"+b.figures.Addr().String()+"/metrics"), slog.Bool("token", f.Token != ""))
}

// process is what runs in this process, and what has to be closed at its end.
type process struct {
	log     *slog.Logger
	runners []runner
	closers []func() // in reverse order
}

// runner is one blocking part of the process. It returns nil when ctx ends.
type runner struct {
	name string
	run  func(ctx context.Context) error
}

// add has a part run until the process ends.
func (p *process) add(name string, run func(ctx context.Context) error) {
	p.runners = append(p.runners, runner{name, run})
}

// closing has something closed at the end, before what was opened earlier.
func (p *process) closing(f func()) { p.closers = append(p.closers, f) }

func (p *process) close() {
	for _, c := range slices.Backward(p.closers) {
		c()
	}
}

// run runs all parts until one fails or ctx ends.
func (p *process) run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	for _, part := range p.runners {
		g.Go(func() error {
			if err := part.run(gctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// keep runs a service in the background until the process closes: it outlives the
// parts that are added, so that what drains can still write.
func (p *process) keep(ctx context.Context, name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil {
			p.log.ErrorContext(ctx, "service ended badly", slog.String("service", name), slog.Any("err", err))
		}
	}()
	p.closing(func() { cancel(); <-done })
}
