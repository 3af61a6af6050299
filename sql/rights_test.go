package sql_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"deepoj/sql/sqltest"
)

func TestTheRoleOfTheProgramHasNoRightsBeyondItsDatabase(t *testing.T) {
	role, beyond, err := sqltest.DB(t).Rights(t.Context())
	if err != nil || role != "deepoj" || len(beyond) > 0 {
		t.Errorf("%s: %v, %v", role, beyond, err)
	}
	superuser := sqltest.Open(t, as(t, sqltest.DSN(t), "deepoj_superuser"))
	role, beyond, err = superuser.Rights(t.Context())
	if err != nil || role != "deepoj_superuser" || !strings.HasPrefix(strings.Join(beyond, ", "), "superuser, replication, makes roles") {
		t.Errorf("%s: %v, %v", role, beyond, err)
	}
}

// as returns the address dsn for another role.
func as(t *testing.T, dsn, role string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

// Each role of PostgreSQL's own, attribute and function is given to a role by itself.
func TestEachRightThatLeadsOutOfTheDatabaseIsNamed(t *testing.T) {
	dsn := sqltest.DSN(t)
	admin, err := pgx.Connect(t.Context(), as(t, dsn, "deepoj_superuser"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(t.Context()) })
	do := func(t *testing.T, statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := admin.Exec(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	rows, err := admin.Query(t.Context(), `SELECT rolname FROM pg_roles WHERE rolname ^@ 'pg_' AND rolname <> 'pg_database_owner'`)
	if err != nil {
		t.Fatal(err)
	}
	own, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Contains(own, "pg_execute_server_program") || !slices.Contains(own, "pg_signal_backend") || len(own) < 10 {
		t.Fatalf("PostgreSQL's own roles are %q, %v", own, err)
	}
	role := fmt.Sprintf("tried_%d", os.Getpid())
	between := role + "_between"
	type right struct{ give, want string }
	rights := []right{{"SELECT 1", ""}}
	for _, name := range own {
		rights = append(rights, right{"GRANT " + name + " TO " + role, name})
	}
	for attribute, words := range map[string]string{
		"SUPERUSER": "superuser", "REPLICATION": "replication", "CREATEROLE": "makes roles", "CREATEDB": "makes databases", "BYPASSRLS": "bypasses row security",
	} {
		rights = append(
			rights, right{"ALTER ROLE " + role + " " + attribute, words},
			right{"ALTER ROLE " + between + " " + attribute + "; GRANT " + between + " TO " + role, "may become " + between},
		)
	}
	for _, function := range []string{"pg_read_file(text)", "pg_ls_dir(text)", "lo_import(text)"} {
		name, _, _ := strings.Cut(function, "(")
		rights = append(
			rights, right{"GRANT EXECUTE ON FUNCTION " + function + " TO " + role, name + "()"},
			right{"GRANT " + between + " TO " + role + "; GRANT EXECUTE ON FUNCTION " + function + " TO " + between, name + "()"},
		)
	}
	for _, r := range append(rights, right{"GRANT " + between + " TO " + role + "; GRANT pg_write_server_files TO " + between, "pg_write_server_files"}) {
		t.Run(strings.ReplaceAll(r.give, role, "it"), func(t *testing.T) {
			do(t, "CREATE ROLE "+role+" LOGIN", "CREATE ROLE "+between)
			defer do(t, "DROP OWNED BY "+role+", "+between, "DROP ROLE "+role+", "+between)
			do(t, strings.Split(r.give, "; ")...)
			store := sqltest.Open(t, as(t, dsn, role))
			defer store.Close()
			_, beyond, err := store.Rights(t.Context())
			named := strings.Join(beyond, ", ") == r.want || r.want == "pg_monitor" && slices.Contains(beyond, r.want)
			if err != nil || !named {
				t.Errorf("beyond its database it may %q, %v, want %q", beyond, err, r.want)
			}
		})
	}
}
