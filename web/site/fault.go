package site

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
)

// Fault is a refusal or failure as people see it. As JSON it is an RFC 9457 problem document.
type Fault struct { //nolint:errname // what people see of an error
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`

	Field   string       `json:"field,omitempty"`
	Reason  string       `json:"reason"`
	Remedy  string       `json:"remedy,omitempty"`
	TraceID string       `json:"trace_id,omitempty"`
	Errors  []FieldFault `json:"errors,omitempty"` // every wrong field, when there are several

	RetryAfter time.Duration `json:"-"`
	Opens      time.Duration `json:"-"` // until it would not be refused any more; 0 = nobody knows
	Confirms   locale.Word   `json:"-"` // what is asked for, where a page asks for the password
	cause      error         // for the log, never for the client

	said, mend made // what Detail and Remedy were made of
}

func (f *Fault) Error() string {
	if f.Field != "" {
		return f.Field + ": " + f.Detail
	}
	return f.Detail
}

// Unwrap returns what caused the fault, which clients never see.
func (f *Fault) Unwrap() error { return f.cause }

// Refresh returns after how many seconds a browser without script asks again; 0 = never.
func (f *Fault) Refresh() int { return RefreshAt(f.Opens) }

// made is a sentence with the text that was made of it.
type made struct {
	of   locale.Sentence
	text string
}

// as is what a text was made of, which may be another by now: then it is the text itself.
func (m made) as(text string) locale.Sentence {
	if m.of.Key == "" || m.text != text {
		return locale.Kept(text)
	}
	return m.of
}

// Said is the detail, to be said in the reader's language.
func (f *Fault) Said() locale.Sentence { return f.said.as(f.Detail) }

// Mend is the remedy, to be said in the reader's language.
func (f *Fault) Mend() locale.Sentence { return f.mend.as(f.Remedy) }

// Told makes the detail of a format and what fills it.
func (f *Fault) Told(format locale.Word, args ...any) *Fault {
	f.said.of = locale.Sentence{Key: format, Args: args}
	f.said.text = f.said.of.String()
	f.Detail = f.said.text
	return f
}

// Mended makes the remedy of a format and what fills it.
func (f *Fault) Mended(format locale.Word, args ...any) *Fault {
	f.mend.of = locale.Sentence{Key: format, Args: args}
	f.mend.text = f.mend.of.String()
	f.Remedy = f.mend.text
	return f
}

// Names reports whether a field is what is wrong. Nothing is with the fields of a form that does not come back.
func (f *Fault) Names(field string) bool {
	return f != nil && (f.Field == field || slices.ContainsFunc(f.Errors, func(e FieldFault) bool { return e.Field == field }))
}

// FieldFault is one wrong field of a request.
type FieldFault struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`

	Said locale.Sentence `json:"-"` // what Detail was made of
}

// Refuse makes a fault without a field. The detail, which the arguments fill, says what is wrong, the remedy how to
// mend it. Both are sentences of the catalogues.
func Refuse(status int, reason string, detail, remedy locale.Word, args ...any) *Fault {
	return (&Fault{Status: status, Reason: reason}).Told(detail, args...).Mended(remedy)
}

// WrongField makes a field error; the text is a sentence for people.
func WrongField(field, reason string, format locale.Word, args ...any) *judge.FieldError {
	return judge.Wrong(field, reason, string(format), args...)
}

// WrongFields collects what is wrong with a request.
type WrongFields []*judge.FieldError

// Add adds a field that is wrong; nil is none.
func (w *WrongFields) Add(e *judge.FieldError) {
	if e != nil {
		*w = append(*w, e)
	}
}

// Err returns nil, or a fault that names every wrong field.
func (w WrongFields) Err() error {
	if len(w) == 0 {
		return nil
	}
	f := FieldRefusal(w[0])
	if len(w) > 1 {
		for _, e := range w {
			f.Errors = append(f.Errors, FieldFault{e.Field, e.Reason, e.Remedy, FieldSaid(e)})
		}
	}
	return f
}

// FieldRefusal returns the refusal of a field.
func FieldRefusal(e *judge.FieldError) *Fault {
	status := fiber.StatusUnprocessableEntity
	if e.Reason == ReasonTooLong {
		status = fiber.StatusRequestEntityTooLarge
	}
	return &Fault{Status: status, Reason: e.Reason, Field: e.Field, Detail: e.Remedy, said: made{FieldSaid(e), e.Remedy}}
}

// FieldSaid is what the text of a field error was made of, to be said in the reader's language.
func FieldSaid(e *judge.FieldError) locale.Sentence {
	return made{locale.Kept(e.Format, e.Args...), e.Remedy}.as(e.Remedy)
}

// Explain turns any error into what people may see of it.
func (s *Site) Explain(ctx context.Context, err error) *Fault {
	var (
		known    *Fault
		field    *judge.FieldError
		rejected *judge.RejectedError
		fromHTTP *fiber.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &field):
		return FieldRefusal(field)
	case errors.As(err, &rejected) && rejected.Reason == judge.ReasonImmediateCantMov:
		return Refuse(fiber.StatusConflict, string(rejected.Reason), "It is in the first lane, from which nothing is put back.",
			"Undo the move that brought it there, or move it before another.")
	case errors.As(err, &rejected) && rejected.DBStatus == "":
		return Refuse(fiber.StatusNotFound, "not_found", "There is no job with this number.", "")
	case errors.As(err, &rejected):
		return Refuse(fiber.StatusConflict, string(rejected.Reason),
			"The submission is not in a state that allows this: it is %s.", "", StateName(rejected.DBStatus))
	case errors.Is(err, sql.ErrNotFound):
		return Refuse(fiber.StatusNotFound, "not_found", "There is nothing at this address.", "")
	case errors.Is(err, sql.ErrQueueFull):
		f := Refuse(fiber.StatusServiceUnavailable, string(judge.ReasonQueueFull),
			"The queue is full; nothing was stored.", "Try again in a few seconds.")
		f.RetryAfter = 5 * time.Second
		return f
	case errors.As(err, &fromHTTP):
		return s.explainHTTP(fromHTTP)
	}
	return s.explainFailure(ctx, err)
}

// explainHTTP explains what the HTTP layer itself refused.
func (s *Site) explainHTTP(e *fiber.Error) *Fault {
	switch e.Code {
	case fiber.StatusRequestEntityTooLarge:
		f := Refuse(e.Code, ReasonTooLong,
			"The request's body is larger than %s, or than %s where a setter uploads a plugin.",
			"Send a smaller one.", locale.Bytes(s.Config.MaxBody), locale.Bytes(MaxUpload))
		f.Field = "body"
		return f
	case fiber.StatusMethodNotAllowed:
		return Refuse(e.Code, "method_not_allowed", "This address does not answer to that method.", "")
	case fiber.StatusNotFound:
		return Refuse(e.Code, "not_found", "There is nothing at this address.", "")
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return Refuse(e.Code, "headers_too_large", "The request's headers are larger than 16 KiB.", "Delete the cookies of this site.")
	}
	if e.Code >= fiber.StatusInternalServerError {
		f := Refuse(e.Code, "internal", "Something broke on our side.", "")
		f.cause = e
		return f
	}
	return Refuse(e.Code, "bad_request", "The request could not be read: %s.", "", e.Message)
}

// explainFailure explains an error that nobody decided on: either the database
// is away, which heals by itself, or it is a mistake of ours.
func (s *Site) explainFailure(ctx context.Context, err error) *Fault {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if sql.Away(err) || s.Store.Ping(ctx) != nil {
		f := Refuse(fiber.StatusServiceUnavailable, "database_unavailable", "The database does not answer. What was to be stored is stored whole or not at all.",
			"Try again in a few seconds, with the same Idempotency-Key where there is one; this heals by itself as soon as PostgreSQL is back.")
		f.RetryAfter, f.cause = 3*time.Second, err
		return f
	}
	f := Refuse(fiber.StatusInternalServerError, "internal", "Something broke on our side.",
		"Try again. If it stays, tell whoever runs this server the trace id.")
	f.cause = err
	return f
}

// forPrograms reports whether an address is for programs alone.
func forPrograms(path string) bool {
	return slices.ContainsFunc([]string{"/api/v1/", Judge0Path + "/", "/submit", "/status/", "/healthz", "/readyz", "/metrics"}, func(machine string) bool {
		return path == strings.TrimSuffix(machine, "/") || strings.HasSuffix(machine, "/") && strings.HasPrefix(path, machine)
	})
}

// Say puts the texts of a fault into the reader's language where a script of a page asks. Programs read English.
func (f *Fault) Say(c *fiber.Ctx) {
	if forPrograms(c.Path()) {
		return
	}
	l := LocaleOf(c)
	detail, remedy := l.Said(f.Said()), ""
	if mend := f.Mend(); mend.Key != "" {
		remedy = l.Said(mend)
	}
	f.Detail, f.Remedy = detail, remedy
	f.Errors = slices.Clone(f.Errors)
	for i, e := range f.Errors {
		if e.Said.Key != "" {
			f.Errors[i].Detail = l.Said(e.Said)
		}
	}
}

// WantsPage reports whether the caller is a person with a browser.
func WantsPage(c *fiber.Ctx) bool {
	if forPrograms(c.Path()) {
		return false
	}
	accept := c.Get(fiber.HeaderAccept)
	return strings.Contains(accept, "text/html") || !strings.Contains(accept, "json") && !strings.Contains(accept, "event-stream")
}

// Stopping is the answer while the server stops.
func Stopping() *Fault {
	f := Refuse(fiber.StatusServiceUnavailable, "stopping", "The server is stopping.", "Try again in a few seconds.")
	f.RetryAfter = 5 * time.Second
	return f
}

// NoBlobs refuses what needs the store of packages, where there is none.
func NoBlobs() error {
	return Refuse(fiber.StatusServiceUnavailable, "no_blobs", "This server has no store for packages.", "Configure BLOB_DIR or S3_ENDPOINT for the role api.")
}
