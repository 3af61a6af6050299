package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// asksGzip is a header that keeps the client of the tests from unpacking by itself.
const asksGzip = "Accept-Encoding: gzip"

func TestAnAnswerThatTheCallerHasIsNotSentAgain(t *testing.T) {
	s := newStage(t)
	ann := "Authorization: Bearer " + s.user("ann", "correct horse", judge.RoleContestant)
	id := s.submitAs("ann", "aplusb", "cpp", "int main() {}")
	mine := "/api/v1" + site.SubmissionURL(id)
	for path, cache := range map[string]string{
		"/api/openapi.json": "private, no-cache", "/api/v1/problems/aplusb": "private, no-cache", "/api/v1/languages": "private, no-cache",
		mine: "no-store", "/api/v1/submissions": "no-store", "/api/v1/account": "no-store",
	} {
		first := s.do(http.MethodGet, path, "", ann)
		tag := first.header.Get("ETag")
		if first.status != http.StatusOK || tag == "" || first.header.Get("Cache-Control") != cache {
			t.Errorf("%s: %d, ETag %q, Cache-Control %q, want %q", path, first.status, tag, first.header.Get("Cache-Control"), cache)
		}
		if vary := first.header.Get("Vary"); cache != "no-store" && (!strings.Contains(vary, "Authorization") || !strings.Contains(vary, "Cookie")) {
			t.Errorf("%s may be kept and varies by %q only", path, vary)
		}
		again := s.do(http.MethodGet, path, "", ann, `If-None-Match: "other", `+strings.TrimPrefix(tag, "W/"))
		if again.status != http.StatusNotModified || again.body != "" || again.header.Get("ETag") != tag || again.header.Get("Cache-Control") != cache {
			t.Errorf("%s again: %d %q, %v", path, again.status, again.body, again.header)
		}
		if other := s.do(http.MethodGet, path, "", ann, `If-None-Match: "other"`); other.status != http.StatusOK || other.body != first.body {
			t.Errorf("%s with another tag: %d", path, other.status)
		}
	}
	before := s.do(http.MethodGet, mine, "", ann).header.Get("ETag")
	s.finish(id, judge.Result{Verdict: judge.AC})
	if r := s.do(http.MethodGet, mine, "", ann, "If-None-Match: "+before); r.status != http.StatusOK || r.header.Get("ETag") == before {
		t.Errorf("a submission that has a verdict is said to be as before: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/api/v1/problems/nosuch", "", ann); r.status != http.StatusNotFound || r.header.Get("Cache-Control") != "no-store" || r.header.Get("ETag") != "" {
		t.Errorf("a refusal may be kept: %d %v", r.status, r.header)
	}
}

func TestPagesAndJSONArePackedUnlessTheirLengthCouldTell(t *testing.T) {
	s := newStage(t)
	token := s.user("ann", "correct horse", judge.RoleContestant)
	cookie := "Cookie: deepoj_session=" + token
	unpack := func(r reply) string {
		t.Helper()
		z, err := gzip.NewReader(bytes.NewReader([]byte(r.body)))
		s.must(err)
		text, err := io.ReadAll(z)
		s.must(err)
		return string(text)
	}
	for _, path := range []string{"/", "/problems/aplusb", "/api/openapi.json"} {
		plain := s.do(http.MethodGet, path, "", cookie, "Accept-Encoding: identity")
		packed := s.do(http.MethodGet, path, "", cookie, asksGzip)
		if packed.header.Get("Content-Encoding") != "gzip" || len(packed.body) > len(plain.body)/2 || !strings.Contains(packed.header.Get("Vary"), "Accept-Encoding") {
			t.Fatalf("%s: %d bytes of %d, %v", path, len(packed.body), len(plain.body), packed.header)
		}
		if got := unpack(packed); len(got) != len(plain.body) || got[:100] != plain.body[:100] {
			t.Errorf("%s is another when it is packed", path)
		}
		if plain.header.Get("Content-Encoding") != "" || !strings.Contains(plain.header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s is packed for whoever cannot unpack it: %v", path, plain.header)
		}
	}
	if r := s.do(http.MethodGet, "/api/openapi.json", "", asksGzip); !json.Valid([]byte(unpack(r))) {
		t.Error("the description does not survive")
	}
	for name, headers := range map[string][]string{
		"from a page of another site": {asksGzip, "Sec-Fetch-Site: cross-site"}, "from another host of the site": {asksGzip, "Sec-Fetch-Site: same-site"},
		"with gzip refused": {"Accept-Encoding: gzip;q=0, *"}, "with nothing said": {"Accept-Encoding: br"},
	} {
		if r := s.do(http.MethodGet, "/problems/aplusb", "", append(headers, cookie)...); r.status != http.StatusOK || r.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d %v", name, r.status, r.header)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/problems", "", asksGzip); r.header.Get("Content-Encoding") != "" || !json.Valid([]byte(r.body)) {
		t.Errorf("a short answer is packed: %v", r.header)
	}
	id := s.submitAs("ann", "aplusb", "cpp", "int main() {}")
	s.finish(id, judge.Result{Verdict: judge.AC})
	if r := s.do(http.MethodGet, "/api/v1"+site.SubmissionURL(id)+"/events", "", cookie, asksGzip); r.header.Get("Content-Encoding") != "" || !strings.Contains(r.body, "event: end") {
		t.Errorf("a stream is packed: %v", r.header)
	}
	if r := s.do(http.MethodPost, "/login", "name=ann&password=wrong", asForm, asksGzip); r.header.Get("Content-Encoding") != "" || len(r.body) < packedFrom {
		t.Errorf("the answer of a change is packed: %d bytes, %v", len(r.body), r.header)
	}
	if first, second := s.csrf(cookie), s.csrf(cookie); first == second {
		t.Error("the token of forms is the same in two pages, and a packed page's length could tell it")
	}
}

func TestParametersThatAreNotThereAreRefused(t *testing.T) {
	s := newStage(t)
	token := "Authorization: Bearer " + s.user("root", "correct horse", judge.RoleAdmin)
	refused := func(route, path, query string) site.Fault {
		t.Helper()
		method, _, _ := strings.Cut(route, " ")
		r := s.do(method, path+query, "", token, "Accept: application/json", asJSON)
		var f site.Fault
		if json.Unmarshal([]byte(r.body), &f) != nil {
			t.Errorf("%s%s: %d %s", route, query, r.status, r.body)
		}
		return f
	}
	names := strings.NewReplacer(":slug", "aplusb", ":id", "1", ":delivery", "1", ":digest", "sha256:00", ":version", "sha256:00", ":space", "course", ":name", "root", ":kind", "checker")
	tried := 0
	for _, op := range operations(s.server.addresses()) {
		_, path, _ := strings.Cut(op.Route, " ")
		if !strings.HasPrefix(path, "/api/v1/") || op.Confirm != "" { // what is confirmed is asked for that first
			continue
		}
		tried++
		f := refused(op.Route, names.Replace(path), "?colour=red")
		if f.Status != http.StatusUnprocessableEntity || f.Reason != site.ReasonUnknown || f.Field != "colour" {
			t.Errorf("%s?colour=red: %+v", op.Route, f)
		}
		for known := range strings.FieldsSeq(op.Query) {
			if !strings.Contains(f.Detail, known) {
				t.Errorf("%s: the refusal does not name %s: %s", op.Route, known, f.Detail)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d addresses were tried", tried)
	}
	if f := refused("GET ", "/api/v1/submissions", "?limit=1&limit=2"); f.Field != "limit" || f.Reason != "duplicate" {
		t.Errorf("a parameter twice: %+v", f)
	}
	if f := refused("GET ", "/api/v1/submissions", "?colour=red&size=1"); len(f.Errors) != 2 {
		t.Errorf("two unknown parameters: %+v", f)
	}
}
