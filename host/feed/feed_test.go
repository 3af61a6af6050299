package feed_test

import (
	"testing"

	"deepoj/host/feed"
	"deepoj/host/feed/feedtest"
)

func TestASnapshotAndThenEveryChangeArriveInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, exactly bool) {
		s := newSetup(t, exactly)
		s.source.Produce(100)
		release := s.source.HoldSnapshots()
		f := s.start()
		f.until("a snapshot", func(s feed.Status) bool { return s.State == feed.Snapshot })
		s.source.Produce(300)
		// Changes are received, and wait in the log.
		f.until("receiving", func(s feed.Status) bool { return s.Durable.Offset == 300 })
		release()
		f.has(300)
		f.until("streaming", func(s feed.Status) bool { return s.State == feed.Streaming })
		s.source.Produce(301)
		f.has(301)
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		f = s.start()
		s.source.Produce(400)
		f.has(400)
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		s.check(400, feedtest.Rules{Once: true})
		if got := s.source.Sessions(); len(got) != 2 || !got[0].Snapshot || got[1].Snapshot {
			t.Errorf("the sessions were %+v, want one with a snapshot and one without", got)
		}
	})
}
