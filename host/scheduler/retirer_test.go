package scheduler

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deepoj/sql"
	"deepoj/sql/jobs"
)

func TestWhatIsPastItsRetentionIsDeletedAndCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.submit(5)
	b.submit(1)
	for _, id := range ids {
		if err := b.Cancel(t.Context(), id, "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	r, err := NewRetirer(RetirerConfig{Submissions: time.Nanosecond, Batch: 2, Log: b.log, Registerer: b.reg}, b.Store)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	b.eventually("the cancelled jobs are deleted", func() bool {
		for _, id := range ids {
			if _, err := b.Submission(t.Context(), id); !errors.Is(err, sql.ErrNotFound) {
				return false
			}
		}
		return true
	})
	b.eventually("the deletions are counted", func() bool { // which follows the statement
		return b.figure("retention_deleted_total", "what", "submissions") >= 5
	})
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v, want nil", err)
	}
	if n := b.figure("retention_deleted_total", "what", "submissions"); n != 5 {
		t.Errorf("%v deletions counted, want 5", n)
	}
	if s := b.stats(); s.Pending != 1 {
		t.Errorf("%d jobs wait, want the one that was not cancelled", s.Pending)
	}
	if a, err := b.Audit(t.Context()); err != nil || !a.Zero() {
		t.Errorf("audit %+v, %v", a, err)
	}
}

// archive is a database with a number of old events, in false time.
type archive struct {
	Retention
	left, calls atomic.Int64
	fail        atomic.Bool
}

func (s *archive) RetireGroups(context.Context) (int64, error) { return 0, nil }

func (s *archive) RetireDeliveries(context.Context, time.Duration, int) (jobs.Retired, error) {
	return jobs.Retired{}, nil
}

func (s *archive) RetireEvents(_ context.Context, _ time.Duration, _ jobs.RetireCursor, limit int) (jobs.Retired, error) {
	s.calls.Add(1)
	if s.fail.Load() {
		return jobs.Retired{}, errors.New("connection refused")
	}
	n := min(int64(limit), s.left.Load())
	s.left.Add(-n)
	return jobs.Retired{Deleted: n, More: n == int64(limit)}, nil
}

func TestARetirerRestsBetweenSweepsAndOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &archive{}
		s.left.Store(25)
		s.fail.Store(true)
		r, err := NewRetirer(RetirerConfig{Events: time.Hour, Interval: time.Minute, Batch: 10}, s)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-time.After(time.Second)
		if n := s.calls.Load(); n != 1 {
			t.Errorf("asked %d times in an outage, want once", n)
		}
		s.fail.Store(false)
		<-time.After(2 * time.Minute)
		if left, calls := s.left.Load(), s.calls.Load(); left != 0 || calls > 6 {
			t.Errorf("%d events are left after %d statements, want none after a sweep of three statements and one or two of one", left, calls)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}
