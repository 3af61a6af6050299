// Package sqltest gives tests a real, private PostgreSQL: one server per test
// binary, and a fresh migrated database per test.
//
// The server listens on a unix socket only, runs without fsync, and ends with the test binary. TestMain should call
// [Main], so that one server serves all tests; without it the server lives as long as tests use it.
package sqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// server is the one PostgreSQL of this test binary, while somebody uses it.
type server struct {
	mu        sync.Mutex
	users     int
	dir       string
	postgres  *embedded.Postgres
	databases int
	strategy  string // of CREATE DATABASE
	err       error  // why it could not start; not tried again
}

// owner is the role of the program, which owns each database.
const owner = "deepoj"

// shared is a variable because tests have no other common place.
var shared server

// Main runs the tests of a binary with one server for all of them and returns
// the status for os.Exit. The server starts with the first test that needs it.
func Main(m *testing.M) int {
	shared.mu.Lock()
	shared.users++
	shared.mu.Unlock()
	status := m.Run()
	if err := shared.release(); err != nil {
		fmt.Fprintln(os.Stderr, "sqltest:", err)
		status = max(status, 1)
	}
	return status
}

// Store is a database with both of its stores at hand.
type Store struct {
	*sql.DB
	*sql.Site
	*jobs.Queue
}

// Listen, Slots and Workers are the same of both stores.

// Listen is [jobs.Queue.Listen].
func (s *Store) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	return s.Queue.Listen(ctx, channel, fn)
}

// Slots is [jobs.Queue.Slots].
func (s *Store) Slots(ctx context.Context) ([]judge.Slot, error) { return s.Queue.Slots(ctx) }

// Workers is [jobs.Queue.Workers].
func (s *Store) Workers(ctx context.Context, maxAge time.Duration) ([]judge.WorkerInfo, error) {
	return s.Queue.Workers(ctx, maxAge)
}

// DB returns the stores of a fresh, migrated database. It is closed, and the database dropped, when the test ends.
// Without PostgreSQL the test is skipped, or fails if DEEPOJ_TEST=require.
func DB(t testing.TB) *Store {
	t.Helper()
	return Open(t, DSN(t))
}

// Open returns the stores of the database at dsn, closed when the test ends.
func Open(t testing.TB, dsn string) *Store {
	t.Helper()
	s, err := OpenWith(t.Context(), sql.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// OpenWith is Open for a test that closes them itself, or configures more.
func OpenWith(ctx context.Context, cfg sql.Config) (*Store, error) {
	db, err := sql.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Store{db, db.Site, db.Queue}, nil
}

// DSN returns the address of a fresh, migrated database, which is dropped when the test ends.
func DSN(t testing.TB) string {
	t.Helper()
	return database(t, "template_deepoj")
}

// Cut takes the database at dsn away from everybody: its connections end, and
// new ones are refused, until the function that it returns is called.
func Cut(t testing.TB, dsn string) (restore func()) {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	do := func(statement string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		if err := shared.exec(ctx, "postgres", statement); err != nil {
			t.Fatal(err)
		}
	}
	do("ALTER DATABASE " + cfg.Database + " WITH ALLOW_CONNECTIONS false")
	do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + cfg.Database + "'")
	return func() {
		t.Helper()
		do("ALTER DATABASE " + cfg.Database + " WITH ALLOW_CONNECTIONS true")
	}
}

// Empty returns the address of a fresh database that is not migrated.
func Empty(t testing.TB) string {
	t.Helper()
	return database(t, "template1")
}

func database(t testing.TB, template string) string {
	t.Helper()
	dsn, name, err := shared.database(t.Context(), template)
	if errors.Is(err, embedded.ErrNoPostgres) {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(shared.exec(ctx, "postgres", "DROP DATABASE "+name+" WITH (FORCE)"), shared.release()); err != nil {
			t.Error(err)
		}
	})
	return dsn
}

// database creates a database; each call is one more user of the server.
func (s *server) database(ctx context.Context, template string) (dsn, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return "", "", s.err
	}
	if s.postgres == nil {
		if s.err = s.start(ctx); s.err != nil {
			return "", "", s.err
		}
	}
	s.databases++
	name = fmt.Sprintf("t%d", s.databases)
	if err := s.exec(ctx, "postgres", "CREATE DATABASE "+name+" OWNER "+owner+" TEMPLATE "+template+s.strategy); err != nil {
		return "", "", err
	}
	s.users++
	return s.postgres.DSNFor(name), name, nil
}

// start starts the server and migrates the template of all databases.
func (s *server) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "deepoj-sqltest-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the server's account goes through it
		return errors.Join(err, os.RemoveAll(dir))
	}
	p, err := embedded.StartPostgres(context.WithoutCancel(ctx), embedded.PostgresConfig{
		DataDir:     filepath.Join(dir, "pg"),
		TemplateDir: templates(),
		Superuser:   true, // who makes databases; stores log in as in production
		Settings: map[string]string{
			"fsync": "off", "full_page_writes": "off", "max_connections": "300", "max_wal_size": "256MB",
		},
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.dir, s.postgres = dir, p
	if s.strategy, err = s.fastest(ctx); err != nil {
		return errors.Join(err, s.stop())
	}
	if err := s.template(ctx); err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

// templates is where fresh clusters are kept, for all test binaries of this user.
func templates() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("deepoj-sqltest-template-%d", os.Getuid()))
}

// fastest returns how a database is copied in half the time where files are not synced: as files. Servers before
// PostgreSQL 15 know no other way.
func (s *server) fastest(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.postgres.SuperuserDSN("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var old bool
	err = conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int < 150000").Scan(&old)
	if err != nil || old {
		return "", err
	}
	return " STRATEGY FILE_COPY", nil
}

func (s *server) template(ctx context.Context) error {
	if err := s.exec(ctx, "postgres", "CREATE DATABASE template_deepoj OWNER "+owner); err != nil {
		return err
	}
	db, err := sql.Open(ctx, sql.Config{DSN: s.postgres.DSNFor("template_deepoj"), MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close() // a template must have no connections
	return db.Migrate(ctx)
}

func (s *server) exec(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, s.postgres.SuperuserDSN(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", strings.Fields(statement)[0], err)
	}
	return nil
}

// release takes one user away; the last one stops the server.
func (s *server) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users > 0 || s.postgres == nil {
		return nil
	}
	return s.stop()
}

func (s *server) stop() error {
	err := errors.Join(s.postgres.Close(), os.RemoveAll(s.dir))
	s.postgres, s.dir = nil, ""
	return err
}
