package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/web"
)

// addWeb adds the web side and returns what says that the node is ready.
func (n *node) addWeb(ctx context.Context) (func(context.Context), error) {
	host, _, err := net.SplitHostPort(n.opts.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: want HOST:PORT, such as 127.0.0.1:8080", n.opts.listen)
	}
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	if n.opts.allowDegraded && !loopback {
		return nil, errors.New("--allow-degraded is refused on an address that others can reach")
	}
	password, err := web.FirstAdmin(ctx, n.store)
	if err != nil {
		return nil, err
	}
	callbacks, err := n.cfg.prefixes("CALLBACK_ALLOW")
	if err != nil {
		return nil, err
	}
	proxies, err := n.cfg.prefixes("TRUSTED_PROXIES")
	if err != nil {
		return nil, err
	}
	cfg := web.Config{
		MetricsToken: n.cfg.get("METRICS_TOKEN"), MetricsElsewhere: n.cfg.get("METRICS_LISTEN") != "",
		OIDC: web.OIDC{
			Issuer: n.cfg.get("OIDC_ISSUER"), ClientID: n.cfg.get("OIDC_CLIENT_ID"), ClientSecret: n.cfg.get("OIDC_CLIENT_SECRET"), RedirectURL: n.cfg.get("OIDC_REDIRECT_URL"),
		},
		CallbackAllow: callbacks, Proxies: proxies,
		RatePerAddress: n.rate("RATE_PER_ADDRESS"), RatePerUser: n.rate("RATE_PER_USER"), RatePerKey: n.rate("RATE_PER_KEY"),
		SetterQuota: n.cfg.number("SETTER_QUOTA_MIB") << 20,
		Listen:      n.opts.listen, Store: n.store, AuthRequired: n.opts.auth == "required" || n.opts.auth == "" && !n.roles.embedded, AuthGuest: n.opts.auth == "guest",
		Hosts: strings.Fields(n.cfg.get("PUBLIC_HOSTS")), Version: version, Ready: n.checks, Registry: n.reg, Live: n.live(), Tracer: n.tracer, Log: n.log,
	}
	if n.blobs != nil {
		cfg.Blobs = n.blobs
	}
	s, err := web.New(cfg)
	if err != nil {
		return nil, err
	}
	n.add("web", s.Run)
	n.ready = s.Ready
	guests, why := s.Guests()
	if guests {
		n.log.InfoContext(ctx, "guests are on: who reaches this address, also through a proxy that adds no header, may submit without an account, and read what guests submitted; "+
			"--auth required turns them off", slog.String("address", s.Addr()), slog.String("why", why))
	} else {
		n.log.InfoContext(ctx, "guests are off", slog.String("why", why))
	}
	if n.roles.embedded {
		if err := n.importSamples(ctx); err != nil {
			return nil, err
		}
		i := instance{
			PID: os.Getpid(), URL: "http://" + s.Addr(), Guests: guests, DSN: n.dsn, Redis: n.redisURL, Data: n.opts.data, Version: version, Started: time.Now().UTC(),
			MetricsToken: n.cfg.get("METRICS_TOKEN"),
		}
		if n.figures != nil {
			i.Metrics = "http://" + n.figures.Addr().String()
		}
		if err := i.write(n.opts.data); err != nil {
			return nil, err
		}
		n.closers = append(n.closers, func() { _ = os.Remove(filepath.Join(n.opts.data, instanceFile)) })
	}
	return func(ctx context.Context) {
		if password != "" {
			fmt.Fprintf(n.env.stdout, firstAccount, password)
		}
		if !n.roles.embedded {
			n.log.InfoContext(ctx, "listening", slog.String("url", "http://"+s.Addr()))
			return
		}
		n.awaitWorker(ctx)
		if ctx.Err() == nil {
			fmt.Fprintf(n.env.stdout, "Deep-OJ is ready: http://%s\n", s.Addr())
		}
	}, nil
}

// addFigures serves the metrics on an address of their own, if there is one. Every
// role has them.
func (n *node) addFigures(ctx context.Context) {
	if n.figures == nil {
		return
	}
	f := telemetry.Figures{Registry: n.reg, Ready: n.ready, Token: n.cfg.get("METRICS_TOKEN")}
	name, _, _ := net.SplitHostPort(n.cfg.get("METRICS_LISTEN")) // validated
	for _, host := range append(strings.Fields(n.cfg.get("PUBLIC_HOSTS")), name) {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		f.Hosts = append(f.Hosts, strings.Trim(host, "[]"))
	}
	n.add("metrics", func(ctx context.Context) error { return f.Serve(ctx, n.figures) })
	n.log.InfoContext(ctx, "metrics are served", slog.String("url", "http://"+n.figures.Addr().String()+"/metrics"), slog.Bool("token", f.Token != ""))
}

// awaitWorker waits until this process's own worker takes jobs and the database
// knows its languages, so that "ready" means that a submit is taken and judged.
func (n *node) awaitWorker(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if own, ok := n.ownWorker(ctx); ok {
			var missing []string
			for _, l := range own.Languages {
				if !l.Available {
					missing = append(missing, l.Name+" ("+l.Unavailable+")")
				}
			}
			if len(missing) > 0 {
				fmt.Fprintf(n.env.stdout, "Not available: %s.\n", strings.Join(missing, "; "))
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ownWorker returns what the worker of this process says of itself, once it takes
// jobs and everybody can know.
func (n *node) ownWorker(ctx context.Context) (own judge.WorkerInfo, ok bool) {
	if n.worker.Unable() != nil || !n.worker.Offered() {
		return own, false
	}
	workers, err := n.directory.Workers(ctx)
	if err != nil {
		return own, false
	}
	at := slices.IndexFunc(workers, func(w judge.WorkerInfo) bool { return w.Name == n.worker.Owner() && w.Slots > 0 })
	if at < 0 {
		return own, false
	}
	return workers[at], true
}

// checks are what /readyz names beyond the database and the workers.
func (n *node) checks(ctx context.Context) []web.Check {
	var cs []web.Check
	if n.streams != nil {
		c := web.Check{Name: "redis", OK: true, Optional: n.cfg.get("DELIVERY") == "auto"}
		if err := n.streams.Ping(ctx); err != nil {
			c.OK, c.Detail, c.Remedy = false, err.Error(), "jobs travel through PostgreSQL until Redis answers again; "+redisService.remedy(err)
		}
		cs = append(cs, c)
	}
	if n.etcd != nil {
		c := web.Check{Name: "etcd", OK: true, Optional: true}
		if err := n.etcd.Ping(ctx); err != nil {
			c.OK, c.Detail, c.Remedy = false, err.Error(), "PostgreSQL says which workers live until etcd answers again; "+etcdService.remedy(err)
		}
		cs = append(cs, c)
	}
	if s, ok := n.blobs.(pinger); ok {
		cs = append(cs, checkBlobs(ctx, s))
	}
	if n.worker != nil {
		cs = append(cs, n.checkWorker(), n.checkSandbox())
	}
	return cs
}
