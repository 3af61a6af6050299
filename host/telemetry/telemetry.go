// Package telemetry sets up what a process says about itself: structured logs that carry the ids of the job at hand,
// traces that lead from a request to the runs of its program, and a registry of metrics.
//
// It holds no state and reads no configuration; cmd decides and passes loggers
// and registries on. Job ids appear in logs and traces, never in metrics.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
)

// Logger returns a logger that writes lines at level and above to w, as JSON or as text. It adds job_id, attempt_id and
// trace_id from the context of each line (see [WithJob] and [WithTrace]), and repeats a line that stays the same at
// most every 30 seconds, with the number of those left out (see [LimitRepeats]).
func Logger(w io.Writer, level slog.Leveler, asJSON bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, options)
	if asJSON {
		h = slog.NewJSONHandler(w, options)
	}
	return slog.New(AddContext(LimitRepeats(h, repeatEvery)))
}

type contextKey int

const (
	jobKey contextKey = iota
	traceKey
)

type job struct {
	id      int64
	attempt int32
}

// WithJob returns a context whose log lines carry job_id and attempt_id.
func WithJob(ctx context.Context, jobID int64, attemptID int32) context.Context {
	return context.WithValue(ctx, jobKey, job{jobID, attemptID})
}

// WithTrace returns a context whose log lines carry trace_id.
func WithTrace(ctx context.Context, traceID string) context.Context {
	return context.WithValue(ctx, traceKey, traceID)
}

// TraceID returns the trace id of ctx, or "".
func TraceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey).(string) // no trace id is an answer
	return id
}

// AddContext returns a handler that adds the ids of each line's context and hands the line to h. An id that the line or
// its logger carries already is not added again.
func AddContext(h slog.Handler) slog.Handler { return contextHandler{Handler: h} }

type contextHandler struct {
	slog.Handler
	carried []string // keys of the logger's own attributes
}

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	j, inJob := ctx.Value(jobKey).(job)
	trace := TraceID(ctx)
	var ids []slog.Attr
	if inJob {
		ids = append(ids, slog.Int64("job_id", j.id), slog.Int64("attempt_id", int64(j.attempt)))
	}
	if trace != "" {
		ids = append(ids, slog.String("trace_id", trace))
	}
	if len(ids) > 0 {
		carried := slices.Clone(h.carried)
		r.Attrs(func(a slog.Attr) bool {
			carried = append(carried, a.Key)
			return true
		})
		r = r.Clone()
		r.AddAttrs(slices.DeleteFunc(ids, func(a slog.Attr) bool { return slices.Contains(carried, a.Key) })...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	carried := slices.Clone(h.carried)
	for _, a := range attrs {
		carried = append(carried, a.Key)
	}
	return contextHandler{Handler: h.Handler.WithAttrs(attrs), carried: carried}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{Handler: h.Handler.WithGroup(name), carried: h.carried}
}
