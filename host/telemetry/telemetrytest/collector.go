// Package telemetrytest is a collector of spans for tests: it speaks OTLP as protobuf over HTTP.
package telemetrytest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one that was received. Ids are in hexadecimal; a root has no Parent.
type Span struct {
	Name, Trace, ID, Parent string
	Failed                  bool
	Start, End              time.Time
	Text                    map[string]string
	Number                  map[string]int64
	Service                 map[string]string // what the process says of itself
}

// Collector keeps the spans that it receives.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu     sync.Mutex
	spans  []Span
	header http.Header
}

// Start runs a collector until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Errorf("collector: %v", err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // an empty answer: all was taken
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) take(r *http.Request) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var q collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(data, &q); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header.Clone()
	for _, rs := range q.GetResourceSpans() {
		service, _ := attributes(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				text, number := attributes(s.GetAttributes())
				c.spans = append(c.spans, Span{
					Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
					Failed: s.GetStatus().GetCode() == 2, // STATUS_CODE_ERROR
					Start:  time.Unix(0, int64(s.GetStartTimeUnixNano())), End: time.Unix(0, int64(s.GetEndTimeUnixNano())),
					Text: text, Number: number, Service: service,
				})
			}
		}
	}
	return nil
}

func attributes(all []*common.KeyValue) (text map[string]string, number map[string]int64) {
	text, number = map[string]string{}, map[string]int64{}
	for _, a := range all {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			text[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			number[a.GetKey()] = v.IntValue
		}
	}
	return text, number
}

// Header returns that of the last request.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

// Spans returns what was received of a trace, by the names of the spans.
func (c *Collector) Spans(trace string) map[string][]Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string][]Span{}
	for _, s := range c.spans {
		if s.Trace == trace {
			out[s.Name] = append(out[s.Name], s)
		}
	}
	return out
}

// Await waits until the spans of a trace are as wanted and returns them.
func (c *Collector) Await(t testing.TB, trace string, ok func(map[string][]Span) bool) map[string][]Span {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(90 * time.Second)
	for {
		spans := c.Spans(trace)
		if ok(spans) {
			return spans
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the trace %s is not as wanted: %v", trace, spans)
		}
	}
}
