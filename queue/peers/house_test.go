package peers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"deepoj/host/embedded"
)

// house is one PostgreSQL, with the durability that it has by default, and one
// Redis, for everybody who is compared.
type house struct {
	pg    *embedded.Postgres
	redis *embedded.Redis
}

func newHouse(b *testing.B) *house {
	b.Helper()
	dir, err := os.MkdirTemp("", "deepoj-peers-")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the servers' account goes through it
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	settings := map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB"}
	if counted() {
		settings["shared_preload_libraries"] = "pg_stat_statements"
	}
	h := &house{}
	h.pg, err = embedded.StartPostgres(b.Context(), embedded.PostgresConfig{DataDir: filepath.Join(dir, "pg"), Superuser: true, Settings: settings})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.pg.Close() })
	if counted() {
		runSQL(b, h.pg.SuperuserDSN("deepoj"), "CREATE EXTENSION pg_stat_statements")
	}
	h.redis, err = embedded.StartRedis(b.Context(), embedded.RedisConfig{DataDir: filepath.Join(dir, "redis")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.redis.Close() })
	return h
}

// database makes one and returns its address.
func (h *house) database(b *testing.B, name string) string {
	b.Helper()
	runSQL(b, h.pg.SuperuserDSN("deepoj"), "CREATE DATABASE "+name)
	return h.pg.SuperuserDSN(name)
}

// settle takes what has piled up out of the next measurement.
func settle(b *testing.B, dsn string) {
	b.Helper()
	runSQL(b, dsn, "VACUUM ANALYZE")
	runSQL(b, dsn, "CHECKPOINT")
}

func runSQL(b *testing.B, dsn, statement string) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		b.Fatal(statement, err)
	}
}

// source is what every job carries: a kilobyte of program.
var source = "#include <stdio.h>\n" + strings.Repeat("int main(void) { return 0; }\n", 34)
