package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// requestTime is how long one request to the collector may take, and exportTries is how often it is made.
	requestTime = 5 * time.Second
	exportTries = 3

	// exportTime is longer than all tries with the pauses between them.
	exportTime = exportTries*requestTime + 5*time.Second

	// flushTime is how long a stop waits for what is still to be sent.
	flushTime = 2 * time.Second
)

// Why spans are dropped.
const (
	dropFull   = "full"
	dropExport = "export"
)

// exporter sends batches of spans, tries again, and counts what became of them.
type exporter struct {
	sdk.SpanExporter // makes one request

	stopping context.Context // its end ends every request
	giveUp   context.CancelFunc
	log      *slog.Logger

	waiting  atomic.Int64 // spans that ended, and were neither taken nor dropped
	exported prometheus.Counter
	dropped  *prometheus.CounterVec
}

func newExporter(ctx context.Context, cfg TracerConfig, to sdk.SpanExporter) (*exporter, error) {
	e := &exporter{
		SpanExporter: to, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)),
		exported: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "telemetry_spans_exported_total", Help: "Spans that the collector has taken.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "telemetry_spans_dropped_total", Help: "Spans that were dropped: the queue was full, or the collector did not take them (export).",
		}, []string{"reason"}),
	}
	e.dropped.WithLabelValues(dropFull)
	e.dropped.WithLabelValues(dropExport)
	e.stopping, e.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	if cfg.Registerer == nil {
		return e, nil
	}
	for _, c := range []prometheus.Collector{e.exported, e.dropped} {
		if err := cfg.Registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// ExportSpans implements [sdk.SpanExporter]. It returns no error, as what becomes of one is a line on standard error.
func (e *exporter) ExportSpans(ctx context.Context, batch []sdk.ReadOnlySpan) error {
	defer e.waiting.Add(-int64(len(batch)))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.stopping, cancel)()
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, e.SpanExporter.ExportSpans(ctx, batch)
	}, backoff.WithMaxTries(exportTries))
	if err != nil {
		e.dropped.WithLabelValues(dropExport).Add(float64(len(batch)))
		e.log.WarnContext(ctx, "spans are dropped: the collector does not take them",
			slog.Any("err", err), slog.String("remedy", "look whether it runs, and at OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"))
		return nil
	}
	e.exported.Add(float64(len(batch)))
	return nil
}

// processor hands spans that have ended to the batches of the OpenTelemetry SDK, which tell nobody what they drop: it
// drops what would be too much before them, and counts it. It holds nobody up.
type processor struct {
	sdk.SpanProcessor

	queue int64
	to    *exporter
}

func newProcessor(cfg TracerConfig, to *exporter) processor {
	queue := cmp.Or(cfg.Queue, 2048)
	return processor{sdk.NewBatchSpanProcessor(to, sdk.WithMaxQueueSize(queue), sdk.WithMaxExportBatchSize(cmp.Or(cfg.Batch, 512)),
		sdk.WithBatchTimeout(cmp.Or(cfg.Every, time.Second)), sdk.WithExportTimeout(exportTime)), int64(queue), to}
}

// OnEnd implements [sdk.SpanProcessor].
func (p processor) OnEnd(s sdk.ReadOnlySpan) {
	if p.to.waiting.Add(1) > p.queue {
		p.to.waiting.Add(-1)
		p.to.dropped.WithLabelValues(dropFull).Inc()
		return
	}
	p.SpanProcessor.OnEnd(s)
}

// run waits until ctx is done, and then sends what waits, for flushTime at most.
func (p processor) run(ctx context.Context) error {
	<-ctx.Done()
	defer time.AfterFunc(flushTime, p.to.giveUp).Stop()
	return p.Shutdown(context.WithoutCancel(ctx))
}
