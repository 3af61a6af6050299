package postgres

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"deepoj/host/embedded"
	"deepoj/host/feed"
	"deepoj/sql"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// The embedded server, as `deepoj up` starts it with CHANGE_FEED: no superuser has a hand in it.
func TestTheEmbeddedServerIsReadByTheRoleThatItMakes(t *testing.T) {
	t.Parallel()
	if embedded.FeedRole != published.Role {
		t.Errorf("the embedded server makes %s, and the SQL is for %s", embedded.FeedRole, published.Role)
	}
	dir, err := os.MkdirTemp("", "deepoj-embedded-")
	sqltest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sqltest.Must(t, os.Chmod(dir, 0o711))
	cfg := embedded.PostgresConfig{DataDir: filepath.Join(dir, "pg"), Settings: map[string]string{"fsync": "off"}}
	up := func() (*embedded.Postgres, *sqltest.Store) {
		t.Helper()
		p, err := embedded.StartPostgres(context.WithoutCancel(t.Context()), cfg)
		sqltest.Must(t, err)
		t.Cleanup(func() { _ = p.Close() })
		s, err := sqltest.OpenWith(t.Context(), sql.Config{DSN: p.DSN()})
		sqltest.Must(t, err)
		t.Cleanup(s.Close)
		sqltest.Must(t, s.Migrate(t.Context()))
		if cfg.Feed {
			sqltest.Must(t, s.Publish(t.Context(), embedded.FeedRole, published.Publication))
		}
		return p, s
	}
	p, s := up()
	s.Exec(t, "INSERT INTO single_events (job_id, generation, attempt, kind) VALUES (1, 1, 0, 'submitted')")
	s.Close()
	sqltest.Must(t, p.Close())

	// Turned on, at the next start, with what was there.
	cfg.Feed = true
	p, s = up()
	sqltest.Must(t, s.Publish(t.Context(), embedded.FeedRole, published.Publication)) // once more is no harm
	src, err := New(Options{URL: p.FeedDSN(), Slot: "deepoj_feed", Publication: published.Publication, ID: "test"})
	sqltest.Must(t, err)
	h := &house{t: t, src: src, store: s, dir: t.TempDir(), more: make(chan struct{}), have: feed.Have{Fresh: true}}
	r := h.run()
	s.Exec(t, "INSERT INTO single_events (job_id, generation, attempt, kind) VALUES (1, 1, 1, 'claimed')")
	all := h.until("both events", func(all []told) bool { return len(all) == 2 })
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if got := all[0].Type + " " + all[1].Type; got != "submitted claimed" && got != "claimed submitted" {
		t.Errorf("told was %s", got)
	}
}
