package site

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/telemetry"
	"deepoj/sql"
)

// Counters is what this package counts. No label holds a job id or a path.
type Counters struct {
	Requests *prometheus.CounterVec
	Duration *prometheus.HistogramVec
	Submits  *prometheus.CounterVec
	Streams  prometheus.Gauge
	Refused  *prometheus.CounterVec
	Sent     prometheus.Counter

	Callbacks *prometheus.CounterVec
	Webhooks  *prometheus.CounterVec
	Letters   *prometheus.CounterVec
	Limited   *prometheus.CounterVec
}

func newCounters(reg prometheus.Registerer) (*Counters, error) {
	m := &Counters{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_requests_total", Help: "Answered requests by route, method and status code.",
		}, []string{"route", "method", "status"}),
		Duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "web_request_duration_seconds", Help: "Time to answer, by route; without event streams.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15},
		}, []string{"route"}),
		Submits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_submits_total", Help: "Submits by outcome: stored, repeated, or refused with a reason.",
		}, []string{"status", "reason"}),
		Streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "web_streams", Help: "Open event streams.",
		}),
		Refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_streams_refused_total", Help: "Event streams that were refused, by reason.",
		}, []string{"reason"}),
		Sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "web_stream_events_total", Help: "Events sent on event streams.",
		}),
		Callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_callbacks_total", Help: "Tries of callbacks by outcome: told, again or failed.",
		}, []string{"outcome"}),
		Webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_webhooks_total", Help: "Tries of messages to webhooks by outcome: taken, again or failed.",
		}, []string{"outcome"}),
		Letters: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_letters_total", Help: "Tries of letters by outcome: sent, again, given up, refused by the mail server, limited, or nobody there to get it.",
		}, []string{"outcome"}),
		Limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_rate_limited_total", Help: "Requests that were refused because there were too many, by what was counted: address, user or key.",
		}, []string{"by"}),
	}
	for _, c := range []prometheus.Collector{m.Requests, m.Duration, m.Submits, m.Streams, m.Refused, m.Sent, m.Callbacks, m.Webhooks, m.Letters, m.Limited} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
	}
	return m, nil
}

// SubmitJob stores work, and shows in the request's trace what that took.
func (s *Site) SubmitJob(ctx context.Context, n sql.NewJob) (sql.Receipt, error) {
	began := time.Now()
	receipt, err := s.Store.Submit(ctx, n)
	if err == nil && !receipt.Existing {
		telemetry.Submitted(ctx, receipt.JobID, began)
	}
	return receipt, err
}

// TraceOf returns the request's trace id: 32 hexadecimal digits.
func TraceOf(ctx context.Context) string { return telemetry.TraceID(ctx) }
