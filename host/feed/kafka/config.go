package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Config says where Kafka is and how records get there. Settings that errors name are those of feed.yaml.
type Config struct {
	Brokers []string    // host:port
	TLS     *tls.Config // nil = plain connections
	SASL    string      // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or "" for none
	User    string
	Secret  string // of User

	Topics     []string // records go to these alone
	DeadLetter string   // the topic of what is too large for the others
	Position   string   // the topic of the feed's own position, with ExactlyOnce
	Create     bool     // topics that are missing
	Partitions int32    // of those; 0 = as the broker does by default
	Replicas   int16    // of those; 0 = as the broker does by default

	Compression string // none, gzip, snappy, lz4 or zstd
	MaxBytes    int32  // of a batch and so of a record, uncompressed
	Idempotent  bool
	ExactlyOnce bool
	ID          string // of the feed: of its transactions, and the key of its position

	Timeout time.Duration // of questions to brokers; 0 = 15 s
	Log     *slog.Logger
}

// compressions are the codecs, best first.
var compressions = map[string]kgo.CompressionCodec{
	"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// leastBytes is the least that Kafka takes in a batch.
const leastBytes = 1024

// validate reports every field that is missing or wrong.
func (c Config) validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("kafka_brokers is empty: name at least one broker as HOST:PORT"))
	}
	if _, ok := compressions[c.Compression]; !ok {
		errs = append(errs, fmt.Errorf("kafka_compression=%s: must be one of none, gzip, snappy, lz4, zstd", c.Compression))
	}
	if c.MaxBytes < leastBytes {
		errs = append(errs, fmt.Errorf("message.max.bytes=%d: must be at least %d", c.MaxBytes, leastBytes))
	}
	if _, err := c.mechanism(); err != nil {
		errs = append(errs, err)
	}
	if c.ExactlyOnce && !c.Idempotent {
		errs = append(errs, errors.New("enable.idempotence=false: exactly-once delivery needs it; set it to true, or delivery: at-least-once"))
	}
	if c.ExactlyOnce && (c.ID == "" || c.Position == "") {
		errs = append(errs, errors.New("exactly-once delivery needs a name of the feed and a topic for its position"))
	}
	return errors.Join(errs...)
}

// mechanism is how the feed proves who it is, or nil.
func (c Config) mechanism() (kgo.Opt, error) {
	name := strings.ToUpper(c.SASL)
	if name == "" {
		return nil, nil // none is the answer, not a failure
	}
	if c.User == "" || c.Secret == "" {
		return nil, fmt.Errorf("kafka_sasl_mechanism=%s: set kafka_sasl_user and kafka_sasl_password, too", c.SASL)
	}
	login := scram.Auth{User: c.User, Pass: c.Secret}
	switch name {
	case "PLAIN":
		return kgo.SASL(plain.Auth{User: c.User, Pass: c.Secret}.AsMechanism()), nil
	case "SCRAM-SHA-256":
		return kgo.SASL(login.AsSha256Mechanism()), nil
	case "SCRAM-SHA-512":
		return kgo.SASL(login.AsSha512Mechanism()), nil
	}
	return nil, fmt.Errorf("kafka_sasl_mechanism=%s: must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", c.SASL)
}

// reach are the options of every client.
func (c Config) reach() ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("deepoj-feed"), kgo.SoftwareNameAndVersion("deepoj-feed", "1"),
		kgo.DisableClientMetrics(), kgo.DialTimeout(c.Timeout), kgo.MetadataMinAge(250 * time.Millisecond),
	}
	if c.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(c.TLS))
	}
	login, err := c.mechanism()
	if err != nil {
		return nil, err
	}
	if login != nil {
		opts = append(opts, login)
	}
	return opts, nil
}
