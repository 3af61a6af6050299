package queue_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/judge"
	"deepoj/queue"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

const stream, group = "deepoj:jobs", "deepoj:workers"

func TestATicketArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	q := newServer(t).open(t)
	sent := tickets(1, 3)
	ids := publish(t, q, sent)
	es := receive(t, q, 3)
	for i, e := range es {
		if e.Ticket != sent[i] || e.ID != ids[i] || e.Reason != "" {
			t.Errorf("entry = %+v, want %+v with id %s", e, sent[i], ids[i])
		}
	}
	receive(t, q, 0)
}

func TestEntriesAddedBeforeTheGroupAreDelivered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if err := s.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: []any{
		"job_id", 7, "enqueue_ts", 1, "payload_ref", "pg:7", "priority", 0,
	}}).Err(); err != nil {
		t.Fatal(err)
	}
	if es := receive(t, s.open(t), 1); es[0].JobID != 7 {
		t.Errorf("received %+v", es)
	}
}

func TestWorkersShareTheStream(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a, b := s.open(t), s.open(t)
	if a.Consumer() == b.Consumer() {
		t.Fatalf("twins share the name %s", a.Consumer())
	}
	publish(t, a, tickets(1, 4))
	first, err := a.Receive(t.Context(), 3, 0)
	if err != nil || len(first) != 3 {
		t.Fatalf("first = %v, %v", first, err)
	}
	if second := idsOf(receive(t, b, 1)); !slices.Equal(second, []int64{4}) {
		t.Errorf("second = %v, want [4]", second)
	}
}

func TestWhatIsAcknowledgedIsGone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t)
	publish(t, q, tickets(1, 3))
	es := receive(t, q, 3)
	st, err := q.Stats(t.Context())
	if err != nil || st.Length != 3 || st.Pending != 3 || st.Lag != 0 || st.Consumers != 1 {
		t.Errorf("stats = %+v, %v", st, err)
	}
	if err := q.Ack(t.Context(), append(es[:2], judge.Entry{})...); err != nil {
		t.Fatal(err)
	}
	if err := q.Ack(t.Context(), es[:2]...); err != nil {
		t.Errorf("a repeated acknowledgement: %v", err)
	}
	publish(t, q, tickets(4, 5))
	st, err = q.Stats(t.Context())
	if err != nil || st.Length != 3 || st.Pending != 1 || st.Lag != 2 {
		t.Errorf("stats = %+v, %v", st, err)
	}
}

func TestMalformedEntriesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t)
	hash := "sha256:" + "ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12"
	tests := []struct {
		values []any
		job    int64
		reason judge.Reason
	}{
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", "pg:1", "priority", 0}, 1, ""},
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", hash, "priority", -3, "more", "x"}, 1, ""},
		{[]any{"enqueue_ts", 1, "payload_ref", "pg:1", "priority", 0}, 0, judge.ReasonMissingField},
		{[]any{"job_id", 1, "payload_ref", "pg:1", "priority", 0}, 1, judge.ReasonMissingField},
		{[]any{"job_id", 1, "enqueue_ts", 1, "priority", 0}, 1, judge.ReasonMissingField},
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", "pg:1"}, 1, judge.ReasonMissingField},
		{[]any{"job_id", "x", "enqueue_ts", 1, "payload_ref", "pg:1", "priority", 0}, 0, judge.ReasonPayload},
		{[]any{"job_id", -1, "enqueue_ts", 1, "payload_ref", "pg:-1", "priority", 0}, -1, judge.ReasonPayload},
		{[]any{"job_id", 1, "enqueue_ts", "now", "payload_ref", "pg:1", "priority", 0}, 1, judge.ReasonPayload},
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", "pg:2", "priority", 0}, 1, judge.ReasonPayload},
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", "sha256:12", "priority", 0}, 1, judge.ReasonPayload},
		{[]any{"job_id", 1, "enqueue_ts", 1, "payload_ref", "file:///etc/passwd", "priority", 0}, 1, judge.ReasonPayload},
		{[]any{"hello", "world"}, 0, judge.ReasonMissingField},
	}
	for _, tt := range tests {
		if err := s.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: tt.values}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	es := receive(t, q, len(tests))
	for i, tt := range tests {
		if es[i].JobID != tt.job || es[i].Reason != string(tt.reason) || es[i].ID == "" {
			t.Errorf("%v: job %d, reason %q; want %d, %q", tt.values, es[i].JobID, es[i].Reason, tt.job, tt.reason)
		}
	}
	if err := q.Ack(t.Context(), es...); err != nil {
		t.Fatal(err)
	}
	if n := s.raw.XLen(t.Context(), stream).Val(); n != 0 {
		t.Errorf("%d entries left", n)
	}
}

func TestDuplicatesArriveTwiceAndAreAcknowledgedEach(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t)
	publish(t, q, tickets(1, 1))
	publish(t, q, tickets(1, 1))
	es := receive(t, q, 2)
	if es[0].JobID != 1 || es[1].JobID != 1 || es[0].ID == es[1].ID {
		t.Fatalf("received %+v", es)
	}
	if err := q.Ack(t.Context(), es[0]); err != nil {
		t.Fatal(err)
	}
	if n := s.raw.XLen(t.Context(), stream).Val(); n != 1 {
		t.Errorf("%d entries left, want the duplicate", n)
	}
}

func TestAWaitingReaderGetsWhatComesAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	q := newServer(t).open(t)
	got := make(chan []judge.Entry, 1)
	go func() {
		es, err := q.Receive(t.Context(), 1, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- es
	}()
	publish(t, q, tickets(1, 1))
	if es := <-got; len(es) != 1 {
		t.Fatalf("received %v", es)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		es, err := q.Receive(ctx, 1, time.Hour)
		if err != nil {
			t.Error(err)
		}
		got <- es
	}()
	cancel()
	if es := <-got; len(es) != 0 {
		t.Errorf("received %v after the context ended", es)
	}
}

func TestAPoolHasItsOwnStreamInTheSameSlot(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	gpu := func(c *queue.Config) { c.Pool = "gpu" }
	publish(t, s.open(t, gpu), tickets(1, 1))
	publish(t, s.open(t), tickets(2, 2))
	if got := idsOf(receive(t, s.open(t), 1)); got[0] != 2 {
		t.Errorf("the default pool got %v", got)
	}
	if got := idsOf(receive(t, s.open(t, gpu), 1)); got[0] != 1 {
		t.Errorf("pool gpu got %v", got)
	}
	for _, key := range []string{stream, "{deepoj:jobs}:gpu", "{deepoj:jobs}:epoch"} {
		if n := s.raw.Exists(t.Context(), key).Val(); n != 1 {
			t.Errorf("there is no key %s", key)
		}
	}
	tagged := func(c *queue.Config) { c.Stream = "{oj}:jobs"; c.Pool = "gpu" }
	publish(t, s.open(t, tagged), tickets(3, 3))
	if n := s.raw.Exists(t.Context(), "{oj}:jobs:gpu").Val(); n != 1 {
		t.Error("there is no key {oj}:jobs:gpu")
	}
}

func TestTheStreamIsTrimmed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, func(c *queue.Config) { c.MaxLen = 100 })
	publish(t, q, tickets(1, 1000))
	if n := s.raw.XLen(t.Context(), stream).Val(); n < 100 || n > 300 {
		t.Errorf("length = %d, want about 100", n)
	}
}
