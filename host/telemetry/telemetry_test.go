package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// lastLine returns the last line of JSON in b.
func lastLine(t *testing.T, b *bytes.Buffer) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-1], err)
	}
	return got
}

func TestALineCarriesTheIDsOfItsContext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := Logger(&out, slog.LevelInfo, true)
	ctx := WithTrace(WithJob(t.Context(), 7, 2), "abc")

	log.InfoContext(ctx, "judged", slog.String("verdict", "AC"))
	got := lastLine(t, &out)
	for key, want := range map[string]any{"job_id": 7.0, "attempt_id": 2.0, "trace_id": "abc", "verdict": "AC"} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}

	log.With(slog.Int64("job_id", 9)).InfoContext(ctx, "another job is named")
	if line := out.String(); strings.Count(line[strings.LastIndex(strings.TrimSpace(line), "\n")+1:], "job_id") != 1 {
		t.Errorf("the id is there twice: %s", line)
	}
	if got := lastLine(t, &out); got["job_id"] != 9.0 {
		t.Errorf("the logger's own id lost: %v", got)
	}

	log.InfoContext(context.Background(), "no job at all")
	if got := lastLine(t, &out); got["job_id"] != nil || got["trace_id"] != nil {
		t.Errorf("ids from nowhere: %v", got)
	}
}

func TestLevelAndFormatAreTheOperators(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	level := new(slog.LevelVar)
	log := Logger(&out, level, false)
	log.DebugContext(t.Context(), "too small")
	if out.Len() > 0 {
		t.Errorf("a line below the level was written: %s", out.String())
	}
	level.Set(slog.LevelDebug)
	log.DebugContext(t.Context(), "small")
	if !strings.Contains(out.String(), "level=DEBUG msg=small") {
		t.Errorf("text = %q", out.String())
	}
}

func TestALineThatStaysTheSameIsWrittenRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(LimitRepeats(slog.NewJSONHandler(&out, nil), 30*time.Second))
		for range 100 { // 99 seconds
			log.WarnContext(t.Context(), "outbox is stuck", slog.String("err", "connection refused"))
			<-time.After(time.Second)
		}
		if n := strings.Count(out.String(), "\n"); n != 4 { // at 0, 30, 60 and 90 s
			t.Errorf("%d lines, want 4:\n%s", n, out.String())
		}
		if got := lastLine(t, &out); got["repeated"] != 29.0 {
			t.Errorf("repeated = %v, want 29", got["repeated"])
		}
	})
}

func TestLinesThatDifferAreAllWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(LimitRepeats(slog.NewTextHandler(&out, nil), time.Hour))
	for i := range 2*maxLines + 10 {
		log.InfoContext(t.Context(), "judged", slog.Int("job_id", i))
	}
	log.With(slog.String("queue", "a")).InfoContext(t.Context(), "same words")
	log.With(slog.String("queue", "b")).InfoContext(t.Context(), "same words")
	log.WithGroup("g").InfoContext(t.Context(), "same words")
	log.WarnContext(t.Context(), "same words")
	if got, want := strings.Count(out.String(), "\n"), 2*maxLines+14; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}

func TestAForeignTraceparentIsReadWithCare(t *testing.T) {
	t.Parallel()
	trace, span := strings.Repeat("a1", 16), strings.Repeat("b2", 8)
	tests := map[string]struct {
		header string
		ok     bool
	}{
		"the usual":                {fmt.Sprintf("00-%s-%s-01", trace, span), true},
		"a later version has more": {fmt.Sprintf("01-%s-%s-01-more", trace, span), true},
		"version 00 has not":       {fmt.Sprintf("00-%s-%s-01-more", trace, span), false},
		"version ff is forbidden":  {fmt.Sprintf("ff-%s-%s-01", trace, span), false},
		"nothing":                  {"", false},
		"upper case":               {fmt.Sprintf("00-%s-%s-01", strings.ToUpper(trace), span), false},
		"no trace":                 {fmt.Sprintf("00-%s-%s-01", strings.Repeat("0", 32), span), false},
		"no span":                  {fmt.Sprintf("00-%s-%s-01", trace, strings.Repeat("0", 16)), false},
		"a short trace":            {fmt.Sprintf("00-%s-%s-01", trace[1:], span), false},
		"a line break in it":       {fmt.Sprintf("00-%s\n-%s-01", trace[1:], span), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var none *Tracer
			ctx, _ := none.Request(t.Context(), tt.header, "GET /")
			got := TraceID(ctx)
			if ok := got == trace; ok != tt.ok {
				t.Errorf("Request with %q took over its trace: %t, want %t", tt.header, ok, tt.ok)
			}
			if len(got) != 32 || strings.Trim(got, "0123456789abcdef") != "" || strings.Trim(got, "0") == "" {
				t.Errorf("Request with %q has the trace %q", tt.header, got)
			}
		})
	}
}

func TestTheRegistrySaysWhichProgramItIs(t *testing.T) {
	t.Parallel()
	r := Registry()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
	}
	for _, want := range []string{"deepoj_build_info", "go_goroutines", "process_open_fds"} {
		if !names[want] {
			t.Errorf("no metric %s", want)
		}
	}
	if r == Registry() || prometheus.DefaultRegisterer == prometheus.Registerer(r) {
		t.Error("the registry is shared")
	}
	if b := Build(); b.Version == "" || b.Commit == "" || b.Go == "" {
		t.Errorf("build = %+v", b)
	}
}
