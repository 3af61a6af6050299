package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker starts a Kafka in this process.
func broker(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.DefaultNumPartitions(3)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func configOf(c *kfake.Cluster) Config {
	return Config{
		Brokers: c.ListenAddrs(), Topics: []string{"events"}, DeadLetter: "dead", Position: "position", Create: true, MaxBytes: 1 << 20, Idempotent: true,
		Timeout: 10 * time.Second,
	}
}

func open(t *testing.T, cfg Config) *Producer {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// records are some, with keys that repeat, and the first of these numbers.
func records(from, n int) (out []Record) {
	for i := from; i < from+n; i++ {
		out = append(out, Record{Topic: "events", Key: fmt.Appendf(nil, "k%d", i%7), Value: fmt.Appendf(nil, "%06d", i), ID: fmt.Sprint(i)})
	}
	return out
}

func send(t *testing.T, p *Producer, batch []Record, position string) {
	t.Helper()
	if err := p.Send(t.Context(), batch, []byte(position)); err != nil {
		t.Fatal(err)
	}
}

// consume reads what a consumer of committed records finds in a topic.
func consume(t *testing.T, c *kfake.Cluster, topic string, want int, opts ...kgo.Opt) (all []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for len(all) < want {
		got := client.PollFetches(ctx)
		if err := got.Err0(); err != nil {
			t.Fatalf("%d of %d records: %v", len(all), want, err)
		}
		all = append(all, got.Records()...)
	}
	return all
}

// ordered fails unless the records of each key are those that were sent, in order and once.
func ordered(t *testing.T, got []*kgo.Record, sent []Record) {
	t.Helper()
	want, have := map[string][]string{}, map[string][]string{}
	for _, r := range sent {
		want[string(r.Key)] = append(want[string(r.Key)], string(r.Value))
	}
	for _, r := range got {
		have[string(r.Key)] = append(have[string(r.Key)], string(r.Value))
	}
	for key, values := range want {
		if !slices.Equal(have[key], values) {
			t.Errorf("key %s: Kafka has %v, want %v", key, have[key], values)
		}
	}
	if len(got) != len(sent) {
		t.Errorf("Kafka has %d records, want %d", len(got), len(sent))
	}
}

func TestRecordsArriveOnceAndInOrderWithEveryCompression(t *testing.T) {
	c := broker(t)
	var sent []Record
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		cfg := configOf(c)
		cfg.Compression, cfg.MaxBytes = compression, 2000 // several batches
		p := open(t, cfg)
		batch := records(len(sent), 100)
		send(t, p, batch, "")
		sent = append(sent, batch...)
		p.Close()
	}
	ordered(t, consume(t, c, "events", len(sent)), sent)
}

func TestRecordsArriveOnceAndInOrderWhenTheBrokerRefusesForAWhile(t *testing.T) {
	c := broker(t)
	p := open(t, configOf(c))
	c.Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: 3},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicasAfterAppend, Count: 2}, // it was written, and is sent again
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 2},              // the same
	)
	sent := records(0, 50)
	send(t, p, sent[:20], "")
	send(t, p, sent[20:], "")
	ordered(t, consume(t, c, "events", len(sent)), sent)
}

// stall has a broker take the next batch, and write it no sooner than it may go on.
func stall(c *kfake.Cluster) (stands <-chan struct{}, goOn func()) {
	took, released := make(chan struct{}), make(chan struct{})
	var one atomic.Bool
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if !one.Swap(true) {
			close(took)
			c.SleepControl(func() { <-released })
		}
		return nil, nil, false
	})
	return took, func() { close(released) }
}

// A broker that stood still may write what it took at any time later. That must not come after what is newer.
func TestWhatABrokerTookBeforeItStoodStillIsThereOnceAndInOrder(t *testing.T) {
	for name, sent := range map[string][]Record{"a batch": records(0, 20), "one of several chunks": records(0, 200)} {
		t.Run(name, func(t *testing.T) {
			c := broker(t, kfake.DefaultNumPartitions(1))
			cfg := configOf(c)
			cfg.MaxBytes = 8000
			p := open(t, cfg)
			half := len(sent) / 2
			send(t, p, records(1000, 1), "") // so that the producer has its number
			stands, goOn := stall(c)
			short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if err := p.Send(short, sent[:half], nil); err == nil {
				t.Fatal("it did not wait")
			}
			<-stands
			for range 2 { // Kafka answers, but for this
				if _, err := p.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
				once, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if err := p.Send(once, sent[:half], nil); err == nil {
					t.Error("it did not wait again")
				}
				cancel()
			}
			goOn()
			if _, err := p.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			send(t, p, sent[:half], "")
			send(t, p, sent[half:], "")
			got := consume(t, c, "events", len(sent)+1)[1:]
			ordered(t, got, sent)
		})
	}
}

// A feed that begins again has other batches. What was under way is given up then.
func TestAnotherBatchIsSentByAnotherProducer(t *testing.T) {
	c := broker(t)
	p := open(t, configOf(c))
	stands, goOn := stall(c)
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := p.Send(short, records(0, 10), nil); err == nil {
		t.Fatal("it did not wait")
	}
	<-stands
	sent := records(0, 5) // a part of it, and what follows
	send(t, p, sent, "")
	send(t, p, records(5, 20), "")
	goOn()
	consume(t, c, "events", 25)
}

func TestABatchThatIsWaitedForInVainIsAnError(t *testing.T) {
	for _, exactly := range []bool{false, true} {
		c := broker(t)
		cfg := configOf(c)
		cfg.ExactlyOnce, cfg.ID = exactly, "feed-1"
		for range 20 {
			p := open(t, cfg)
			away := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: -1})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			if err := p.Send(ctx, records(0, 3), []byte("3")); err == nil {
				t.Error("a batch that is not there counts as sent")
			}
			cancel()
			away.Remove()
			p.Close()
		}
	}
}

func TestATransactionHasRecordsAndPositionOrNeither(t *testing.T) {
	c := broker(t)
	cfg := configOf(c)
	cfg.ExactlyOnce, cfg.ID = true, "feed-1"
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if position, err := p.Open(t.Context()); err != nil || position != nil {
		t.Fatalf("a new feed is at %q, %v", position, err)
	}
	sent := records(0, 40)
	send(t, p, sent[:20], "20")
	// The process ends in the middle of a transaction.
	if err := p.client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.sendAll(t.Context(), &work{batch: sent[20:30], refused: map[int]string{}}, []byte("30")); err != nil {
		t.Fatal(err)
	}
	q, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	position, err := q.Open(t.Context())
	if err != nil || string(position) != "20" {
		t.Fatalf("after an open transaction the feed is at %q, %v, want 20", position, err)
	}
	send(t, q, sent[20:], "40")
	if err := p.Send(t.Context(), records(100, 1), []byte("101")); err == nil {
		t.Error("the earlier producer of the same feed can still send")
	}
	p.Close()
	if position, err := q.Open(t.Context()); err != nil || string(position) != "40" {
		t.Fatalf("the feed is at %q, %v, want 40", position, err)
	}
	ordered(t, consume(t, c, "events", len(sent)), sent)
}

func TestARecordThatIsTooLargeGoesToTheDeadLettersAndTheOthersGoOn(t *testing.T) {
	for _, exactly := range []bool{false, true} {
		t.Run(fmt.Sprintf("exactly-once=%v", exactly), func(t *testing.T) {
			c := broker(t)
			cfg := configOf(c)
			cfg.ExactlyOnce, cfg.ID = exactly, "feed-1"
			cfg.MaxBytes = 4000
			p := open(t, cfg)
			sent := records(0, 9)
			sent[3].Value = []byte(strings.Repeat("x", 5000))
			send(t, p, sent, "9")
			// Now the broker takes less than it said when the feed connected.
			more := records(9, 9)
			more[4].Value = []byte(strings.Repeat("y", 1500))
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "events", Err: kerr.MessageTooLarge, Count: -1, When: func(r kmsg.Request) bool {
				for _, topic := range r.(*kmsg.ProduceRequest).Topics {
					for _, part := range topic.Partitions {
						if len(part.Records) > 1200 {
							return true
						}
					}
				}
				return false
			}})
			send(t, p, more, "18")
			var letters []DeadLetter
			for _, r := range consume(t, c, "dead", 2) {
				var l DeadLetter
				if err := json.Unmarshal(r.Value, &l); err != nil {
					t.Fatal(err)
				}
				letters = append(letters, l)
			}
			ids := []string{letters[0].EventID, letters[1].EventID}
			if slices.Sort(ids); !slices.Equal(ids, []string{"13", "3"}) || letters[0].Bytes < 1500 || letters[0].Reason == "" || p.DeadLetters() != 2 {
				t.Errorf("dead letters are %+v, counted %d", letters, p.DeadLetters())
			}
			want := slices.Concat(sent[:3], sent[4:], more[:4], more[5:])
			got := consume(t, c, "events", len(want))
			if !exactly { // those of a refused batch that other partitions took may come again, right after
				got = onceEach(got)
			}
			ordered(t, got, want)
		})
	}
}

// onceEach leaves out what comes again.
func onceEach(all []*kgo.Record) (once []*kgo.Record) {
	seen := map[string]bool{}
	for _, r := range all {
		if !seen[string(r.Value)] {
			once = append(once, r)
		}
		seen[string(r.Value)] = true
	}
	return once
}

func TestWhatIsWrongIsSaidWithTheSettingAndTheRemedy(t *testing.T) {
	secured := broker(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "feed", "right"), kfake.Superuser("PLAIN", "plain", "right"))
	strict := broker(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "feed", "right"))
	strict.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) { // as Kafka answers
		strict.KeepControl()
		answer := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		answer.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return answer, nil, true
	})
	plain := broker(t)
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
		final  bool
	}{
		"a wrong password": {func(c *Config) {
			c.Brokers, c.SASL, c.User, c.Secret = strict.ListenAddrs(), "scram-sha-256", "feed", "Sesame7"
		}, "kafka_sasl_password", true},
		"a broker hangs up": {func(c *Config) { c.SASL, c.User, c.Secret, c.Timeout = "PLAIN", "plain", "Sesame7", time.Second }, "or kafka_sasl_password", false},
		"no password":       {func(c *Config) { c.SASL, c.User = "PLAIN", "plain" }, "kafka_sasl_password", true},
		"a wrong mechanism": {func(c *Config) { c.SASL, c.User, c.Secret = "GSSAPI", "a", "b" }, "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", true},
		"a missing topic":   {func(c *Config) { c.Brokers, c.Create = plain.ListenAddrs(), false }, "kafka_create_topics", true},
		"nobody there":      {func(c *Config) { c.Brokers, c.Timeout = []string{"127.0.0.1:1"}, 500*time.Millisecond }, "kafka_brokers=127.0.0.1:1", false},
		"an unknown codec":  {func(c *Config) { c.Compression = "rar" }, "kafka_compression=rar", true},
		"a tiny limit":      {func(c *Config) { c.MaxBytes = 10 }, "message.max.bytes=10", true},
		"no brokers":        {func(c *Config) { c.Brokers = nil }, "kafka_brokers", true},
		"doubles refused":   {func(c *Config) { c.ExactlyOnce, c.ID, c.Idempotent = true, "x", false }, "enable.idempotence", true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configOf(secured)
			c.change(&cfg)
			p, err := New(cfg)
			if err == nil {
				defer p.Close()
				_, err = p.Open(t.Context())
				if _, final := errors.AsType[*FinalError](err); final != c.final {
					t.Errorf("final is %v, want %v: %v", final, c.final, err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "Sesame7") {
				t.Errorf("it says %v, want something of %s and no password", err, c.says)
			}
		})
	}
	cfg := configOf(secured)
	cfg.SASL, cfg.User, cfg.Secret = "SCRAM-SHA-256", "feed", "right"
	send(t, open(t, cfg), records(0, 3), "")
	cfg.SASL, cfg.User = "plain", "plain"
	send(t, open(t, cfg), records(3, 3), "")
}

func TestAForeignClientReadsWhatWasWritten(t *testing.T) {
	kcat, err := exec.LookPath("kcat")
	if err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip("kcat is not installed")
	}
	c := broker(t)
	cfg := configOf(c)
	cfg.Partitions, cfg.Compression = 1, "lz4"
	cfg.ExactlyOnce, cfg.ID = true, "feed-1"
	p := open(t, cfg)
	sent := records(0, 30)
	send(t, p, sent[:10], "10")
	send(t, p, sent[10:], "30")
	out, err := exec.CommandContext(t.Context(), kcat, "-b", c.ListenAddrs()[0], "-t", "events", "-C", "-e", "-q", "-f", "%k %s\n", "-X", "isolation.level=read_committed").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var want strings.Builder
	for _, r := range sent {
		fmt.Fprintf(&want, "%s %s\n", r.Key, r.Value)
	}
	if string(out) != want.String() {
		t.Errorf("kcat reads\n%s\nwant\n%s", out, want.String())
	}
}

func TestAFileOfLinesLosesWhatACrashLeftOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	long := strings.Repeat("z", 200_000)
	for _, left := range []string{"", "one\n", "one\ntw", "tw", "one\n" + long, long} {
		if err := os.WriteFile(path, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		f := NewFile(path)
		if _, err := f.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Send(t.Context(), []Record{{Value: []byte("two")}, {Value: []byte("three")}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		want := left[:strings.LastIndexByte(left, '\n')+1] + "two\nthree\n"
		if string(got) != want {
			t.Errorf("after %.20q the file has %.60q, want %.60q", left, got, want)
		}
	}
	if _, err := NewFile(filepath.Join(path, "x")).Open(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that cannot be made: %v", err)
	}
}
