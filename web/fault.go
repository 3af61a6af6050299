package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/telemetry"
	clicsroom "deepoj/web/clics"
	judge0api "deepoj/web/judge0/api"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// statusTitles are the titles of pages that refuse something, as [http.StatusText] has them.
var statusTitles = map[int]locale.Word{
	http.StatusBadRequest: "Bad Request", http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden", http.StatusNotFound: "Not Found",
	http.StatusMethodNotAllowed: "Method Not Allowed", http.StatusRequestTimeout: "Request Timeout", http.StatusConflict: "Conflict", http.StatusGone: "Gone",
	http.StatusRequestEntityTooLarge: "Request Entity Too Large", http.StatusUnsupportedMediaType: "Unsupported Media Type",
	http.StatusMisdirectedRequest: "Misdirected Request", http.StatusUnprocessableEntity: "Unprocessable Entity", http.StatusTooManyRequests: "Too Many Requests",
	http.StatusRequestHeaderFieldsTooLarge: "Request Header Fields Too Large", http.StatusInternalServerError: "Internal Server Error",
	http.StatusBadGateway: "Bad Gateway", http.StatusServiceUnavailable: "Service Unavailable",
}

// fail is the only place where an error becomes an answer: a page for people, a problem document for programs.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	f := *s.Explain(c.UserContext(), err) // a copy: faults may be shared
	f.Title = http.StatusText(f.Status)
	f.Type = "/api/errors#" + f.Reason
	f.Instance = c.Path()
	if f.TraceID = site.TraceOf(c.UserContext()); f.TraceID == "" { // a refusal of the HTTP layer, which has passed no middleware
		f.TraceID = telemetry.NewTraceID()
		c.Set("Trace-Id", f.TraceID)
		s.Log.Info("request refused unread", slog.String("reason", f.Reason), slog.Int("status", f.Status), slog.String("trace_id", f.TraceID))
		s.Count.Requests.WithLabelValues("other", methodLabel(c.Method()), strconv.Itoa(f.Status)).Inc()
	}
	site.SetHeaders(c)
	if conn, ok := c.Context().Conn().(interface{ Linger() }); ok && f.Status == fiber.StatusRequestEntityTooLarge {
		conn.Linger()
	}
	if f.Status >= fiber.StatusInternalServerError {
		s.Log.ErrorContext(c.UserContext(), "request failed", slog.String("method", c.Method()), slog.String("path", c.Path()),
			slog.String("reason", f.Reason), slog.String("trace_id", f.TraceID), slog.Any("err", err))
	}
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	if clicsroom.Speaks(c.Path()) {
		if f.Status == fiber.StatusUnauthorized {
			c.Set(fiber.HeaderWWWAuthenticate, `Basic realm="Deep-OJ", charset="UTF-8"`)
		}
		return clicsroom.Refuse(c, &f)
	}
	if judge0api.Speaks(c.Path()) {
		return judge0api.Refuse(c, &f)
	}
	if site.WantsPage(c) && f.Confirms != "" && !site.Safe(c.Method()) {
		shown := s.people.ShowConfirm(c, &f)
		if shown == nil {
			return nil
		}
		return s.fail(c, shown)
	}
	if site.WantsPage(c) {
		return s.Page(c, f.Status, "error", statusTitles[f.Status], &f)
	}
	f.Say(c)
	if err := c.Status(f.Status).JSON(f); err != nil {
		return fmt.Errorf("write a problem document: %w", err)
	}
	c.Set(fiber.HeaderContentType, "application/problem+json")
	return nil
}
