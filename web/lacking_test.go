package web

import (
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

// The page on which sources are uploaded says what no worker can compile, and which
// package would mend it. What one of them can compile is not named.
func TestTheUploadPageSaysWhichCompilerIsMissing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	setter := s.setter()
	const missing = "clang++ needs what is not installed: libc++-14-dev-wasm32: apt-get install libc++-14-dev-wasm32"
	beat := func(name string, cpp judge.Language) {
		t.Helper()
		s.must(s.store.WorkerBeat(s.Context(), judge.WorkerInfo{
			Name: name, Pool: "default", Slots: 2, Version: "test", Sandbox: "cgroup v2", Started: time.Now(), Seen: time.Now(),
			Compilers: []judge.Language{{ID: "c", Name: "C", Available: true, Version: "clang 14.0.6"}, cpp},
		}))
	}
	page := func() string {
		t.Helper()
		r := s.do(http.MethodGet, "/checkers", "", setter)
		if r.status != http.StatusOK {
			t.Fatalf("status %d: %s", r.status, r.body)
		}
		return html.UnescapeString(r.body)
	}
	beat("one", judge.Language{ID: "cpp", Name: "C++", Unavailable: missing})
	if body := page(); strings.Count(body, `<li>C++: <span lang="en">`+missing+"</span>") != 1 || strings.Contains(body, "<li>C: ") {
		t.Errorf("the page does not say what is missing: %s", body)
	}
	beat("two", judge.Language{ID: "cpp", Name: "C++", Available: true})
	if body := page(); strings.Contains(body, "Not every source can be compiled here") {
		t.Error("the page says that something is missing which another worker has")
	}
}
