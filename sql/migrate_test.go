package sql_test

import (
	"strings"
	"sync"
	"testing"

	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestProgramsThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Empty(t)
	stores := make([]*sql.Store, 4)
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
	must(t, s.CheckSchema(t.Context()))
	must(t, s.Migrate(t.Context())) // again: nothing to do
	if n := sql.One[int64](t, s, "SELECT count(*) FROM schema_version"); n < 2 {
		t.Errorf("%d steps", n)
	}
}

func TestASchemaThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ change, want string }{
		"newer":     {"INSERT INTO schema_version (version, name, digest) VALUES (9999, '9999_future', '')", "newer than this program"},
		"different": {"UPDATE schema_version SET digest = 'x' WHERE version = 1", "differs from"},
		"older":     {"DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)", "older than this program"},
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
			must(t, s.Ping(t.Context()))
		})
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
