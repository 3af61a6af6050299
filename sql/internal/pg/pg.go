// Package pg is the connection to PostgreSQL that the two stores share: two pools,
// the statements of sql/statements, notifications, and callers who share a statement.
//
// Only what lies below sql can import it, so nobody else has the pools.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says which database to use. Every field but DSN has a default.
type Config struct {
	// DSN is a PostgreSQL URL or keyword string. Required.
	DSN string

	// MaxConns bounds each of the two connection pools (general and queue). Defaults to 8.
	MaxConns int32

	// NotifyEvery is the shortest time between two NOTIFY of waiting work by this program. Events are told at most
	// every 20 milliseconds. Defaults to 2 milliseconds.
	NotifyEvery time.Duration

	// Log receives what cannot be returned, such as a lost LISTEN connection. Defaults to discarding.
	Log *slog.Logger
}

// Validate reports every field that is out of range.
func (c Config) Validate() error {
	var errs []error
	if c.DSN == "" {
		errs = append(errs, errors.New("DSN is empty"))
	}
	if c.MaxConns < 0 {
		errs = append(errs, fmt.Errorf("MaxConns %d is negative", c.MaxConns))
	}
	if c.NotifyEvery < 0 {
		errs = append(errs, fmt.Errorf("NotifyEvery %s is negative", c.NotifyEvery))
	}
	return errors.Join(errs...)
}

// DB is a connection to the database. It is safe for concurrent use.
type DB struct {
	Main  *pgxpool.Pool // pages, API, audit
	Queue *pgxpool.Pool // statements of the queue, with the planner held to indexes

	Statements map[string]*Statement // of sql/statements
	Log        *slog.Logger

	hub    *hub
	stop   context.CancelFunc
	ended  sync.WaitGroup
	closed sync.Once
}

// queueSettings hold the planner to index scans: a generic plan that was cached
// while a table was empty must still be right when it holds a million rows.
var queueSettings = map[string]string{
	"enable_seqscan":    "off",
	"enable_bitmapscan": "off", // it would read all that are ready, and sort them, to choose a few
	"enable_sort":       "off",
	"enable_hashjoin":   "off",
	"enable_mergejoin":  "off",
	"jit":               "off",
	"plan_cache_mode":   "force_generic_plan",
}

// Open connects to the database. The statements are those of statements/*.sql in files.
func Open(ctx context.Context, cfg Config, files fs.FS) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sql config: %w", err)
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 8
	}
	if cfg.NotifyEvery == 0 {
		cfg.NotifyEvery = 2 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	statements, err := parseStatements(files)
	if err != nil {
		return nil, err
	}
	d := &DB{Log: cfg.Log, Statements: statements}
	d.hub = newHub(d, cfg.NotifyEvery)
	if d.Main, err = d.pool(ctx, cfg, "deepoj", nil); err != nil {
		return nil, err
	}
	if d.Queue, err = d.pool(ctx, cfg, "deepoj-queue", queueSettings); err != nil {
		d.Main.Close()
		return nil, err
	}
	if err := d.Ping(ctx); err != nil {
		d.Main.Close()
		d.Queue.Close()
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	for _, channel := range channels {
		d.ended.Go(func() { d.hub.notify(background, channel) })
	}
	d.ended.Go(func() { d.hub.listen(background) })
	return d, nil
}

func (d *DB) pool(ctx context.Context, cfg Config, application string, settings map[string]string) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse database address: %w", err)
	}
	pc.MaxConns = cfg.MaxConns
	pc.ConnConfig.DialFunc = dialer().DialContext
	pc.ConnConfig.RuntimeParams["application_name"] = application
	maps.Copy(pc.ConnConfig.RuntimeParams, settings)
	pc.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		d.hub.mine.Store(c.PgConn().PID(), true)
		return nil
	}
	pc.BeforeClose = func(c *pgx.Conn) { d.hub.mine.Delete(c.PgConn().PID()) }
	p, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return p, nil
}

// dialer notices a peer that vanished without a word, within half a minute also for a connection that only listens.
func dialer() *net.Dialer {
	const patience = 20 * time.Second
	return &net.Dialer{
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) error {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			const tcpUserTimeout = 18 // TCP_USER_TIMEOUT: of data that is not acknowledged
			var failed error
			err := c.Control(func(fd uintptr) {
				failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(patience.Milliseconds()))
			})
			return errors.Join(err, failed)
		},
	}
}

// Close ends what the connection runs in the background, and the pools.
func (d *DB) Close() {
	d.closed.Do(func() {
		d.stop()
		d.ended.Wait()
		d.Main.Close()
		d.Queue.Close()
	})
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	if err := d.Main.Ping(ctx); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// Querier is a pool or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Rows runs a named statement and collects its rows.
func Rows[T any](ctx context.Context, d *DB, on Querier, name string, a Args, scan pgx.RowToFunc[T]) ([]T, error) {
	st := d.Statements[name]
	if st == nil {
		return nil, fmt.Errorf("no statement %s", name)
	}
	values, err := st.Bind(a)
	if err != nil {
		return nil, err
	}
	rs, err := on.Query(ctx, st.Text, values...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := pgx.CollectRows(rs, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// Row runs a named statement that returns one row or none.
func Row[T any](ctx context.Context, d *DB, on Querier, name string, a Args, scan pgx.RowToFunc[T]) (v T, found bool, err error) {
	vs, err := Rows(ctx, d, on, name, a, scan)
	if err != nil || len(vs) == 0 {
		return v, false, err
	}
	return vs[0], true, nil
}
