package published_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// The tables have the columns that are published, with these types and in this order, and what is secret is elsewhere.
func TestThePublishedColumnsAreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	for _, table := range published.Tables() {
		var want []string
		for _, c := range table.Columns {
			want = append(want, c.Name)
			if got := sqltest.One[uint32](t, s, "SELECT atttypid FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2", table.Name, c.Name); got != c.Type {
				t.Errorf("%s.%s is of type %d, want %d", table.Name, c.Name, got, c.Type)
			}
		}
		got := sqltest.All[string](t, s, "SELECT attname::text FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = ANY ($2::text[]) ORDER BY attnum", table.Name, want)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s has the columns %v, want %v", table.Name, got, want)
		}
	}
}

func TestTheScriptPreparesAServerAndMayBeRunAgain(t *testing.T) {
	t.Parallel()
	pg := sqltest.NewCluster(t, nil)
	// Without a terminal psql asks nobody for a password.
	script := strings.ReplaceAll(published.Script("feeder", "pub"), `\password "feeder"`, `ALTER ROLE "feeder" PASSWORD 'x';`)
	run := func() {
		t.Helper()
		cmd := exec.Command(filepath.Join(pg.Binaries().Dir, "psql"), "-XAtq", "-d", pg.DSN(t, "deepoj_superuser"))
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("psql: %v: %s", err, out)
		}
	}
	const state = `SELECT string_agg(tablename || ' ' || array_to_string(attnames, ' '), E'\n' ORDER BY tablename) FROM pg_publication_tables WHERE pubname = 'pub'`
	const want = "event_batches id kind at job_ids generations attempts data verdicts scores\nrejudge_set_jobs job_id generation\nsingle_events id job_id generation attempt kind data at"
	run()
	if got := pg.Ask(t, state); got != want {
		t.Errorf("the publication has\n%s\nwant\n%s", got, want)
	}
	pg.Exec(t, "ALTER PUBLICATION pub SET TABLE users", "REVOKE SELECT (data) ON single_events FROM feeder")
	run()
	if got := pg.Ask(t, state); got != want {
		t.Errorf("run again, the publication has\n%s\nwant\n%s", got, want)
	}
	if got := pg.Ask(t, `SELECT string_agg(DISTINCT table_name, ' ') FROM information_schema.column_privileges WHERE grantee = 'feeder'`); got != "event_batches rejudge_set_jobs single_events" {
		t.Errorf("the role may read %s", got)
	}
	if got := pg.Ask(t, "SELECT rolreplication AND rolcanlogin AND NOT rolsuper AND NOT rolcreatedb AND NOT rolcreaterole FROM pg_roles WHERE rolname = 'feeder'"); got != "true" {
		t.Error("the role is not as it should be")
	}
}
