package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Who is who in the private cluster. The program logs in as the owner of its one database, who may do nothing else: no
// statement of it reads files, runs programs or makes roles. Nobody can log in as the superuser, by which initdb made
// the cluster; what only it may do is done by a server for one user, before anybody can connect.

// rulesMark begins the rules of a cluster whose roles are as [rolesScript] makes
// them. It is written after them, and goes with copies of the cluster.
const rulesMark = "# Roles of Deep-OJ, version 1.\n"

// rules are those of pg_hba.conf: see PostgreSQL's chapter "Client Authentication". Who matches no line is refused.
// Only one account can open the socket, so the connection itself is trusted.
const rules = rulesMark +
	"# The program's role is the only one that may log in. A start that does not find\n" +
	"# the line above makes the roles anew and writes this file again.\n" +
	"local " + postgresDatabase + " " + postgresRole + " trust\n"

// superuserRules let the superuser in as well: see [PostgresConfig.Superuser].
const superuserRules = "local all all trust\nlocal replication all trust\n"

// bootstrapID is the object id of the role that initdb makes, in every cluster.
const bootstrapID = "10"

// firstObjectID is the first object id that is not of PostgreSQL itself.
const firstObjectID = "16384"

// rolesScript makes the roles, and gives the program what is in its database. It
// is for a server for one user on that database, for which two ends of lines end a
// command. It is one transaction, and what is done already it does not do again.
//
// Clusters of earlier versions have the program's role for their superuser. It gets another name, from a role that
// comes and goes, because no role may rename itself; the name then belongs to a role without its rights.
const rolesScript = `DO $$
DECLARE
  thing record;
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE oid = ` + bootstrapID + ` AND rolname = '` + postgresRole + `') THEN
    CREATE ROLE deepoj_renames SUPERUSER;
    SET LOCAL SESSION AUTHORIZATION deepoj_renames;
    ALTER ROLE ` + postgresRole + ` RENAME TO ` + postgresSuperuser + `;
    SET LOCAL SESSION AUTHORIZATION ` + postgresSuperuser + `;
    DROP ROLE deepoj_renames;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '` + postgresRole + `') THEN
    CREATE ROLE ` + postgresRole + `;
  END IF;
  ALTER ROLE ` + postgresRole + ` LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
  FOR thing IN SELECT roleid::regrole AS role FROM pg_auth_members WHERE member = to_regrole('` + postgresRole + `') LOOP
    EXECUTE format('REVOKE %s FROM ` + postgresRole + `', thing.role);
  END LOOP;
  ALTER DATABASE ` + postgresDatabase + ` OWNER TO ` + postgresRole + `;
  GRANT EXECUTE ON FUNCTION pg_control_system() TO ` + postgresRole + `;
  FOR thing IN
    SELECT f.kind, i.identity FROM (
      SELECT 'pg_namespace'::regclass AS class, n.oid, 'SCHEMA' AS kind
      FROM pg_namespace n WHERE n.nspowner = ` + bootstrapID + ` AND (n.oid >= ` + firstObjectID + ` OR n.nspname = 'public')
      UNION ALL
      SELECT 'pg_class'::regclass, c.oid, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END
      FROM pg_class c WHERE c.relowner = ` + bootstrapID + ` AND c.oid >= ` + firstObjectID + ` AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND NOT (c.relkind = 'S' AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')))
      UNION ALL
      SELECT 'pg_proc'::regclass, p.oid, 'ROUTINE'
      FROM pg_proc p WHERE p.proowner = ` + bootstrapID + ` AND p.oid >= ` + firstObjectID + `
      UNION ALL
      SELECT 'pg_type'::regclass, t.oid, 'TYPE'
      FROM pg_type t LEFT JOIN pg_class r ON r.oid = t.typrelid
      WHERE t.typowner = ` + bootstrapID + ` AND t.oid >= ` + firstObjectID + ` AND (t.typtype IN ('b', 'd', 'e', 'r') OR t.typtype = 'c' AND r.relkind = 'c')
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
    ) f, pg_identify_object(f.class, f.oid, 0) i
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = f.class AND d.objid = f.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO ` + postgresRole + `', thing.kind, thing.identity);
  END LOOP;
END $$;

`

// rulesFile is what says in a cluster who may log in.
const rulesFile = "pg_hba.conf"

// mend makes the roles of a cluster in which they are not as they should be: an earlier version made it, or it is a
// backup of one, whose recovery the server for one user finishes first.
func (p *Postgres) mend(ctx context.Context) error {
	b, err := os.ReadFile(filepath.Join(p.cluster, rulesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !strings.HasPrefix(string(b), rulesMark) {
		p.log.InfoContext(ctx, "giving the program a role of its own in the database, which is no superuser", slog.String("cluster", p.cluster))
		if err := p.clear(ctx); err != nil {
			return err
		}
		if err := p.makeRoles(ctx, p.cluster, p.args(p.cluster)...); err != nil {
			return err
		}
		b = []byte(rules)
	}
	if err := p.withoutSlots(ctx); err != nil {
		return fmt.Errorf("slots of change feeds: %w", err)
	}
	if string(b) == p.rules() {
		return nil
	}
	if err := p.clear(ctx); err != nil {
		return err
	}
	if err := p.mendFeed(ctx); err != nil {
		return fmt.Errorf("role of the change feed: %w", err)
	}
	return replaceFile(filepath.Join(p.cluster, rulesFile), p.rules(), p.cfg.User, p.durable())
}

// makeRoles makes the roles in a cluster that nobody uses, with the arguments of
// a server, and afterwards the rules of who may log in.
func (p *Postgres) makeRoles(ctx context.Context, cluster string, args ...string) error {
	if err := p.single(ctx, cluster, postgresDatabase, rolesScript, args...); err != nil {
		return fmt.Errorf("roles of the database: %w", err)
	}
	return replaceFile(filepath.Join(cluster, rulesFile), rules, p.cfg.User, p.durable())
}

// single has a server for one user execute a script in a database. An error ends it.
func (p *Postgres) single(ctx context.Context, cluster, database, script string, args ...string) error {
	args = append(append([]string{"--single", "-j"}, args...), "-c", "exit_on_error=on", "-c", "log_min_error_statement=panic", database)
	for {
		err := p.tool(ctx, cluster, script, postgresName, args...)
		// The children of a server that was killed take a moment to notice.
		if err != nil && strings.Contains(err.Error(), sharedMemory) && sleep(ctx, 50*time.Millisecond) {
			continue
		}
		return err
	}
}

// replaceFile puts text into the file at path, which belongs to a. After a crash
// the file is the old one or the new one; if durable, also after one of the machine.
func replaceFile(path, text string, a *Account, durable bool) error {
	fresh := path + ".new"
	if err := errors.Join(writeNote(fresh, text), a.own(fresh)); err != nil {
		return err
	}
	if durable {
		if err := syncFile(fresh); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, path); err != nil || !durable {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// syncFile brings a file or folder to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
