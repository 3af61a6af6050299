package embedded

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// oldThings are one thing of each kind that a schema has, with rows.
const oldThings = `CREATE SCHEMA more;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TYPE pair AS (a int, b int);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE kept (id bigserial PRIMARY KEY, n positive NOT NULL, how mood DEFAULT 'good', moods mood[], text text);
CREATE TABLE more.counted (id int GENERATED ALWAYS AS IDENTITY, text text);
CREATE TABLE parts (id int, day date) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE SEQUENCE numbers START 7;
CREATE VIEW seen AS SELECT n FROM kept;
CREATE MATERIALIZED VIEW stored AS SELECT 1 AS one;
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n';
CREATE PROCEDURE nothing() LANGUAGE plpgsql AS 'BEGIN END';
CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int);
INSERT INTO kept (n, moods, text) SELECT n, '{bad}', repeat('x', 3000) FROM generate_series(1, 1000) n;
INSERT INTO more.counted (text) VALUES ('a'), ('b');
INSERT INTO parts VALUES (1, '2026-01-31');
SELECT nextval('numbers');
`

// oldCluster makes a cluster as the version before did: the program's role is the
// superuser, whom everybody may be who reaches the socket.
func oldCluster(t *testing.T, dir string) {
	t.Helper()
	b, err := FindPostgres(t.Context(), "", 0)
	need(t, err)
	account, err := Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	cluster := filepath.Join(dir, "postgres", "cluster")
	if err := makeFolder(filepath.Dir(cluster), account); err != nil {
		t.Fatal(err)
	}
	p := &Postgres{cfg: PostgresConfig{DataDir: filepath.Dir(cluster), User: account, StartTimeout: time.Minute}, Binaries: b, SockDir: filepath.Join(dir, "run"), cluster: cluster}
	p.service = service{name: "postgresql", log: slog.New(slog.DiscardHandler), steps: []step{{syscall.SIGINT, time.Minute}}}
	err = errors.Join(makeFolder(p.SockDir, account), makeFolder(cluster, account))
	if err == nil {
		err = p.tool(t.Context(), cluster, "", initdbName, "--username=deepoj", "--encoding=UTF8", "--locale=C",
			"--auth-local=trust", "--auth-host=reject", "--no-instructions", "--no-sync", "--pgdata="+cluster)
	}
	if err == nil {
		err = p.single(t.Context(), cluster, "postgres", "CREATE DATABASE deepoj;\n\n", p.args(cluster)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	server, err := p.launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	query(t, p, oldThings)
	if err := server.end(p.steps); err != nil {
		t.Fatal(err)
	}
}

// refused runs a statement at an address, which must not be executed.
func refused(t *testing.T, p *Postgres, dsn, statement, because string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(p.Binaries.Dir, "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", statement).CombinedOutput()
	if err == nil || !regexp.MustCompile(because).Match(out) {
		t.Errorf("%s: %v: %s, want to be refused: %s", statement, err, out, because)
	}
}

// denied is what PostgreSQL says to who may not.
const denied = "permission denied|must be superuser|must have|not allowed"

// checkRoles fails the test if a statement of the program reaches further than its
// database.
func checkRoles(t *testing.T, p *Postgres) {
	t.Helper()
	if got := query(t, p, "SELECT current_user, rolsuper, rolreplication, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = current_user"); got != "deepoj|f|f|f|f|f" {
		t.Errorf("the program's role is %s", got)
	}
	if got := query(t, p, "SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole"); got != "0" {
		t.Errorf("the program's role is a member of %s others", got)
	}
	if got := query(t, p, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'deepoj'"); got != "deepoj" {
		t.Errorf("the database belongs to %s", got)
	}
	if got := query(t, p, "SELECT system_identifier > 0 FROM pg_control_system()"); got != "t" {
		t.Errorf("pg_control_system() = %s", got)
	}
	if got := query(t, p, "SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolname ^@ 'pg_' AND rolname <> 'pg_database_owner' AND pg_has_role(current_user, oid, 'MEMBER')"); got != "" {
		t.Errorf("the program's role has the rights of %s", got)
	}
	query(t, p, "CREATE TABLE of_its_own (id bigserial); DROP TABLE of_its_own")
	for statement, because := range map[string]string{
		"COPY (SELECT 1) TO PROGRAM 'true'":                      denied,
		"COPY pg_class FROM PROGRAM 'true'":                      denied,
		"COPY (SELECT 1) TO '/tmp/deepoj-written-by-sql'":        denied,
		"SELECT pg_read_file('PG_VERSION')":                      denied,
		"SELECT pg_ls_dir('.')":                                  denied,
		"SELECT lo_import('/etc/hostname')":                      denied,
		"CREATE ROLE other":                                      denied,
		"ALTER ROLE deepoj SUPERUSER":                            denied,
		"SET SESSION AUTHORIZATION deepoj_superuser":             denied,
		"SET ROLE deepoj_superuser":                              denied,
		"SET ROLE pg_execute_server_program":                     denied,
		"GRANT pg_execute_server_program TO deepoj":              denied,
		"ALTER SYSTEM SET archive_command = 'true'":              denied,
		"CREATE DATABASE other":                                  denied,
		"LOAD '/tmp/other.so'":                                   denied,
		"CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'a', 'b'": denied,
		"SELECT pg_create_physical_replication_slot('other')":    denied,
		"SELECT rolpassword FROM pg_authid":                      denied,
	} {
		refused(t, p, p.DSN(), statement, because)
	}
	// Nobody else can log in, nor anybody to another database, nor to replicate.
	for _, dsn := range []string{p.address("deepoj_superuser", "deepoj"), p.address("deepoj_superuser", "postgres"), p.DSNFor("postgres"), p.DSNFor("template1"), p.DSN() + "&replication=true"} {
		refused(t, p, dsn, "SELECT 1", "no pg_hba.conf entry|pg_hba.conf rejects")
	}
}

func TestTheProgramsRoleReachesNothingButItsDatabase(t *testing.T) {
	p := startPostgres(t, postgresConfig(folder(t)))
	checkRoles(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	checkRoles(t, startPostgres(t, p.cfg))
}

func TestAClusterOfTheVersionBeforeIsMendedAndLosesNothing(t *testing.T) {
	dir := folder(t)
	oldCluster(t, dir)
	cfg := postgresConfig(dir)
	p := startPostgres(t, cfg)
	checkOldThings(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	// A backup of the cluster brings its old rules back, and rights that somebody gave.
	const given = "ALTER ROLE deepoj SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS;\n\n" +
		"GRANT pg_execute_server_program, pg_read_server_files, pg_write_server_files, pg_signal_backend TO deepoj WITH ADMIN OPTION;\n\n" +
		"GRANT deepoj_superuser TO deepoj;\n\n"
	if err := p.single(t.Context(), p.cluster, postgresDatabase, given, p.args(p.cluster)...); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.cluster, rulesFile), []byte("local all all trust\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = startPostgres(t, cfg)
	checkOldThings(t, p)
}

func checkOldThings(t *testing.T, p *Postgres) {
	t.Helper()
	checkRoles(t, p)
	for statement, want := range map[string]string{
		"SELECT count(*), sum(n), min(length(text)), max(moods::text) FROM kept": "1000|500500|3000|{bad}",
		"SELECT count(*) FROM more.counted":                                      "2",
		"SELECT id, day FROM parts":                                              "1|2026-01-31",
		"SELECT last_value FROM numbers":                                         "7",
		"SELECT sum(n) FROM seen":                                                "500500",
		"SELECT one FROM stored":                                                 "1",
		"SELECT twice(21), total(1) FROM parts":                                  "42|1",
		"SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY 1":                 "deepoj_superuser",
	} {
		if got := query(t, p, statement); got != want {
			t.Errorf("%s = %s, want %s", statement, got, want)
		}
	}
	others := query(t, p, `SELECT string_agg(pg_describe_object(class, oid, 0) || ' of ' || pg_get_userbyid(owner), ', ') FROM (
		SELECT 'pg_class'::regclass, oid, relowner FROM pg_class UNION ALL SELECT 'pg_type'::regclass, oid, typowner FROM pg_type
		UNION ALL SELECT 'pg_proc'::regclass, oid, proowner FROM pg_proc UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner FROM pg_namespace
	) o(class, oid, owner) WHERE oid >= 16384 AND owner <> 'deepoj'::regrole AND pg_describe_object(class, oid, 0) NOT LIKE '%pg_temp%'`)
	if others != "" {
		t.Errorf("not the program's: %s", others)
	}
	// The owner changes its schema, as migrations do.
	query(t, p, `BEGIN; ALTER TABLE kept ADD COLUMN later int DEFAULT 3; ALTER TYPE mood RENAME TO moods; DROP FUNCTION twice(int); ALTER SEQUENCE numbers RESTART 9;
		REFRESH MATERIALIZED VIEW stored; CREATE TABLE more.new (id int); ROLLBACK`)
}

// TestAMendThatIsKilledBeginsAgain kills a start with SIGKILL at each step that can
// be seen from outside.
func TestAMendThatIsKilledBeginsAgain(t *testing.T) {
	dir := folder(t)
	oldCluster(t, dir)
	cluster := filepath.Join(dir, "postgres", "cluster")
	marked := func() bool {
		b, err := os.ReadFile(filepath.Join(cluster, rulesFile))
		return err == nil && strings.HasPrefix(string(b), rulesMark)
	}
	for _, step := range []struct {
		name    string
		reached func() bool
	}{
		{"the server for one user runs", func() bool { return len(processesIn(cluster)) > 0 }},
		{"it has the cluster", func() bool {
			lines, err := readLines(filepath.Join(cluster, "postmaster.pid"))
			return err == nil && len(lines) > 0 && strings.HasPrefix(lines[0], "-")
		}},
		{"the rules are written", marked},
	} {
		parent := exec.Command("/proc/self/exe")
		parent.Env = append(os.Environ(), parentEnv+"="+dir, "DEEPOJ_TEMPLATES="+templates)
		parent.Stderr = os.Stderr
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		if err := gone(t.Context(), time.Minute, step.reached); err != nil {
			t.Errorf("it never came that %s", step.name)
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := parent.Wait(); err == nil {
			t.Error("the parent ended by itself")
		}
		if marked() {
			break // whoever comes next finds nothing to mend
		}
	}
	checkOldThings(t, startPostgres(t, postgresConfig(dir)))
}

// processesIn returns the processes that work in dir.
func processesIn(dir string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is well formed
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(l)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestABackupOfTheVersionBeforeIsRestoredAndMended has a recovery to finish before
// the roles can be made.
func TestABackupOfTheVersionBeforeIsRestoredAndMended(t *testing.T) {
	dir := folder(t)
	oldCluster(t, dir)
	cluster := filepath.Join(dir, "postgres", "cluster")
	for name, text := range map[string]string{"recovery.signal": ""} {
		if err := writeNote(filepath.Join(cluster, name), text); err != nil {
			t.Fatal(err)
		}
		account, err := Unprivileged("")
		if err == nil {
			err = account.own(filepath.Join(cluster, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := postgresConfig(dir)
	cfg.Settings["restore_command"], cfg.Settings["recovery_target_action"] = "false", "promote"
	p := startPostgres(t, cfg)
	checkOldThings(t, p)
	if got := query(t, p, "SELECT pg_is_in_recovery()"); got != "f" {
		t.Errorf("pg_is_in_recovery() = %s", got)
	}
}
