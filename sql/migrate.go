package sql

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the key of the advisory lock under which one program at a
// time migrates ("deepoj" in ASCII).
const migrationLock int64 = 0x64656570_6f6a

// migration is one forward step of the schema.
type migration struct {
	version int // from 1, without gaps
	name    string
	digest  string // sha256 of its text: an applied step may not change
	text    string
}

func readMigrations(fsys fs.FS) ([]migration, error) {
	files, err := fs.Glob(fsys, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(files)
	steps := make([]migration, 0, len(files))
	for i, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "migrations/"), ".sql")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s is not number %d", file, i+1)
		}
		sum := sha256.Sum256(data)
		steps = append(steps, migration{version, name, hex.EncodeToString(sum[:]), string(data)})
	}
	return steps, nil
}

// Migrate brings the schema up to what this program needs, forward only, under
// an advisory lock so that several programs may start at once. Each step is a
// transaction of its own.
func (s *Store) Migrate(ctx context.Context) error {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	conn, err := s.main.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	defer func() {
		// The session's end unlocks as well, so a failure here loses nothing.
		if _, err := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock); err != nil {
			_ = conn.Conn().Close(context.WithoutCancel(ctx))
		}
	}()
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (
		version integer PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return fmt.Errorf("create schema_version: %w", err)
	}
	applied, err := appliedSteps(ctx, conn)
	if err != nil {
		return err
	}
	if err := compareSteps(steps, applied); err != nil && !errors.Is(err, errSchemaOld) {
		return err
	}
	for _, m := range steps[len(applied):] {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, m.text); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "INSERT INTO schema_version (version, name, digest) VALUES ($1, $2, $3)", m.version, m.name, m.digest)
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate to %s: %w", m.name, err)
		}
	}
	return nil
}

// CheckSchema reports whether the schema is exactly what this program needs.
func (s *Store) CheckSchema(ctx context.Context) error {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	var exists bool
	if err := s.main.QueryRow(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&exists); err != nil {
		return fmt.Errorf("check schema: %w", err)
	}
	if !exists {
		return errSchemaOld
	}
	applied, err := appliedSteps(ctx, s.main)
	if err != nil {
		return err
	}
	return compareSteps(steps, applied)
}

var errSchemaOld = errors.New("the database schema is older than this program: run deepoj migrate")

func appliedSteps(ctx context.Context, on querier) ([]migration, error) {
	rs, err := on.Query(ctx, "SELECT version, name, digest FROM schema_version ORDER BY version")
	if err != nil {
		return nil, fmt.Errorf("read schema_version: %w", err)
	}
	applied, err := pgx.CollectRows(rs, func(r pgx.CollectableRow) (m migration, err error) {
		return m, r.Scan(&m.version, &m.name, &m.digest)
	})
	if err != nil {
		return nil, fmt.Errorf("read schema_version: %w", err)
	}
	return applied, nil
}

func compareSteps(steps, applied []migration) error {
	if len(applied) > len(steps) {
		return fmt.Errorf("the database schema (%s) is newer than this program: update it", applied[len(applied)-1].name)
	}
	for i, a := range applied {
		if steps[i].name != a.name || steps[i].digest != a.digest {
			return fmt.Errorf("the database has %s, which differs from this program's %s", a.name, steps[i].name)
		}
	}
	if len(applied) < len(steps) {
		return errSchemaOld
	}
	return nil
}
