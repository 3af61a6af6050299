package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/command"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// call runs a command with these settings, and returns its status and what it prints.
func call(ctx context.Context, env map[string]string, args ...string) (status int, said string) {
	var out bytes.Buffer
	p := &command.Process{Out: &out, Err: &out, Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	status = program().Run(ctx, p, words(args))
	return status, out.String()
}

// TestAFeedOfPostgreSQLIsBegunAnewByAReset runs a feed until its snapshot is out, and takes away all that it has.
func TestAFeedOfPostgreSQLIsBegunAnewByAReset(t *testing.T) {
	c := sqltest.NewCluster(t, map[string]string{"max_slot_wal_keep_size": "1GB"})
	c.Exec(t, "CREATE ROLE "+published.Role+" LOGIN REPLICATION")
	c.Exec(t, published.Grants(published.Role)...)
	c.Exec(t, published.Create(published.Publication))
	store, dir := c.Store(t), t.TempDir()
	env := map[string]string{
		"FEED_POSTGRES_URL": c.DSN(t, published.Role), "FEED_SINK": "ndjson", "FEED_SINK_PATH": filepath.Join(dir, "lines"),
		"FEED_WAL_DIR": filepath.Join(dir, "wal"), "FEED_CHECKPOINT_PATH": filepath.Join(dir, "checkpoint.json"),
	}
	slots := func() int {
		t.Helper()
		all, err := store.Slots(t.Context())
		sqltest.Must(t, err)
		return len(all)
	}
	for round := 1; round <= 2; round++ { // the second time everything is as at first
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan string, 1)
		go func() {
			status, said := call(ctx, env)
			if status == 0 {
				said = ""
			}
			ended <- said
		}()
		deadline := time.After(time.Minute)
		for {
			lines, _ := os.ReadFile(env["FEED_SINK_PATH"])
			if strings.Count(string(lines), `"event_type":"snapshot_end"`) == round {
				break
			}
			select {
			case said := <-ended:
				t.Fatalf("the feed ended: %s", said)
			case <-deadline:
				t.Fatalf("no snapshot came: %s", lines)
			case <-time.After(20 * time.Millisecond):
			}
		}
		if status, said := call(t.Context(), env); status != 1 || !strings.Contains(said, "another feed runs with it: stop that one, or give this one files of its own") {
			t.Errorf("a second feed: status %d, %s", status, said)
		}
		if status, said := call(t.Context(), env, "reset", "--yes"); status != 1 || !strings.Contains(said, "runs: stop it before its files are removed") {
			t.Errorf("a reset while it runs: status %d, %s", status, said)
		}
		stop()
		if said := <-ended; said != "" {
			t.Errorf("it ended with %s", said)
		}
		if n := slots(); n != 1 {
			t.Errorf("there are %d slots", n)
		}
		if status, said := call(t.Context(), env, "reset", "--yes"); status != 0 || !strings.Contains(said, "slot deepoj_feed of :5432/") || !strings.Contains(said, "It is removed.") {
			t.Errorf("a reset: status %d, %s", status, said)
		}
		if n := slots(); n != 0 {
			t.Errorf("%d slots are left", n)
		}
		if _, err := os.Stat(env["FEED_CHECKPOINT_PATH"]); !os.IsNotExist(err) {
			t.Errorf("the checkpoint is left: %v", err)
		}
	}
}
