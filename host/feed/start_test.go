package feed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"deepoj/host/feed"
	"deepoj/host/feed/feedtest"
	"deepoj/host/feed/wal"
)

func TestASecondFeedIsRefused(t *testing.T) {
	t.Parallel()
	s := newSetup(t, true)
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	if err := s.start().wait(); !errors.Is(err, wal.ErrLocked) || !strings.Contains(err.Error(), "wal_dir") {
		t.Errorf("a second feed with the same folder ends with %v", err)
	}
	// One with a folder of its own, and the same name in transactions.
	other := &setup{t: t, source: s.source, kafka: s.kafka, dir: t.TempDir(), exactly: true}
	g := other.start()
	g.until("the other has Kafka", func(s feed.Status) bool { return s.Counts.SnapshotDelivered == 7 })
	s.source.Produce(150)
	if err := f.wait(); err == nil || !strings.Contains(err.Error(), "kafka_transactional_id") {
		t.Errorf("a feed whose name another has ends with %v", err)
	}
}

func TestAFeedThatStartsWithoutKafkaReceives(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.change = impatient
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		s.source.Produce(200)
		f.has(200)
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		away := s.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Err: kerr.LeaderNotAvailable, Count: -1})
		f = s.start()
		s.source.Produce(400)
		st := f.until("receiving", func(st feed.Status) bool { return s.source.Acknowledged() == 400 && st.Sink.Error != "" })
		if st.Ack.Offset > 200 || st.Sink.Up {
			t.Errorf("although Kafka is away the feed is at %+v", st)
		}
		away.Remove()
		f.has(400)
		s.check(400, feedtest.Rules{Once: true})
	})
}

func TestALogThatIsLostIsSeenByTheSource(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		s.source.Produce(200)
		f.has(200)
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		lose := func() {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(s.dir, "wal")); err != nil {
				t.Fatal(err)
			}
		}
		// Everything that the source was acknowledged is in Kafka.
		lose()
		s.source.Produce(300)
		f = s.start()
		f.has(300)
		back := s.away()
		s.source.Produce(400)
		f.until("receiving", func(st feed.Status) bool { return s.source.Acknowledged() == 400 })
		s.change = impatient
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		back()
		// The source will not send again what Kafka does not have.
		lose()
		s.source.Produce(450)
		f = s.start()
		f.until("a session", func(s feed.Status) bool { return s.Source.Sessions > 0 })
		s.source.Produce(500)
		f.has(500)
		s.check(500, feedtest.Rules{Once: exactly})
		got := s.source.Sessions()
		if len(got) != 3 || got[1].Snapshot || got[2].Why != "the log is lost" {
			t.Errorf("the sessions were %+v", got)
		}
	})
}

func TestWhatContradictsItselfIsAnErrorWithARemedy(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	s.source.Produce(150)
	f.has(150)
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, "checkpoint.json")
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "wal", "wal-*-00000001.log"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Remove(files[0]); err != nil { // as cleaning does
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		checkpoint string // empty = it is missing
		says       []string
	}{
		"a missing checkpoint":         {"", []string{"checkpoint_path=" + path, "wal_dir=", "deepoj feed reset"}},
		"a checkpoint of another":      {strings.Replace(string(saved), "test:1", "test:2", 1), []string{"test:1", "test:2", "deepoj feed reset"}},
		"a log that ends too early":    {strings.Replace(string(saved), `"ack_cp":{"seq":50`, `"ack_cp":{"seq":9000`, 1), []string{"wal_dir=", "9000", "deepoj feed reset"}},
		"a log that begins too late":   {strings.Replace(string(saved), `"ack_cp":{"seq":50`, `"ack_cp":{"seq":1`, 1), []string{"wal_dir=", "begins at", "deepoj feed reset"}},
		"a checkpoint that is no JSON": {"{", []string{"checkpoint_path=" + path, "deepoj feed reset"}},
	} {
		if err := os.WriteFile(path, []byte(c.checkpoint), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.checkpoint == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		err := s.start().wait()
		if err == nil {
			t.Errorf("%s: the feed runs", name)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: it says %v, and not %s", name, err, says)
			}
		}
	}
	s.source.Refuse(&feed.FinalError{Err: fmt.Errorf("postgres_slot: %w", errTest)})
	if err := os.WriteFile(path, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.start().wait(); !errors.Is(err, errTest) {
		t.Errorf("a source that will never be there: the feed ends with %v", err)
	}
}

func TestAStartThatIsGivenNeedsNoSnapshot(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		s := newSetup(t, false)
		s.change = func(o *feed.Options) {
			o.Start.Given, o.Start.FromMaster = given, !given
			o.Start.Position = wal.Position{Filenum: 1, Offset: 50}
		}
		s.source.Produce(100)
		f := s.start()
		f.until("a session", func(s feed.Status) bool { return s.Source.Sessions > 0 })
		s.source.Produce(200)
		f.has(200)
		from := uint64(100)
		if given {
			from = 50
		}
		s.check(200, feedtest.Rules{Once: true, From: from})
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		// The checkpoint comes first from then on.
		s.source.Produce(250)
		f = s.start()
		f.has(250)
		s.check(250, feedtest.Rules{Once: true, From: from})
	}
}

func TestThePositionInKafkaIsBelieved(t *testing.T) {
	t.Parallel()
	s := newSetup(t, true)
	s.source.Produce(100)
	f := s.start()
	s.source.Produce(120)
	f.has(120)
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, "checkpoint.json")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.change = func(o *feed.Options) { o.WAL.Retain = 100 }
	s.source.Produce(180)
	f = s.start()
	f.has(180)
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil { // as if the process had died before it was saved
		t.Fatal(err)
	}
	s.source.Produce(240)
	f = s.start()
	f.has(240)
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	s.check(240, feedtest.Rules{Once: true})
	// After a reset numbers go on, and a snapshot comes first.
	if err := errors.Join(os.Remove(path), os.RemoveAll(filepath.Join(s.dir, "wal"))); err != nil {
		t.Fatal(err)
	}
	before := f.Status()
	f = s.start()
	f.until("a session", func(s feed.Status) bool { return s.Source.Sessions > 0 })
	s.source.Produce(300)
	st := f.has(300)
	if st.Epoch <= before.Epoch || st.Ack.Seq <= before.Ack.Seq {
		t.Errorf("before the reset the feed was at %+v, and then at %+v", before, st)
	}
	s.check(300, feedtest.Rules{})
}
