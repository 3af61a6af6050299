// Package queue carries tickets from the dispatcher to the workers over Redis streams.
//
// Delivery is at least once. A ticket may arrive twice, or long after its job was finalized, so a ticket grants
// nothing: a worker earns the right to write a verdict by claiming the job in package jobs.
//
// Streams hold identifiers, never source code. Redis may lose all of them; the
// scheduler refills the streams from the outbox (see [Streams.Changed]).
package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"

	"deepoj/host/judge"
)

// Delivery carries tickets to workers. [Streams] does so over Redis; package jobs
// has another that needs PostgreSQL only.
type Delivery interface {
	// Publish adds tickets in order and returns the ids of their entries. After
	// an error none, some or all of them may have been added.
	Publish(ctx context.Context, tickets []judge.Ticket) (entryIDs []string, err error)

	// Receive returns at most max entries. If there are none it waits for some,
	// at most wait, and then returns none.
	Receive(ctx context.Context, max int, wait time.Duration) ([]judge.Entry, error)

	// Ack removes entries that the database has decided about.
	Ack(ctx context.Context, entries ...judge.Entry) error
}

// Taker is a [Delivery] that can hand out jobs that are claimed already.
type Taker interface {
	// Taking reports whether it does so at the moment. If not, use Receive.
	Taking() bool

	// Take claims at most max jobs for owner and returns them. If there are none it waits for some, at most wait,
	// and then returns none. Asked is when the last request was sent: a lease lasts at least for lease from then
	// on. After an error some may have been claimed all the same, by this token.
	Take(ctx context.Context, max int, wait time.Duration, owner, token string, lease time.Duration) (jobs []judge.Claim, asked time.Time, err error)
}

// Config says where the streams are. Only URL is required.
type Config struct {
	// URL of the Redis: redis, rediss, unix, redis+sentinel or redis+cluster. The last two name several hosts, and
	// sentinel the master as well: redis+sentinel://user:password@h1:26379,h2:26379/mymaster/0 and
	// redis+cluster://user:password@h1:6379,h2:6379. Both take ?tls=true; for sentinels that ask for a password
	// themselves there are sentinel_user and sentinel_password.
	URL string

	// TLS has the certificates to trust and to show (REDIS_TLS_CA, REDIS_TLS_CERT, REDIS_TLS_KEY); what else it
	// says is not heeded. The URL must ask for TLS. Defaults to those of the system, and to none.
	TLS *tls.Config

	// Stream is the key of the stream (JOB_STREAM_KEY). Defaults to "deepoj:jobs".
	Stream string

	// Pool is the pool of workers whose stream this is; the default pool's
	// stream is Stream itself. Defaults to "default".
	Pool string

	// Group is the consumer group (JOB_STREAM_GROUP). Defaults to "deepoj:workers".
	Group string

	// Consumer names this reader within the group (JOB_STREAM_CONSUMER); a random boot id is appended, so that
	// twins share nothing. Defaults to host name and process id.
	Consumer string

	// MaxLen is the length at which Redis trims the stream, approximately (JOB_STREAM_MAXLEN). Defaults to 200000.
	MaxLen int64

	// MinIdle is how long an entry lies with one consumer before another cleans
	// it up: lease plus grace. Defaults to 75 seconds.
	MinIdle time.Duration

	// CleanCount is how many entries one Clean looks at (JOB_RECLAIM_COUNT). Defaults to 16.
	CleanCount int64

	// WatchEvery is the time between two looks whether Redis is still the one
	// that it was (see [Streams.Changed]). Defaults to 1 second.
	WatchEvery time.Duration

	// Remedy returns what to do about an error of Redis, for the log. Defaults to nothing.
	Remedy func(error) string

	// Log receives what cannot be returned. Defaults to discarding.
	Log *slog.Logger
}

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	var errs []error
	if c.URL == "" {
		errs = append(errs, errors.New("URL is empty"))
	}
	if c.MaxLen < 0 {
		errs = append(errs, fmt.Errorf("MaxLen %d is negative", c.MaxLen))
	}
	if c.MinIdle < 0 {
		errs = append(errs, fmt.Errorf("MinIdle %s is negative", c.MinIdle))
	}
	if c.CleanCount < 0 {
		errs = append(errs, fmt.Errorf("CleanCount %d is negative", c.CleanCount))
	}
	if c.WatchEvery < 0 {
		errs = append(errs, fmt.Errorf("WatchEvery %s is negative", c.WatchEvery))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.Stream = cmp.Or(c.Stream, "deepoj:jobs")
	c.Pool = cmp.Or(c.Pool, defaultPool)
	c.Group = cmp.Or(c.Group, "deepoj:workers")
	if c.Consumer == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		c.Consumer = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	c.MaxLen = cmp.Or(c.MaxLen, 200_000)
	c.MinIdle = cmp.Or(c.MinIdle, 75*time.Second)
	c.CleanCount = cmp.Or(c.CleanCount, 16)
	c.WatchEvery = cmp.Or(c.WatchEvery, time.Second)
	if c.Remedy == nil {
		c.Remedy = func(error) string { return "" }
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

const defaultPool = "default"

// Streams is a Delivery over Redis streams. It is safe for concurrent use.
type Streams struct {
	rdb      redis.UniversalClient
	cfg      Config
	key      string // of the stream
	epochKey string // see watch.go
	consumer string
	changed  chan struct{}
	looking  *semaphore.Weighted // of one: see look

	mu     sync.Mutex
	epoch  string // as last seen; "" before the first look
	cursor string // of the next clean-up

	stop   context.CancelFunc
	ended  sync.WaitGroup
	closed sync.Once
}

var _ Delivery = (*Streams)(nil)

// Open prepares a connection. It does not wait for Redis, which may come later and go at any time: see [Streams.Ping].
func Open(ctx context.Context, cfg Config) (*Streams, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("queue config: %w", err)
	}
	cfg = cfg.withDefaults()
	rdb, err := connect(cfg.URL, cfg.TLS)
	if err != nil {
		return nil, err
	}
	boot := make([]byte, 4)
	rand.Read(boot)
	s := &Streams{
		rdb: rdb, cfg: cfg, key: cfg.Stream, epochKey: derived(cfg.Stream, "epoch"),
		consumer: cfg.Consumer + "-" + hex.EncodeToString(boot),
		changed:  make(chan struct{}, 1), cursor: "0-0", looking: semaphore.NewWeighted(1),
	}
	if cfg.Pool != defaultPool {
		s.key = derived(cfg.Stream, cfg.Pool)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.ended.Go(func() { s.watch(background) })
	return s, nil
}

// Close ends the watch and closes the connections.
func (s *Streams) Close() error {
	var err error
	s.closed.Do(func() {
		s.stop()
		s.ended.Wait()
		err = s.rdb.Close()
	})
	return err
}

// Consumer returns this reader's name: the configured one with its boot id.
func (s *Streams) Consumer() string { return s.consumer }

// derived returns the key for suffix that lies in the same hash slot as stream:
// a cluster hashes only what is between the first braces, if there are any.
func derived(stream, suffix string) string {
	if open := strings.IndexByte(stream, '{'); open >= 0 && strings.IndexByte(stream[open:], '}') > 1 {
		return stream + ":" + suffix
	}
	return "{" + stream + "}:" + suffix
}
