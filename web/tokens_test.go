package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
)

// TestTokensHaveASubmissionCount has a team spend one on its best submission, so that a worse one that came later does not decide
// alone, and brings the contest elsewhere.
func TestTokensHaveASubmissionCount(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, bob, carl := s.cup()
	settings := func(tokens string) {
		prof.ask("PATCH", "/api/v1/rounds/final", `{"format": "ioi", "settings": {"mode": "max_tokened_last", "min_interval_s": 0, "tokens": `+tokens+`}, "freeze_ms": null}`, 200)
	}
	settings("null")
	scored := func(c caller, score float64) int64 {
		id := c.hands("aplusb", "")
		s.finish(id, judge.Result{Verdict: judge.PA, Score: &score})
		time.Sleep(2 * time.Millisecond)
		return id
	}
	best, last := scored(ann, 80), scored(ann, 30)
	other := scored(bob, 50)
	points := func() string {
		s.record()
		out := []string{}
		for _, row := range carl.ask("GET", "/api/v1/rounds/final/board", "", 200)["rows"].([]any) {
			row := row.(map[string]any)
			out = append(out, fmt.Sprint(row["participant"], " ", row["points"]))
		}
		return strings.Join(out, ", ")
	}
	if got := points(); got != "blue 50, red 30" {
		t.Errorf("the last ones count: %s", got)
	}
	spend := func(c caller, job int64, want int, words string) {
		t.Helper()
		r := c.do("POST", "/api/v1/rounds/final/tokens", fmt.Sprintf(`{"job_id": %d}`, job), asJSON, "Authorization: Bearer "+c.token)
		if r.status != want || !strings.Contains(r.body, words) {
			t.Errorf("a token on %d: %d %s, want %d %s", job, r.status, r.body, want, words)
		}
	}
	spend(ann, best, 422, "no_tokens")
	settings(`{"round": {"initial": 1, "gap_s": 3600}}`)
	spend(ann, other, 422, "unknown")
	spend(carl, best, 422, "unknown")
	page := ann.page("/rounds/final/problems", 200)
	if !strings.Contains(page, `action="/rounds/final/tokens"`) || !strings.Contains(page, "1 left") {
		t.Error("the page offers no token")
	}
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + ann.token
	fields := url.Values{"job_id": {fmt.Sprint(best)}, "csrf": {s.csrf(cookie)}}
	if r := ann.do("POST", "/rounds/final/tokens", fields.Encode(), asForm, cookie, "Accept: text/html"); r.status != 200 || !strings.Contains(r.body, "spend a token") {
		t.Errorf("the page does not ask whether it is meant: %d", r.status)
	}
	spend(ann, best, 204, "")
	spend(ann, best, 204, "") // twice is once
	spend(ann, last, 422, "none_left")
	if got := points(); got != "red 80, blue 50" {
		t.Errorf("with a token on the best the board is %s", got)
	}
	settings(`{"round": {"initial": 5, "gap_s": 3600}}`)
	spend(ann, last, 422, "too_soon")
	if page = ann.page("/rounds/final/problems", 200); strings.Contains(page, `action="/rounds/final/tokens"`) || !strings.Contains(page, "not yet") {
		t.Error("the page offers a token that may not be spent yet")
	}
	if n := sqltest.One[int](t, s.store, "SELECT count(*) FROM audit_log WHERE action = 'round_token'"); n != 1 {
		t.Errorf("the audit log has %d tokens", n)
	}
	sqltest.AuditNow(t, s.store)
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	time.Sleep(5 * time.Millisecond)
	spend(ann, last, 422, "not_running")
	prof.ask("POST", "/api/v1/rounds/final/finalize", `{}`, 200)
	s.record()
	files, err := s.as(prof.token).ExportContest(t.Context(), "2026-01", "final")
	s.must(err)
	two := newStage(t)
	two.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	two.someone("prof", judge.RoleStaff)
	two.space("cup", func(v *judge.Space) { v.Listed = true })
	there := caller{two, two.session("prof")}
	there.brings(files, client.NewContest{Space: "cup"})
	before := sqltest.One[int](t, two.store, "SELECT count(*) FROM contest_log")
	two.record()
	if after := sqltest.One[int](t, two.store, "SELECT count(*) FROM contest_log"); after != before {
		t.Errorf("the recorder had %d more lines to write", after-before)
	}
	if n := sqltest.One[int](t, two.store, "SELECT count(*) FROM submission_tokens"); n != 1 {
		t.Errorf("%d tokens came along", n)
	}
}
