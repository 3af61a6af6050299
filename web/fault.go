package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/sql"
)

// fault is a refusal or failure as people see it. As JSON it is an RFC 9457
// problem document.
type fault struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`

	Field   string       `json:"field,omitempty"`
	Reason  string       `json:"reason"`
	Remedy  string       `json:"remedy,omitempty"`
	TraceID string       `json:"trace_id,omitempty"`
	Errors  []fieldFault `json:"errors,omitempty"` // every wrong field, when there are several

	RetryAfter time.Duration `json:"-"`
	confirms   string        // what is asked for, where a page asks for the password
	cause      error         // for the log, never for the client
}

func (f *fault) Error() string {
	if f.Field != "" {
		return f.Field + ": " + f.Detail
	}
	return f.Detail
}

// Unwrap returns what caused the fault, which clients never see.
func (f *fault) Unwrap() error { return f.cause }

// names reports whether a field is what is wrong.
func (f *fault) names(field string) bool {
	return f.Field == field || slices.ContainsFunc(f.Errors, func(e fieldFault) bool { return e.Field == field })
}

// fieldFault is one wrong field of a request.
type fieldFault struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// refuse makes a fault without a field. The detail says what is wrong, the
// remedy how to mend it.
func refuse(status int, reason, detail, remedy string) *fault {
	return &fault{Status: status, Reason: reason, Detail: detail, Remedy: remedy}
}

// wrongField makes a field error; the text is a sentence for people.
func wrongField(field, reason, format string, args ...any) *judge.FieldError {
	return &judge.FieldError{Field: field, Reason: reason, Remedy: fmt.Sprintf(format, args...)}
}

// wrongFields collects what is wrong with a request.
type wrongFields []*judge.FieldError

func (w *wrongFields) add(e *judge.FieldError) {
	if e != nil {
		*w = append(*w, e)
	}
}

// err returns nil, or a fault that names every wrong field.
func (w wrongFields) err() error {
	if len(w) == 0 {
		return nil
	}
	f := fieldRefusal(w[0])
	if len(w) > 1 {
		for _, e := range w {
			f.Errors = append(f.Errors, fieldFault{e.Field, e.Reason, e.Remedy})
		}
	}
	return f
}

func fieldRefusal(e *judge.FieldError) *fault {
	status := fiber.StatusUnprocessableEntity
	if e.Reason == reasonTooLong {
		status = fiber.StatusRequestEntityTooLarge
	}
	return &fault{Status: status, Reason: e.Reason, Field: e.Field, Detail: e.Remedy}
}

// explain turns any error into what people may see of it.
func (s *Server) explain(ctx context.Context, err error) *fault {
	var (
		known    *fault
		field    *judge.FieldError
		rejected *judge.RejectedError
		fromHTTP *fiber.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &field):
		return fieldRefusal(field)
	case errors.As(err, &rejected) && rejected.Reason == judge.ReasonImmediateCantMov:
		return refuse(fiber.StatusConflict, string(rejected.Reason), "It is in the first lane, from which nothing is put back.",
			"Undo the move that brought it there, or move it before another.")
	case errors.As(err, &rejected):
		return refuse(fiber.StatusConflict, string(rejected.Reason),
			"The submission is not in a state that allows this: it is "+string(rejected.DBStatus)+".", "")
	case errors.Is(err, sql.ErrNotFound):
		return refuse(fiber.StatusNotFound, "not_found", "There is nothing at this address.", "")
	case errors.Is(err, sql.ErrQueueFull):
		f := refuse(fiber.StatusServiceUnavailable, string(judge.ReasonQueueFull),
			"The queue is full; nothing was stored.", "Try again in a few seconds.")
		f.RetryAfter = 5 * time.Second
		return f
	case errors.As(err, &fromHTTP):
		return s.explainHTTP(fromHTTP)
	}
	return s.explainFailure(ctx, err)
}

// explainHTTP explains what the HTTP layer itself refused.
func (s *Server) explainHTTP(e *fiber.Error) *fault {
	switch e.Code {
	case fiber.StatusRequestEntityTooLarge:
		f := refuse(e.Code, reasonTooLong,
			fmt.Sprintf("The request's body is larger than %s, or than %s where a setter uploads a plugin.", bytesText(int64(s.cfg.MaxBody)), bytesText(maxUpload)),
			"Send a smaller one.")
		f.Field = "body"
		return f
	case fiber.StatusMethodNotAllowed:
		return refuse(e.Code, "method_not_allowed", "This address does not answer to that method.", "")
	case fiber.StatusNotFound:
		return refuse(e.Code, "not_found", "There is nothing at this address.", "")
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return refuse(e.Code, "headers_too_large", "The request's headers are larger than 16 KiB.", "Delete the cookies of this site.")
	}
	if e.Code >= fiber.StatusInternalServerError {
		f := refuse(e.Code, "internal", "Something broke on our side.", "")
		f.cause = e
		return f
	}
	return refuse(e.Code, "bad_request", "The request could not be read: "+e.Message+".", "")
}

// explainFailure explains an error that nobody decided on: either the database
// is away, which heals by itself, or it is a mistake of ours.
func (s *Server) explainFailure(ctx context.Context, err error) *fault {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if sql.Away(err) || s.store.Ping(ctx) != nil {
		return &fault{
			Status: fiber.StatusServiceUnavailable, Reason: "database_unavailable",
			Detail: "The database does not answer. What was to be stored is stored whole or not at all.",
			Remedy: "Try again in a few seconds, with the same Idempotency-Key where there is one; this heals by itself as soon as PostgreSQL is back.",

			RetryAfter: 3 * time.Second, cause: err,
		}
	}
	return &fault{
		Status: fiber.StatusInternalServerError, Reason: "internal",
		Detail: "Something broke on our side.",
		Remedy: "Try again. If it stays, tell whoever runs this server the trace id.",
		cause:  err,
	}
}

// fail is the only place where an error becomes an answer: a page for people, a
// problem document for programs.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	f := *s.explain(c.UserContext(), err) // a copy: faults may be shared
	f.Title = http.StatusText(f.Status)
	f.Type = "/api/errors#" + f.Reason
	f.Instance = c.Path()
	if f.TraceID = traceOf(c.UserContext()); f.TraceID == "" { // a refusal of the HTTP layer, which has passed no middleware
		f.TraceID = telemetry.NewTraceID()
		c.Set("Trace-Id", f.TraceID)
		s.log.Info("request refused unread", slog.String("reason", f.Reason), slog.Int("status", f.Status), slog.String("trace_id", f.TraceID))
		s.count.requests.WithLabelValues("other", methodLabel(c.Method()), strconv.Itoa(f.Status)).Inc()
	}
	setHeaders(c)
	if conn, ok := c.Context().Conn().(*patientConn); ok && f.Status == fiber.StatusRequestEntityTooLarge {
		conn.linger()
	}
	if f.Status >= fiber.StatusInternalServerError {
		s.log.ErrorContext(c.UserContext(), "request failed", slog.String("method", c.Method()), slog.String("path", c.Path()),
			slog.String("reason", f.Reason), slog.String("trace_id", f.TraceID), slog.Any("err", err))
	}
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	if isJudge0(c.Path()) {
		return judge0Refusal(c, f.Status, "%s", judge0Fault(&f))
	}
	if wantsPage(c) && f.confirms != "" && !safe(c.Method()) {
		shown := s.showConfirm(c, &f)
		if shown == nil {
			return nil
		}
		return s.fail(c, shown)
	}
	if wantsPage(c) {
		return s.page(c, f.Status, "error", f.Title, f)
	}
	if err := c.Status(f.Status).JSON(f); err != nil {
		return fmt.Errorf("write a problem document: %w", err)
	}
	c.Set(fiber.HeaderContentType, "application/problem+json")
	return nil
}

// wantsPage reports whether the caller is a person with a browser.
func wantsPage(c *fiber.Ctx) bool {
	path := c.Path()
	for _, machine := range []string{"/api/v1/", judge0Path + "/", "/submit", "/status/", "/healthz", "/readyz", "/metrics"} {
		if path == strings.TrimSuffix(machine, "/") || strings.HasSuffix(machine, "/") && strings.HasPrefix(path, machine) {
			return false
		}
	}
	accept := c.Get(fiber.HeaderAccept)
	return strings.Contains(accept, "text/html") || !strings.Contains(accept, "json") && !strings.Contains(accept, "event-stream")
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1024), ".0") + " KiB"
	}
	return plural(n, "byte", "bytes")
}
