package roles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/settings"
	"deepoj/host/telemetry"
	"deepoj/host/telemetry/otlp"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/published"
)

// base is what the roles of one process share.
type base struct {
	Config
	*settings.Loaded

	log *slog.Logger
	reg *prometheus.Registry

	name      string            // WORKER_ID, or host name and pid
	tracer    *telemetry.Tracer // nil without a collector
	dsn       string
	redisURL  string
	feedURL   string // of the embedded PostgreSQL for a change feed; "" = none
	db        *sql.DB
	etcd      *liveness.Etcd     // nil unless it is configured
	directory liveness.Directory // says which workers live
	streams   *queue.Streams     // nil with DELIVERY=postgres or without Redis
	blobs     blob.Store         // nil in a process without one
	figures   net.Listener       // for metrics; nil unless they have an address of their own
}

// newBase opens everything that the roles need, and starts the services that are not elsewhere.
func newBase(ctx context.Context, c Config, p *process) (*base, error) {
	b := &base{Config: c, Loaded: c.Settings, log: p.log, reg: telemetry.Registry(), name: nodeName(c.Settings)}
	if c.Roles.KeepsData() {
		if err := os.MkdirAll(c.Options.Data, 0o700); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
	}
	for _, open := range []func(context.Context, *process) error{b.openTracer, b.openServices, b.openDatabase, b.openDirectory, b.openStreams, b.openFigures, b.openBlobs} {
		if err := open(ctx, p); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// nodeName is WORKER_ID, or host name and pid.
func nodeName(s *settings.Loaded) string {
	if s.WorkerID != "" {
		return s.WorkerID
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// openTracer begins to send spans, if there is a collector. It outlives everything
// else, so that the last spans are sent too.
func (b *base) openTracer(ctx context.Context, p *process) (err error) {
	t := b.Traces
	if t.Endpoint == "" {
		return nil
	}
	cfg := telemetry.TracerConfig{
		Exporter: otlp.Exporter, Endpoint: t.Endpoint, Headers: t.Headers, Service: t.Service,
		Instance: b.name, Version: b.Version, Share: t.Share, Log: b.log, Registerer: b.reg,
	}
	if cfg.TLS, err = settings.Authorities("OTEL_EXPORTER_OTLP_CERTIFICATE", t.Certificate); err != nil {
		return err
	}
	if b.tracer, err = telemetry.NewTracer(ctx, cfg); err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	p.keep(ctx, "traces", b.tracer.Run)
	return nil
}

// openServices starts PostgreSQL and Redis, or takes those that are named. They run past
// the end of ctx, until the roles have drained.
func (b *base) openServices(ctx context.Context, p *process) error {
	b.dsn, b.redisURL = b.DatabaseURL, b.RedisURL
	data := b.Options.Data
	g, gctx := errgroup.WithContext(ctx)
	var pg *embedded.Postgres
	var redis *embedded.Redis
	if b.dsn == "" {
		g.Go(func() (err error) {
			pg, err = embedded.StartPostgres(gctx, embedded.PostgresConfig{
				DataDir: filepath.Join(data, "postgres"), BinDir: b.Options.Postgres, Feed: b.ChangeFeed, Log: b.log,
			})
			return err
		})
	}
	if b.redisURL == "" && b.Roles.Embedded && b.Delivery != "postgres" {
		g.Go(func() (err error) {
			redis, err = embedded.StartRedis(gctx, embedded.RedisConfig{DataDir: filepath.Join(data, "redis"), Log: b.log})
			if errors.Is(err, embedded.ErrNoRedis) && b.Delivery == "auto" {
				b.log.WarnContext(ctx, "jobs are delivered through PostgreSQL alone", slog.Any("err", err))
				return nil
			}
			return err
		})
	}
	err := g.Wait()
	if pg != nil {
		b.dsn, b.feedURL = pg.DSN(), pg.FeedDSN()
		p.keep(ctx, "postgres", pg.Run)
	}
	if redis != nil {
		b.redisURL = redis.URL()
		p.keep(ctx, "redis", redis.Run)
	}
	return err
}

// openDatabase opens the database and brings the schema up to date. It waits for a database that is still starting.
func (b *base) openDatabase(ctx context.Context, p *process) (err error) {
	if b.db, err = sql.Open(ctx, sql.Config{DSN: b.dsn, Log: b.log}); err != nil {
		return postgresService.explained(err)
	}
	p.closing(b.db.Close)
	if err := b.db.Migrate(ctx); err != nil || b.feedURL == "" {
		return err
	}
	return b.db.Publish(ctx, embedded.FeedRole, published.Publication)
}

// openDirectory chooses where workers say that they live.
func (b *base) openDirectory(_ context.Context, p *process) error {
	rows := liveness.NewPostgres(b.db.Queue, 0)
	b.directory = rows
	if len(b.EtcdEndpoints) == 0 {
		return nil
	}
	e, err := openEtcd(&b.Loaded.Settings, rows, b.log)
	if err != nil {
		return err
	}
	b.directory, b.etcd = e, e
	p.closing(func() { _ = e.Close() })
	p.add("etcd", e.Run)
	return nil
}

// live asks etcd who lives; nil leaves that to the database.
func (b *base) live() func(context.Context) ([]judge.WorkerInfo, error) {
	if b.etcd == nil {
		return nil
	}
	return b.etcd.Workers
}

// openStreams opens the streams of Redis, unless jobs are delivered without.
func (b *base) openStreams(ctx context.Context, p *process) error {
	if b.redisURL == "" || b.Delivery == "postgres" {
		if b.Delivery == "streams" {
			return errors.New("DELIVERY=streams needs a Redis: set REDIS_URL, or use DELIVERY=auto")
		}
		return nil
	}
	certificates, err := b.RedisTLS.Client("REDIS")
	if err != nil {
		return err
	}
	b.streams, err = queue.Open(ctx, queue.Config{
		URL: b.redisURL, TLS: certificates, Stream: b.JobStream, Group: b.StreamGroup, Pool: b.WorkerPool,
		Consumer: cmp.Or(b.StreamConsumer, b.name), MaxLen: b.StreamMaxLen,
		MinIdle: b.Lease + b.ReclaimGrace, CleanCount: int64(b.ReclaimCount), Log: b.log,
		Remedy: redisService.remedy,
	})
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	p.closing(func() { _ = b.streams.Close() })
	return nil
}

// openFigures listens where the metrics have an address of their own.
func (b *base) openFigures(_ context.Context, p *process) (err error) {
	if b.MetricsListen == "" {
		return nil
	}
	if b.figures, err = net.Listen("tcp", b.MetricsListen); err != nil {
		return fmt.Errorf("METRICS_LISTEN: %w", err)
	}
	p.closing(func() { _ = b.figures.Close() })
	return nil
}

// openBlobs opens the store of blobs where a role needs it. An api without one takes no packages.
func (b *base) openBlobs(ctx context.Context, p *process) (err error) {
	data, remote, keeps := b.Options.Data, b.S3.Endpoint != "", b.Roles.KeepsData()
	switch {
	case keeps:
	case !b.Roles.API || !remote && b.BlobDir == "":
		return nil
	case remote && b.CacheDir == "":
		if data, err = os.MkdirTemp("", "deepoj-api-"); err != nil {
			return fmt.Errorf("folder before the bucket: %w", err)
		}
		p.closing(func() { _ = os.RemoveAll(data) })
	}
	blobs, err := OpenBlobs(&b.Loaded.Settings, BlobFolder(&b.Loaded.Settings, data))
	switch {
	case err == nil:
		b.blobs = blobs
	case keeps:
		return fmt.Errorf("open blobs: %w", err)
	default:
		b.log.WarnContext(ctx, "setters cannot upload packages here", slog.Any("err", err))
	}
	return nil
}
