package feed_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/feedtest"
	"deepoj/host/feed/kafka"
)

func TestTheStatusAndTheFiguresSayHowTheFeedIs(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	release := s.source.HoldSnapshots()
	s.source.Refuse(errTest)
	s.source.Produce(100)
	f := s.start()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(f); err != nil {
		t.Fatal(err)
	}
	figures := func() map[string]float64 {
		t.Helper()
		all, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range all {
			for _, m := range family.Metric {
				name := family.GetName()
				for _, l := range m.Label {
					name += "/" + l.GetValue()
				}
				got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		return got
	}
	figures() // at any time
	f.until("a snapshot", func(s feed.Status) bool { return s.State == feed.Snapshot && s.Counts.SnapshotDelivered == 6 })
	if got := figures(); got["feed_state/snapshot"] != 1 || got["feed_state/streaming"] != 0 || got["feed_snapshot_seq"] != 6 {
		t.Errorf("in a snapshot the figures are %v", got)
	}
	release()
	s.source.Produce(300)
	f.has(300)
	st := f.until("streaming", func(s feed.Status) bool { return s.State == feed.Streaming })
	want := feed.Counts{
		Received: 200, ReceivedBytes: 200 * 108, Delivered: 180, Filtered: 20, SnapshotRead: 7, SnapshotQueued: 7, SnapshotDelivered: 7,
	}
	if st.Counts != want {
		t.Errorf("it counts %+v, want %+v", st.Counts, want)
	}
	if st.SourceID != "test:1" || st.Epoch != 1 || st.Ack.Seq != 200 || st.Durable.Offset != 300 || st.Why != "there is nothing yet" || st.WAL.Bytes == 0 ||
		!st.Source.Up || st.Source.Error != errTest.Error() || *st.Source.Behind != 0 || st.Source.Unit != "changes" || !st.Sink.Up {
		t.Errorf("the status is %+v", st)
	}
	got := figures()
	for name, value := range map[string]float64{
		"feed_state/streaming": 1, "feed_state/snapshot": 0, "feed_epoch": 1, "feed_durable_seq": 200, "feed_ack_seq": 200, "feed_lag_records": 0,
		"feed_lag_seconds": 0, "feed_wal_full": 0, "feed_source_up": 1, "feed_sink_up": 1, "feed_sessions_total": 1, "feed_source_behind/changes": 0,
		"feed_received_records_total": 200, "feed_delivered_records_total": 180, "feed_filtered_records_total": 20,
	} {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %v, want %v", name, v, value)
		}
	}
	for name := range got {
		if !strings.HasPrefix(name, "feed_") {
			t.Errorf("a figure is called %s", name)
		}
	}
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"state":"streaming"`, `"ack_cp":{"seq":200,"filenum":1,"offset":300}`, `"durable_cp":`, `"lag_records":0`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the status in JSON is %s, without %s", text, part)
		}
	}
}

func TestWhatNobodyGetsIsAcknowledgedToo(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	s.source.Produce(9)
	f := s.start()
	f.has(9)
	s.source.Produce(10) // the filter drops it
	f.until("the checkpoint says so", func(feed.Status) bool {
		c, found, err := checkpoint.Load(filepath.Join(s.dir, "checkpoint.json"), "test:1")
		return err == nil && found && c.Ack.Offset == 10
	})
	if st := f.Status(); st.Counts.Delivered != 0 || st.Counts.Filtered != 1 {
		t.Errorf("it counts %+v", st.Counts)
	}
}

func TestWhatKafkaHasIsCleanedAwayAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	s.change = func(o *feed.Options) { o.WAL.Retain = 2 }
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	files := func() (names []string) {
		names, err := filepath.Glob(filepath.Join(s.dir, "wal", "wal-*.log"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for n := uint64(140); n <= 900; n += 40 { // each is more than a file has
		s.source.Produce(n)
		f.until("it is saved", func(feed.Status) bool {
			c, _, err := checkpoint.Load(filepath.Join(s.dir, "checkpoint.json"), "test:1")
			return err == nil && c.Ack.Offset >= n
		})
	}
	if n := len(files()); n > 5 {
		t.Errorf("the log has %d files, of which 2 are to be kept", n)
	}
	back := s.away()
	first := slices.Min(files())
	s.source.Produce(2000)
	f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 2000 })
	if _, err := os.Stat(first); err != nil && len(files()) < 20 {
		t.Errorf("what Kafka does not have is gone: %v", files())
	}
	back()
	f.has(2000)
	s.check(2000, feedtest.Rules{})
}

func TestRecordsOfOneKeyAreInOrderInEveryPartition(t *testing.T) {
	t.Parallel()
	s := newSetup(t, true)
	s.kafka = brokerWith(t, 3)
	s.source.CutBehind(120, 333)
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	s.source.Produce(500)
	f.has(500)
	last, total := map[uint64]uint64{}, 0
	for partition := range int32(3) {
		for _, value := range readPartition(t, s.kafka, topic, partition) {
			var e feedtest.Event
			if err := json.Unmarshal(value, &e); err != nil {
				t.Fatal(err)
			}
			if e.Type != "change" {
				continue
			}
			total++
			if e.N <= last[e.N%7] {
				t.Errorf("change %d comes behind change %d of its key", e.N, last[e.N%7])
			}
			last[e.N%7] = e.N
		}
	}
	if total != 360 {
		t.Errorf("%d changes are there, want 360", total)
	}
}

func TestAFeedThatIsToldToEndEndsSoonWhateverIsAway(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	s.away()
	s.source.Refuse(slices.Repeat([]error{errTest}, 1000)...)
	s.change = func(o *feed.Options) { o.Pause, o.MaxPause = time.Hour, time.Hour }
	f := s.start()
	f.until("the source is away", func(s feed.Status) bool { return s.Source.Error != "" && s.State == feed.Starting })
	if err := f.end(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// stuck is a sink that takes nothing until it is told to.
type stuck struct{ free chan struct{} }

func (s stuck) Open(context.Context) ([]byte, error) { return nil, nil }
func (s stuck) Close() error                         { return nil }

func (s stuck) Send(ctx context.Context, _ []kafka.Record, _ []byte) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.free:
		return nil
	}
}

func TestMemoryStaysFlatAtAnyBacklog(t *testing.T) { // not parallel: others need memory, too
	s := newSetup(t, false)
	sink := stuck{make(chan struct{})}
	s.change = func(o *feed.Options) {
		o.Sink, o.Window, o.WAL.SegmentBytes, o.Start.FromMaster = sink, 0, 32<<20, true
	}
	const records, size = 12_000, 16 << 10 // 187 MiB
	s.source.Size = func(uint64) int { return size }
	f := s.start()
	f.until("a session", func(s feed.Status) bool { return s.Source.Sessions > 0 })
	s.source.Produce(records)
	f.until("everything is received", func(s feed.Status) bool { return s.Durable.Offset == records })
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	if got := heap(); got > 100<<20 {
		t.Errorf("with a backlog of %d MiB the heap has %d MiB", records*size>>20, got>>20)
	}
	close(sink.free)
	f.has(records)
	if got := heap(); got > 100<<20 {
		t.Errorf("behind the backlog the heap has %d MiB", got>>20)
	}
}
