package web

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"deepoj/web/site"
)

func TestReadinessNamesWhatIsMissing(t *testing.T) {
	s := newStage(t, func(c *site.Config) {
		c.Ready = func(context.Context) []site.Check {
			return []site.Check{{Name: "redis", Detail: "no answer", Remedy: "start it"}, {Name: "sandbox", OK: true}}
		}
	})
	r := s.do(http.MethodGet, "/readyz", "")
	if r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, `"missing":["redis"`) || !strings.Contains(r.body, "start it") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/healthz", ""); r.status != http.StatusOK || !strings.Contains(r.body, `"version":"test"`) {
		t.Errorf("/healthz: %d %s", r.status, r.body)
	}
}

func TestMetricsCountWithoutNames(t *testing.T) {
	s := newStage(t)
	s.do(http.MethodGet, "/problems/aplusb", "")
	s.do(http.MethodGet, "/secret-path-of-somebody", "")
	s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`, asJSON)
	s.do(http.MethodPost, "/submit", `{"problem_id": "nosuch", "language": "cpp", "code": "x"}`, asJSON)
	body := s.do(http.MethodGet, "/metrics", "").body
	for _, want := range []string{
		`web_requests_total{method="GET",route="/problems/:slug",status="200"} 1`,
		`web_requests_total{method="GET",route="other",status="404"} 1`,
		`web_submits_total{reason="",status="stored"} 1`, `web_submits_total{reason="unknown",status="refused"} 1`,
		`web_request_duration_seconds_bucket{route="/submit"`, "web_streams 0",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if strings.Contains(body, "somebody") {
		t.Error("/metrics shows an address that does not exist")
	}
}

func TestStaticFilesAreKeptForEver(t *testing.T) {
	s := newStage(t)
	page := s.do(http.MethodGet, "/login", "").body
	for _, path := range regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		r := s.do(http.MethodGet, path[1], "")
		if r.status != http.StatusOK || !strings.Contains(r.header.Get("Cache-Control"), "immutable") || r.header.Get("Content-Type") == "" {
			t.Errorf("GET %s: %d %v", path[1], r.status, r.header)
		}
	}
	old := s.do(http.MethodGet, "/static/000000000000/app.css", "")
	if old.status != http.StatusOK || old.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("an address of another version: %d %q", old.status, old.header.Get("Cache-Control"))
	}
	packed := s.do(http.MethodGet, s.asset("app.css"), "", "Accept-Encoding: gzip")
	zr, err := gzip.NewReader(strings.NewReader(packed.body))
	s.must(err)
	if plain, err := io.ReadAll(zr); err != nil || string(plain) != old.body {
		t.Errorf("the compressed style sheet differs: %v", err)
	}
}

func TestATraceIsTakenFromTheCallerAndHandedOn(t *testing.T) {
	s := newStage(t)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r := s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`, asJSON,
		"traceparent: 00-"+trace+"-00f067aa0ba902b7-01")
	if got := r.header.Get("Trace-Id"); got != trace {
		t.Errorf("Trace-Id %q", got)
	}
	sub, err := s.store.Submission(t.Context(), 1)
	s.must(err)
	if sub.TraceID != trace {
		t.Errorf("the job has trace id %q", sub.TraceID)
	}
	for _, bad := range []string{"", "00-x", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"} {
		r := s.do(http.MethodGet, "/login", "", "traceparent: "+bad)
		if got := r.header.Get("Trace-Id"); len(got) != 32 || strings.Trim(got, "0") == "" {
			t.Errorf("for %q the trace is %q", bad, got)
		}
	}
}

func TestAPanicIsAnAnswerAndNotTheEnd(t *testing.T) {
	s := newStage(t)
	catalog := s.server.Catalog
	s.server.Catalog = nil
	f := document(t, s.do(http.MethodGet, "/api/v1/languages", ""))
	if f.Status != http.StatusInternalServerError || f.Reason != "internal" || strings.Contains(f.Detail, "nil") {
		t.Errorf("got %d %s %q", f.Status, f.Reason, f.Detail)
	}
	s.server.Catalog = catalog
	if r := s.do(http.MethodGet, "/api/v1/languages", ""); r.status != http.StatusOK {
		t.Errorf("afterwards: %d", r.status)
	}
}

func TestABadConfigurationNamesEveryField(t *testing.T) {
	t.Parallel()
	err := site.Config{Listen: "nowhere", MaxBody: -1, WorkerAge: -1}.Validate()
	for _, want := range []string{"Store", "Listen", "MaxBody", "WorkerAge"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
