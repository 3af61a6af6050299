package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

func TestPagesShowWhatTheDatabaseHolds(t *testing.T) {
	s := newStage(t)
	id := s.submit("stairs", "cpp", "int main() {}\n")
	s.finish(id, mixed())
	for path, want := range map[string][]string{
		"/":                    {"A plus B", "Stairs in the Rain", "TLE"},
		"/problems/aplusb":     {"Write their sum", "-5 5", "CPython 3.11.2", "rustc was not found", `name="key"`},
		"/submissions":         {"Stairs in the Rain", "50", "TLE"},
		site.SubmissionURL(id): {"Time limit exceeded", "Group 2", "min(30, 30)", "read 5, expected 4", "int main() {}"},
		"/queue":               {"Waiting", "cpp"},
		"/languages":           {"python3 main.py", "unavailable"},
		"/login":               {"Password"},
		"/api/errors":          {"no_live_worker"},
	} {
		t.Run(path, func(t *testing.T) {
			r := s.do(http.MethodGet, path, "")
			if r.status != http.StatusOK {
				t.Fatalf("status %d: %s", r.status, r.body)
			}
			for _, text := range want {
				if !strings.Contains(r.body, text) {
					t.Errorf("the page does not show %q", text)
				}
			}
		})
	}
}

func TestACompileErrorIsShownWhereItIs(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "int main() {\n  return x;\n}\n")
	a := s.claim(id)
	s.must(s.store.Finalize(s.Context(), a, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{
		Output:      "main.cpp:2:10: error: 'x' was not declared in this scope",
		Diagnostics: []judge.Diagnostic{{File: "main.cpp", Line: 2, Column: 10, Severity: "error", Message: "'x' was not declared in this scope"}},
	}}))
	r := s.do(http.MethodGet, site.SubmissionURL(id), "")
	at := strings.Index(r.body, `id="L2" class="marked"`)
	if at < 0 || !strings.Contains(r.body[at:], "was not declared") {
		t.Errorf("line 2 of the source has no mark:\n%s", r.body)
	}
	edit := s.do(http.MethodGet, "/problems/aplusb?from="+site.SubmissionURL(id)[len("/submissions/"):], "")
	for _, want := range []string{"return x;", "&#34;line&#34;:2", `value="cpp" selected`} {
		if !strings.Contains(edit.body, want) {
			t.Errorf("edit and resubmit does not carry %q", want)
		}
	}
}

func TestNothingThatPeopleWriteIsMarkup(t *testing.T) {
	s := newStage(t)
	const evil = `</textarea></code></pre>"'><script>alert(1)</script><img src=x onerror=alert(1)>`
	r, err := s.store.Submit(t.Context(), sql.NewJob{
		Problem: "aplusb", Language: "cpp", Author: people.Guest, Sources: []judge.Source{{Name: evil, Text: evil}},
	})
	s.must(err)
	s.finish(r.JobID, judge.Result{
		Verdict: judge.CE, Message: evil, Tool: evil,
		Compile: &judge.Compile{Output: evil, Command: evil, Diagnostics: []judge.Diagnostic{{Line: 1, Severity: "error", Message: evil}}},
		Groups:  []judge.GroupResult{{Name: evil, Score: new(1.0), Formula: evil}, {Score: new(1.0)}},
		Tests:   []judge.TestResult{{Index: 1, Sample: true, Verdict: judge.WA, Message: evil, Output: evil, Group: evil}},
	})
	s.must(s.store.WorkerBeat(t.Context(), judge.WorkerInfo{
		Name: evil, Slots: 1, Languages: []judge.Language{{ID: "cpp", Name: evil, Command: evil, Version: evil, Available: true}},
	}))
	id := site.SubmissionURL(r.JobID)
	for _, path := range []string{
		id, id + "/live", "/submissions?problem=" + url.QueryEscape(evil), "/problems/aplusb?from=" + id[len("/submissions/"):], "/languages", "/queue",
		"/login?next=/" + url.QueryEscape(evil), "/problems/" + url.PathEscape(strings.ReplaceAll(evil, "/", "")), "/nowhere/" + url.PathEscape(evil),
	} {
		if page := s.do(http.MethodGet, path, "", "Accept: text/html"); strings.Contains(page.body, "<script>alert") || strings.Contains(page.body, "<img src=x") {
			t.Errorf("GET %s has markup that people wrote", path)
		}
	}
	form := url.Values{"language": {evil}, "source": {evil}, "name": {evil}}.Encode()
	for _, path := range []string{"/problems/aplusb", "/login"} {
		if page := s.do(http.MethodPost, path, form, asForm); strings.Contains(page.body, "<script>alert") {
			t.Errorf("POST %s has markup that people wrote", path)
		}
	}
}

func TestAJudgingErrorIsNotTheContestantsFaultAndStaffMayHaveItJudgedAgain(t *testing.T) {
	s := newStage(t)
	s.user("sam", "correct horse", judge.RoleStaff)
	cookie := s.login("sam", "correct horse")
	id := s.submit("aplusb", "cpp", "int main() {}\n")
	s.finish(id, judge.Result{
		Verdict: judge.JE, Message: "The checker failed on test 1.", JudgeNote: "org.example.pair 1.0.0 trapped: out of bounds memory access",
		Tests: []judge.TestResult{{Index: 1, Name: "secret/3", Verdict: judge.JE, JudgeNote: "exit code 139, read 17 of the answer"}},
	})
	guest, staff := s.do(http.MethodGet, site.SubmissionURL(id), "").body, s.do(http.MethodGet, site.SubmissionURL(id), "", cookie).body
	if !strings.Contains(guest, "not your program&#39;s fault") || !strings.Contains(guest, "does not count against you") {
		t.Error("the contestant is not told whose fault it is not")
	}
	const button = "Judge again"
	for _, secret := range []string{"out of bounds", "exit code 139", "secret/3", button} {
		if strings.Contains(guest, secret) {
			t.Errorf("the contestant sees %q", secret)
		}
		if !strings.Contains(staff, secret) {
			t.Errorf("staff do not see %q", secret)
		}
	}
	r := s.do(http.MethodPost, site.SubmissionURL(id)+"/rejudge", url.Values{"csrf": {s.csrf(cookie)}}.Encode(), asForm, cookie)
	if r.status != http.StatusSeeOther || r.header.Get("Location") != site.SubmissionURL(id) {
		t.Fatalf("rejudge: %d to %q", r.status, r.header.Get("Location"))
	}
	s.finish(id, judge.Result{Verdict: judge.AC})
	if page := s.do(http.MethodGet, site.SubmissionURL(id), "").body; !strings.Contains(page, "Accepted") || strings.Contains(page, "not your program") {
		t.Error("after the rejudge the page does not show the new verdict")
	}
}
