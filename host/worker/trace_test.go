package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/host/telemetry/otlp"
	"deepoj/host/telemetry/telemetrytest"
	"deepoj/sql"
)

func TestARetryIsASecondAttemptOfTheSameTrace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tend(time.Hour)
	collector := telemetrytest.Start(t)
	tracer, err := telemetry.NewTracer(t.Context(), telemetry.TracerConfig{Exporter: otlp.Exporter, Endpoint: collector.URL, Every: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	sending := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { sending <- tracer.Run(ctx) }()
	defer func() {
		stop()
		if err := <-sending; err != nil {
			t.Error(err)
		}
	}()
	var tries atomic.Int32
	cfg := quick()
	cfg.Tracer = tracer
	b.start(cfg, b.direct(), judgeFunc(func(ctx context.Context, _ judge.Payload, _ func(judge.Progress)) (judge.Result, error) {
		_, span := telemetry.Start(ctx, "compile")
		defer span.End(nil)
		if tries.Add(1) == 1 {
			return judge.Result{}, errors.New("the disk is full")
		}
		return judge.Result{Verdict: judge.AC}, nil
	}))
	trace := telemetry.NewTraceID()
	id := b.submit(func(n *sql.NewJob) { n.TraceID = trace })
	b.awaitStatus(id, judge.Finished)
	got := collector.Await(t, trace, func(spans map[string][]telemetrytest.Span) bool { return len(spans["attempt"]) == 2 })
	first, second := got["attempt"][0], got["attempt"][1]
	if first.Number["attempt_id"] != 1 || !first.Failed || second.Number["attempt_id"] != 2 || second.Failed || second.Text["verdict"] != "AC" {
		t.Errorf("attempts %+v and %+v", first, second)
	}
	if first.Parent == "" || first.Parent != second.Parent || first.Number["job_id"] != id || second.Number["job_id"] != id {
		t.Errorf("they are not tries at the same job %d: %+v and %+v", id, first, second)
	}
	for _, name := range []string{"claim", "compile", "finalize"} {
		if s := got[name]; len(s) != 2 || s[0].Parent != first.ID || s[1].Parent != second.ID {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
