package telemetry_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"deepoj/host/telemetry"
	"deepoj/host/telemetry/otlp"
	"deepoj/host/telemetry/telemetrytest"
)

// tracer returns one that sends until the test ends, or until stop is called.
func tracer(t *testing.T, cfg telemetry.TracerConfig) (tr *telemetry.Tracer, stop func()) {
	t.Helper()
	if cfg.Every == 0 {
		cfg.Every = 10 * time.Millisecond
	}
	cfg.Exporter = otlp.Exporter
	tr, err := telemetry.NewTracer(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- tr.Run(ctx) }()
	return tr, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestATraceGoesOnInOtherProcesses(t *testing.T) {
	t.Parallel()
	c := telemetrytest.Start(t)
	web, stopWeb := tracer(t, telemetry.TracerConfig{Endpoint: c.URL + "/", Instance: "web", Headers: "Authorization=Basic%20abc, X-Scope = a"})
	worker, stopWorker := tracer(t, telemetry.TracerConfig{Endpoint: c.URL, Instance: "worker", Every: time.Hour}) // speaks last
	trace, caller := telemetry.NewTraceID(), "00f067aa0ba902b7"

	ctx, request := web.Request(t.Context(), "00-"+trace+"-"+caller+"-01", "POST")
	if got := telemetry.TraceID(ctx); got != trace {
		t.Errorf("logs would carry %s, want %s", got, trace)
	}
	telemetry.Submitted(ctx, 7, time.Now())
	telemetry.Submitted(ctx, 8, time.Now()) // another of the same request
	request.Name("POST /submit")
	request.End(nil)

	worker.Dispatched(t.Context(), trace, 7, time.Now().Add(-time.Second))
	_, first := worker.Attempt(t.Context(), trace, 7, 1, time.Now())
	first.End(errors.New("the sandbox failed"))
	ctx, second := worker.Attempt(t.Context(), trace, 7, 2, time.Now())
	below, run := telemetry.Start(ctx, "run")
	_, call := telemetry.Start(below, "checker")
	call.Text("checker", "tokens")
	call.End(nil)
	run.End(nil)
	_, final := telemetry.Start(second.Below(t.Context()), "finalize")
	final.End(nil)
	second.End(nil)
	stopWeb()
	if h := c.Header(); h.Get("X-Scope") != "a" || h.Get("Authorization") != "Basic abc" {
		t.Errorf("headers %v", h)
	}
	stopWorker()

	got := c.Spans(trace)
	for name, n := range map[string]int{"POST /submit": 1, "submit": 2, "dispatch": 1, "attempt": 2, "run": 1, "checker": 1, "finalize": 1} {
		if len(got[name]) != n {
			t.Fatalf("%d spans %s, want %d: %v", len(got[name]), name, n, got)
		}
	}
	submit := got["submit"][0]
	attempts := got["attempt"]
	for _, link := range []struct {
		child  telemetrytest.Span
		parent string
	}{
		{got["POST /submit"][0], caller},
		{submit, got["POST /submit"][0].ID},
		{got["dispatch"][0], submit.ID},
		{attempts[0], submit.ID},
		{attempts[1], submit.ID},
		{got["run"][0], attempts[1].ID},
		{got["checker"][0], got["run"][0].ID},
		{got["finalize"][0], attempts[1].ID},
	} {
		if link.child.Parent != link.parent {
			t.Errorf("%s is below %q, want %q", link.child.Name, link.child.Parent, link.parent)
		}
	}
	if submit.Number["job_id"] != 7 || got["submit"][1].Number["job_id"] != 8 || submit.ID == got["submit"][1].ID {
		t.Errorf("submits %+v", got["submit"])
	}
	if attempts[0].Number["attempt_id"] != 1 || !attempts[0].Failed || attempts[1].Number["attempt_id"] != 2 || attempts[1].Failed {
		t.Errorf("attempts %+v", attempts)
	}
	if d := got["dispatch"][0]; d.End.Sub(d.Start) < time.Second {
		t.Errorf("the wait of a second is shown as %s", d.End.Sub(d.Start))
	}
	if got["checker"][0].Text["checker"] != "tokens" || attempts[0].Service["service.name"] != "deepoj" || attempts[0].Service["service.instance.id"] != "worker" {
		t.Errorf("%+v of %v", got["checker"], attempts[0].Service)
	}
}

func TestARequestWithoutATraceBeginsOne(t *testing.T) {
	t.Parallel()
	c := telemetrytest.Start(t)
	web, stop := tracer(t, telemetry.TracerConfig{Endpoint: c.URL})
	ctx, request := web.Request(t.Context(), "nonsense", "GET /")
	request.End(nil)
	stop()
	root := c.Spans(telemetry.TraceID(ctx))["GET /"]
	if len(root) != 1 || root[0].Parent != "" {
		t.Errorf("the trace of the log %s is not that of the span: %+v", telemetry.TraceID(ctx), root)
	}
}

// TestNothingIsMadeWithoutATracer looks at every call that judging makes.
func TestNothingIsMadeWithoutATracer(t *testing.T) {
	var none *telemetry.Tracer
	ctx := telemetry.WithTrace(t.Context(), telemetry.NewTraceID())
	allocations := testing.AllocsPerRun(100, func() {
		none.Dispatched(ctx, "x", 1, time.Time{})
		a, attempt := none.Attempt(ctx, "x", 1, 1, time.Time{})
		b, span := telemetry.Start(a, "compile")
		d, test := telemetry.StartOne(b, "test")
		telemetry.Submitted(d, 1, time.Time{})
		span.Text("a", "b")
		span.Number("c", 1)
		test.End(nil)
		span.End(nil)
		attempt.End(nil)
		if attempt != nil || span != nil || test != nil || attempt.Below(d) != ctx {
			t.Error("a span was made")
		}
	})
	if allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
	ctx, request := none.Request(t.Context(), "", "GET /")
	if request != nil || len(telemetry.TraceID(ctx)) != 32 {
		t.Errorf("span %v, trace %q", request, telemetry.TraceID(ctx))
	}
}

func TestAThousandTestsMakeAHundredSpans(t *testing.T) {
	t.Parallel()
	c := telemetrytest.Start(t)
	worker, stop := tracer(t, telemetry.TracerConfig{Endpoint: c.URL})
	trace := telemetry.NewTraceID()
	ctx, attempt := worker.Attempt(t.Context(), trace, 1, 1, time.Now())
	for range 1000 {
		below, test := telemetry.StartOne(ctx, "test")
		_, run := telemetry.Start(below, "run")
		run.End(nil)
		test.End(nil)
	}
	attempt.End(nil)
	stop()
	got := c.Spans(trace)
	if len(got["test"]) != 100 || len(got["run"]) != 100 || got["attempt"][0].Number["left_out"] != 900 {
		t.Errorf("%d tests, %d runs, attempt %+v", len(got["test"]), len(got["run"]), got["attempt"])
	}
}

// TestAProcessGoesOnWithoutItsCollector has a collector that is not there, and one
// that never answers.
func TestAProcessGoesOnWithoutItsCollector(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection would not be noticed
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, endpoint := range map[string]string{"nobody listens": gone, "nobody answers": silent.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := prometheus.NewRegistry()
			tr, stop := tracer(t, telemetry.TracerConfig{Endpoint: endpoint, Queue: 50, Batch: 10, Registerer: reg})
			const made = 1000
			for range made {
				_, s := tr.Request(t.Context(), "", "GET /")
				s.End(nil) // waits for nobody
			}
			stop()
			sums := counters(t, reg)
			full, export := sums["telemetry_spans_dropped_total full"], sums["telemetry_spans_dropped_total export"]
			if full == 0 || export == 0 || full+export != made || sums["telemetry_spans_exported_total"] != 0 {
				t.Errorf("of %d spans: %v", made, sums)
			}
		})
	}
}

// TestASpanOutlivesACollectorThatFalters has one that fails once.
func TestASpanOutlivesACollectorThatFalters(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	faltering := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			http.Error(w, "not now", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(faltering.Close)
	reg := prometheus.NewRegistry()
	tr, stop := tracer(t, telemetry.TracerConfig{Endpoint: faltering.URL, Registerer: reg})
	_, s := tr.Request(t.Context(), "", "GET /")
	s.End(nil)
	stop()
	if got := counters(t, reg); got["telemetry_spans_exported_total"] != 1 || got["telemetry_spans_dropped_total export"] != 0 {
		t.Errorf("%v after %d requests", got, asked.Load())
	}
}

// counters returns the values of a registry's counters by "name label".
func counters(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	sums := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			sums[key] = m.GetCounter().GetValue()
		}
	}
	return sums
}

func TestProcessesAgreeOnWhichTracesAreRecorded(t *testing.T) {
	t.Parallel()
	c := telemetrytest.Start(t)
	web, stopWeb := tracer(t, telemetry.TracerConfig{Endpoint: c.URL, Share: 0.5})
	worker, stopWorker := tracer(t, telemetry.TracerConfig{Endpoint: c.URL, Share: 0.5})
	var traces []string
	for range 100 {
		ctx, request := web.Request(t.Context(), "", "POST /submit")
		telemetry.Submitted(ctx, 1, time.Now())
		request.End(nil)
		_, attempt := worker.Attempt(t.Context(), telemetry.TraceID(ctx), 1, 1, time.Now())
		attempt.End(nil)
		traces = append(traces, telemetry.TraceID(ctx))
	}
	unwanted := telemetry.NewTraceID()
	ctx, request := web.Request(t.Context(), "00-"+unwanted+"-00f067aa0ba902b7-00", "GET /")
	telemetry.Submitted(ctx, 1, time.Now())
	request.End(nil)
	stopWeb()
	stopWorker()
	recorded := 0
	for _, id := range traces {
		got := c.Spans(id)
		if len(got) != 0 && len(got) != 3 {
			t.Errorf("only a part of %s was recorded: %v", id, got)
		}
		recorded += len(got) / 3
	}
	if recorded == 0 || recorded == len(traces) {
		t.Errorf("%d of %d traces were recorded", recorded, len(traces))
	}
	if got := c.Spans(unwanted); len(got) != 0 {
		t.Errorf("the client did not want %v", got)
	}
}

func TestABadTracerIsRefusedWithTheField(t *testing.T) {
	t.Parallel()
	_, err := telemetry.NewTracer(t.Context(), telemetry.TracerConfig{Endpoint: "collector:4318", Headers: "zq-secret", Share: 2, Queue: -1})
	for _, want := range []string{"Endpoint", "Exporter", "Headers", "Share", "Queue"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "zq") {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
