// Package otlp sends spans to a collector. It is a package of its own because the
// protocol's types bring gRPC along, which only the program needs.
package otlp

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"deepoj/host/telemetry"
)

// Exporter returns what sends spans to a collector as protobuf over HTTP. It makes each request once.
func Exporter(ctx context.Context, c telemetry.Collector) (sdk.SpanExporter, error) {
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(c.URL), otlptracehttp.WithHeaders(c.Headers),
		otlptracehttp.WithTimeout(c.Timeout), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
	}
	if c.TLS != nil {
		options = append(options, otlptracehttp.WithTLSClientConfig(c.TLS))
	}
	return otlptrace.New(ctx, otlptracehttp.NewClient(options...))
}
