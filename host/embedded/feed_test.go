package embedded

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asks has psql ask at an address.
func asks(p *Postgres, dsn, statement string) (string, error) {
	out, err := exec.Command(filepath.Join(p.Binaries.Dir, "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", statement).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestAChangeFeedLogsInByItsPasswordWhileItIsTurnedOn(t *testing.T) {
	cfg := postgresConfig(folder(t))
	p := startPostgres(t, cfg)
	query(t, p, "CREATE TABLE kept AS SELECT 42 AS n")
	if p.FeedDSN() != "" {
		t.Errorf("without a feed its address is %s", p.FeedDSN())
	}
	again := func() {
		t.Helper()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = startPostgres(t, cfg)
		if got := query(t, p, "SELECT n FROM kept"); got != "42" {
			t.Errorf("the table holds %q", got)
		}
	}
	works := func() {
		t.Helper()
		if got := query(t, p, "SHOW wal_level"); got != "logical" {
			t.Errorf("with a feed wal_level is %s", got)
		}
		if got, err := asks(p, p.FeedDSN()+"&replication=database", "IDENTIFY_SYSTEM"); err != nil || !strings.HasSuffix(got, "|deepoj") {
			t.Errorf("the feed is told %q (%v)", got, err)
		}
	}

	cfg.Feed = true
	again()
	works()
	path := filepath.Join(cfg.DataDir, feedPassword)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the password is %v (%v)", info, err)
	}
	refused(t, p, p.FeedDSN(), "SELECT n FROM kept", "permission denied")
	refused(t, p, p.FeedDSN(), "CREATE TABLE mine ()", "permission denied")
	refused(t, p, p.FeedDSN()+"&replication=true", "IDENTIFY_SYSTEM", "no pg_hba.conf entry for replication")
	refused(t, p, p.DSN()+"&replication=database", "IDENTIFY_SYSTEM", "must be superuser or replication role")
	refused(t, p, p.address(FeedRole, postgresDatabase), "SELECT 1", "no password|password authentication failed")
	refused(t, p, strings.Replace(p.FeedDSN(), p.feed.password, "wrong", 1), "SELECT 1", "password authentication failed")

	// The password stays, and a lost one is replaced.
	before := p.FeedDSN()
	again()
	works()
	if p.FeedDSN() != before {
		t.Error("the password has changed by itself")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again()
	works()
	refused(t, p, before, "SELECT 1", "password authentication failed")

	// Turned off with a slot, which would keep the server from starting.
	if got, err := asks(p, p.FeedDSN()+"&replication=database", "CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'nothing')"); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	on := p.FeedDSN()
	cfg.Feed = false
	again()
	if got := query(t, p, "SELECT count(*) || current_setting('wal_level') FROM pg_replication_slots"); got != "0replica" {
		t.Errorf("without a feed there are slots and wal_level: %s", got)
	}
	refused(t, p, on, "SELECT 1", "no pg_hba.conf entry")
	cfg.Feed = true
	again()
	works()
}
