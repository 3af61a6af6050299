package sql_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestProgramsThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Empty(t)
	stores := make([]*sqltest.Store, 4)
	for i := range stores {
		stores[i] = sqltest.Open(t, dsn)
		if err := stores[i].CheckSchema(t.Context()); err == nil {
			t.Error("an empty database passed the check")
		}
	}
	var wg sync.WaitGroup
	for _, s := range stores {
		wg.Go(func() {
			if err := s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := sqltest.Open(t, dsn)
	sqltest.Must(t, s.CheckSchema(t.Context()))
	sqltest.Must(t, s.Migrate(t.Context())) // again: nothing to do
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM schema_version"); n < 2 {
		t.Errorf("%d steps", n)
	}
}

// PostgreSQL parses and plans a function of SQL that reads a table anew in each statement that calls it, unless it can put
// its query in the place of the call.
func TestFunctionsThatReadTablesArePlannedOnce(t *testing.T) {
	t.Parallel()
	anew := sqltest.One[string](t, sqltest.DB(t), `SELECT coalesce(string_agg(p.proname, ', ' ORDER BY p.proname), '')
		FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
		WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'sql' AND p.provolatile <> 'v' AND NOT p.proretset
		AND EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = p.pronamespace AND p.prosrc ~* ('\m(FROM|JOIN)\s+' || c.relname || '\M'))`)
	if anew != "" {
		t.Errorf("planned anew in each statement: %s", anew)
	}
}

func TestASchemaThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ change, want string }{
		"newer":     {"INSERT INTO schema_version (version, name, digest) VALUES (9999, '9999_future', '')", "newer than this program"},
		"different": {"UPDATE schema_version SET digest = 'x' WHERE version = 1", "differs from"},
		"older":     {"DELETE FROM schema_version WHERE version > 1", "older than this program"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sqltest.DB(t)
			s.Exec(t, tt.change)
			if err := s.CheckSchema(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("check = %v, want %q", err, tt.want)
			}
			if err := s.Migrate(t.Context()); err == nil {
				t.Error("migrated")
			}
			sqltest.Must(t, s.Ping(t.Context()))
		})
	}
}

// later returns the steps of this program and one more.
func later(t *testing.T, text string) (fs.FS, int) {
	t.Helper()
	next := fstest.MapFS{}
	steps, err := fs.Glob(os.DirFS("."), "migrations/*.sql")
	sqltest.Must(t, err)
	for _, name := range steps {
		data, err := os.ReadFile(name)
		sqltest.Must(t, err)
		next[name] = &fstest.MapFile{Data: data}
	}
	next[fmt.Sprintf("migrations/%04d_later.sql", len(steps)+1)] = &fstest.MapFile{Data: []byte(text)}
	return next, len(steps)
}

func TestAProgramWorksWithALaterSchemaUnlessItIsOlderThanMinBinary(t *testing.T) {
	t.Parallel()
	_, known := later(t, "")
	tests := map[string]struct {
		text string
		want string // of the error; "" = none
	}{
		"a step that suits this program": {fmt.Sprintf("-- min_binary: %d\nALTER TABLE queues ADD COLUMN later text", known), ""},
		"a step that does not":           {fmt.Sprintf("-- min_binary: %d\nALTER TABLE queues ADD COLUMN later text", known+1), "newer than this program"},
		"a step that does not say":       {"ALTER TABLE queues ADD COLUMN later text", "newer than this program"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sqltest.DB(t)
			files, _ := later(t, tt.text)
			sqltest.Must(t, s.MigrateFiles(t.Context(), files))
			for what, err := range map[string]error{"check": s.CheckSchema(t.Context()), "migrate": s.Migrate(t.Context())} {
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("%s = %v, want %q", what, err, tt.want)
				}
			}
			got, err := s.Schema(t.Context())
			sqltest.Must(t, err)
			least := known + 1
			if tt.want == "" {
				least = known
			}
			if want := (sql.Schema{Version: known + 1, Name: fmt.Sprintf("%04d_later", known+1), MinBinary: least, Binary: known}); got != want {
				t.Errorf("schema = %+v, want %+v", got, want)
			}
		})
	}
}

func TestADatabaseOfAProgramThatKnewNoMinBinaryIsMigrated(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	s.Exec(t, "ALTER TABLE schema_version DROP COLUMN min_binary")
	sqltest.Must(t, s.CheckSchema(t.Context()))
	files, known := later(t, "SELECT 1")
	sqltest.Must(t, s.MigrateFiles(t.Context(), files))
	if got, err := s.Schema(t.Context()); err != nil || got.MinBinary != known+1 {
		t.Errorf("schema = %+v, %v", got, err)
	}
}

func TestAMinBinaryThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	for _, n := range []string{"0", "9999"} {
		files, _ := later(t, "-- min_binary: "+n)
		if err := s.MigrateFiles(t.Context(), files); err == nil || !strings.Contains(err.Error(), "min_binary "+n) {
			t.Errorf("min_binary %s: %v", n, err)
		}
	}
}

// TestAMigrationThatWaitsHoldsUpNobody has one transaction keep a table that a
// step wants for itself. Who queues up behind the step gets through while it
// still waits.
func TestAMigrationThatWaitsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	s := sqltest.Open(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	connect := func() *pgx.Conn {
		t.Helper()
		c, err := pgx.Connect(ctx, dsn)
		sqltest.Must(t, err)
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		return c
	}
	holder, reader := connect(), connect()
	tx, err := holder.Begin(ctx)
	sqltest.Must(t, err)
	_, err = tx.Exec(ctx, "SELECT count(*) FROM queues")
	sqltest.Must(t, err)
	files, known := later(t, "ALTER TABLE queues ADD COLUMN later text")
	migrated := make(chan error, 1)
	go func() { migrated <- s.MigrateFiles(ctx, files) }()
	for waits := false; !waits; {
		sqltest.Must(t, reader.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
			AND relation = 'queues'::regclass)`).Scan(&waits))
		select {
		case err := <-migrated:
			t.Fatalf("migrated (%v) while the table was kept", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	var n int
	sqltest.Must(t, reader.QueryRow(ctx, "SELECT count(*) FROM queues").Scan(&n))
	select {
	case err := <-migrated:
		t.Fatalf("migrated (%v) while the table was kept", err)
	default:
	}
	sqltest.Must(t, tx.Rollback(ctx))
	sqltest.Must(t, <-migrated)
	if got, err := s.Schema(ctx); err != nil || got.Version != known+1 {
		t.Errorf("schema = %+v, %v", got, err)
	}
}

func TestAConfigNamesEveryBadField(t *testing.T) {
	t.Parallel()
	err := sql.Config{MaxConns: -1, NotifyEvery: -1}.Validate()
	for _, f := range []string{"DSN", "MaxConns", "NotifyEvery"} {
		if err == nil || !strings.Contains(err.Error(), f) {
			t.Errorf("%v does not name %s", err, f)
		}
	}
	if _, err := sql.Open(t.Context(), sql.Config{}); err == nil {
		t.Error("opened without an address")
	}
	if _, err := sql.Open(t.Context(), sql.Config{DSN: "postgres:///x?host=/nonexistent"}); err == nil {
		t.Error("opened a database that is not there")
	}
}
