package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// exportTime is how long one request may take.
	exportTime = 5 * time.Second

	// exportTries is how often a request is made, with a pause of at first
	// exportPause between two.
	exportTries = 3
	exportPause = 500 * time.Millisecond

	// flushTime is how long a stop waits for what is still to be sent.
	flushTime = 2 * time.Second
)

// pipe carries spans that have ended to the exporter. It holds nobody up: what
// does not fit is dropped and counted.
type pipe struct {
	spans    chan sdk.ReadOnlySpan
	batch    int
	every    time.Duration
	exporter sdk.SpanExporter
	log      *slog.Logger

	exported prometheus.Counter
	dropped  *prometheus.CounterVec
}

func newPipe(cfg TracerConfig, exporter sdk.SpanExporter) (*pipe, error) {
	p := &pipe{
		spans: make(chan sdk.ReadOnlySpan, cmp.Or(cfg.Queue, 2048)), batch: cmp.Or(cfg.Batch, 512), every: cmp.Or(cfg.Every, time.Second),
		exporter: exporter, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)),
		exported: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "telemetry_spans_exported_total", Help: "Spans that the collector has taken.",
		}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "telemetry_spans_dropped_total", Help: "Spans that were dropped: the queue was full, or the collector did not take them (export).",
		}, []string{"reason"}),
	}
	p.dropped.WithLabelValues(dropFull)
	p.dropped.WithLabelValues(dropExport)
	if cfg.Registerer == nil {
		return p, nil
	}
	for _, c := range []prometheus.Collector{p.exported, p.dropped} {
		if err := cfg.Registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Why spans are dropped.
const (
	dropFull   = "full"
	dropExport = "export"
)

// OnStart implements [sdk.SpanProcessor].
func (p *pipe) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements [sdk.SpanProcessor].
func (p *pipe) OnEnd(s sdk.ReadOnlySpan) {
	select {
	case p.spans <- s:
	default:
		p.dropped.WithLabelValues(dropFull).Inc()
	}
}

// Shutdown implements [sdk.SpanProcessor]; run does it.
func (p *pipe) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdk.SpanProcessor]; run does it.
func (p *pipe) ForceFlush(context.Context) error { return nil }

func (p *pipe) run(ctx context.Context) error {
	var batch []sdk.ReadOnlySpan
	// What is being sent when ctx ends is sent to its end, too.
	sending, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, giveUp) })()
	timer := time.NewTimer(p.every)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case s := <-p.spans:
			if batch = append(batch, s); len(batch) == 1 {
				timer.Reset(p.every)
			}
			if len(batch) < p.batch {
				continue
			}
			batch = p.send(sending, batch)
		case <-timer.C:
			batch = p.send(sending, batch)
		}
	}
	for more := true; more; {
		select {
		case s := <-p.spans:
			if batch = append(batch, s); len(batch) == p.batch {
				batch = p.send(sending, batch)
			}
		default:
			more = false
		}
	}
	p.send(sending, batch)
	return p.exporter.Shutdown(context.WithoutCancel(ctx))
}

// send hands a batch to the collector, or counts it as dropped, and returns an
// empty one.
func (p *pipe) send(ctx context.Context, batch []sdk.ReadOnlySpan) []sdk.ReadOnlySpan {
	if len(batch) == 0 {
		return nil
	}
	var err error
	pause := exportPause
	for try := range exportTries {
		if try > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause *= 2
		}
		if err = p.exporter.ExportSpans(ctx, batch); err == nil {
			p.exported.Add(float64(len(batch)))
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	p.dropped.WithLabelValues(dropExport).Add(float64(len(batch)))
	p.log.WarnContext(ctx, "spans are dropped: the collector does not take them",
		slog.Any("err", err), slog.String("remedy", "look whether it runs, and at OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"))
	return nil
}
