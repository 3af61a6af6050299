package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"deepoj/host/telemetry"
	"deepoj/sql"
)

// requestTime is how long a request may take before its database calls end.
const requestTime = 15 * time.Second

// counters is what this package counts. No label holds a job id or a path.
type counters struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	submits  *prometheus.CounterVec
	streams  prometheus.Gauge
	refused  *prometheus.CounterVec
	sent     prometheus.Counter

	callbacks *prometheus.CounterVec
	webhooks  *prometheus.CounterVec
	limited   *prometheus.CounterVec
}

func newCounters(reg prometheus.Registerer) (*counters, error) {
	m := &counters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_requests_total", Help: "Answered requests by route, method and status code.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "web_request_duration_seconds", Help: "Time to answer, by route; without event streams.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15},
		}, []string{"route"}),
		submits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_submits_total", Help: "Submits by outcome: stored, repeated, or refused with a reason.",
		}, []string{"status", "reason"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "web_streams", Help: "Open event streams.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_streams_refused_total", Help: "Event streams that were refused, by reason.",
		}, []string{"reason"}),
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "web_stream_events_total", Help: "Events sent on event streams.",
		}),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_callbacks_total", Help: "Tries of callbacks by outcome: told, again or failed.",
		}, []string{"outcome"}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_webhooks_total", Help: "Tries of messages to webhooks by outcome: taken, again or failed.",
		}, []string{"outcome"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "web_rate_limited_total", Help: "Requests that were refused because there were too many, by what was counted: address, user or key.",
		}, []string{"by"}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.submits, m.streams, m.refused, m.sent, m.callbacks, m.webhooks, m.limited} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
	}
	return m, nil
}

// metrics serves what the registry gathers, to those whom it concerns.
func (s *Server) metrics() fiber.Handler {
	figures := adaptor.HTTPHandler(promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{}))
	return func(c *fiber.Ctx) error {
		switch host := c.Get(fiber.HeaderHost); {
		case !s.hosts.mayRead(host):
			return s.foreignHost("This server does not answer to that host name.")
		case s.insider(c):
			return figures(c)
		case s.cfg.MetricsToken != "":
			return refuse(fiber.StatusUnauthorized, "metrics_closed", "The metrics need a token.", "Send METRICS_TOKEN as Authorization: Bearer.")
		case s.cfg.MetricsElsewhere:
			return refuse(fiber.StatusForbidden, "metrics_closed", "The metrics are at another address.", "Ask at METRICS_LISTEN.")
		}
		return refuse(fiber.StatusForbidden, "metrics_closed", "The metrics are for this machine only.",
			"Set METRICS_TOKEN, and send it as Authorization: Bearer; or set METRICS_LISTEN to an address that only the right ones reach.")
	}
}

// insider reports whether a request may see how busy the site is and where its
// services are: with the token, or where none is set from this machine, as far as it
// can be told. A page of another site that makes a browser of this machine ask does
// so under its own name.
func (s *Server) insider(c *fiber.Ctx) bool {
	switch {
	case s.cfg.MetricsToken != "":
		return telemetry.Bearer(c.Get(fiber.HeaderAuthorization), s.cfg.MetricsToken)
	case s.cfg.MetricsElsewhere:
		return false
	}
	return c.Context().RemoteIP().IsLoopback() && !proxied(c) && s.hosts.means(c.Get(fiber.HeaderHost))
}

// traceOf returns the request's trace id: 32 hexadecimal digits.
func traceOf(ctx context.Context) string { return telemetry.TraceID(ctx) }

// hand stores work, and shows in the request's trace what that took.
func (s *Server) hand(ctx context.Context, n sql.NewSubmission) (sql.Receipt, error) {
	began := time.Now()
	receipt, err := s.store.Submit(ctx, n)
	if err == nil && !receipt.Existing {
		telemetry.Submitted(ctx, receipt.JobID, began)
	}
	return receipt, err
}

// tracer makes the spans of requests, but for those that machines repeat all day.
func (s *Server) tracer(path string) *telemetry.Tracer {
	if path == "/healthz" || path == "/readyz" || path == "/metrics" || strings.HasPrefix(path, "/static/") {
		return nil
	}
	return s.cfg.Tracer
}

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: see crypto/rand
	return hex.EncodeToString(b)
}

// observe gives each request its trace id and deadline, turns what its handler
// returns into an answer, and logs and counts that.
func (s *Server) observe(c *fiber.Ctx) error {
	begin := time.Now()
	ctx, span := s.tracer(c.Path()).Request(context.Background(), c.Get("traceparent"), methodLabel(c.Method()))
	trace, limit := traceOf(ctx), requestTime
	if takesPassword(c.Method(), c.Path()) {
		limit += longestWait
	}
	if !safe(c.Method()) && takesUploads(c.OriginalURL()) {
		limit = uploadTime
	}
	if takesPackages(c.Method(), c.OriginalURL()) {
		limit = packageTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.SetUserContext(ctx)
	c.Set("Trace-Id", trace)
	if err := s.protected(c); err != nil {
		if err := s.fail(c, err); err != nil {
			return err
		}
	}

	took, status, route := time.Since(begin), c.Response().StatusCode(), c.Route().Path
	switch status {
	case fiber.StatusForbidden, fiber.StatusNotFound, fiber.StatusMethodNotAllowed, fiber.StatusMisdirectedRequest:
		route = "other" // no handler answered
	}
	span.Name(methodLabel(c.Method()) + " " + route)
	span.Text("http.request.method", methodLabel(c.Method()))
	span.Text("http.route", route)
	span.Number("http.response.status_code", int64(status))
	span.End(nil)
	s.count.requests.WithLabelValues(route, methodLabel(c.Method()), strconv.Itoa(status)).Inc()
	if !strings.HasSuffix(route, "/events") {
		s.count.duration.WithLabelValues(route).Observe(took.Seconds())
	}
	level := slog.LevelInfo
	if strings.HasPrefix(route, "/static") || route == "/healthz" || route == "/readyz" || route == "/metrics" {
		level = slog.LevelDebug
	}
	s.log.LogAttrs(ctx, level, "request", slog.String("method", c.Method()), slog.String("path", c.Path()),
		slog.Int("status", status), slog.Duration("took", took), slog.String("client", s.clientAddress(c)), slog.String("trace_id", trace))
	return nil
}

// protected calls the handlers and turns a panic of theirs into an error, with
// the stack for the log.
func (s *Server) protected(c *fiber.Ctx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Next()
}

// methodLabel keeps invented methods out of the metrics.
func methodLabel(m string) string {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete, fiber.MethodPatch, fiber.MethodOptions:
		return m
	}
	return "other"
}
