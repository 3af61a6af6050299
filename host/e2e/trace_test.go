package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/host/telemetry/telemetrytest"
	"deepoj/web/client"
)

// TestATraceLeadsFromTheRequestToTheSandbox judges a submission whose client has a
// trace, and looks at what a collector receives and at the log.
func TestATraceLeadsFromTheRequestToTheSandbox(t *testing.T) {
	needRoot(t)
	collector := telemetrytest.Start(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "LOG_FORMAT=json", "DELIVERY=streams"})
	good := verdictPrograms[0]
	trace := telemetry.NewTraceID()
	id := submitTraced(t, url, trace, good)
	s, err := c.Wait(t.Context(), id)
	if err != nil || s.Result == nil || s.Result.Verdict != good.want {
		t.Fatalf("judged %s, %v", describe(s), err)
	}
	got := collector.Await(t, trace, func(spans map[string][]telemetrytest.Span) bool {
		return len(spans["attempt"]) == 1 && len(spans["dispatch"]) == 1 && len(spans["POST /submit"]) == 1
	})
	byID := map[string]telemetrytest.Span{}
	for _, spans := range got {
		for _, s := range spans {
			byID[s.ID] = s
		}
	}
	// path names a span's parents up to the client.
	path := func(s telemetrytest.Span) string {
		names := []string{s.Name}
		for s.Parent != callerSpan {
			parent, ok := byID[s.Parent]
			if !ok {
				t.Fatalf("%s is below the span %q, which was not received", s.Name, s.Parent)
			}
			s = parent
			names = append(names, s.Name)
		}
		return strings.Join(names, " < ")
	}
	const attempt = " < attempt < submit < POST /submit"
	for name, want := range map[string]string{
		"dispatch": "dispatch < submit < POST /submit", "claim": "claim" + attempt, "compile": "compile" + attempt,
		"plan": "plan < compile" + attempt, "test": "test" + attempt, "checker": "checker < test" + attempt, "finalize": "finalize" + attempt,
	} {
		if len(got[name]) == 0 {
			t.Errorf("no span %s in %v", name, got)
		}
		for _, s := range got[name] {
			if is := path(s); is != want {
				t.Errorf("%s, want %s", is, want)
			}
		}
	}
	tested := 0
	for _, run := range got["sandbox run"] {
		switch is := path(run); is {
		case "sandbox run < test" + attempt:
			tested++
		case "sandbox run < compile" + attempt:
		default:
			t.Errorf("a program ran in %s", is)
		}
		if run.Text["verdict"] != "OK" {
			t.Errorf("run %+v", run)
		}
	}
	if n := len(s.Result.Tests); tested != n || len(got["test"]) != n || len(got["checker"]) != n {
		t.Errorf("%d tests: %d spans, %d runs, %d checkers", n, len(got["test"]), tested, len(got["checker"]))
	}
	if a := got["attempt"][0]; a.Number["job_id"] != id || a.Number["attempt_id"] != 1 || a.Text["verdict"] != string(good.want) || a.Failed {
		t.Errorf("attempt %+v", a)
	}
	noLabelPerRequest(t, url, c)
	p.stop()
	logged := map[string]bool{}
	for line := range strings.Lines(p.log.String()) {
		var l struct {
			Msg     string `json:"msg"`
			TraceID string `json:"trace_id"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.TraceID == trace {
			logged[l.Msg] = true
		}
	}
	if !logged["request"] || !logged["judged"] {
		t.Errorf("lines of the trace in the log: %v", logged)
	}
}

// noLabelPerRequest makes requests that differ in all that a request may bring, and
// fails when as many series of a metric come of them.
func noLabelPerRequest(t *testing.T, url string, c *client.Client) {
	t.Helper()
	const requests = 8
	before := series(get(t, url+"/metrics"))
	for range requests {
		r, err := c.Submit(t.Context(), client.NewSubmission{
			Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "int main() { return 0; } // " + telemetry.NewTraceID()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), r.JobID); err != nil {
			t.Fatal(err)
		}
		get(t, fmt.Sprintf("%s/submissions/%d", url, r.JobID))
		get(t, url+"/nowhere/"+telemetry.NewTraceID()+"?q="+telemetry.NewTraceID())
	}
	for name, after := range series(get(t, url+"/metrics")) {
		if added := len(after) - len(before[name]); added >= requests {
			t.Errorf("%d requests have made %d series of %s: %v", requests, added, name, slices.Sorted(maps.Keys(after)))
		}
	}
}

// bucket is the label of a histogram that every series of it has many of.
var bucket = regexp.MustCompile(`,?le="[^"]*"`)

// series returns the labels of each metric of a page of Prometheus's text format.
func series(page string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.Lines(page) {
		name, rest, ok := strings.Cut(line, "{")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		labels, _, _ := strings.Cut(rest, "} ")
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		out[name][bucket.ReplaceAllString(labels, "")] = true
	}
	return out
}
