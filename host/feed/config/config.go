// Package config reads what an operator may set of a feed: the environment decides, feed.yaml fills what it leaves
// unset, and one table says what each setting means and which field it fills.
package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deepoj/host/feed/event"
	"deepoj/host/feed/filter"
	"deepoj/host/feed/wal"
)

// Words that settings have.
const (
	Postgres = "postgres" // of source
	PikiwiDB = "pikiwidb"

	AtLeastOnce = "at-least-once" // of delivery
	ExactlyOnce = "exactly-once"
)

// Config are the settings of a feed, checked.
type Config struct {
	Source string // postgres or pikiwidb

	PostgresURL, PostgresSlot, PostgresPublication string
	SnapshotReaders                                int

	MasterHost   string
	MasterPort   int
	Password     string
	DBs          []string
	SyncProtocol string // ignored
	Start        Start

	SnapshotReaderMode                          string   // single or type
	SnapshotReaderTypes, SnapshotReaderPrefixes []string // nil = auto
	BatchNum, SnapshotListTailN                 int

	WindowSlots, Workers int
	WALDir               string
	WALSegmentBytes      int64
	WALRetainSegments    int
	WALMaxBytes          int64
	DumpDir              string
	CheckpointPath       string

	Sink, SinkPath string // kafka, ndjson or stdout
	Kafka          Kafka
	Delivery       string // at-least-once or exactly-once

	ArgsEncoding   event.Encoding
	IncludeRawResp bool

	Rules  filter.Rules
	Filter *filter.Filter // compiled Rules

	BinlogProgressInterval, PBAckDelayWarn, PBIdleTimeout time.Duration

	MetricsListen string

	Rows     []Row
	Warnings []string
}

// Start is where a feed begins that has no checkpoint.
type Start struct {
	Given      bool // a position, which is Position
	Position   wal.Position
	FromMaster bool // where the master is
}

// Kafka says where Kafka is and how records get there.
type Kafka struct {
	Brokers     []string
	TLS         TLS
	SASL        SASL
	Compression string
	StreamMode  string // dual or single

	TopicSnapshot, TopicBinlog, TopicSingle, TopicDeadLetter string

	CreateTopics            bool
	Partitions, Replication int // of topics that are made; 0 = as the broker does
	Idempotence             bool
	MaxMessageBytes         int
	TransactionalID         string
}

// TLS are files, in PEM, and the name that Kafka has to prove; one that is empty is the system's, or none.
type TLS struct {
	Enabled                   bool
	CA, Cert, Key, ServerName string
}

// SASL is how the feed logs in to Kafka.
type SASL struct{ Mechanism, User, Password string }

// Row is a setting as it was given.
type Row struct {
	Name   string `json:"name"`  // in feed.yaml
	Env    string `json:"env"`   // in the environment
	Value  string `json:"value"` // "(secret)" for one that is not told
	Origin string `json:"origin"`
	Doc    string `json:"doc"`
}

// SourceID names the source in checkpoints and events.
func (c *Config) SourceID() string {
	if c.Source == PikiwiDB {
		return net.JoinHostPort(c.MasterHost, strconv.Itoa(c.MasterPort))
	}
	u, err := url.Parse(c.PostgresURL)
	if err != nil {
		return Postgres
	}
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	return net.JoinHostPort(u.Hostname(), port) + "/" + strings.TrimPrefix(u.Path, "/")
}

// firstDB is the database whose files have the names that are set; those of others have theirs, too.
const firstDB = "db0"

// WALDirOf is the folder of the write-ahead log of a database of PikiwiDB: each has positions of its own.
func (c *Config) WALDirOf(db string) string {
	if db == firstDB {
		return c.WALDir
	}
	return filepath.Join(c.WALDir, db)
}

// CheckpointOf is the file of the checkpoint of a database of PikiwiDB.
func (c *Config) CheckpointOf(db string) string {
	if db == firstDB {
		return c.CheckpointPath
	}
	ext := filepath.Ext(c.CheckpointPath)
	return strings.TrimSuffix(c.CheckpointPath, ext) + "-" + db + ext
}

// DumpDirOf is the folder into which a snapshot of a database of PikiwiDB is copied.
func (c *Config) DumpDirOf(db string) string { return filepath.Join(c.DumpDir, db) }
