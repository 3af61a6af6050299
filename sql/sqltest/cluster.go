package sqltest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/embedded"
	"deepoj/sql"
)

// Cluster is a PostgreSQL of one test alone, with wal_level=logical and one migrated database, that can be stopped, killed
// and started again. Whoever opens its socket may log in as any role.
type Cluster struct {
	Dir string // of the server

	config   embedded.PostgresConfig
	postgres *embedded.Postgres
}

// NewCluster starts a server, which ends with the test. Settings are added to its own.
func NewCluster(t testing.TB, settings map[string]string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-cluster-") // which the server's account reaches, other than t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"wal_level": "logical", "fsync": "off", "full_page_writes": "off", "wal_keep_size": "0"}
	maps.Copy(all, settings)
	c := &Cluster{Dir: filepath.Join(dir, "pg"), config: embedded.PostgresConfig{
		DataDir: filepath.Join(dir, "pg"), TemplateDir: templates(), Superuser: true, Settings: all,
	}}
	c.Start(t)
	t.Cleanup(func() { c.Stop(t) })
	c.migrate(t)
	return c
}

// Start starts the server again, at the address that it had, with settings that stay.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	p, err := embedded.StartPostgres(context.WithoutCancel(t.Context()), c.config)
	if errors.Is(err, embedded.ErrNoPostgres) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.postgres = p
}

// Stop stops the server in order, which has to succeed: it waits for whoever replicates. It does nothing if the server
// was stopped.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	if c.postgres == nil {
		return
	}
	if err := c.postgres.Close(); err != nil {
		t.Error(err)
	}
	c.postgres = nil
}

// Kill stops the server at once, as a crash would.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(c.postgres.PID(), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	c.Stop(t)
}

// Set changes a setting for the next start.
func (c *Cluster) Set(name, value string) { c.config.Settings[name] = value }

// DSN is the address of the database for a role; "" is the program's, which owns it.
func (c *Cluster) DSN(t testing.TB, role string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(c.postgres.DSN())
	if err != nil {
		t.Fatal(err)
	}
	if role == "" {
		role = owner
	}
	return "postgres://" + role + "@/" + cfg.Database + "?host=" + c.postgres.SockDir + "&sslmode=disable"
}

// Binaries are the programs of the server.
func (c *Cluster) Binaries() embedded.Binaries { return c.postgres.Binaries }

// Store returns the stores of the database, closed when the test ends.
func (c *Cluster) Store(t testing.TB) *Store {
	t.Helper()
	return Open(t, c.postgres.DSN())
}

// Exec has the superuser run statements in the database, one by one.
func (c *Cluster) Exec(t testing.TB, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn := c.superuser(ctx, t)
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Ask returns the one value that the superuser's query gives, as text.
func (c *Cluster) Ask(t testing.TB, query string) (text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn := c.superuser(ctx, t)
	defer func() { _ = conn.Close(ctx) }()
	var value *string
	if err := conn.QueryRow(ctx, "SELECT ("+query+")::text").Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

func (c *Cluster) superuser(ctx context.Context, t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, c.postgres.SuperuserDSN("deepoj"))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Renew puts another, empty, migrated cluster in the place of this one, with the same address.
func (c *Cluster) Renew(t testing.TB) {
	t.Helper()
	c.Stop(t)
	if err := os.Rename(c.Dir, c.Dir+".old"); err != nil {
		t.Fatal(err)
	}
	c.config.TemplateDir = "" // clusters of one template have one identifier
	c.Start(t)
	c.migrate(t)
}

// Promote starts the server again on another timeline, as a standby that is promoted.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	c.Stop(t)
	if err := os.WriteFile(filepath.Join(c.Dir, "cluster", "recovery.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c.Set("restore_command", "false") // there is no archive, so recovery ends at once
	c.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for c.Ask(t, "SELECT pg_is_in_recovery()") != "false" {
		if ctx.Err() != nil {
			t.Fatal("recovery does not end")
		}
	}
}

func (c *Cluster) migrate(t testing.TB) {
	t.Helper()
	s, err := OpenWith(t.Context(), sql.Config{DSN: c.postgres.DSN()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	Must(t, s.Migrate(t.Context()))
}
