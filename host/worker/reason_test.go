package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
)

// silent is a script whose first claims and whose heartbeats get no answer.
type silent struct {
	*script
	mu     sync.Mutex
	claims int
}

func (s *silent) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error) {
	s.mu.Lock()
	s.claims++
	n := s.claims
	s.mu.Unlock()
	if n <= claimTries {
		return nil, nil, errors.New("connection refused")
	}
	return s.script.Claim(ctx, ids, owner, token, lease)
}

// deaf is a delivery that takes no acknowledgement.
type deaf struct{ *once }

func (d deaf) Ack(ctx context.Context, es ...judge.Entry) error {
	_ = d.once.Ack(ctx, es...)
	return errors.New("broken pipe")
}

func TestWhatGetsNoAnswerIsCountedWithItsReasonAndNotAcknowledgedForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := &silent{script: newScript()}, &once{jobs: []int64{7}}
		s.heartbeat = func([]judge.Attempt) ([]int64, error) { return nil, errors.New("connection refused") }
		reg := prometheus.NewRegistry()
		w, err := New(Config{Name: "w", Languages: languages, Registerer: reg}, s, deaf{o}, judgeFunc(
			func(context.Context, judge.Payload, func(judge.Progress)) (judge.Result, error) {
				<-time.After(15 * time.Second) // the heartbeat of 10 s comes meanwhile
				return judge.Result{Verdict: judge.AC}, nil
			}), s)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		<-time.After(20 * time.Second)
		h := hand{Worker: w, reg: reg}
		if n := h.count(t, "worker_claim_total", "status", statusError, "reason", string(judge.ReasonDBError)); n != 1 {
			t.Errorf("%g claims without an answer are counted, want 1", n)
		}
		o.mu.Lock()
		if len(o.acks) != 0 {
			t.Errorf("acknowledged %v, about which the database has not decided", o.acks)
		}
		o.jobs = []int64{7} // delivered again
		o.mu.Unlock()
		<-time.After(time.Minute)
		if n := h.count(t, "worker_lease_heartbeat_total", "status", statusError, "reason", string(judge.ReasonHeartbeatError)); n != 1 {
			t.Errorf("%g heartbeats without an answer are counted, want 1", n)
		}
		if n := h.count(t, "worker_ack_total", "status", statusError, "reason", string(judge.ReasonAckError)); n != 1 {
			t.Errorf("%g acknowledgements that failed are counted, want 1", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
		if finals := s.asked("finalize"); len(finals) != 1 || !slices.Equal(o.acks, []int64{7, 7}) {
			t.Errorf("finalized %v, acknowledged %v; want one result, and the entry tried twice", finals, o.acks)
		}
	})
}
