// Package roles runs the roles of Deep-OJ in one process: web side, scheduler and worker,
// each made by a constructor of what the ones before it made.
//
//	start.go       what is started, and by whom
//	serve.go       the order in which parts are made
//	process.go     parts that run, and what is closed at the end
//	base.go        what all roles share: services, database, blobs
//	scheduler.go   the dispatcher and the sweepers
//	judging.go     the worker with all that judging needs
//	languages.go   what the worker remembers of its languages and compilers
//	rendering.go   statements that an older version rendered
//	needs.go       what judging needs, and whether it is there
//	web.go         the web side: the only file that knows the HTTP package
//	samples.go     the sample problems
//	examine.go     services as doctor looks at them
//	blobs.go       the store of packages and plugins
//	services.go    PostgreSQL, Redis and etcd, and what to do when they refuse
//	stores.go      the same for commands
package roles

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"strings"

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
