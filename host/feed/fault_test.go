package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"deepoj/host/feed"
	"deepoj/host/feed/feedtest"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

// away lets Kafka take nothing until the returned function is called.
func (s *setup) away() (back func()) {
	h := s.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: -1})
	return h.Remove
}

// impatient feeds open Kafka anew soon.
func impatient(o *feed.Options) { o.SendTimeout = 300 * time.Millisecond }

func TestKafkaBeingAwayDoesNotStopReceiving(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.change = impatient
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		back := s.away()
		s.source.Produce(2000)
		f.until("everything is received and acknowledged", func(st feed.Status) bool { return st.Durable.Offset == 2000 && s.source.Acknowledged() == 2000 })
		st := f.until("Kafka is known to be away", func(s feed.Status) bool { return !s.Sink.Up && s.Sink.Error != "" && s.LagSeconds > 0 })
		if st.Ack.Offset >= 2000 || st.LagRecords == 0 {
			t.Errorf("although Kafka is away the feed is at %+v", st)
		}
		f.until("catch-up", func(s feed.Status) bool { return s.State == feed.CatchUp })
		back()
		f.has(2000)
		f.until("streaming", func(s feed.Status) bool { return s.State == feed.Streaming && s.Sink.Up })
		s.check(2000, feedtest.Rules{Once: exactly})
	})
}

func TestErrorsOfKafkaThatPassLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.kafka.Fault(
			kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: 3},
			kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicasAfterAppend, Count: 2}, // it was written, and is sent again
			kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 2},              // the same
		)
		s.source.Produce(100)
		f := s.start()
		s.source.Produce(300)
		f.has(300)
		s.check(300, feedtest.Rules{Once: true})
	})
}

// lossy is Kafka over a connection that breaks now and then: before a batch is sent, or before the answer comes.
type lossy struct {
	kafka.Sink
	n int
}

func (s *lossy) Send(ctx context.Context, batch []kafka.Record, position []byte) error {
	s.n++
	if s.n%3 == 0 {
		return errTest
	}
	err := s.Sink.Send(ctx, batch, position)
	if s.n%3 == 1 {
		err = errors.Join(err, errTest)
	}
	return err
}

func TestAnAnswerOfKafkaThatIsLostDoublesNothingWhereKafkaKeepsThePosition(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.change = func(o *feed.Options) { o.Sink = &lossy{Sink: o.Sink} }
		s.source.FailSnapshots(3)
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		s.source.Produce(300)
		f.has(300)
		s.check(300, feedtest.Rules{Once: exactly})
	})
}

func TestWhatIsTooLargeForKafkaIsADeadLetterAndTheFeedGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.Size = func(n uint64) int {
			if n == 157 {
				return 3 << 20
			}
			return 100
		}
		s.change = func(o *feed.Options) { o.InFlight = 64 << 10 } // it is larger than all that may be in flight, too
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		s.source.Produce(300)
		f.has(300)
		if st := f.Status(); st.Counts.DeadLetters != 1 {
			t.Errorf("%d dead letters are counted", st.Counts.DeadLetters)
		}
		s.check(300, feedtest.Rules{Once: exactly, Without: []uint64{157}})
		var letter kafka.DeadLetter
		if all := read(t, s.kafka, "dead"); len(all) != 1 || json.Unmarshal(all[0], &letter) != nil || letter.EventID != "change:157" || letter.Reason == "" {
			t.Errorf("the dead letters are %s", all)
		}
	})
}

func TestAFullLogStopsReceivingAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSetup(t, false)
	const most = 40 << 10
	s.change = func(o *feed.Options) { impatient(o); o.WAL.MaxBytes = most }
	s.source.Produce(100)
	f := s.start()
	f.has(100)
	back := s.away()
	s.source.Produce(3000)
	f.until("the log is full", func(s feed.Status) bool { return s.WAL.FullSince != nil && s.WAL.Bytes <= most })
	if got := s.source.Acknowledged(); got >= 3000 {
		t.Errorf("the source is acknowledged up to %d", got)
	}
	back()
	f.has(3000)
	if st := f.Status(); st.WAL.FullSince != nil {
		t.Error("the log is still said to be full")
	}
	s.check(3000, feedtest.Rules{})
}

func TestASourceThatBreaksComesBackWithoutAHole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		for _, transaction := range []uint64{0, 8} {
			s := newSetup(t, exactly)
			s.source.Transaction = transaction
			s.source.Refuse(errTest, errTest)
			s.source.CutBehind(101, 111, 122, 133, 200, 208, 250) // in the middle of a transaction, and at its end
			s.source.Produce(96)
			f := s.start()
			f.has(95)
			s.source.Produce(400)
			f.has(400)
			s.source.Cut(errTest)
			s.source.Produce(480)
			f.has(480)
			if err := f.end(); err != nil {
				t.Fatal(err)
			}
			s.check(480, feedtest.Rules{Once: true})
			if st := f.Status(); len(s.source.Sessions()) != 9 || st.Epoch != 9 || !strings.Contains(st.Source.Error, errTest.Error()) {
				t.Errorf("%d sessions were opened, the feed is at %+v", len(s.source.Sessions()), st)
			}
		}
	})
}

func TestASnapshotThatBreaksIsStartedOverUnderANewEpoch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.FailSnapshots(0, 2, 5, 6)
		s.source.Produce(100)
		f := s.start()
		s.source.Produce(300)
		f.has(300)
		s.check(300, feedtest.Rules{Once: true})
		if st := f.Status(); st.Epoch != 5 || st.Snapshot.SnapshotSeq != 7 {
			t.Errorf("after four snapshots that broke, the feed is at %+v", st)
		}
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		// The process ends in the middle of one.
		s.source.Replace("two")
		release := s.source.HoldSnapshots()
		f = s.start()
		f.until("a snapshot", func(s feed.Status) bool { return s.State == feed.Snapshot })
		s.source.Produce(400)
		f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 400 })
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		s.source.Produce(500)
		release()
		f = s.start()
		f.has(500)
		s.check(500, feedtest.Rules{Once: exactly})
		if got := f.Status().Counts.Superseded; got == 0 {
			t.Error("what came during a snapshot that broke went out")
		}
	})
}

func TestAfterASnapshotTheStreamGoesOnBehindItThoughTheLogHasOnlyOlderRecords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		for _, handedOver := range []bool{false, true} {
			s := newSetup(t, exactly)
			release := s.source.HoldSnapshots()
			s.source.Produce(100)
			f := s.start()
			f.until("a snapshot", func(s feed.Status) bool { return s.Counts.SnapshotQueued == 6 })
			s.source.Produce(150)
			f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 150 })
			s.source.Refuse(slices.Repeat([]error{errTest}, 10)...)
			s.source.Cut(errTest)
			f.until("the source is away", func(s feed.Status) bool { return s.Source.Error != "" })
			back := func() {}
			if handedOver {
				back = s.away()
			}
			s.source.Produce(300)
			release()
			f.until("another snapshot", func(s feed.Status) bool { return s.Counts.SnapshotQueued >= 13 && s.Snapshot.BgsaveEndOffset == 300 })
			if handedOver {
				s.source.Cut(errTest)
				n := len(s.source.Sessions())
				f.until("another session", func(feed.Status) bool { return len(s.source.Sessions()) > n })
				back()
			}
			f.has(300)
			if err := f.end(); err != nil {
				t.Fatal(err)
			}
			s.source.Produce(400)
			f = s.start()
			f.has(400)
			s.check(400, feedtest.Rules{Once: true})
		}
	})
}

func TestASnapshotThatWasHandedOverOutlivesItsSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.Produce(100)
		back := s.away()
		f := s.start()
		f.until("the snapshot is handed over", func(s feed.Status) bool { return s.Counts.SnapshotQueued == 7 })
		s.source.Produce(150)
		f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 150 })
		s.source.Cut(errTest)
		f.until("another session", func(s feed.Status) bool { return s.Source.Sessions == 2 })
		back()
		s.source.Produce(200)
		f.has(200)
		s.check(200, feedtest.Rules{Once: true})
		if got := s.source.Sessions(); got[1].Snapshot {
			t.Errorf("the second session orders a snapshot: %+v", got[1])
		}
	})
}

func TestAPositionThatIsGoneNeedsASnapshotAndWhatWasReceivedGoesOutFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		back := s.away()
		s.source.Produce(300)
		f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 300 })
		s.source.Purge(400)
		s.source.Produce(500)
		s.source.Cut(errTest)
		f.until("another snapshot", func(s feed.Status) bool {
			return s.Source.Sessions >= 2 && s.State == feed.Snapshot && s.Why == "the position is gone"
		})
		back()
		s.source.Produce(550)
		f.has(550)
		values := s.check(550, feedtest.Rules{Once: exactly})
		if !slices.ContainsFunc(values, func(v []byte) bool { return strings.Contains(string(v), `"change:299"`) }) {
			t.Error("what was received before the position was gone did not go out")
		}
	})
}

func TestDamageInTheLogStopsTheFeedLoudly(t *testing.T) {
	t.Parallel()
	for _, newest := range []bool{false, true} {
		s := newSetup(t, false)
		s.change = impatient
		s.source.Produce(100)
		f := s.start()
		f.has(100)
		back := s.away()
		s.source.Produce(300)
		f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 300 })
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		back()
		names, err := filepath.Glob(filepath.Join(s.dir, "wal", "wal-*.log"))
		if err != nil || len(names) < 4 {
			t.Fatal(names, err)
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-12:], b[len(b)-12:]) })
		name := names[len(names)-2]
		if newest {
			name = names[len(names)-1]
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[70] ^= 1
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		err = s.start().wait()
		if damage, ok := errors.AsType[*wal.DamageError](err); !ok || damage.File != name || !strings.Contains(err.Error(), "deepoj feed reset") {
			t.Errorf("a flipped bit in %s: the feed ends with %v", name, err)
		}
	}
}
