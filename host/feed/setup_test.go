package feed_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/feedtest"
)

func load(t *testing.T, env map[string]string) *config.Config {
	t.Helper()
	c, err := config.Load("", false, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSettingsBecomeAFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := map[string]string{"FEED_SOURCE": "pikiwidb", "FEED_MASTER_HOST": "10.0.0.1", "FEED_WAL_DIR": filepath.Join(dir, "wal"), "FEED_CHECKPOINT_PATH": filepath.Join(dir, "checkpoint.json")}
	with := func(more ...string) map[string]string {
		env := maps.Clone(base)
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	// A file of lines, one for each database.
	lines := filepath.Join(dir, "events.ndjson")
	c := load(t, with("FEED_SINK", "ndjson", "FEED_SINK_PATH", lines, "FEED_KAFKA_STREAM_MODE", "single"))
	for _, db := range []string{"db0", "db1"} {
		o, err := feed.Setup(c, db, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Topic != "deepoj-events" || o.SnapshotTopic != o.Topic || o.DB != db || o.KeepsPosition || o.SourceID != "10.0.0.1:9221" || o.Encoder.Source.Port != 9221 {
			t.Errorf("the options are %+v", o)
		}
		source := &feedtest.Source{}
		source.Produce(100)
		o.Source = source
		s := &setup{t: t, source: source, change: func(to *feed.Options) { *to = o }, kafka: broker(t), dir: dir}
		f := s.start()
		f.has(100)
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{lines, filepath.Join(dir, "events-db1.ndjson")} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := feedtest.Check(bytes.Split(bytes.TrimSpace(data), []byte("\n")), feedtest.Rules{To: 100, Once: true}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	// Standard output.
	var out bytes.Buffer
	c = load(t, map[string]string{"FEED_SINK": "stdout", "FEED_POSTGRES_URL": "postgres://u:p@db.example.org/judge"})
	o, err := feed.Setup(c, "", &out, nil)
	if err != nil || o.SourceID != "db.example.org:5432/judge" || o.Encoder.Source.Host != "db.example.org" || o.Encoder.Source.Port != 5432 || o.DB != "" {
		t.Errorf("the options are %+v, %v", o, err)
	}
	// Kafka, with files that are not there, or have something else.
	bad := filepath.Join(dir, "bad.pem")
	if err := os.WriteFile(bad, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  []string
		says string
	}{
		{[]string{"FEED_KAFKA_TLS", "true"}, ""},
		{[]string{"FEED_DELIVERY", "exactly-once"}, ""},
		{[]string{"FEED_KAFKA_TLS", "true", "FEED_KAFKA_TLS_CA", filepath.Join(dir, "none")}, "kafka_tls_ca"},
		{[]string{"FEED_KAFKA_TLS", "true", "FEED_KAFKA_TLS_CA", bad}, "kafka_tls_ca=" + bad},
		{[]string{"FEED_KAFKA_TLS", "true", "FEED_KAFKA_TLS_CERT", bad, "FEED_KAFKA_TLS_KEY", bad}, "kafka_tls_cert=" + bad},
	} {
		o, err := feed.Setup(load(t, with(append(c.env, "FEED_KAFKA_BROKERS", "127.0.0.1:1")...)), "db0", nil, nil)
		switch {
		case c.says == "" && (err != nil || o.Topic != "deepoj-binlog" || o.SnapshotTopic != "deepoj-snapshot"):
			t.Errorf("%v: %+v, %v", c.env, o, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%v: it says %v, and not %s", c.env, err, c.says)
		}
	}
}
