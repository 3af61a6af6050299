package sql

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"deepoj/sql/internal/pg"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the key of the advisory lock under which one program at a time migrates ("deepoj" in ASCII).
const migrationLock int64 = 0x64656570_6f6a

const (
	// migrationPatience is how long a step may wait for a lock before it lets those pass that queue up behind it.
	migrationPatience = time.Second

	// migrationTries bounds how often a step that found a table locked is tried.
	migrationTries = 120
)

// migration is one forward step of the schema.
type migration struct {
	version   int // from 1, without gaps
	name      string
	digest    string // sha256 of its text: an applied step may not change
	minBinary int    // newest step that a program must know to work after this one
	text      string
}

// suits is the line with which a step says that older programs go on working
// after it: those that know the schema up to the version that is named.
var suits = regexp.MustCompile(`(?m)^-- min_binary: (\d+)$`)

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
		least := version // who is silent suits nobody else
		if m := suits.FindSubmatch(data); m != nil {
			if least, err = strconv.Atoi(string(m[1])); err != nil || least < 1 || least > version {
				return nil, fmt.Errorf("migration %s: min_binary %s is not between 1 and %d", file, m[1], version)
			}
		}
		sum := sha256.Sum256(data)
		steps = append(steps, migration{version, name, hex.EncodeToString(sum[:]), least, string(data)})
	}
	return steps, nil
}

// Schema says how far a database is migrated, and which programs suit it.
type Schema struct {
	Version   int    `json:"version"`    // of the newest step; 0 = not migrated
	Name      string `json:"name"`       // of that step
	MinBinary int    `json:"min_binary"` // what a program must know at least
	Binary    int    `json:"binary"`     // what this program knows: its newest step
}

// Schema reads how far the database is migrated. It changes nothing.
func (d *DB) Schema(ctx context.Context) (Schema, error) {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return Schema{}, err
	}
	out := Schema{Binary: len(steps)}
	applied, err := appliedSteps(ctx, d.Main)
	if err != nil {
		return out, err
	}
	if n := len(applied); n > 0 {
		out.Version, out.Name, out.MinBinary = applied[n-1].version, applied[n-1].name, minBinary(applied)
	}
	return out, nil
}

// Migrate brings the schema up to what this program needs, forward only, under
// an advisory lock so that several programs may start at once. Each step is a
// transaction of its own, and waits for locks in a way that lets others work.
//
// A schema that is newer than this program is left alone; it is an error only if
// the program is older than the schema's min_binary.
func (d *DB) Migrate(ctx context.Context) error { return d.migrate(ctx, migrationFiles) }

func (d *DB) migrate(ctx context.Context, files fs.FS) error {
	steps, err := readMigrations(files)
	if err != nil {
		return err
	}
	conn, err := d.Main.Acquire(ctx)
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
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (version integer PRIMARY KEY, name text NOT NULL,
		digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), min_binary integer)`); err != nil {
		return fmt.Errorf("create schema_version: %w", err)
	}
	applied, err := appliedSteps(ctx, conn)
	if err != nil {
		return err
	}
	if err := compareSteps(steps, applied); err != nil && !errors.Is(err, errSchemaOld) {
		return err
	}
	for i := len(applied); i < len(steps); i++ {
		if err := step(ctx, conn, steps[i]); err != nil {
			return fmt.Errorf("migrate to %s: %w", steps[i].name, err)
		}
	}
	return nil
}

// step makes one step. A step that has to wait for a table makes everybody wait who comes after it, also those who
// would only read. So it gives up soon, lets them pass, and tries again.
func step(ctx context.Context, conn *pgxpool.Conn, m migration) error {
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			patience := fmt.Sprintf("SET LOCAL lock_timeout = %d", migrationPatience.Milliseconds())
			for _, statement := range []string{patience, m.text, "ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS min_binary integer"} {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, "INSERT INTO schema_version (version, name, digest, min_binary) VALUES ($1, $2, $3, $4)",
				m.version, m.name, m.digest, m.minBinary)
			return err
		})
		const lockNotAvailable = "55P03"
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != lockNotAvailable || try == migrationTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrationPatience):
		}
	}
}

// CheckSchema reports whether this program can work with the schema as it is.
func (s *Site) CheckSchema(ctx context.Context) error {
	steps, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	applied, err := appliedSteps(ctx, s.main)
	if err != nil {
		return err
	}
	return compareSteps(steps, applied)
}

var errSchemaOld = errors.New("the database schema is older than this program: run deepoj migrate")

// appliedSteps returns what the database has. Rows that a program wrote that did
// not know of min_binary suit nobody older.
func appliedSteps(ctx context.Context, on pg.Querier) ([]migration, error) {
	exists, err := on.Query(ctx, "SELECT to_regclass('schema_version') IS NOT NULL")
	if err != nil {
		return nil, fmt.Errorf("look for schema_version: %w", err)
	}
	if there, err := pgx.CollectExactlyOneRow(exists, pgx.RowTo[bool]); err != nil || !there {
		return nil, err
	}
	rs, err := on.Query(ctx, `SELECT version, name, digest, coalesce((to_jsonb(v) ->> 'min_binary')::integer, version)
		FROM schema_version v ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read schema_version: %w", err)
	}
	applied, err := pgx.CollectRows(rs, func(r pgx.CollectableRow) (m migration, err error) {
		return m, r.Scan(&m.version, &m.name, &m.digest, &m.minBinary)
	})
	if err != nil {
		return nil, fmt.Errorf("read schema_version: %w", err)
	}
	return applied, nil
}

// minBinary is what all steps together ask of a program.
func minBinary(applied []migration) (least int) {
	for _, a := range applied {
		least = max(least, a.minBinary)
	}
	return least
}

func compareSteps(steps, applied []migration) error {
	for i, a := range applied[:min(len(applied), len(steps))] {
		if steps[i].name != a.name || steps[i].digest != a.digest {
			return fmt.Errorf("the database has %s, which differs from this program's %s", a.name, steps[i].name)
		}
	}
	if least := minBinary(applied); len(steps) < least {
		return fmt.Errorf("the database schema (%s) is newer than this program: it wants one that knows version %d, and this one knows %d: update it",
			applied[len(applied)-1].name, least, len(steps))
	}
	if len(applied) < len(steps) {
		return errSchemaOld
	}
	return nil
}

// rightsBeyond asks what a role may do beyond its databases: its attributes, PostgreSQL's own roles that it was made a
// member of (the one of who owns the database is everybody's who does), roles with such attributes that it may become,
// and functions that nobody may call unless it was granted, but the one that the program asks for the cluster's name.
const rightsBeyond = `SELECT current_user::text, array_remove(ARRAY[
	CASE WHEN rolsuper THEN 'superuser' END, CASE WHEN rolreplication THEN 'replication' END, CASE WHEN rolcreaterole THEN 'makes roles' END,
	CASE WHEN rolcreatedb THEN 'makes databases' END, CASE WHEN rolbypassrls THEN 'bypasses row security' END] ||
	CASE WHEN NOT me.rolsuper THEN
		ARRAY(SELECT r.rolname::text FROM pg_roles r
			WHERE r.rolname ^@ 'pg_' AND r.rolname <> 'pg_database_owner' AND pg_has_role(me.oid, r.oid, 'MEMBER') ORDER BY 1) ||
		ARRAY(SELECT 'may become ' || r.rolname FROM pg_roles r
			WHERE r.oid <> me.oid AND pg_has_role(me.oid, r.oid, 'MEMBER')
			AND (r.rolsuper OR r.rolreplication OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls) ORDER BY 1) ||
		ARRAY(SELECT DISTINCT p.proname || '()' FROM pg_proc p CROSS JOIN aclexplode(p.proacl) a
			WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname <> 'pg_control_system'
			AND a.grantee <> 0 AND a.grantee <> p.proowner AND a.grantee IN (SELECT r.oid FROM pg_roles r WHERE NOT r.rolname ^@ 'pg_' AND pg_has_role(me.oid, r.oid, 'MEMBER'))
			ORDER BY 1)
	END, NULL)
	FROM pg_roles me WHERE me.rolname = current_user`

// Rights returns the role that this program is in the database, and what that may do that the program does not need.
func (d *DB) Rights(ctx context.Context) (role string, beyond []string, err error) {
	if err := d.Main.QueryRow(ctx, rightsBeyond).Scan(&role, &beyond); err != nil {
		return "", nil, fmt.Errorf("rights of the database role: %w", err)
	}
	return role, beyond, nil
}
