package peers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/postgres"
	"deepoj/host/feed/wal"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// A child is this program again, with what it is in these variables.
const (
	roleEnv   = "FEED_ROLE"
	urlEnv    = "FEED_URL"    // of PostgreSQL
	slotEnv   = "FEED_SLOT"   // of the child
	brokerEnv = "FEED_BROKER" // host:port
	dirEnv    = "FEED_DIR"    // of log and checkpoint
	wantEnv   = "FEED_WANT"   // after so many events a child ends: 0 = as soon as its slot is there, -1 = not by itself
)

const (
	topic       = "events"
	partitions  = 4
	compression = "lz4"
)

func TestMain(m *testing.M) {
	roles := map[string]func(context.Context) error{"broker": broker, "feed": ours, "usual": usual}
	role, child := roles[os.Getenv(roleEnv)]
	if !child {
		os.Exit(sqltest.Main(m))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := role(ctx); err != nil {
		fmt.Fprintln(os.Stderr, os.Getenv(roleEnv)+":", err)
		os.Exit(1)
	}
}

func wanted() int64 {
	n, err := strconv.ParseInt(os.Getenv(wantEnv), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// broker is a Kafka with one topic, which tells its address.
func broker(ctx context.Context) error {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println(c.ListenAddrs()[0])
	<-ctx.Done()
	return nil
}

// ours is the feed.
func ours(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	src, err := postgres.New(postgres.Options{
		URL: os.Getenv(urlEnv), Slot: os.Getenv(slotEnv), Publication: published.Publication, ID: "bench", Log: log,
	})
	if err != nil {
		return err
	}
	sink, err := kafka.New(kafka.Config{
		Brokers: []string{os.Getenv(brokerEnv)}, Topics: []string{topic}, DeadLetter: topic + "-dead", Create: true, Replicas: 1,
		Compression: compression, MaxBytes: 1 << 20, Idempotent: true, ID: "bench", Log: log,
	})
	if err != nil {
		return err
	}
	dir := os.Getenv(dirEnv)
	f, err := feed.New(feed.Options{
		Source: src, SourceID: "bench", Start: config.Start{FromMaster: true},
		WAL: wal.Options{Dir: filepath.Join(dir, "wal"), SegmentBytes: 256 << 20, Retain: 1}, Checkpoint: filepath.Join(dir, "checkpoint.json"),
		Sink: sink, Topic: topic, Encoder: &event.Encoder{Source: event.Source{ID: "bench"}}, Logger: log,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for want := wanted(); want >= 0; time.Sleep(2 * time.Millisecond) {
			if s := f.Status(); s.Source.Up && s.Counts.Delivered >= want {
				stop()
				return
			}
		}
	}()
	return f.Run(ctx)
}
