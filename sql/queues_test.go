package sql_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestQueuesHaveTheirOwnRules(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	sqltest.Must(t, s.SaveQueue(t.Context(), judge.CoursePreset("course")))
	sqltest.Must(t, s.SaveQueue(t.Context(), judge.Queue{Name: "contest", MaxTries: 2, MaxBacklog: 100}))
	sqltest.Must(t, s.SaveQueue(t.Context(), judge.Queue{Name: "contest", MaxTries: 3}))
	qs, err := s.Queues(t.Context())
	want := []judge.Queue{
		{Name: "contest", Ordering: judge.FIFO, MaxWait: 15 * time.Minute, Spacing: time.Second, Redeliver: 30 * time.Second, MaxTries: 3},
		{Name: "course", Ordering: judge.LIFO, MaxWait: 15 * time.Minute, Spacing: time.Minute, Redeliver: 30 * time.Second, MaxTries: 5},
		{Name: "default", Ordering: judge.FIFO, MaxWait: 15 * time.Minute, Spacing: time.Second, Redeliver: 30 * time.Second, MaxTries: 5},
	}
	if err != nil || !slices.Equal(qs, want) {
		t.Errorf("queues = %+v, %v", qs, err)
	}
	id := sqltest.Submit(t, s, sqltest.Sub("alice", func(n *sql.NewJob) { n.Queue = "contest" }))
	sqltest.Must(t, s.PauseQueue(t.Context(), "contest", true, "prof"))
	take := func() int {
		ts, err := s.Pick(t.Context(), jobs.PickRequest{Queue: "contest", Dispatcher: "d", Limit: 1})
		sqltest.Must(t, err)
		return len(ts)
	}
	sqltest.Order(t, s) // other queues do not have it
	if n := take(); n != 0 {
		t.Error("a paused queue gave work")
	}
	sqltest.Must(t, s.PauseQueue(t.Context(), "contest", false, "prof"))
	if n := take(); n != 1 {
		t.Error("a queue gave no work")
	}
	if job := sqltest.Claim(t, s, id, "w1", 1); job.MaxTries != 3 || job.Queue != "contest" {
		t.Errorf("job = %+v", job)
	}
	if err := s.PauseQueue(t.Context(), "nosuch", true, "prof"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an unknown queue: %v", err)
	}
	err = s.SaveQueue(t.Context(), judge.Queue{Ordering: "x", MaxWait: -1, Spacing: -1, Redeliver: -1, MaxTries: -1, GroupLimit: -1, MaxBacklog: -1})
	for _, f := range []string{"Name", "Ordering", "MaxWait", "Spacing", "Redeliver", "MaxTries", "GroupLimit", "MaxBacklog"} {
		if err == nil || !strings.Contains(err.Error(), f) {
			t.Errorf("%v does not name %s", err, f)
		}
	}
}
