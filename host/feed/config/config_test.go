package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed/event"
	"deepoj/host/feed/wal"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "feed.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Names that the contract of the feed fixes.
var contract = strings.Fields(`source master_host master_port password dbs sync_protocol filenum offset start_from_master snapshot_reader_mode
	snapshot_reader_types snapshot_reader_prefixes batch_num snapshot_list_tail_n window_slots workers wal_dir wal_segment_bytes wal_retain_segments
	wal_max_bytes dump_dir checkpoint_path kafka_brokers kafka_stream_mode kafka_topic_snapshot kafka_topic_binlog kafka_topic_single
	enable.idempotence message.max.bytes delivery args_encoding include_raw_resp filter binlog_progress_interval pb_ack_delay_warn pb_idle_timeout`)

func TestEverySettingFillsAFieldOfItsOwnAndEveryFieldHasASetting(t *testing.T) {
	t.Parallel()
	c := &Config{}
	filled, keys, docs := map[any]string{}, map[string]bool{}, map[string]string{}
	for _, r := range table(c, &raw{}) {
		if other := filled[r.field]; other != "" {
			t.Errorf("%s and %s fill the same field", other, r.key)
		}
		if other := docs[r.doc]; other != "" || r.doc == "" || strings.HasSuffix(r.doc, ".") {
			t.Errorf("%s is described by %q, as %q is", r.key, r.doc, other)
		}
		filled[r.field], keys[r.key], docs[r.doc] = r.key, true, r.key
	}
	for _, key := range contract {
		if !keys[key] {
			t.Errorf("no setting is called %s", key)
		}
	}
	// They come of other settings.
	derived := []string{"Config.Start.Given", "Config.Start.Position", "Config.Filter", "Config.Rows", "Config.Warnings"}
	var visit func(v reflect.Value, name string)
	visit = func(v reflect.Value, name string) {
		if filled[v.Addr().Interface()] != "" || slices.Contains(derived, name) {
			return
		}
		if v.Kind() != reflect.Struct {
			t.Errorf("no setting fills %s", name)
			return
		}
		for i := range v.NumField() {
			visit(v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	}
	visit(reflect.ValueOf(c).Elem(), "Config")
}

const example = `source: pikiwidb
master_host: 10.0.0.1
master_port: 9221
password: 0123
dbs: [db0, db1]
filenum: 267
offset: 45044585
snapshot_reader_mode: type
snapshot_reader_types: string,hash
snapshot_reader_prefixes: [ "user:", "session:" ]
wal_segment_bytes: 64MiB
wal_max_bytes: 1073741824
kafka_brokers: k1:9092, k2:9092
kafka_sasl_mechanism: scram-sha-256
kafka_sasl_user: feed
kafka_sasl_password: secret
kafka_stream_mode: single
enable.idempotence: true
message.max.bytes: 2000000
delivery: exactly-once
args_encoding: base64
include_raw_resp: true
binlog_progress_interval: 10
filter:
  allow:
    - {db: [db0], key: ["user:*", 'a\*']}
  deny:
    - command: [expire]
`

func TestAFileFillsTheSettings(t *testing.T) {
	t.Parallel()
	c, err := Load(write(t, example), true, lookup(map[string]string{"FEED_MASTER_PORT": "9222", "FEED_MESSAGE_MAX_BYTES": "3000000"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.SourceID() != "10.0.0.1:9222" || c.Password != "0123" || !slices.Equal(c.DBs, []string{"db0", "db1"}) ||
		c.Start != (Start{Given: true, Position: wal.Position{Filenum: 267, Offset: 45044585}}) ||
		!slices.Equal(c.SnapshotReaderTypes, []string{"string", "hash"}) || !slices.Equal(c.SnapshotReaderPrefixes, []string{"user:", "session:"}) ||
		c.WALSegmentBytes != 64<<20 || c.WALMaxBytes != 1<<30 || !slices.Equal(c.Kafka.Brokers, []string{"k1:9092", "k2:9092"}) ||
		c.Kafka.SASL != (SASL{"SCRAM-SHA-256", "feed", "secret"}) || c.Kafka.MaxMessageBytes != 3_000_000 || c.Delivery != ExactlyOnce ||
		c.ArgsEncoding != event.Base64 || !c.IncludeRawResp || c.BinlogProgressInterval != 10*time.Second || c.PBIdleTimeout != 30*time.Second || c.Workers < 1 {
		t.Errorf("%+v", c)
	}
	if !c.Filter.Keep("db0", "string", []byte("set"), []byte("user:1")) || !c.Filter.Keep("db0", "string", []byte("set"), []byte("a*")) ||
		c.Filter.Keep("db0", "string", []byte("EXPIRE"), []byte("user:1")) || c.Filter.Keep("db1", "string", []byte("set"), []byte("user:1")) {
		t.Error("the filter is another one")
	}
	for _, r := range c.Rows {
		if strings.Contains(r.Value, "0123") || r.Value == "secret" {
			t.Errorf("%s is told: %s", r.Name, r.Value)
		}
		if r.Name == "master_port" && r.Origin != "env" || r.Name == "dbs" && r.Origin != "file" || r.Name == "workers" && r.Origin != "default" {
			t.Errorf("%s comes from %s", r.Name, r.Origin)
		}
	}
	if c.WALDirOf("db0") != c.WALDir || c.WALDirOf("db1") != filepath.Join(c.WALDir, "db1") || !strings.HasSuffix(c.CheckpointOf("db1"), "/feed/checkpoint-db1.json") ||
		c.CheckpointOf("db0") != c.CheckpointPath || !strings.HasSuffix(c.DumpDirOf("db0"), "/feed/rsync_dump/db0") {
		t.Error(c.WALDirOf("db1"), c.CheckpointOf("db1"), c.DumpDirOf("db0"))
	}
}

func TestTheEnvironmentAloneIsEnough(t *testing.T) {
	t.Parallel()
	secret := write(t, "postgres://deepoj_feed:Sesame7@db.example.org/judge\n")
	c, err := Load("", false, lookup(map[string]string{
		"FEED_POSTGRES_URL_FILE": secret, "FEED_KAFKA_BROKERS": "[::1]:9092 localhost:9093", "FEED_OFFSET": "16/B374D848", "FEED_ENABLE_IDEMPOTENCE": "false",
		"FEED_FILTER": `{"deny": [{"type": ["finding"]}]}`, "FEED_KAFKA_SASL_MECHANISM": "plain", "FEED_KAFKA_SASL_USER": "u", "FEED_KAFKA_SASL_PASSWORD": "p",
		"FEED_SYNC_PROTOCOL": "pb",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if c.SourceID() != "db.example.org:5432/judge" || c.Start.Position != (wal.Position{Offset: 0x16_B374D848}) || c.Kafka.Idempotence || len(c.Kafka.Brokers) != 2 ||
		c.Filter.Keep("judge", "finding", nil, nil) || !c.Filter.Keep("judge", "finished", nil, nil) || len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "sync_protocol") {
		t.Errorf("%+v", c)
	}
	c, err = Load("", false, lookup(map[string]string{
		"FEED_KAFKA_BROKERS": "localhost:1,k1.example.org:9092", "FEED_KAFKA_SASL_MECHANISM": "PLAIN", "FEED_KAFKA_SASL_USER": "u", "FEED_KAFKA_SASL_PASSWORD": "p",
	}))
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "k1.example.org:9092 in the clear") || c.Start.Given {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestEveryWrongSettingIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	const kafka = "kafka_brokers: k:9092\n"
	for name, tt := range map[string]struct {
		yaml string
		env  map[string]string
		want []string
	}{
		"a source that is none":     {"source: mysql\n", nil, []string{"feed.yaml:1: source=mysql: must be one of postgres, pikiwidb"}},
		"several at once":           {"workers: many\n\nmessage.max.bytes: 5\n", map[string]string{"FEED_DELIVERY": "never"}, []string{"feed.yaml:1: workers=many: must be a whole number from 0 to 256", "feed.yaml:3: message.max.bytes=5: must be a whole number from 1024", "FEED_DELIVERY=never: must be one of at-least-once, exactly-once"}},
		"a key with a slip":         {kafka + "kafka_broker: x\n", nil, []string{"feed.yaml:2: unknown key kafka_broker: write kafka_brokers"}},
		"a key that is none":        {kafka + "colour_of_the_log: red\n", nil, []string{"feed.yaml:2: unknown key colour_of_the_log: take it out"}},
		"a key twice":               {kafka + "workers: 1\nworkers: 2\n", nil, []string{"feed.yaml:3: workers stands in line 2 already"}},
		"keys below a key":          {kafka + "workers: {a: 1}\n", nil, []string{"feed.yaml:2: workers: must be one value or a list"}},
		"no keys":                   {"- source\n", nil, []string{"feed.yaml:1: must consist of lines"}},
		"no YAML":                   {"a: b: c\n", nil, []string{"feed.yaml: yaml: mapping values"}},
		"no brokers":                {"source: postgres\n", nil, []string{"kafka_brokers is empty: name at least one broker as HOST:PORT"}},
		"a broker without a port":   {"kafka_brokers: k1\n", nil, []string{`feed.yaml:1: kafka_brokers=k1: "k1" must be HOST:PORT`}},
		"a broker twice":            {"kafka_brokers: [k1:1, k1:1]\n", nil, []string{`"k1:1" stands there twice`}},
		"no master":                 {kafka + "source: pikiwidb\n", nil, []string{"master_host is empty: name the host"}},
		"a master's port too high":  {kafka + "master_port: 60000\n", nil, []string{"master_port=60000: must be a whole number from 1 to 55534"}},
		"a database that is none":   {kafka + "dbs: zero\n", nil, []string{`dbs=zero: "zero" must be databases such as db0, db1`}},
		"no database":               {kafka + "dbs: ','\n", nil, []string{`dbs=,: must be at least one of databases`}},
		"a file number alone":       {kafka + "source: pikiwidb\nmaster_host: h\nfilenum: 3\n", nil, []string{"filenum and offset go together"}},
		"a file number too high":    {kafka + "source: pikiwidb\nmaster_host: h\nfilenum: 4294967296\noffset: 0\n", nil, []string{"filenum=4294967296: must be a whole number up to 4294967295"}},
		"an offset too high":        {kafka + "offset: 18446744073709551616\n", nil, []string{"offset=18446744073709551616: must be a whole number up to"}},
		"an LSN of a PikiwiDB":      {kafka + "source: pikiwidb\nmaster_host: h\nfilenum: 3\noffset: 1/2\n", nil, []string{"offset=1/2: is an LSN of PostgreSQL"}},
		"a file of PostgreSQL":      {kafka + "filenum: 3\noffset: 1/2\n", nil, []string{"filenum=3: PostgreSQL has no binlog files"}},
		"two beginnings":            {kafka + "offset: 1/2\nstart_from_master: true\n", nil, []string{"start_from_master=true: filenum and offset name another place"}},
		"types with auto":           {kafka + "snapshot_reader_types: auto,set\n", nil, []string{"snapshot_reader_types=auto,set: must be auto alone"}},
		"a type that is none":       {kafka + "snapshot_reader_types: tree\n", nil, []string{`"tree" must be auto, or some of string, list, hash, set, zset, stream`}},
		"a log that is too small":   {kafka + "wal_max_bytes: 1023MiB\n", nil, []string{"wal_max_bytes=1072693248: must be 0, or at least 1073741824"}},
		"a size without sense":      {kafka + "wal_segment_bytes: 1 MB\n", nil, []string{"wal_segment_bytes=1 MB: must be a number of bytes of at least 4096, or such as 256MiB"}},
		"a size beyond all":         {kafka + "wal_max_bytes: 16777216TiB\n", nil, []string{"wal_max_bytes=16777216TiB: must be a number of bytes"}},
		"one folder for two":        {kafka + "wal_dir: a\ndump_dir: a\n", nil, []string{"dump_dir=", "is wal_dir, too"}},
		"a topic with a space":      {kafka + "kafka_topic_single: a b\n", nil, []string{"kafka_topic_single=a b: must be up to 249 letters"}},
		"one topic for two":         {kafka + "kafka_topic_binlog: a\nkafka_topic_snapshot: a\n", nil, []string{"kafka_topic_binlog=a: is kafka_topic_snapshot, too"}},
		"dead letters among all":    {kafka + "kafka_topic_dead_letter: deepoj-events\n", nil, []string{"kafka_topic_dead_letter=deepoj-events: is a topic of events, too"}},
		"once without idempotence":  {kafka + "delivery: exactly-once\nenable.idempotence: false\n", nil, []string{"enable.idempotence=false: exactly-once delivery needs it"}},
		"once without Kafka":        {"sink: stdout\ndelivery: exactly-once\n", nil, []string{"delivery=exactly-once: only Kafka has transactions"}},
		"a file without a name":     {"sink: ndjson\n", nil, []string{"sink_path is empty"}},
		"a login without a name":    {kafka + "kafka_sasl_mechanism: PLAIN\n", nil, []string{"kafka_sasl_mechanism=PLAIN: set kafka_sasl_user and kafka_sasl_password"}},
		"a name without a login":    {kafka + "kafka_sasl_user: u\n", nil, []string{"kafka_sasl_mechanism is empty: say how"}},
		"a key without certificate": {kafka + "kafka_tls: true\nkafka_tls_key: k.pem\n", nil, []string{"kafka_tls_cert and kafka_tls_key go together"}},
		"a certificate without TLS": {kafka + "kafka_tls_ca: ca.pem\n", nil, []string{"kafka_tls=false: kafka_tls_ca"}},
		"a time that is none":       {kafka + "pb_idle_timeout: -1s\n", nil, []string{"pb_idle_timeout=-1s: must be a positive duration such as 5s"}},
		"a secret that is wrong":    {kafka + "postgres_url: mysql://u:Sesame7@h/d\n", nil, []string{"feed.yaml:2: postgres_url: must be a URL such as postgres://"}},
		"a filter that is none":     {kafka + "filter:\n  forbid: []\n", nil, []string{"feed.yaml:2: filter=", "must have allow and deny", "forbid"}},
		"a filter of nothing":       {kafka + "filter:\n  allow: [{}]\n", nil, []string{"filter.allow[0]: names nothing"}},
		"a filter in words":         {kafka, map[string]string{"FEED_FILTER": "everything"}, []string{"FEED_FILTER=everything: must have allow and deny"}},
		"a secret in two places":    {kafka, map[string]string{"FEED_PASSWORD": "a", "FEED_PASSWORD_FILE": "b"}, []string{"FEED_PASSWORD and FEED_PASSWORD_FILE are both set"}},
		"a secret that is missing":  {kafka, map[string]string{"FEED_PASSWORD_FILE": "/nonexistent/password"}, []string{"FEED_PASSWORD_FILE: open /nonexistent/password"}},
		"a secret that is empty":    {kafka, map[string]string{"FEED_PASSWORD_FILE": "/dev/null"}, []string{"FEED_PASSWORD_FILE: /dev/null is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(write(t, tt.yaml), true, lookup(tt.env))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "Sesame7") {
				t.Errorf("%q tells a secret", err)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), true, lookup(nil)); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// UPDATE=true writes the document.
func TestTheDocumentHasTheTable(t *testing.T) {
	t.Parallel()
	const path = "../../docs/feed-settings.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(data), "| setting |")
	want := before + Markdown()
	if os.Getenv("UPDATE") == "true" {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s has another table: UPDATE=true go test ./host/feed/config -run Document", path)
	}
}

// FuzzLoad takes any bytes for a file: it is refused with words, or means what the same settings in the environment do.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("sink: stdout\nfilter: {deny: [{key: ['*']}]}\n"))
	f.Add([]byte("sink: stdout\nworkers: *a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "feed.yaml")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, true, lookup(nil))
		if err != nil {
			if err.Error() == "" {
				t.Error("it is refused without a word")
			}
			return
		}
		file, err := readYAML(path, true)
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]string{}
		for key, s := range file {
			env[row{key: key}.env()] = s.text
		}
		again, err := Load("", false, lookup(env))
		if err != nil {
			t.Fatal(err)
		}
		c.Rows, again.Rows = nil, nil
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%+v from a file, %+v from the environment", c, again)
		}
	})
}
