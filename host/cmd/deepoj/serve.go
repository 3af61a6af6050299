package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/liveness"
	"deepoj/host/scheduler"
	"deepoj/host/telemetry"
	"deepoj/host/telemetry/otlp"
	"deepoj/host/worker"
	"deepoj/queue"
	"deepoj/sql"
)

// firstAccount tells the one password that is ever printed.
const firstAccount = "The first account is admin with the password %s (shown only now).\n"

// node is what the roles of one process share.
type node struct {
	env   *env
	roles roles
	opts  options
	cfg   *config
	log   *slog.Logger
	reg   *prometheus.Registry

	tracer     *telemetry.Tracer // nil without a collector
	store      *sql.Store
	etcd       *liveness.Etcd                    // nil unless it is configured
	directory  liveness.Directory                // says which workers live
	streams    *queue.Streams                    // nil with DELIVERY=postgres or without Redis
	blobs      blob.Store                        // nil in a process without one
	dispatcher *scheduler.Dispatcher             // nil in a process without one
	worker     *worker.Worker                    // likewise
	boxes      *judging.Fallback                 // likewise
	figures    net.Listener                      // for metrics; nil unless they have an address of their own
	ready      func(context.Context) (bool, any) // nil in a process without pages
	redisURL   string
	dsn        string
	runners    []runner
	closers    []func() // in reverse order
}

// runner is one blocking part of the process. It returns nil when ctx ends.
type runner struct {
	name string
	run  func(ctx context.Context) error
}

func (n *node) add(name string, run func(ctx context.Context) error) {
	n.runners = append(n.runners, runner{name, run})
}

func (n *node) close() {
	for _, c := range slices.Backward(n.closers) {
		c()
	}
}

// rarely is how much memory, in bytes, may become garbage before Go collects it.
// Otherwise that is as much as is in use, some megabytes, which a busy role uses up
// many times per second.
const rarely = 32 << 20

// serve runs the roles until ctx ends. It runs unprivileged.
func serve(ctx context.Context, e *env, r roles, o options, c *config, log *slog.Logger) error {
	unused := make([]byte, rarely) // counts as in use; nothing touches it, so that it takes no memory
	defer runtime.KeepAlive(unused)
	n := &node{env: e, roles: r, opts: o, cfg: c, log: log, reg: telemetry.Registry()}
	defer n.close()
	if r.keepsData() {
		if err := os.MkdirAll(o.data, 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	var err error
	if err := n.openTracer(ctx); err != nil {
		return err
	}
	if err := n.services(ctx); err != nil {
		return err
	}
	if err := n.database(ctx); err != nil {
		return err
	}
	if at := c.get("METRICS_LISTEN"); at != "" {
		if n.figures, err = net.Listen("tcp", at); err != nil {
			return fmt.Errorf("METRICS_LISTEN: %w", err)
		}
		n.closers = append(n.closers, func() { _ = n.figures.Close() })
	}
	if err := n.openBlobs(ctx); err != nil {
		return err
	}
	if r.worker {
		if err := n.addWorker(ctx); err != nil {
			return err
		}
	}
	if r.scheduler {
		if err := n.addScheduler(); err != nil {
			return err
		}
	}
	ready := func(context.Context) {}
	if r.api {
		if ready, err = n.addWeb(ctx); err != nil {
			return err
		}
	}
	n.addFigures(ctx)
	// The services outlive the roles, so that what drains can still write.
	g, gctx := errgroup.WithContext(ctx)
	for _, part := range n.runners {
		g.Go(func() error {
			if err := part.run(gctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			return nil
		})
	}
	g.Go(func() error { ready(gctx); return nil })
	return g.Wait()
}

// openBlobs opens the store of blobs where a role needs it. An api without one takes
// no packages.
func (n *node) openBlobs(ctx context.Context) (err error) {
	data := n.opts.data
	remote := n.cfg.get("S3_ENDPOINT") != ""
	switch {
	case n.roles.keepsData():
	case !n.roles.api || !remote && n.cfg.get("BLOB_DIR") == "":
		return nil
	case remote && n.cfg.get("CACHE_DIR") == "":
		if data, err = os.MkdirTemp("", "deepoj-api-"); err != nil {
			return fmt.Errorf("folder before the bucket: %w", err)
		}
		n.closers = append(n.closers, func() { _ = os.RemoveAll(data) })
	}
	if n.blobs, err = openBlobs(n.cfg, blobFolder(n.cfg, data)); err == nil {
		return nil
	}
	if n.roles.keepsData() {
		return fmt.Errorf("open blobs: %w", err)
	}
	n.log.WarnContext(ctx, "setters cannot upload packages here", slog.Any("err", err))
	n.blobs = nil
	return nil
}

// services starts PostgreSQL and Redis, or takes those that are named.
func (n *node) services(ctx context.Context) error {
	n.dsn, n.redisURL = n.cfg.get("DATABASE_URL"), n.cfg.get("REDIS_URL")
	g, gctx := errgroup.WithContext(ctx)
	var pg *embedded.Postgres
	var redis *embedded.Redis
	if n.dsn == "" {
		g.Go(func() (err error) {
			pg, err = embedded.StartPostgres(gctx, embedded.PostgresConfig{
				DataDir: filepath.Join(n.opts.data, "postgres"), BinDir: n.opts.postgres, Log: n.log,
			})
			return err
		})
	}
	if n.redisURL == "" && n.roles.embedded && n.cfg.get("DELIVERY") != "postgres" {
		g.Go(func() (err error) {
			redis, err = embedded.StartRedis(gctx, embedded.RedisConfig{DataDir: filepath.Join(n.opts.data, "redis"), Log: n.log})
			if errors.Is(err, embedded.ErrNoRedis) && n.cfg.get("DELIVERY") == "auto" {
				n.log.WarnContext(ctx, "jobs are delivered through PostgreSQL alone", slog.Any("err", err))
				return nil
			}
			return err
		})
	}
	err := g.Wait()
	// Services run past the end of ctx, until the roles have drained.
	own := context.WithoutCancel(ctx)
	if pg != nil {
		n.dsn = pg.DSN()
		n.keep(own, "postgres", pg.Run)
	}
	if redis != nil {
		n.redisURL = redis.URL()
		n.keep(own, "redis", redis.Run)
	}
	return err
}

// openTracer begins to send spans, if there is a collector. It outlives everything
// else, so that the last spans are sent too.
func (n *node) openTracer(ctx context.Context) (err error) {
	endpoint := n.cfg.get("OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" {
		return nil
	}
	share, err := strconv.ParseFloat(n.cfg.get("OTEL_TRACES_SAMPLER_ARG"), 64)
	if err != nil {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %w", err)
	}
	cfg := telemetry.TracerConfig{
		Exporter: otlp.Exporter,
		Endpoint: endpoint, Headers: n.cfg.get("OTEL_EXPORTER_OTLP_HEADERS"), Service: n.cfg.get("OTEL_SERVICE_NAME"),
		Instance: n.name(), Version: version, Share: share, Log: n.log, Registerer: n.reg,
	}
	if cfg.TLS, err = n.cfg.authorities("OTEL_EXPORTER_OTLP_CERTIFICATE"); err != nil {
		return err
	}
	if n.tracer, err = telemetry.NewTracer(ctx, cfg); err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	n.keep(context.WithoutCancel(ctx), "traces", n.tracer.Run)
	return nil
}

// keep runs a service in the background until the node closes.
func (n *node) keep(ctx context.Context, name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil {
			n.log.ErrorContext(ctx, "service ended badly", slog.String("service", name), slog.Any("err", err))
		}
	}()
	n.closers = append(n.closers, func() { cancel(); <-done })
}

// database opens the store and, for the roles that may change the schema, brings
// it up to date. It waits for a database that is still starting.
func (n *node) database(ctx context.Context) error {
	store, err := sql.Open(ctx, sql.Config{DSN: n.dsn, Log: n.log})
	if err != nil {
		return postgresService.explained(err)
	}
	n.store = store
	n.closers = append(n.closers, store.Close)
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	if err := n.openDirectory(); err != nil {
		return err
	}
	if n.redisURL == "" || n.cfg.get("DELIVERY") == "postgres" {
		if n.cfg.get("DELIVERY") == "streams" {
			return errors.New("DELIVERY=streams needs a Redis: set REDIS_URL, or use DELIVERY=auto")
		}
		return nil
	}
	certificates, err := n.cfg.clientTLS("REDIS")
	if err != nil {
		return err
	}
	streams, err := queue.Open(ctx, queue.Config{
		URL: n.redisURL, TLS: certificates, Stream: n.cfg.get("JOB_STREAM_KEY"), Group: n.cfg.get("JOB_STREAM_GROUP"), Pool: n.cfg.get("WORKER_POOL"),
		Consumer: firstOf(n.cfg.get("JOB_STREAM_CONSUMER"), n.name()), MaxLen: n.cfg.number("JOB_STREAM_MAXLEN"),
		MinIdle: n.cfg.seconds("JOB_LEASE_SEC") + n.cfg.seconds("JOB_RECLAIM_GRACE_SEC"), CleanCount: n.cfg.number("JOB_RECLAIM_COUNT"), Log: n.log,
		Remedy: redisService.remedy,
	})
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	n.streams = streams
	n.closers = append(n.closers, func() { _ = streams.Close() })
	return nil
}

// openDirectory chooses where workers say that they live.
func (n *node) openDirectory() error {
	rows := liveness.NewPostgres(n.store, 0)
	n.directory = rows
	if n.cfg.get("ETCD_ENDPOINTS") == "" {
		return nil
	}
	e, err := openEtcd(n.cfg, rows, n.log)
	if err != nil {
		return err
	}
	n.directory, n.etcd = e, e
	n.closers = append(n.closers, func() { _ = e.Close() })
	n.add("etcd", e.Run)
	return nil
}

// live asks etcd who lives; nil leaves that to the database.
func (n *node) live() func(context.Context) ([]judge.WorkerInfo, error) {
	if n.etcd == nil {
		return nil
	}
	return n.etcd.Workers
}

// name is WORKER_ID, or host name and pid.
func (n *node) name() string {
	if id := n.cfg.get("WORKER_ID"); id != "" {
		return id
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// rate is a number of requests a minute; a setting of 0 means no limit.
func (n *node) rate(name string) int {
	if limit := n.cfg.number(name); limit > 0 {
		return int(limit)
	}
	return -1
}
