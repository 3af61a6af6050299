package queue_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/queue"
)

func TestALossIsNoticedByEverybody(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *server){
		"flushed":            func(t *testing.T, s *server) { must(t, s.raw.FlushAll(t.Context()).Err()) },
		"restarted empty":    func(t *testing.T, s *server) { s.restart(t) },
		"the stream deleted": func(t *testing.T, s *server) { must(t, s.raw.Del(t.Context(), stream).Err()) },
		"the group deleted":  func(t *testing.T, s *server) { must(t, s.raw.XGroupDestroy(t.Context(), stream, group).Err()) },
	}
	for name, lose := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			dispatcher, worker := s.open(t), s.open(t)
			quiet(t, dispatcher)
			quiet(t, worker)
			publish(t, dispatcher, tickets(1, 3))
			lose(t, s)
			// Whatever happens first, a read makes the group again, from its start.
			publish(t, dispatcher, tickets(4, 4))
			es, err := worker.Receive(t.Context(), 10, 0)
			for err == nil && len(es) == 0 {
				es, err = worker.Receive(t.Context(), 10, 10*time.Millisecond)
			}
			if err != nil || !slices.Contains(idsOf(es), 4) {
				t.Fatalf("received %v, %v; want job 4 at least", es, err)
			}
			changes(t, dispatcher)
			changes(t, worker)
		})
	}
}

func TestANewProcessLearnsThatTheStreamIsNew(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.open(t)
	changes(t, first) // whatever was delivered before this Redis is lost
	quiet(t, s.open(t))
	quiet(t, first)
}

func TestLooksAtOnceHideNoChangeFromEachOther(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for range 100 {
		must(t, s.raw.FlushAll(t.Context()).Err())
		q, err := queue.Open(t.Context(), queue.Config{URL: s.URL(), WatchEvery: time.Millisecond})
		must(t, err)
		var looks errgroup.Group
		for range 8 {
			looks.Go(func() error { return q.Ping(t.Context()) })
		}
		must(t, looks.Wait())
		changes(t, q)
		must(t, q.Close())
	}
}

func TestARestartIsNoticedEvenIfTheDataSurvived(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t)
	quiet(t, q)
	epoch := s.raw.Get(t.Context(), "{deepoj:jobs}:epoch").Val()
	// What a restart from an older snapshot leaves: another run, the old key.
	must(t, q.Close())
	must(t, s.raw.Set(t.Context(), "{deepoj:jobs}:epoch", "0123456789"+epoch[10:], 0).Err())
	changes(t, s.open(t))
}

func TestRedisMayComeLate(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.stop(t)
	q, err := queue.Open(t.Context(), queue.Config{URL: s.URL(), WatchEvery: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	if err := q.Ping(t.Context()); err == nil {
		t.Error("a stopped Redis answered")
	}
	if _, err := q.Publish(t.Context(), tickets(1, 1)); err == nil {
		t.Error("a stopped Redis took an entry")
	}
	if _, err := q.Receive(t.Context(), 1, time.Minute); err == nil {
		t.Error("a stopped Redis gave entries")
	}
	if err := q.Ack(t.Context(), receiveNothing...); err != nil {
		t.Errorf("acknowledging nothing: %v", err)
	}
	s.start(t)
	changes(t, q)
	publish(t, q, tickets(1, 1))
	receive(t, q, 1)
}

func TestWhatNobodyAcknowledgesIsCleanedUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dead := s.open(t)
	publish(t, dead, tickets(1, 5))
	receive(t, dead, 5)
	patient := s.open(t)
	if done, err := patient.Clean(t.Context(), nil); err != nil || done.Removed != 0 {
		t.Errorf("cleaned %+v, %v before the time", done, err)
	}
	eager := s.open(t, func(c *queue.Config) { c.MinIdle, c.CleanCount = time.Millisecond, 2 })
	var removed int64
	for range 20 {
		done, err := eager.Clean(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if removed += done.Removed; removed == 5 {
			break
		}
	}
	st, err := eager.Stats(t.Context())
	if err != nil || removed != 5 || st.Length != 0 || st.Pending != 0 {
		t.Errorf("removed %d, stats %+v, %v", removed, st, err)
	}
}

func TestTrimmedEntriesLeaveThePendingListAsWell(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, func(c *queue.Config) { c.MinIdle = time.Millisecond })
	publish(t, q, tickets(1, 3))
	receive(t, q, 3)
	must(t, s.raw.XTrimMaxLen(t.Context(), stream, 0).Err())
	for {
		if _, err := q.Clean(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		st, err := q.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st.Pending == 0 {
			return
		}
	}
}
