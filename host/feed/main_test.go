package feed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/feedtest"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(m.Run())
}

const topic = "events"

// broker starts a Kafka in this process, whose topics have one partition: a consumer sees the order in which they were
// written.
func broker(t testing.TB) *kfake.Cluster {
	t.Helper()
	return brokerWith(t, 1)
}

func brokerWith(t testing.TB, partitions int) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(partitions))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// setup is a feed that can be started again and again.
type setup struct {
	t       testing.TB
	source  *feedtest.Source
	kafka   *kfake.Cluster
	dir     string
	exactly bool
	change  func(*feed.Options)
}

func newSetup(t testing.TB, exactly bool) *setup {
	t.Helper()
	return &setup{t: t, source: &feedtest.Source{}, kafka: broker(t), dir: t.TempDir(), exactly: exactly}
}

// options are those of a feed whose files lie in dir, small so that everything happens soon.
func options(source feed.Source, dir string, brokers []string, exactly bool) (feed.Options, error) {
	sink, err := kafka.New(kafka.Config{
		Brokers: brokers, Topics: []string{topic}, DeadLetter: "dead", Position: "position", Create: true, MaxBytes: 1 << 20, Idempotent: true,
		ExactlyOnce: exactly, ID: "feed-1", Timeout: 5 * time.Second,
	})
	return feed.Options{
		Source: source, SourceID: "test:1", Sink: sink, KeepsPosition: exactly, Topic: topic, DB: "db0",
		Encoder: &event.Encoder{Source: event.Source{ID: "test:1", Host: "test", Port: 1}},
		WAL:     wal.Options{Dir: filepath.Join(dir, "wal"), SegmentBytes: 4096, Retain: 1}, Checkpoint: filepath.Join(dir, "checkpoint.json"),
		Window: 16, Pause: time.Millisecond, MaxPause: 20 * time.Millisecond, SendTimeout: 10 * time.Second,
	}, err
}

// running is a feed that runs.
type running struct {
	*feed.Feed
	t    testing.TB
	stop context.CancelFunc
	done chan error
	seen feed.Status // the newest that was looked at
}

// Status returns the status, and holds that what the feed has only grows.
func (r *running) Status() feed.Status {
	r.t.Helper()
	s := r.Feed.Status()
	if b := r.seen; s.Ack.Seq < b.Ack.Seq || s.Durable.Seq < b.Durable.Seq || s.Ack.Seq > s.Durable.Seq || s.Epoch < b.Epoch {
		r.t.Errorf("after %+v, %+v of epoch %d the feed is at %+v, %+v of epoch %d", b.Ack, b.Durable, b.Epoch, s.Ack, s.Durable, s.Epoch)
	}
	r.seen = s
	return s
}

// start starts the feed; end ends it.
func (s *setup) start() *running {
	s.t.Helper()
	o, err := options(s.source, s.dir, s.kafka.ListenAddrs(), s.exactly)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.change != nil {
		s.change(&o)
	}
	f, err := feed.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Feed: f, t: s.t, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- f.Run(ctx) }()
	s.t.Cleanup(func() {
		stop()
		select {
		case <-r.done:
		case <-time.After(30 * time.Second):
			s.t.Error("the feed does not end")
		}
	})
	return r
}

// end ends the feed and returns what Run does.
func (r *running) end() error {
	r.t.Helper()
	r.stop()
	return r.wait()
}

// wait waits for the feed to end by itself.
func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(30 * time.Second):
		r.t.Fatalf("the feed does not end: %+v", r.Status())
		return nil
	}
}

// until waits until so is true of the status.
func (r *running) until(what string, so func(feed.Status) bool) feed.Status {
	r.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		s := r.Status()
		if so(s) {
			return s
		}
		select {
		case err := <-r.done:
			r.done <- err
			r.t.Fatalf("waiting for %s, the feed ended: %v", what, err)
		case <-tick.C:
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("never %s: %+v", what, s)
		}
	}
}

// has waits until the sink has all up to change n.
func (r *running) has(n uint64) feed.Status {
	r.t.Helper()
	return r.until(fmt.Sprintf("change %d is in Kafka", n), func(s feed.Status) bool {
		return s.Ack.Offset >= n && s.State != feed.Purged && s.State != feed.Snapshot
	})
}

// read returns the values of a topic of one partition that committed transactions have.
func read(t testing.TB, c *kfake.Cluster, topic string) (values [][]byte) {
	t.Helper()
	return readPartition(t, c, topic, 0)
}

func readPartition(t testing.TB, c *kfake.Cluster, topic string, partition int32) (values [][]byte) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().AtStart()}}), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	info := c.PartitionInfo(topic, partition)
	if info == nil {
		t.Fatalf("kafka has no topic %s", topic)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for next := int64(0); next < info.LastStableOffset; {
		got := client.PollFetches(ctx)
		if err := got.Err0(); err != nil {
			t.Fatalf("reading %s at %d of %d: %v", topic, next, info.LastStableOffset, err)
		}
		for _, r := range got.Records() {
			next = r.Offset + 1
			if !r.Attrs.IsControl() {
				values = append(values, r.Value)
			}
		}
	}
	return values
}

// check holds what Kafka has against the truth up to change n.
func (s *setup) check(n uint64, r feedtest.Rules) [][]byte {
	s.t.Helper()
	r.To = n
	values := read(s.t, s.kafka, topic)
	if err := feedtest.Check(values, r); err != nil {
		s.t.Fatalf("%v; Kafka has %s", err, feedtest.Summary(values))
	}
	return values
}

func each(t *testing.T, do func(t *testing.T, exactly bool)) {
	for _, delivery := range []string{config.AtLeastOnce, config.ExactlyOnce} {
		t.Run(delivery, func(t *testing.T) {
			t.Parallel()
			do(t, delivery == config.ExactlyOnce)
		})
	}
}

var errTest = errors.New("cut for a test")
