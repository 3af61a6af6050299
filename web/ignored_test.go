package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// TestStaffHaveASubmissionNotCount takes one out that is in the way of the result, by the page, and has it count again.
func TestStaffHaveASubmissionNotCount(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, bob, _ := s.cup()
	right := ann.hands("aplusb", judge.AC)
	broken := bob.hands("aplusb", judge.JE)
	s.record()
	before := rows(ann.ask("GET", "/api/v1/rounds/final/board", "", 200))
	last := ann.tells(contestAPI, "")
	since := last[len(last)-1].Token

	ann.ask("POST", "/api/v1/rounds/final/ignored", fmt.Sprintf(`{"job_id": %d}`, right), 403)
	for body, status := range map[string]int{
		`{}`: 422, `{"job_id": "x"}`: 422, `{"job_id": 999}`: 422, fmt.Sprintf(`{"job_id": %d, "reason": %q}`, right, strings.Repeat("x", 501)): 422,
	} {
		if r := prof.do("POST", "/api/v1/rounds/final/ignored", body, asJSON, "Authorization: Bearer "+prof.token); r.status != status {
			t.Errorf("%s: %d %s, want %d", body, r.status, r.body, status)
		}
	}
	form := func(path string, fields url.Values) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + prof.token
		fields.Set("csrf", s.csrf(cookie))
		return prof.do("POST", path, fields.Encode(), asForm, cookie, "Accept: text/html")
	}
	if r := form("/rounds/final/ignored", url.Values{"job_id": {"none"}, "reason": {"typed"}}); r.status != 422 || !strings.Contains(r.body, `value="typed"`) || !strings.Contains(r.body, `value="none"`) {
		t.Errorf("a word in the place of a number: %d", r.status)
	}
	for _, job := range []int64{right, broken} {
		if r := form("/rounds/final/ignored", url.Values{"job_id": {fmt.Sprint(job)}, "reason": {"by the machine of another team"}}); r.status != 303 {
			t.Errorf("submission %d: %d %s", job, r.status, r.body)
		}
	}
	s.record()
	if got := rows(ann.ask("GET", "/api/v1/rounds/final/board", "", 200)); strings.Contains(got, "1+0 true") || got == before {
		t.Errorf("the board is %s", got)
	}
	gone := map[string]bool{}
	for _, e := range ann.tells(contestAPI, since) {
		if string(e.Data) == "null" {
			gone[e.Type] = true
		}
	}
	if !gone[clics.TypeSubmissions] || !gone[clics.TypeJudgements] {
		t.Errorf("the feed takes back %v", gone)
	}
	if list := ann.reads(contestAPI+"/submissions", 200).body; list != "[]" {
		t.Errorf("the contest has %s", list)
	}
	page := prof.page("/rounds/final/staff", 200)
	if !strings.Contains(page, "by the machine of another team") || !strings.Contains(page, fmt.Sprintf("/ignored/%d/count", right)) {
		t.Error("the page for staff does not show what does not count")
	}
	out := prof.ask("GET", "/api/v1/rounds/final/ignored?limit=1", "", 200)
	if list := out["ignored"].([]any); len(list) != 1 || out["next"] != fmt.Sprint(right) || list[0].(map[string]any)["participant"] != "red" {
		t.Errorf("the first of the list is %v", out)
	}
	if out := prof.ask("GET", "/api/v1/rounds/final/ignored?after="+fmt.Sprint(right), "", 200); len(out["ignored"].([]any)) != 1 {
		t.Errorf("the rest of the list is %v", out)
	}
	if r := form(fmt.Sprintf("/rounds/final/ignored/%d/count", right), url.Values{}); r.status != 303 {
		t.Errorf("have it count: %d %s", r.status, r.body)
	}
	s.record()
	if got := rows(ann.ask("GET", "/api/v1/rounds/final/board", "", 200)); !strings.Contains(got, "1 red 1") {
		t.Errorf("the board is %s, was %s", got, before)
	}

	// A judging error that does not count is not in the way of the result, which then stands.
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, freeze_ms = NULL"))
	prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 200)
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/ignored", fmt.Sprintf(`{"job_id": %d}`, right), 422) // the result stands
	if r := prof.do("DELETE", fmt.Sprintf("/api/v1/rounds/final/ignored/%d", broken), "", "Authorization: Bearer "+prof.token); r.status != 422 {
		t.Errorf("once the result stands: %d %s", r.status, r.body)
	}
}
