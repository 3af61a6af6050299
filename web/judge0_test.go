package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/jobs"
	"deepoj/web/site"
)

// judge0Submit stores a submission as a client of Judge0 and returns its token.
func (s *stage) judge0Submit(body string, headers ...string) string {
	s.Helper()
	r := s.do(http.MethodPost, "/judge0/submissions", body, append(headers, asJSON)...)
	var got struct{ Token string }
	if r.status != http.StatusCreated || json.Unmarshal([]byte(r.body), &got) != nil || got.Token == "" {
		s.Fatalf("POST /judge0/submissions: %d %s", r.status, r.body)
	}
	return got.Token
}

func TestAFullQueueIsToldAsJudge0Does(t *testing.T) {
	s := newStage(t)
	s.must(s.store.SaveQueue(t.Context(), judge.Queue{Name: judge.DefaultQueue, MaxBacklog: 1, MaxTries: 5, Redeliver: time.Minute, Spacing: time.Second, MaxWait: time.Minute}))
	s.judge0Submit(`{"source_code": "x", "language_id": 71}`)
	r := s.do(http.MethodPost, "/judge0/submissions", `{"source_code": "x", "language_id": 71}`, asJSON)
	if r.status != http.StatusServiceUnavailable || r.body != `{"error":"queue is full"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestAClientOfJudge0Waits(t *testing.T) {
	s := newStage(t)
	answered := make(chan reply)
	ask := func(query string) {
		answered <- s.do(http.MethodPost, "/judge0/submissions?wait=true"+query, `{"source_code": "x", "language_id": 71, "expected_output": "1"}`, asJSON)
	}
	next := func() int64 {
		for {
			tickets, err := s.store.Pick(t.Context(), jobs.PickRequest{Dispatcher: "test", Limit: 1})
			s.must(err)
			if len(tickets) > 0 {
				return tickets[0].JobID
			}
		}
	}
	go ask("&fields=stdout,status")
	s.finish(next(), ran(judge.WA, judge.RunOutput{Stdout: []byte("2")}))
	if r := <-answered; r.status != http.StatusCreated || r.body != `{"status":{"id":4,"description":"Wrong Answer"},"stdout":"2"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	go ask("")
	s.finish(next(), ran(judge.AC, judge.RunOutput{Stdout: []byte("\xff")}))
	if r := <-answered; r.status != http.StatusCreated || !strings.Contains(r.body, `"token":`) || !strings.Contains(r.body, "cannot be converted to UTF-8") {
		t.Errorf("an output that is no text: %d %s", r.status, r.body)
	}
}

func TestTheTokensOfJudge0AreThoseOfSessions(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.AuthRequired = true })
	tokens := map[string]string{}
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "sue": judge.RoleSetter, "sam": judge.RoleStaff, "root": judge.RoleAdmin} {
		tokens[name] = s.user(name, "correct horse", role)
	}
	auth := func(name string) string { return "X-Auth-Token: " + tokens[name] }
	hers := s.judge0Submit(`{"source_code": "x", "language_id": 71}`, auth("ann"))
	for name, header := range map[string][]string{"": nil, "wrong": {"X-Auth-Token: wrong"}, "elsewhere": {"X-Token: " + tokens["ann"]}} {
		for _, call := range []string{"POST /judge0/authenticate", "GET /judge0/submissions/" + hers, "GET /judge0/languages", "POST /judge0/submissions", "GET /judge0/workers"} {
			method, path, _ := strings.Cut(call, " ")
			if r := s.do(method, path, "", header...); r.status != http.StatusUnauthorized || !strings.HasPrefix(r.body, `{"error":`) {
				t.Errorf("%s with token %q: status %d %s", call, name, r.status, r.body)
			}
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/submissions", "", auth("ann")); r.status != http.StatusUnauthorized {
		t.Errorf("X-Auth-Token holds elsewhere: %d", r.status)
	}
	for name, may := range map[string]struct{ see, rule bool }{"ann": {true, false}, "bob": {}, "sue": {}, "sam": {true, true}, "root": {true, true}} {
		for call, allowed := range map[string]int{
			"POST /judge0/authenticate": 200, "GET /judge0/languages": 200, "GET /judge0/submissions/" + hers: 200,
			"GET /judge0/submissions/batch?tokens=" + hers: 200, "GET /judge0/submissions": 200, "POST /judge0/authorize": 200,
			"DELETE /judge0/submissions/" + hers: 400,
		} {
			method, path, _ := strings.Cut(call, " ")
			r := s.do(method, path, "", auth(name))
			switch {
			case path == "/judge0/submissions" || method == http.MethodDelete || strings.HasSuffix(path, "authorize"):
				if !may.rule {
					allowed = http.StatusForbidden
				}
			case strings.HasSuffix(path, "/"+hers) && !may.see:
				allowed = http.StatusNotFound
			case strings.HasPrefix(path, "/judge0/submissions/batch") && !may.see:
				if r.body != `{"submissions":[null]}` {
					t.Errorf("%s gets %s in a batch", name, r.body)
				}
			}
			if r.status != allowed {
				t.Errorf("%s for %s: status %d, want %d: %s", call, name, r.status, allowed, r.body)
			}
		}
	}
	var page struct {
		Submissions []map[string]any
		Meta        map[string]any
	}
	for range 2 {
		s.judge0Submit(`{"source_code": "y", "language_id": 71}`, auth("bob"))
	}
	r := s.do(http.MethodGet, "/judge0/submissions?page=2&per_page=2&fields=token", "", auth("ann"), "X-Auth-User: "+tokens["root"])
	s.must(json.Unmarshal([]byte(r.body), &page))
	if len(page.Submissions) != 1 || page.Submissions[0]["token"] != hers || fmt.Sprint(page.Meta) != "map[current_page:2 next_page:<nil> prev_page:1 total_count:3 total_pages:2]" {
		t.Errorf("the second page: %s", r.body)
	}
	if r := s.do(http.MethodGet, "/judge0/submissions", "", auth("ann"), "X-Auth-User: "+tokens["bob"]); r.status != http.StatusForbidden {
		t.Errorf("a contestant's X-Auth-User: %d", r.status)
	}
}

func TestACallbackIsMadeUntilItIsTaken(t *testing.T) {
	type call struct{ method, kind, body string }
	heard := make(chan call, 10)
	var failures atomic.Int32
	failures.Store(2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if failures.Add(-1) >= 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
		heard <- call{r.Method, r.Header.Get("Content-Type"), string(body)}
	}))
	t.Cleanup(server.Close)
	submit := func(s *stage) string {
		t.Helper()
		token := s.judge0Submit(`{"source_code": "x", "language_id": 71, "callback_url": "` + server.URL + `/told"}`)
		s.finish(1, ran(judge.AC, judge.RunOutput{Stdout: []byte("h\xe9")}))
		return token
	}
	outcomes := func(s *stage, want string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; {
			if r := s.do(http.MethodGet, "/metrics", ""); strings.Contains(r.body, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("there is no %s", want)
			}
			<-time.After(50 * time.Millisecond)
		}
	}

	// A private address that nobody allowed hears nothing, and is given up.
	refused := newStage(t)
	submit(refused)
	outcomes(refused, `web_callbacks_total{outcome="failed"} 1`)
	if len(heard) > 0 {
		t.Fatalf("a private address heard %+v", <-heard)
	}

	s := newStage(t, func(c *site.Config) { c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	token := submit(s)
	for i := range 3 {
		select {
		case got := <-heard:
			want := `{"compile_output":null,"memory":3400,"message":null,"status":{"id":3,"description":"Accepted"},"stderr":null,"stdout":"aOk=\n","time":"0.012","token":"` + token + `"}`
			if got != (call{"PUT", "application/json", want}) {
				t.Errorf("call %d: %+v", i+1, got)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("there is no further call")
		}
	}
	outcomes(s, `web_callbacks_total{outcome="told"} 1`)
	if due, err := s.store.DueCallbacks(t.Context(), 10); err != nil || len(due) > 0 || len(heard) > 0 {
		t.Errorf("after the end there are %d callbacks (%v) and %d calls", len(due), err, len(heard))
	}
}

// chapters are the addresses that the guide tells of.
var chapters = []string{site.Judge0Path, "/api/v1/runs", "/api/v1/sessions", "/api/v1/registrations", "/api/v1/password-resets", "/api/v1/account", "/api/v1/keys", "/api/v1/users", "/api/v1/webhooks", "/api/v1/spaces", "/api/v1/rounds", "/api/v1/contests", "/api/v1/submissions/batch", "/api/v1/audit", "/api/v1/workers", "/api/v1/languages"}

func TestTheGuideNamesEveryRoute(t *testing.T) {
	s := newStage(t)
	guide, err := os.ReadFile("../host/docs/api.md")
	s.must(err)
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(GET|POST|PUT|PATCH|DELETE) .*? \\|").FindAllStringSubmatch(string(guide), -1) {
		for _, path := range regexp.MustCompile("/[a-z0-9_/:-]+").FindAllString(row[0], -1) {
			documented[row[1]+" "+path] = true
		}
	}
	for _, route := range s.server.app.GetRoutes(true) {
		told := slices.ContainsFunc(chapters, func(prefix string) bool { return route.Path == prefix || strings.HasPrefix(route.Path, prefix+"/") })
		if !told || route.Method == http.MethodHead {
			continue
		}
		name := route.Method + " " + route.Path
		if !documented[name] {
			t.Errorf("%s is not in the guide", name)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("the guide names %s, which there is not", name)
	}
}
