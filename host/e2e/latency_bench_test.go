package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/host/telemetry/telemetrytest"
)

// BenchmarkLatency hands in programs one at a time, while nothing else is judged, and reports what the traces say, in
// milliseconds:
//
//   - first-test: from the commit of the submission to the beginning of its first test,
//   - verdict: from the commit to that of the verdict of 12 tiny tests,
//   - pause: from the end of compiling to the beginning of the first test,
//
// of programs that were compiled before, with one slot and with as many as there are cores, and of ones that were not.
func BenchmarkLatency(b *testing.B) {
	needRoot(b)
	for _, row := range []struct {
		name  string
		env   []string
		fresh bool
		jobs  int
	}{
		{"compiled before", nil, false, 200},
		{"compiled before, one slot", []string{"WORKER_SLOTS=1"}, false, 200},
		{"compiled before, postgres", []string{"DELIVERY=postgres"}, false, 200},
		{"compiled now", nil, true, 20},
	} {
		b.Run(row.name, func(b *testing.B) { latency(b, row.env, row.fresh, row.jobs) })
	}
}

func latency(b *testing.B, env []string, fresh bool, jobs int) {
	collector := telemetrytest.Start(b)
	ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
	defer cancel()
	_, url, c := up(b, filepath.Join(folder(b), "data"), append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL))
	submitAndWait(ctx, b, c, "aplusb", languagePrograms[7]) // Go: its cache is filled in the background until then
	submitAndWait(ctx, b, c, "aplusb", verdictPrograms[0])  // compiles
	var traces []string
	for i := range jobs {
		p := verdictPrograms[0]
		if fresh {
			p.text += fmt.Sprintf("// %d\n", i)
		}
		time.Sleep(50 * time.Millisecond)
		trace := telemetry.NewTraceID()
		id := submitTraced(b, url, trace, p)
		s, err := c.Wait(ctx, id)
		if err != nil || s.Result == nil || s.Result.Verdict != judge.AC {
			b.Fatalf("submission %d: %s, %v", id, describe(s), err)
		}
		traces = append(traces, trace)
	}
	var first, verdict, pause []float64
	for _, trace := range traces {
		spans := collector.Await(b, trace, func(spans map[string][]telemetrytest.Span) bool {
			return len(spans["attempt"]) == 1 && len(spans["submit"]) == 1 && len(spans["test"]) > 0 && len(spans["finalize"]) == 1
		})
		begin := slices.MinFunc(spans["test"], func(x, y telemetrytest.Span) int { return x.Start.Compare(y.Start) }).Start
		committed := spans["submit"][0].End
		first = append(first, ms(begin.Sub(committed)))
		verdict = append(verdict, ms(spans["finalize"][0].End.Sub(committed)))
		pause = append(pause, ms(begin.Sub(spans["compile"][0].End)))
	}
	for name, all := range map[string][]float64{"first-test": first, "verdict": verdict, "pause": pause} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-p50-ms")
		b.ReportMetric(all[len(all)*99/100], name+"-p99-ms")
	}
}

// submitTraced hands in a program in a trace of the client, and returns its job.
func submitTraced(t testing.TB, url, trace string, p program) int64 {
	t.Helper()
	body, err := json.Marshal(map[string]string{"problem_id": "aplusb", "language": p.language, "code": p.text})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/submit", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Traceparent", "00-"+trace+"-"+callerSpan+"-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var receipt struct {
		JobID int64 `json:"job_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&receipt); err != nil || receipt.JobID == 0 {
		t.Fatalf("submit: %s, %+v, %v", answer.Status, receipt, err)
	}
	return receipt.JobID
}

// callerSpan is the span of that client.
const callerSpan = "00f067aa0ba902b7"

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
