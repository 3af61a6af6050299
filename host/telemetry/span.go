package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A submission's trace: the request, below it the submit, and below that, often in other processes, its dispatches and
// attempts. The queue carries nothing but the trace id: the id of the submit's span is made from it and the job's id,
// so that whoever knows both can begin a span below it.

// maxAlike is how many spans of one kind are made below another, such as one for each test.
const maxAlike = 100

// Span is something that takes time. A nil Span takes no notice of anything.
type Span struct {
	otel  trace.Span
	scope *scope
}

// scope is what begins the spans below one.
type scope struct {
	tracer *Tracer
	alike  atomic.Int32 // spans that StartOne was asked for
	quiet  bool         // none are to be made
}

type spanKey int

const (
	scopeKey  spanKey = iota // *scope
	chosenKey                // trace.SpanID of the next span
)

// Start begins a span below the one of ctx. Spans that begin with the context that
// it returns are below it. There is no span, and no cost, when ctx has none.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	return StartAt(ctx, name, time.Time{})
}

// StartAt is [Start] of a span that began earlier.
func StartAt(ctx context.Context, name string, at time.Time) (context.Context, *Span) {
	sc, _ := ctx.Value(scopeKey).(*scope) // no scope is an answer
	if sc == nil || sc.quiet {
		return ctx, nil
	}
	return sc.tracer.start(ctx, name, at, trace.SpanKindInternal)
}

// StartOne is [Start] of one of what there may be many of. Beyond a hundred below
// one span there are no more, nor anything below those.
func StartOne(ctx context.Context, name string) (context.Context, *Span) {
	sc, _ := ctx.Value(scopeKey).(*scope) // no scope is an answer
	if sc == nil || sc.quiet {
		return ctx, nil
	}
	if sc.alike.Add(1) > maxAlike {
		return context.WithValue(ctx, scopeKey, &scope{quiet: true}), nil
	}
	return sc.tracer.start(ctx, name, time.Time{}, trace.SpanKindInternal)
}

func (t *Tracer) start(ctx context.Context, name string, at time.Time, kind trace.SpanKind) (context.Context, *Span) {
	options := []trace.SpanStartOption{trace.WithSpanKind(kind)}
	if !at.IsZero() {
		if now := time.Now(); at.After(now) { // by the clock of another machine
			at = now
		}
		options = append(options, trace.WithTimestamp(at))
	}
	below, otel := t.otel.Start(ctx, name, options...)
	if !otel.IsRecording() {
		return context.WithValue(ctx, scopeKey, &scope{quiet: true}), nil
	}
	s := &Span{otel, &scope{tracer: t}}
	return context.WithValue(below, scopeKey, s.scope), s
}

// Text notes something about the span.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.otel.SetAttributes(attribute.String(key, value))
	}
}

// Number notes something about the span.
func (s *Span) Number(key string, value int64) {
	if s != nil {
		s.otel.SetAttributes(attribute.Int64(key, value))
	}
}

// Name calls the span something better than at its start.
func (s *Span) Name(name string) {
	if s != nil {
		s.otel.SetName(name)
	}
}

// Below returns a context like ctx whose spans are below s.
func (s *Span) Below(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(trace.ContextWithSpan(ctx, s.otel), scopeKey, s.scope)
}

// EndAt ends the span, which was over earlier.
func (s *Span) EndAt(at time.Time) {
	if s != nil {
		s.otel.End(trace.WithTimestamp(at))
	}
}

// End ends the span; an error says that it failed.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if n := s.scope.alike.Load(); n > maxAlike {
		s.Number("left_out", int64(n-maxAlike))
	}
	if err != nil {
		s.otel.SetStatus(codes.Error, err.Error())
	}
	s.otel.End()
}

// Request returns a context with the trace id of a request, which is its W3C
// traceparent's or a new one, and begins the request's span.
func (t *Tracer) Request(ctx context.Context, traceparent, name string) (context.Context, *Span) {
	caller := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent})
	parent := trace.SpanContextFromContext(caller)
	id := NewTraceID()
	if parent.IsValid() {
		id = parent.TraceID().String()
	}
	if ctx = WithTrace(ctx, id); t == nil {
		return ctx, nil
	}
	ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	return t.start(ctx, name, time.Time{}, trace.SpanKindServer)
}

// Submitted notes that a job was stored for the request of ctx, which began at a
// time given. Its dispatches and attempts are below that.
func Submitted(ctx context.Context, jobID int64, at time.Time) {
	sc, _ := ctx.Value(scopeKey).(*scope) // no scope is an answer
	if sc == nil || sc.quiet {
		return
	}
	_, s := sc.tracer.start(context.WithValue(ctx, chosenKey, submitSpan(TraceID(ctx), jobID)), "submit", at, trace.SpanKindProducer)
	s.Number("job_id", jobID)
	s.End(nil)
}

// Dispatched notes that a job was handed to the workers, for which it was ready since a time given.
func (t *Tracer) Dispatched(ctx context.Context, traceID string, jobID int64, since time.Time) {
	if t == nil {
		return
	}
	_, s := t.start(t.submitted(ctx, traceID, jobID), "dispatch", since, trace.SpanKindProducer)
	s.Number("job_id", jobID)
	s.End(nil)
}

// Attempt begins the span of one try at a job, which was asked for at a time given.
func (t *Tracer) Attempt(ctx context.Context, traceID string, jobID int64, attemptID int32, asked time.Time) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, s := t.start(t.submitted(ctx, traceID, jobID), "attempt", asked, trace.SpanKindConsumer)
	s.Number("job_id", jobID)
	s.Number("attempt_id", int64(attemptID))
	return ctx, s
}

// submitted returns a context whose spans are below the submit of a job. Whether they are recorded follows from the
// trace id alone: what the client wished is not known here.
func (t *Tracer) submitted(ctx context.Context, traceID string, jobID int64) context.Context {
	id, err := trace.TraceIDFromHex(traceID)
	if err != nil { // it came from elsewhere
		return ctx
	}
	var flags trace.TraceFlags
	if t.share.ShouldSample(sdk.SamplingParameters{ParentContext: context.Background(), TraceID: id}).Decision == sdk.RecordAndSample {
		flags = trace.FlagsSampled
	}
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: submitSpan(traceID, jobID), TraceFlags: flags, Remote: true,
	}))
}

// submitSpan returns the id of the span of a job's submit.
func submitSpan(traceID string, jobID int64) (id trace.SpanID) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(traceID), uint64(jobID)))
	copy(id[:], sum[:])
	id[0] |= 1 // never all zero
	return id
}

// NewTraceID returns a random trace id as the W3C trace context writes it: 32
// lower-case hexadecimal digits, not all zero.
func NewTraceID() string { return newTraceID().String() }

func newTraceID() (id trace.TraceID) {
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64()|1) //nolint:gosec // G404: as unique as it must be
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())   //nolint:gosec // G404: as unique as it must be
	return id
}

// ids makes the ids of spans: as chosen, or random.
type ids struct{}

// NewIDs implements [sdk.IDGenerator]: the trace of logs is that of spans.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, err := trace.TraceIDFromHex(TraceID(ctx))
	if err != nil {
		id = newTraceID()
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements [sdk.IDGenerator].
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	if chosen, ok := ctx.Value(chosenKey).(trace.SpanID); ok {
		return chosen
	}
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1) //nolint:gosec // G404: as unique as it must be
	return id
}
