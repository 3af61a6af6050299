// Package sql keeps everything that Deep-OJ must not lose in PostgreSQL: the one
// state machine of jobs, their queue rows, results, events, problems and users.
//
// The database decides. A worker earns the right to write a verdict by claiming
// an attempt here and keeps it only while that attempt is the newest and its
// lease is alive by the database's clock (see [Store.Finalize]). A job that is
// not finished has exactly one queue row and a finished one has none;
// [Store.Audit] proves it at any moment.
//
// The package speaks no Redis and knows no sandbox. Statements of the queue lie
// in queries/*.sql and run as they stand; plain reads and writes are typed by
// sqlc into internal/dbsqlc.
//
// Its files:
//
//	store.go        opens the pools
//	statements.go   the statements of queries/*.sql
//	migrate.go      brings the schema to the newest version
//	rights.go       what the role may do beyond its database
//	away.go         whether the server is away
//	coalesce.go     what several callers ask at once is one statement
//	notify.go       tells others that there is something to do
//	submit.go       stores jobs
//	submitbatch.go  many in one statement
//	outbox.go       picks jobs for the streams
//	delivery.go     hands out work without Redis
//	shard.go        which dispatcher holds which shard
//	claim.go        makes attempts
//	finalize.go     records results
//	control.go      lost workers, cancellations, moves within the queue
//	deadletter.go   jobs that were given up
//	rejudge.go      generations and rejudge sets
//	retire.go       deletes what need not be kept
//	audit.go        counts violations of the protocol
//	reader.go       jobs as somebody may see them
//	standing.go     where jobs of every kind stand, and lists of them
//	view.go         events, and places in the queue
//	runs.go         keys and callbacks of runs
//	drafts.go       programs that setters try
//	queues.go       queues and their settings
//	catalog.go      problems as lists and statistics show them
//	versions.go     versions of problems
//	pages.go        what people see of a version
//	pictures.go     what charts show
//	messages.go     who reads what checkers say
//	setters.go      who owns and edits problems
//	plugins.go      plugins and bindings
//	languages.go    languages that workers offered
//	spaces.go       spaces
//	people.go       workers that live, and problems
//	accounts.go     accounts and sessions
//	identities.go   accounts of other providers
//	keys.go         keys of the API
//	webhooks.go     webhooks
//	auditlog.go     privileged acts
package sql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"deepoj/sql/internal/dbsqlc"
)

// DefaultQueue and DefaultPool are the names that exist from the start.
const (
	DefaultQueue = "default"
	DefaultPool  = "default"
)

// ErrNotFound is returned when the thing that was named does not exist.
var ErrNotFound = errors.New("not found")

// ErrQueueFull is returned by a submit beyond the queue's max_backlog. Its
// reason is judge.ReasonQueueFull.
var ErrQueueFull = errors.New("queue is full")

// ErrExists is returned when something of that name is already there.
var ErrExists = errors.New("already exists")

// Config says which database to use. Every field but DSN has a default.
type Config struct {
	// DSN is a PostgreSQL URL or keyword string. Required.
	DSN string

	// MaxConns bounds each of the two connection pools (general and queue).
	// Defaults to 8.
	MaxConns int32

	// NotifyEvery is the shortest time between two NOTIFY of waiting work by this
	// store. Events are told at most every 20 milliseconds. Defaults to 2
	// milliseconds.
	NotifyEvery time.Duration

	// Log receives what the store cannot return, such as a lost LISTEN
	// connection. Defaults to discarding.
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

// Store is a connection to the database. It is safe for concurrent use.
type Store struct {
	log   *slog.Logger
	stmts map[string]*statement
	main  *pgxpool.Pool // pages, API, audit
	queue *pgxpool.Pool // statements of the queue, with the planner held to indexes
	q     *dbsqlc.Queries
	hub   *hub

	grouped sync.Map // queue → until when it is taken to look at groups

	submits coalescer[NewJob, Receipt]
	finals  coalescer[final, struct{}]

	stop   context.CancelFunc
	ended  sync.WaitGroup
	closed sync.Once
}

// queueSettings hold the planner to index scans: a generic plan that was cached
// while a table was empty must still be right when it holds a million rows.
var queueSettings = map[string]string{
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"jit":              "off",
	"plan_cache_mode":  "force_generic_plan",
}

// Open connects to the database. It does not migrate it: see [Store.Migrate]
// and [Store.CheckSchema].
func Open(ctx context.Context, cfg Config) (*Store, error) {
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
	stmts, err := parseStatements(queryFiles)
	if err != nil {
		return nil, err
	}
	s := &Store{log: cfg.Log, stmts: stmts, q: dbsqlc.New()}
	s.submits = coalescer[NewJob, Receipt]{
		do: s.submitTogether, lanes: 2, limit: 256, time: 30 * time.Second,
		together: func(first, n NewJob) bool {
			return first.Queue == n.Queue && (first.Space == 0) == (n.Space == 0)
		},
	}
	s.finals = coalescer[final, struct{}]{do: s.finalizeTogether, lanes: 2, limit: 256, time: 10 * time.Second}
	s.hub = newHub(s, cfg.NotifyEvery)
	if s.main, err = s.pool(ctx, cfg, "deepoj", nil); err != nil {
		return nil, err
	}
	if s.queue, err = s.pool(ctx, cfg, "deepoj-queue", queueSettings); err != nil {
		s.main.Close()
		return nil, err
	}
	if err := s.Ping(ctx); err != nil {
		s.main.Close()
		s.queue.Close()
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	for _, channel := range channels {
		s.ended.Go(func() { s.hub.notify(background, channel) })
	}
	s.ended.Go(func() { s.hub.listen(background) })
	return s, nil
}

func (s *Store) pool(ctx context.Context, cfg Config, application string, settings map[string]string) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse database address: %w", err)
	}
	pc.MaxConns = cfg.MaxConns
	pc.ConnConfig.DialFunc = dialer().DialContext
	pc.ConnConfig.RuntimeParams["application_name"] = application
	maps.Copy(pc.ConnConfig.RuntimeParams, settings)
	pc.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		s.hub.mine.Store(c.PgConn().PID(), true)
		return nil
	}
	pc.BeforeClose = func(c *pgx.Conn) { s.hub.mine.Delete(c.PgConn().PID()) }
	p, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return p, nil
}

// dialer notices a peer that vanished without a word, within half a minute also
// for a connection that only listens.
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

// Close ends what the store runs in the background and closes its connections.
func (s *Store) Close() {
	s.closed.Do(func() {
		s.stop()
		s.ended.Wait()
		s.main.Close()
		s.queue.Close()
	})
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.main.Ping(ctx); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// rows runs a named statement and collects its rows.
func rows[T any](ctx context.Context, s *Store, on querier, name string, a args, scan pgx.RowToFunc[T]) ([]T, error) {
	st := s.stmts[name]
	if st == nil {
		return nil, fmt.Errorf("no statement %s", name)
	}
	values, err := st.bind(a)
	if err != nil {
		return nil, err
	}
	rs, err := on.Query(ctx, st.text, values...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := pgx.CollectRows(rs, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// row runs a named statement that returns one row or none.
func row[T any](ctx context.Context, s *Store, on querier, name string, a args, scan pgx.RowToFunc[T]) (v T, found bool, err error) {
	vs, err := rows(ctx, s, on, name, a, scan)
	if err != nil || len(vs) == 0 {
		return v, false, err
	}
	return vs[0], true, nil
}
