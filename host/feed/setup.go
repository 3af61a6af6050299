package feed

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

// Setup makes the options of a feed from its settings; the source is missing in them. A feed of PikiwiDB has one stream
// for each database, which db names; for PostgreSQL it is empty. Lines go to out when sink is stdout.
func Setup(c *config.Config, db string, out io.Writer, log *slog.Logger) (Options, error) {
	o := Options{
		SourceID: c.SourceID(), DB: db, Start: c.Start, Encoder: NewEncoder(c), Logger: log,
		WAL:        wal.Options{Dir: c.WALDir, SegmentBytes: c.WALSegmentBytes, Retain: c.WALRetainSegments, MaxBytes: c.WALMaxBytes},
		Checkpoint: c.CheckpointPath, KeepsPosition: c.Delivery == config.ExactlyOnce,
		Window: c.WindowSlots, Workers: c.Workers, Progress: c.BinlogProgressInterval,
	}
	if db != "" {
		o.WAL.Dir, o.Checkpoint = c.WALDirOf(db), c.CheckpointOf(db)
	}
	k := c.Kafka
	o.Topic, o.SnapshotTopic = k.TopicBinlog, k.TopicSnapshot
	if k.StreamMode == "single" {
		o.Topic, o.SnapshotTopic = k.TopicSingle, k.TopicSingle
	}
	var err error
	o.Sink, err = newSink(c, &o, out)
	return o, err
}

// NewEncoder returns what writes the events of a feed.
func NewEncoder(c *config.Config) *event.Encoder {
	id := c.SourceID()
	address, _, _ := strings.Cut(id, "/")
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	port, _ := strconv.Atoi(text) // 0 for an address without one
	return &event.Encoder{Source: event.Source{ID: id, Host: host, Port: port}, Encoding: c.ArgsEncoding, RawResp: c.IncludeRawResp}
}

// newSink makes the sink of the settings.
func newSink(c *config.Config, o *Options, out io.Writer) (kafka.Sink, error) {
	switch c.Sink {
	case "stdout":
		return kafka.Stream{Out: out}, nil
	case "ndjson":
		path := c.SinkPath
		if first := (&config.Config{CheckpointPath: path}).CheckpointOf(o.DB); o.DB != "" {
			path = first // each stream has a file of its own
		}
		return kafka.NewFile(path), nil
	}
	k := c.Kafka
	secure, err := clientTLS(k.TLS)
	if err != nil {
		return nil, err
	}
	topics := []string{o.Topic}
	if o.SnapshotTopic != o.Topic {
		topics = append(topics, o.SnapshotTopic)
	}
	id := cmp.Or(k.TransactionalID, "deepoj-feed-"+o.Topic)
	if o.DB != "" {
		id += "-" + o.DB
	}
	return kafka.New(kafka.Config{
		Brokers: k.Brokers, TLS: secure, SASL: k.SASL.Mechanism, User: k.SASL.User, Secret: k.SASL.Password,
		Topics: topics, DeadLetter: cmp.Or(k.TopicDeadLetter, o.Topic+"-dead-letters"), Position: o.Topic + "-position",
		Create: k.CreateTopics, Partitions: int32(k.Partitions), Replicas: int16(k.Replication),
		Compression: k.Compression, MaxBytes: int32(k.MaxMessageBytes), Idempotent: k.Idempotence, ExactlyOnce: o.KeepsPosition, ID: id,
		Log: o.Logger,
	})
}

// clientTLS reads the files of a configuration. It is nil if connections are plain.
func clientTLS(t config.TLS) (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil // none is the answer, not a failure
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(filepath.Clean(t.CA))
		if err != nil {
			return nil, fmt.Errorf("kafka_tls_ca: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("kafka_tls_ca=%s: holds no certificate in PEM: name the file of the authority", t.CA)
		}
	}
	if t.Cert != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("kafka_tls_cert=%s, kafka_tls_key=%s: %w", t.Cert, t.Key, err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	return out, nil
}
