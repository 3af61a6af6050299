package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// digest is a digest that is easy to tell from others.
func digest(n int) string { return "sha256:" + strings.Repeat(fmt.Sprintf("%02x", n), 32) }

// addPlugin keeps a version of the checker org.example.pair.
func (s *stage) addPlugin(n int, version string, conforms bool) judge.Plugin {
	s.Helper()
	p := judge.Plugin{
		Digest: digest(n), Kind: "checker", Name: "org.example.pair", Version: version, Protocol: "testlib/1", Bytes: 34_816,
		Manifest: json.RawMessage(`{"judge":1}`), Conforms: conforms, JobID: int64(100 + n), By: "sue",
	}
	s.must(s.store.SavePlugin(s.Context(), p))
	return p
}

// use makes a problem use checkers.
func (s *stage) use(slug string, checkers ...string) {
	s.Helper()
	p, err := s.store.Problem(s.Context(), slug)
	s.must(err)
	p.Checkers = checkers
	s.must(s.store.SaveProblem(s.Context(), *p, "test"))
}

// accept reads the answer to a request that starts a job.
func (s *stage) accept(r reply) int64 {
	s.Helper()
	var out struct {
		JobID int64 `json:"job_id"`
	}
	if r.status != http.StatusAccepted || json.Unmarshal([]byte(r.body), &out) != nil || out.JobID == 0 {
		s.Fatalf("status %d: %s", r.status, r.body)
	}
	return out.JobID
}

func TestCheckersAreForSettersAndStaff(t *testing.T) {
	s := newStage(t)
	p := s.addPlugin(1, "1.0.0", true)
	at := "/checkers/checker/org.example.pair"
	job, err := s.store.Submit(t.Context(), sql.NewJob{Author: "sue", Kind: judge.KindPluginTest, Payload: json.RawMessage(`{}`)})
	s.must(err)
	pages := []string{"/checkers", at, site.JobURL(job.JobID), site.JobURL(job.JobID) + "/live"}
	calls := []string{"GET /api/v1/plugins", "GET /api/v1/plugins/" + p.Digest, "GET /api/v1/jobs/1"}
	changes := []string{
		"/checkers", at + "/activate", at + "/rollback", at + "/preview", at + "/bind", at + "/test", "/api/v1/plugins", "/api/v1/plugins/rollback",
		"/api/v1/plugins/" + p.Digest + "/activate", "/api/v1/plugins/" + p.Digest + "/preview", "/api/v1/plugins/" + p.Digest + "/bind",
	}
	const menu = `<a href="/checkers"`
	for name, role := range map[string]judge.Role{"guest": "", "ann": judge.RoleContestant, "sue": judge.RoleSetter, "sam": judge.RoleStaff, "root": judge.RoleAdmin} {
		who := "X-Nobody: 1"
		if role != "" {
			who = "Authorization: Bearer " + s.user(name, "correct horse", role)
		}
		may := role != "" && role != judge.RoleContestant
		if got := strings.Contains(s.do(http.MethodGet, "/", "", who).body, menu); got != may {
			t.Errorf("%s: the menu has checkers: %t", name, got)
		}
		for _, path := range pages {
			r := s.do(http.MethodGet, path, "", who, "Accept: text/html")
			if may && r.status != http.StatusOK || !may && (r.status != http.StatusForbidden || !strings.Contains(r.body, "Only setters and staff")) {
				t.Errorf("%s: GET %s: status %d", name, path, r.status)
			}
		}
		for _, call := range calls {
			method, path, _ := strings.Cut(call, " ")
			if r := s.do(method, path, "", who); may != (r.status == http.StatusOK) {
				t.Errorf("%s: %s: status %d", name, call, r.status)
			} else if !may {
				document(t, r)
			}
		}
		for _, path := range changes {
			r := s.do(http.MethodPost, path, "", who, "Accept: application/json")
			if !may && (r.status != http.StatusForbidden || document(t, r).Reason != "forbidden") || may && r.status == http.StatusForbidden {
				t.Errorf("%s: POST %s: status %d", name, path, r.status)
			}
		}
	}
	if f := document(t, s.do(http.MethodGet, "/api/v1/jobs/1", "")); f.Status != http.StatusNotFound {
		t.Errorf("the job of another: %d", f.Status)
	}
}

func TestASubmissionIsNoJobOfTheJobsAddress(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	sue := s.setter()
	for _, path := range []string{"/api/v1/jobs/%d", "/api/v1/jobs/%d/events", "/checkers/jobs/%d", "/checkers/jobs/%d/live", "/checkers/jobs/%d/events"} {
		if r := s.do(http.MethodGet, fmt.Sprintf(path, id), "", sue, "Accept: application/json"); r.status != http.StatusNotFound {
			t.Errorf("GET %s of a submission: %d", path, r.status)
		}
	}
	for _, id := range []string{"0", "x", "99", "99999999999999999999"} {
		if f := document(t, s.do(http.MethodGet, "/api/v1/jobs/"+id, "", sue)); f.Status != http.StatusNotFound {
			t.Errorf("job %s: %d", id, f.Status)
		}
	}
}

func TestWhoAskedForAJobMaySeeItWithoutBeingASetter(t *testing.T) {
	s := newStage(t)
	ann := "Authorization: Bearer " + s.user("ann", "correct horse", judge.RoleContestant)
	job, err := s.store.Submit(t.Context(), sql.NewJob{Author: "ann", Kind: judge.KindPluginTest, Payload: json.RawMessage(`{"op": "upload", "name": "org.example.pair"}`)})
	s.must(err)
	r := s.do(http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d", job.JobID), "", ann)
	for _, want := range []string{`"status":"PENDING"`, `"kind":"plugin_test"`, `"op":"upload"`, `"name":"org.example.pair"`, `"position":1`} {
		if r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%d: %s lacks %s", r.status, r.body, want)
		}
	}
}

func TestAVersionIsActivatedAndRolledBackOverTheAPI(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	one, two, bad := s.addPlugin(1, "1.0.0", true), s.addPlugin(2, "2.0.0", true), s.addPlugin(3, "3.0.0", false)
	activate := func(digest string) reply {
		return s.do(http.MethodPost, "/api/v1/plugins/"+digest+"/activate", "", sue)
	}
	rollBack := func() reply {
		return s.do(http.MethodPost, "/api/v1/plugins/rollback", `{"kind": "checker", "name": "org.example.pair"}`, asJSON, sue)
	}
	if f := document(t, rollBack()); f.Status != http.StatusConflict || f.Reason != "no_earlier_version" {
		t.Errorf("a roll-back from nothing: %d %s", f.Status, f.Reason)
	}
	for _, p := range []judge.Plugin{one, two} {
		if r := activate(p.Digest); r.status != http.StatusOK || !strings.Contains(r.body, `"active":true`) {
			t.Fatalf("activate %s: %d %s", p.Version, r.status, r.body)
		}
	}
	if f := document(t, activate(bad.Digest)); f.Status != 422 || f.Field != "digest" || f.Reason != "not_conforming" {
		t.Errorf("a version that does not conform: %d %s %s", f.Status, f.Field, f.Reason)
	}
	if f := document(t, activate(digest(9))); f.Status != http.StatusNotFound {
		t.Errorf("an unknown version: %d", f.Status)
	}
	if r := rollBack(); r.status != http.StatusOK || !strings.Contains(r.body, one.Digest) {
		t.Errorf("roll back: %d %s", r.status, r.body)
	}
	var list struct{ Plugins []judge.Plugin }
	s.must(json.Unmarshal([]byte(s.do(http.MethodGet, "/api/v1/plugins?kind=checker&name=org.example.pair", "", sue).body), &list))
	for _, p := range list.Plugins {
		if p.Active != (p.Digest == one.Digest) {
			t.Errorf("version %s is active: %t", p.Version, p.Active)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/plugins?kind=interactor", "", sue); len(list.Plugins) != 3 || r.body != `{"next":null,"plugins":[]}` {
		t.Errorf("%d checkers; interactors: %s", len(list.Plugins), r.body)
	}
	var p judge.Plugin
	s.must(json.Unmarshal([]byte(s.do(http.MethodGet, "/api/v1/plugins/"+two.Digest, "", sue).body), &p))
	if p.Version != "2.0.0" || p.By != "sue" || p.Active {
		t.Errorf("plugin: %+v", p)
	}
	for path, field := range map[string]string{"?kind=teacher": "kind", "?name=%00": "name"} {
		if f := document(t, s.do(http.MethodGet, "/api/v1/plugins"+path, "", sue)); f.Status != 422 || f.Field != field {
			t.Errorf("%s: %d %s", path, f.Status, f.Field)
		}
	}
}

func TestAPreviewAndABindingAreJobs(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	good, bad := s.addPlugin(1, "1.0.0", true), s.addPlugin(2, "2.0.0", false)
	adapter := judge.Plugin{Digest: digest(3), Kind: "toolchain", Name: "org.example.pascal", Version: "1", Protocol: "plan/1", Manifest: json.RawMessage(`{}`), Conforms: true, By: "sue"}
	s.must(s.store.SavePlugin(t.Context(), adapter))
	post := func(digest, op, body string, headers ...string) reply {
		return s.do(http.MethodPost, "/api/v1/plugins/"+digest+"/"+op, body, append(headers, asJSON, sue)...)
	}
	for name, tt := range map[string]struct {
		digest, op, body string
		want             judge.PluginPayload
	}{
		"a preview":               {good.Digest, "preview", `{"problem": "aplusb", "limit": 7}`, judge.PluginPayload{Op: "preview", Digest: good.Digest, Problem: "aplusb", Limit: 7}},
		"a preview by default":    {good.Digest, "preview", `{"problem": "aplusb"}`, judge.PluginPayload{Op: "preview", Digest: good.Digest, Problem: "aplusb", Limit: 50}},
		"a binding":               {good.Digest, "bind", `{"problem": "stairs"}`, judge.PluginPayload{Op: "bind", Digest: good.Digest, Problem: "stairs"}},
		"another proof":           {bad.Digest, "test", `{}`, judge.PluginPayload{Op: "test", Digest: bad.Digest}},
		"a proof with a problem":  {bad.Digest, "test", `{"problem": "aplusb"}`, judge.PluginPayload{Op: "test", Digest: bad.Digest, Problem: "aplusb"}},
		"a proof of an adapter":   {adapter.Digest, "test", `{}`, judge.PluginPayload{Op: "test", Digest: adapter.Digest}},
		"a preview of all it may": {good.Digest, "preview", `{"problem": "aplusb", "limit": 500}`, judge.PluginPayload{Op: "preview", Digest: good.Digest, Problem: "aplusb", Limit: 500}},
	} {
		got := s.payload(s.accept(post(tt.digest, tt.op, tt.body)))
		tt.want.SchemaVersion, tt.want.ContentType, tt.want.By = 1, judge.PluginType, "sue"
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: the job carries %+v, want %+v", name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		digest, op, body string
		status           int
		field, reason    string
	}{
		"an unknown plugin":              {digest(9), "preview", `{"problem": "aplusb"}`, 404, "", "not_found"},
		"an unknown problem":             {good.Digest, "bind", `{"problem": "nosuch"}`, 422, "problem", "unknown"},
		"no problem":                     {good.Digest, "preview", `{}`, 422, "problem", "missing"},
		"an empty problem":               {good.Digest, "bind", `{"problem": ""}`, 422, "problem", "missing"},
		"one that does not conform":      {bad.Digest, "bind", `{"problem": "aplusb"}`, 422, "digest", "not_conforming"},
		"an adapter":                     {adapter.Digest, "preview", `{"problem": "aplusb"}`, 422, "digest", "not_checker"},
		"no submissions":                 {good.Digest, "preview", `{"problem": "aplusb", "limit": 0}`, 422, "limit", "invalid"},
		"too many submissions":           {good.Digest, "preview", `{"problem": "aplusb", "limit": 501}`, 422, "limit", "invalid"},
		"a limit that is no number":      {good.Digest, "preview", `{"problem": "aplusb", "limit": "9"}`, 422, "limit", "wrong_type"},
		"a limit where there is nothing": {good.Digest, "bind", `{"problem": "aplusb", "limit": 9}`, 422, "limit", "unknown"},
	} {
		if f := document(t, post(tt.digest, tt.op, tt.body)); f.Status != tt.status || f.Field != tt.field || f.Reason != tt.reason {
			t.Errorf("%s: got %d %s %s", name, f.Status, f.Field, f.Reason)
		}
	}
	first := s.accept(post(good.Digest, "preview", `{"problem": "aplusb"}`, "Idempotency-Key: k"))
	if again := s.accept(post(good.Digest, "preview", `{"problem": "aplusb"}`, "Idempotency-Key: k")); again != first {
		t.Errorf("one key started the jobs %d and %d", first, again)
	}
	if f := document(t, post(good.Digest, "bind", `{"problem": "aplusb"}`, "Idempotency-Key: k")); f.Field != "Idempotency-Key" {
		t.Errorf("another request under the same key: %d %s", f.Status, f.Field)
	}
}

func TestFormsManageVersionsWithoutJavaScript(t *testing.T) {
	s := newStage(t)
	s.setter()
	cookie := s.login("sue", "correct horse")
	csrf := s.csrf(cookie)
	one, two := s.addPlugin(1, "1.0.0", true), s.addPlugin(2, "2.0.0", true)
	at := "/checkers/checker/org.example.pair"
	post := func(act string, fields ...string) reply {
		form := url.Values{"csrf": {csrf}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return s.do(http.MethodPost, at+"/"+act, form.Encode(), asForm, cookie)
	}
	for _, act := range []struct{ act, digest, active string }{{"activate", one.Digest, "1.0.0"}, {"activate", two.Digest, "2.0.0"}, {"rollback", "", "1.0.0"}} {
		if r := post(act.act, "digest", act.digest); r.status != http.StatusSeeOther || r.header.Get("Location") != at {
			t.Fatalf("%s: %d to %q", act.act, r.status, r.header.Get("Location"))
		}
		if page := s.do(http.MethodGet, at, "", cookie).body; !strings.Contains(page, act.active+` <span class="badge v-ac">`) {
			t.Errorf("after %s version %s is not shown as active", act.act, act.active)
		}
	}
	page := s.do(http.MethodGet, at, "", cookie).body
	for _, want := range []string{"Roll back to 2.0.0", "34 KiB", `href="/checkers/jobs/102"`, "What the name meant", `title="` + one.Digest, "A plus B"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the name lacks %q", want)
		}
	}
	preview := []string{"digest", two.Digest, "problem", "aplusb", "limit", "10", "key", "k"}
	first, second := post("preview", preview...), post("preview", preview...)
	if first.status != http.StatusSeeOther || first.header.Get("Location") != second.header.Get("Location") {
		t.Errorf("a double click: %d to %q and %q", first.status, first.header.Get("Location"), second.header.Get("Location"))
	}
	bound := post("bind", preview...)
	if bound.status != http.StatusSeeOther || bound.header.Get("Location") == first.header.Get("Location") {
		t.Errorf("the other button of the same form: %d to %q", bound.status, bound.header.Get("Location"))
	}
	if r := post("preview", "digest", two.Digest, "problem", "aplusb", "limit", "x"); r.status != 422 {
		t.Errorf("a limit that is no number: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/checkers/checker/nosuch", "", cookie); r.status != http.StatusNotFound {
		t.Errorf("a name that does not exist: %d", r.status)
	}
}

func TestTheListSaysWhatANameMeansAndWhoUsesIt(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	if page := s.do(http.MethodGet, "/checkers", "", sue).body; !strings.Contains(page, "Nothing has been uploaded yet") {
		t.Error("the empty list does not say that it is empty")
	}
	one := s.addPlugin(1, "1.0.0", true)
	s.addPlugin(2, "2.0.0-rc", true)
	s.must(s.store.ActivatePlugin(t.Context(), one.Digest, "sue"))
	s.use("aplusb", "org.example.pair")
	s.use("stairs", one.Digest)
	page := s.do(http.MethodGet, "/checkers", "", sue).body
	at := strings.Index(page, ">org.example.pair</a>")
	if at < 0 {
		t.Fatalf("the list lacks the name:\n%s", page)
	}
	for _, want := range []string{"1.0.0 ", `<td class="num wide">2</td>`, "2.0.0-rc", "by sue", "/problems/aplusb", "/problems/stairs"} {
		if !strings.Contains(page[at:strings.Index(page, "</table>")], want) {
			t.Errorf("the row lacks %q", want)
		}
	}
	page = s.do(http.MethodGet, "/checkers/checker/org.example.pair", "", sue).body
	for _, want := range []string{`The active version is used by these problems: <a href="/problems/aplusb">`, `Pinned by</dt><dd><a href="/problems/stairs">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the name lacks %q", want)
		}
	}
}
