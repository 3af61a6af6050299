package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// childEnv has the life of a child, which is this program once more.
const childEnv = "REPLICA_TEST_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var l life
		err := json.Unmarshal([]byte(text), &l)
		if err == nil {
			err = l.live()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// life is what a child does: it runs a feed with settings, until it has delivered up to a position, or it dies.
type life struct {
	Settings map[string]string // by their names in the environment
	Until    wal.Position
	Step     string // of the engine at which it dies; empty = it does not
	Nth      int
}

func (l life) live() error {
	c, err := config.Load("", false, func(name string) (string, bool) { v, ok := l.Settings[name]; return v, ok })
	if err != nil {
		return err
	}
	s, err := New(c, "db0", slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	s.again = 10 * time.Millisecond
	o, err := options(c, s)
	if err != nil {
		return err
	}
	o.Step = func() func(string) {
		n, turn := 0, make(chan struct{}, 1)
		return func(step string) {
			turn <- struct{}{}
			if step == l.Step {
				if n++; n == l.Nth {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
			}
			<-turn
		}
	}()
	f, err := feed.New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	go func() {
		for tick := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			c, found, err := checkpoint.Load(o.Checkpoint, o.SourceID)
			if err == nil && found && c.Snapshot.State == checkpoint.Done && c.Ack.Compare(l.Until) >= 0 {
				cancel()
			}
		}
	}()
	if err := f.Run(ctx); err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("not everything is delivered: %+v", f.Status())
	}
	return nil
}

// options are those of a feed of the source.
func options(c *config.Config, s *Source) (feed.Options, error) {
	o, err := feed.Setup(c, "db0", io.Discard, s.log)
	o.Source, o.Pause, o.MaxPause = s, time.Millisecond, 20*time.Millisecond
	return o, err
}

// begin starts a child, whose end the channel tells.
func begin(t *testing.T, l life) (*exec.Cmd, chan error) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return cmd, done
}

func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// A feed that is killed while the dump is copied, while it is exported, between the snapshot and the stream, or in the
// stream, begins the snapshot anew or goes on: Kafka has everything in order, and a consumer has what the master has.
func TestADeathOfTheFeedLosesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		part      int // the parent kills the child when so many parts of the dump were handed out
		step      string
		nth       int
		snapshots int // that begin in Kafka; 0 = one or two, as the step may fall into the first
	}{
		"copying":                {part: 7, snapshots: 1},
		"exporting":              {step: "snapshot", nth: 1, snapshots: 2},
		"the snapshot is out":    {step: "snapshot-end", nth: 1, snapshots: 2},
		"an item is received":    {step: "received", nth: 60},
		"a batch is produced":    {step: "produced", nth: 3},
		"before acknowledgement": {step: "durable", nth: 4},
	} {
		for _, delivery := range []string{config.AtLeastOnce, config.ExactlyOnce} {
			t.Run(name+" "+delivery, func(t *testing.T) {
				t.Parallel()
				snapshots := c.snapshots
				if delivery == config.ExactlyOnce && c.step == "snapshot-end" {
					snapshots = 1 // that it is out is in the transaction that has its end
				}
				die(t, delivery, c.part, life{Step: c.step, Nth: c.nth}, snapshots)
			})
		}
	}
}

// die has a feed die and live again, and holds what is in Kafka against the master.
func die(t *testing.T, delivery string, part int, l life, snapshots int) {
	t.Helper()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	m := newMaster(t, mastertest.Options{Instances: 3, FileBytes: 8 << 10, Batch: 5})
	for i := range 200 {
		m.Do("db0", "set", fmt.Sprintf("k%d", i), strconv.Itoa(i))
	}
	l.Until, l.Settings = wal.Position{Filenum: math.MaxUint32}, byEnv(t, m, map[string]string{
		"sink": "kafka", "kafka_brokers": broker.ListenAddrs()[0], "kafka_stream_mode": "single", "kafka_create_topics": "true", "window_slots": "16",
		"wal_segment_bytes": "4KiB", "delivery": delivery,
	})
	write := func() {
		for i := range 300 {
			m.Do("db0", "set", fmt.Sprintf("k%d", i%250), fmt.Sprintf("new %d", i))
			if i%7 == 0 {
				m.Do("db0", "del", fmt.Sprintf("k%d", i%200))
			}
		}
	}
	if part > 0 {
		m.Break(func(f *mastertest.Faults) {
			n := 0
			f.Copy = func(*wire.CopyAnswer) { // the copy does not get further
				n++
				f.Mute = n > part
			}
		})
		cmd, done := begin(t, l)
		waitFor(t, m, "the dump is being copied", func() bool { return m.Count("part") >= part })
		_ = cmd.Process.Kill()
		if err := <-done; !killed(err) {
			t.Fatalf("the child ends with %v", err)
		}
		m.Break(func(f *mastertest.Faults) { *f = mastertest.Faults{} })
	} else {
		_, done := begin(t, l)
		waitFor(t, m, "the feed has a session", func() bool { return m.Count("DBSync") > 0 })
		write()
		if err := <-done; !killed(err) {
			t.Fatalf("the child ends with %v", err)
		}
	}
	write()
	l.Step, l.Until = "", m.Do("db0", "set", "last", "one")
	if _, done := begin(t, l); true {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	consume(t, m, delivery, topicOf(t, broker, "deepoj-events"), snapshots)
}

// consume does what a consumer does with all that is in a topic, and compares it with the master.
func consume(t *testing.T, m *mastertest.Master, delivery string, values [][]byte, snapshots int) {
	t.Helper()
	number := map[string]int{}
	for i, item := range m.Items("db0") {
		number[fmt.Sprintf("0:%d:%d:%d", item.At.Filenum, item.At.Offset, i+1)] = i
	}
	has, last, begun := map[string]string{}, -1, 0
	for _, v := range values {
		var e said
		if err := json.Unmarshal(v, &e); err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		switch e.Type {
		case "snapshot_begin":
			begun++
			has, last = map[string]string{}, -1
			continue
		case "snapshot_end":
			continue
		case "binlog":
			n, known := number[e.ID]
			if !known || last >= 0 && n > last+1 || last >= 0 && delivery == config.ExactlyOnce && n <= last {
				t.Fatalf("event %s, item %d, comes behind item %d", e.ID, n, last)
			}
			last = n
		}
		switch e.Op {
		case "set":
			has[e.Args[0]] = e.Args[1]
		case "del":
			delete(has, e.Args[0])
		}
	}
	if want := m.Content("db0"); !maps.Equal(has, want) {
		t.Errorf("a consumer has %d keys and the master %d, or others", len(has), len(want))
	}
	if snapshots != 0 && begun != snapshots || begun > 2 || last != len(number)-1 {
		t.Errorf("%d snapshots began, want %d; the last event is item %d of %d", begun, snapshots, last, len(number))
	}
}

// topicOf returns the values of a topic of one partition that committed transactions have.
func topicOf(t *testing.T, broker *kfake.Cluster, topic string) (values [][]byte) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	end := broker.PartitionInfo(topic, 0).LastStableOffset
	for next := int64(0); next < end; {
		got := client.PollFetches(t.Context())
		if err := got.Err0(); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Records() {
			if next = r.Offset + 1; !r.Attrs.IsControl() {
				values = append(values, r.Value)
			}
		}
	}
	return values
}
