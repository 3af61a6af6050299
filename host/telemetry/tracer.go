package telemetry

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Collector is where spans are sent.
type Collector struct {
	URL     string
	Headers map[string]string // of every request; may be secret
	TLS     *tls.Config       // nil = the authorities of the system
	Timeout time.Duration     // of a request
}

// TracerConfig says where spans go. Only Endpoint and Exporter are required. The names of the environment variables,
// and what they may hold, are those of the OpenTelemetry specification.
type TracerConfig struct {
	// Endpoint is the address of a collector that takes OTLP as protobuf over HTTP, such as http://127.0.0.1:4318;
	// /v1/traces is appended (OTEL_EXPORTER_OTLP_ENDPOINT). Required.
	Endpoint string

	// Exporter returns what sends spans to a collector, each request once: that of the package otlp. Required.
	Exporter func(context.Context, Collector) (sdk.SpanExporter, error)

	// Headers go with every request: name=value, separated by commas (OTEL_EXPORTER_OTLP_HEADERS).
	Headers string

	// TLS has the authorities to trust (OTEL_EXPORTER_OTLP_CERTIFICATE). Defaults to those of the system.
	TLS *tls.Config

	// Service is what the spans are said to come from (OTEL_SERVICE_NAME). Defaults to "deepoj".
	Service string

	// Instance tells processes of one service apart; Version is the program's.
	Instance, Version string

	// Share of the traces that are recorded, above 0 and up to 1. The same traces
	// are recorded by all processes that say the same. Defaults to 1.
	Share float64

	// Queue is how many spans wait at most; what comes then is dropped. Batch is how many go in one request, and
	// Every how long the first of them waits. Default to 2048, 512 and 1 second.
	Queue, Batch int
	Every        time.Duration

	// Log gets failures. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is missing or out of range.
func (c TracerConfig) Validate() error {
	var errs []error
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("Endpoint is no URL such as http://127.0.0.1:4318"))
	}
	if c.Exporter == nil {
		errs = append(errs, errors.New("Exporter is missing"))
	}
	if _, err := parseHeaders(c.Headers); err != nil {
		errs = append(errs, err)
	}
	if !(c.Share >= 0 && c.Share <= 1) {
		errs = append(errs, fmt.Errorf("Share %g is not between 0 and 1", c.Share))
	}
	if c.Queue < 0 || c.Batch < 0 || c.Every < 0 {
		errs = append(errs, fmt.Errorf("Queue %d, Batch %d or Every %s is negative", c.Queue, c.Batch, c.Every))
	}
	return errors.Join(errs...)
}

// parseHeaders reads name=value, separated by commas. The values may be secret.
func parseHeaders(text string) (map[string]string, error) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, errors.New("Headers are not name=value, separated by commas, with special signs written as in URLs")
		}
		out[name] = plain
	}
	return out, nil
}

// Tracer makes spans and hands them to a collector. A nil Tracer makes none, and
// costs nothing. It may be used by several goroutines.
type Tracer struct {
	otel  trace.Tracer
	share sdk.Sampler
	spans processor
}

// NewTracer returns a tracer. It does not wait for the collector, which may come
// later and go at any time. [Tracer.Run] has to be called, too.
func NewTracer(ctx context.Context, cfg TracerConfig) (*Tracer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("tracer: %w", err)
	}
	headers, err := parseHeaders(cfg.Headers)
	if err != nil {
		return nil, fmt.Errorf("tracer: %w", err)
	}
	cfg.Service = cmp.Or(cfg.Service, "deepoj")
	cfg.Share = cmp.Or(cfg.Share, 1)
	collector, err := cfg.Exporter(ctx, Collector{strings.TrimSuffix(cfg.Endpoint, "/") + "/v1/traces", headers, cfg.TLS, requestTime})
	if err != nil {
		return nil, fmt.Errorf("tracer: %w", err)
	}
	to, err := newExporter(ctx, cfg, collector)
	if err != nil {
		return nil, fmt.Errorf("tracer: %w", err)
	}
	about, err := resource.New(ctx, resource.WithFromEnv(), resource.WithAttributes(
		attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Version),
		attribute.String("service.instance.id", cfg.Instance)))
	if err != nil {
		return nil, fmt.Errorf("tracer: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	share, spans := sdk.TraceIDRatioBased(cfg.Share), newProcessor(cfg, to)
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithSampler(sdk.ParentBased(share)), sdk.WithIDGenerator(ids{}), sdk.WithSpanProcessor(spans))
	return &Tracer{otel: provider.Tracer("deepoj"), share: share, spans: spans}, nil
}

// Run waits until ctx is done and sends the spans that wait then, for 2 seconds at
// most. There are no more spans after it.
func (t *Tracer) Run(ctx context.Context) error { return t.spans.run(ctx) }
