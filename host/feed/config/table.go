package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"runtime"
	"strings"

	"deepoj/host/feed/event"
	"deepoj/host/feed/filter"
)

// row is one setting.
type row struct {
	key    string // in feed.yaml
	def    string
	set    func(text string) error // fills the field; the error completes the sentence that begins with the setting
	field  any                     // pointer to it
	secret bool                    // may come from a file named by env + "_FILE", and is never told
	doc    string
}

// env is the name of the setting in the environment, such as FEED_KAFKA_BROKERS and FEED_MESSAGE_MAX_BYTES.
func (r row) env() string { return "FEED_" + strings.ToUpper(strings.ReplaceAll(r.key, ".", "_")) }

func hidden(r row) row {
	r.secret = true
	return r
}

// rulesKey is the one setting that is no text in feed.yaml.
const rulesKey = "filter"

// raw are texts that mean something only together.
type raw struct{ filenum, offset string }

// table has every setting, with the field of c or t that it fills.
func table(c *Config, t *raw) []row {
	k := &c.Kafka
	return []row{
		oneOf("source", Postgres, &c.Source, "where events come from: the PostgreSQL of a judge, or a PikiwiDB", Postgres, PikiwiDB),
		hidden(matching("postgres_url", "", &c.PostgresURL, `postgres(ql)?://.+`, "a URL such as postgres://deepoj_feed:PASSWORD@HOST/deepoj",
			"PostgreSQL of the judge, as postgres://USER:PASSWORD@HOST/DATABASE, where USER may replicate")),
		matching("postgres_slot", "deepoj_feed", &c.PostgresSlot, `[a-z0-9_]{1,63}`, "up to 63 lower-case letters, digits and _", "replication slot of this feed; two feeds need two"),
		matching("postgres_publication", "deepoj_feed", &c.PostgresPublication, `[a-z_][a-z0-9_]{0,62}`, "up to 63 lower-case letters, digits and _", "publication of the event tables"),
		whole("snapshot_readers", "2", &c.SnapshotReaders, 1, 64, "connections that read a snapshot of PostgreSQL"),

		matching("master_host", "", &c.MasterHost, `[A-Za-z0-9._:-]+`, "a host name or an address", "host of the PikiwiDB master"),
		whole("master_port", "9221", &c.MasterPort, 1, math.MaxUint16-replicationSpan, "port of the PikiwiDB master; that plus 2000 and plus 10001 are used, too"),
		hidden(text("password", "", &c.Password, "password of the PikiwiDB master (requirepass)")),
		list("dbs", firstDB, &c.DBs, `db[0-9]{1,3}`, "databases such as db0, db1", "databases of PikiwiDB that are read"),
		text("sync_protocol", "", &c.SyncProtocol, "ignored: the protocol is always that of PikiwiDB 3.5 and 4"),
		matching("filenum", "", &t.filenum, `[0-9]{1,10}`, "a whole number", "binlog file in which a feed of PikiwiDB begins that has no checkpoint"),
		matching("offset", "", &t.offset, `[0-9]{1,20}|[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}`, "a whole number, or an LSN such as 16/B374D848",
			"offset in that file, or LSN of PostgreSQL, at which a feed begins that has no checkpoint"),
		truth("start_from_master", "false", &c.Start.FromMaster, "whether a feed without a checkpoint begins where the source is, without a snapshot"),
		oneOf("snapshot_reader_mode", "single", &c.SnapshotReaderMode, "how a snapshot of PikiwiDB is read: by one reader, or one for each type", "single", "type"),
		listOrAuto("snapshot_reader_types", &c.SnapshotReaderTypes, strings.Join(event.Types(), "|"), "auto, or some of "+strings.Join(event.Types(), ", "),
			"types of keys that a snapshot reads; auto = those that the filter lets through"),
		listOrAuto("snapshot_reader_prefixes", &c.SnapshotReaderPrefixes, `.+`, "auto, or what keys begin with",
			"what keys begin with that a snapshot reads; auto = what the filter lets through"),
		whole("batch_num", "100", &c.BatchNum, 1, 1_000_000, "members of a key that one event of a snapshot has at most"),
		whole("snapshot_list_tail_n", "0", &c.SnapshotListTailN, 0, math.MaxInt32, "how many of the last elements of a list a snapshot has; 0 = all"),

		whole("window_slots", "4096", &c.WindowSlots, 1, 1<<20, "records in flight between the log and Kafka"),
		whole("workers", "0", &c.Workers, 0, 256, "goroutines that make records into events; 0 = as many as there are cores"),
		file("wal_dir", "feed/wal", &c.WALDir, "folder of the write-ahead log, of this feed alone"),
		size("wal_segment_bytes", "256MiB", &c.WALSegmentBytes, 4<<10, "size of a file of the write-ahead log"),
		whole("wal_retain_segments", "2", &c.WALRetainSegments, 0, 10_000, "newest files of the write-ahead log that are kept though everything in them has left"),
		size("wal_max_bytes", "16GiB", &c.WALMaxBytes, 0, "size of the whole write-ahead log, past which receiving stops; 0 = as large as the disk"),
		file("dump_dir", "feed/rsync_dump", &c.DumpDir, "folder into which snapshots of PikiwiDB are copied"),
		file("checkpoint_path", "feed/checkpoint.json", &c.CheckpointPath, "file that says how far the feed has come"),

		oneOf("sink", "kafka", &c.Sink, "where events go: to Kafka, into a file of lines, or to standard output", "kafka", "ndjson", "stdout"),
		file("sink_path", "", &c.SinkPath, "file that events are appended to when sink is ndjson"),
		list("kafka_brokers", "", &k.Brokers, `(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}`, "HOST:PORT", "brokers of Kafka, HOST:PORT"),
		truth("kafka_tls", "false", &k.TLS.Enabled, "whether connections to Kafka use TLS"),
		file("kafka_tls_ca", "", &k.TLS.CA, "file of the certificates, in PEM, of which one has signed that of Kafka; those of the system when empty"),
		file("kafka_tls_cert", "", &k.TLS.Cert, "file of the certificate, in PEM, that the feed shows to Kafka"),
		file("kafka_tls_key", "", &k.TLS.Key, "file of the private key, in PEM, of that certificate"),
		text("kafka_tls_server_name", "", &k.TLS.ServerName, "name that the certificate of Kafka has to bear; the host of the broker when empty"),
		oneOf("kafka_sasl_mechanism", "", &k.SASL.Mechanism, "how the feed logs in to Kafka; not at all when empty", "", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
		text("kafka_sasl_user", "", &k.SASL.User, "name by which the feed logs in to Kafka"),
		hidden(text("kafka_sasl_password", "", &k.SASL.Password, "password by which the feed logs in to Kafka")),
		oneOf("kafka_compression", "lz4", &k.Compression, "compression of what goes to Kafka", "none", "gzip", "snappy", "lz4", "zstd"),
		oneOf("kafka_stream_mode", "dual", &k.StreamMode, "whether a snapshot and what comes after it have two topics (dual) or one (single)", "dual", "single"),
		topic("kafka_topic_snapshot", "deepoj-snapshot", &k.TopicSnapshot, "topic of snapshots when kafka_stream_mode is dual"),
		topic("kafka_topic_binlog", "deepoj-binlog", &k.TopicBinlog, "topic of changes when kafka_stream_mode is dual"),
		topic("kafka_topic_single", "deepoj-events", &k.TopicSingle, "topic of everything when kafka_stream_mode is single"),
		topic("kafka_topic_dead_letter", "", &k.TopicDeadLetter, "topic of what is too large; that of changes with -dead-letters behind it when empty"),
		truth("kafka_create_topics", "false", &k.CreateTopics, "whether topics that are missing are made"),
		whole("kafka_topic_partitions", "0", &k.Partitions, 0, 10_000, "partitions of topics that are made; 0 = as the broker does"),
		whole("kafka_topic_replication", "0", &k.Replication, 0, 100, "replicas of topics that are made; 0 = as the broker does"),
		text("kafka_transactional_id", "", &k.TransactionalID, "name of the feed in transactions, of this feed alone; made of its topic when empty"),
		truth("enable.idempotence", "true", &k.Idempotence, "whether Kafka drops what it gets twice from one connection"),
		whole("message.max.bytes", "1048576", &k.MaxMessageBytes, 1024, 1<<30, "size of a record, past which it is a dead letter"),
		oneOf("delivery", AtLeastOnce, &c.Delivery, "whether a death may double events, or each batch is a transaction", AtLeastOnce, ExactlyOnce),
		oneOf("args_encoding", event.Auto, &c.ArgsEncoding, "how arguments become JSON: auto is utf8 where all of an event are, else base64", event.Auto, event.UTF8, event.Base64),
		truth("include_raw_resp", "false", &c.IncludeRawResp, "whether events of PikiwiDB have the command in the protocol of Redis, too"),
		{
			key: rulesKey, field: &c.Rules, set: func(text string) error { return parseRules(text, &c.Rules) },
			doc: "what goes to Kafka: `allow` and `deny`, lists of rules with any of `db`, `type`, `command`, `key`, which are lists; keys and databases are patterns with * ? [a-z]",
		},

		span("binlog_progress_interval", "5s", &c.BinlogProgressInterval, "how often the log says how far the feed is"),
		span("pb_ack_delay_warn", "5s", &c.PBAckDelayWarn, "how long an acknowledgement to PikiwiDB may take without a warning"),
		span("pb_idle_timeout", "30s", &c.PBIdleTimeout, "how long PikiwiDB may say nothing before the feed connects anew"),
		matching("metrics_listen", "", &c.MetricsListen, `(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]*):[0-9]{1,5}`, "HOST:PORT", "address where /metrics and the status are served; nowhere when empty"),
	}
}

// replicationSpan is how far the highest port of a master lies above its own.
const replicationSpan = 10001

var topicPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

// together reports settings that do not go together, once each is well formed.
func (c *Config) together(t raw) (errs []error) {
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := c.startAt(t); err != nil {
		errs = append(errs, err)
	}
	if c.Source == PikiwiDB && c.MasterHost == "" {
		refuse("master_host is empty: name the host of the PikiwiDB master, or set source: postgres")
	}
	if least := (int64(c.WALRetainSegments) + 2) * c.WALSegmentBytes; c.WALMaxBytes > 0 && c.WALMaxBytes < least {
		refuse("wal_max_bytes=%d: must be 0, or at least %d, which is wal_retain_segments=%d and two more files of wal_segment_bytes=%d",
			c.WALMaxBytes, least, c.WALRetainSegments, c.WALSegmentBytes)
	}
	if c.WALDir == c.DumpDir {
		refuse("dump_dir=%s: is wal_dir, too: give each a folder of its own", c.DumpDir)
	}
	if c.Delivery == ExactlyOnce && c.Sink != "kafka" {
		refuse("delivery=%s: only Kafka has transactions: set sink: kafka, or delivery: %s", c.Delivery, AtLeastOnce)
	}
	switch c.Sink {
	case "kafka":
		errs = append(errs, c.kafkaTogether()...)
	case "ndjson":
		if c.SinkPath == "" {
			refuse("sink_path is empty: name the file that events are appended to, or set another sink than ndjson")
		}
	}
	var err error
	if c.Filter, err = filter.Compile(c.Rules); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func (c *Config) kafkaTogether() (errs []error) {
	k := c.Kafka
	if len(k.Brokers) == 0 {
		errs = append(errs, errors.New("kafka_brokers is empty: name at least one broker as HOST:PORT, or set sink: stdout"))
	}
	if k.SASL.Mechanism != "" && (k.SASL.User == "" || k.SASL.Password == "") {
		errs = append(errs, fmt.Errorf("kafka_sasl_mechanism=%s: set kafka_sasl_user and kafka_sasl_password, too", k.SASL.Mechanism))
	}
	if k.SASL.Mechanism == "" && (k.SASL.User != "" || k.SASL.Password != "") {
		errs = append(errs, errors.New("kafka_sasl_mechanism is empty: say how to log in with kafka_sasl_user and kafka_sasl_password, or unset both"))
	}
	if (k.TLS.Cert == "") != (k.TLS.Key == "") {
		errs = append(errs, errors.New("kafka_tls_cert and kafka_tls_key go together: set both, or none"))
	}
	if !k.TLS.Enabled && (k.TLS.CA != "" || k.TLS.Cert != "" || k.TLS.ServerName != "") {
		errs = append(errs, errors.New("kafka_tls=false: kafka_tls_ca, kafka_tls_cert and kafka_tls_server_name mean nothing without it: set it to true"))
	}
	if c.Delivery == ExactlyOnce && !k.Idempotence {
		errs = append(errs, errors.New("enable.idempotence=false: exactly-once delivery needs it: set it to true, or delivery: at-least-once"))
	}
	if k.StreamMode == "dual" && k.TopicSnapshot == k.TopicBinlog {
		errs = append(errs, fmt.Errorf("kafka_topic_binlog=%s: is kafka_topic_snapshot, too: give each its own, or set kafka_stream_mode: single", k.TopicBinlog))
	}
	for _, t := range []string{k.TopicSnapshot, k.TopicBinlog, k.TopicSingle} {
		if t == k.TopicDeadLetter {
			errs = append(errs, fmt.Errorf("kafka_topic_dead_letter=%s: is a topic of events, too: give dead letters their own", t))
		}
	}
	return errs
}

// warn says what is allowed and likely a mistake.
func (c *Config) warn() {
	if c.SyncProtocol != "" {
		c.Warnings = append(c.Warnings, "sync_protocol: the protocol is always that of PikiwiDB 3.5 and 4; the setting is ignored")
	}
	if c.Sink != "kafka" || c.Kafka.SASL.Mechanism != "PLAIN" || c.Kafka.TLS.Enabled {
		return
	}
	for _, b := range c.Kafka.Brokers {
		host, _, _ := net.SplitHostPort(b)
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			c.Warnings = append(c.Warnings, "kafka_sasl_mechanism=PLAIN: without kafka_tls the password goes over the network to "+b+" in the clear")
			return
		}
	}
}

func cores() int { return runtime.GOMAXPROCS(0) }
