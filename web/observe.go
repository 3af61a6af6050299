package web

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"deepoj/host/telemetry"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// metrics serves what the registry gathers, to those whom it concerns.
func (s *Server) metrics() fiber.Handler {
	figures := adaptor.HTTPHandler(promhttp.HandlerFor(s.Config.Registry, promhttp.HandlerOpts{}))
	return func(c *fiber.Ctx) error {
		switch host := c.Get(fiber.HeaderHost); {
		case !s.hosts.mayRead(host):
			return s.foreignHost("This server does not answer to that host name.")
		case s.insider(c):
			return figures(c)
		case s.Config.MetricsToken != "":
			return site.Refuse(fiber.StatusUnauthorized, "metrics_closed", "The metrics need a token.", "Send METRICS_TOKEN as Authorization: Bearer.")
		case s.Config.MetricsElsewhere:
			return site.Refuse(fiber.StatusForbidden, "metrics_closed", "The metrics are at another address.", "Ask at METRICS_LISTEN.")
		}
		return site.Refuse(fiber.StatusForbidden, "metrics_closed", "The metrics are for this machine only.",
			"Set METRICS_TOKEN, and send it as Authorization: Bearer; or set METRICS_LISTEN to an address that only the right ones reach.")
	}
}

// insider reports whether a request may see how busy the site is and where its services are: with the token, or where
// none is set from this machine, as far as it can be told. A page of another site that makes a browser of this machine
// ask does so under its own name.
func (s *Server) insider(c *fiber.Ctx) bool {
	switch {
	case s.Config.MetricsToken != "":
		return telemetry.Bearer(c.Get(fiber.HeaderAuthorization), s.Config.MetricsToken)
	case s.Config.MetricsElsewhere:
		return false
	}
	return c.Context().RemoteIP().IsLoopback() && !site.Proxied(c) && s.hosts.means(c.Get(fiber.HeaderHost))
}

// tracer makes the spans of requests, but for those that machines repeat all day.
func (s *Server) tracer(path string) *telemetry.Tracer {
	if path == "/healthz" || path == "/readyz" || path == "/metrics" || strings.HasPrefix(path, "/static/") {
		return nil
	}
	return s.Config.Tracer
}

// observe gives each request its trace id and deadline, turns what its handler
// returns into an answer, and logs and counts that.
func (s *Server) observe(c *fiber.Ctx) error {
	begin := time.Now()
	ctx, span := s.tracer(c.Path()).Request(context.Background(), c.Get("traceparent"), methodLabel(c.Method()))
	trace, limit := site.TraceOf(ctx), site.RequestTime
	if peopleroom.TakesPassword(c.Method(), c.Path()) {
		limit += peopleroom.LongestWait
	}
	switch s.upload(c.Method(), c.OriginalURL()) {
	case site.PluginUpload:
		limit = site.UploadTime
	case site.PackageUpload:
		limit = site.PackageTime
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
	dispatch(c)

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
	s.Count.Requests.WithLabelValues(route, methodLabel(c.Method()), strconv.Itoa(status)).Inc()
	if !strings.HasSuffix(route, "/events") {
		s.Count.Duration.WithLabelValues(route).Observe(took.Seconds())
	}
	level := slog.LevelInfo
	if strings.HasPrefix(route, "/static") || route == "/healthz" || route == "/readyz" || route == "/metrics" {
		level = slog.LevelDebug
	}
	s.Log.LogAttrs(ctx, level, "request", slog.String("method", c.Method()), slog.String("path", c.Path()),
		slog.Int("status", status), slog.Duration("took", took), slog.String("client", s.ClientAddress(c)), slog.String("trace_id", trace))
	return nil
}

// protected calls the handlers and turns a panic of theirs into an error, with the stack for the log.
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
