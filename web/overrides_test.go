package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
)

// TestStaffGiveAVerdict has staff take the place of the judge, for a reason, and has the judge's verdict again by judging once more.
func TestStaffGiveAVerdict(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	wrong := ann.hands("aplusb", judge.WA)
	waiting := bob.hands("aplusb", "")
	s.record()
	solved := func(code string) bool {
		s.record()
		for _, row := range bob.ask("GET", "/api/v1/rounds/final/board", "", 200)["rows"].([]any) {
			if row := row.(map[string]any); row["participant"] == code {
				return row["solved"] == 1.0
			}
		}
		return false
	}
	ann.ask("POST", "/api/v1/rounds/final/verdicts", fmt.Sprintf(`{"job_id": %d, "verdict": "AC", "reason": "x"}`, wrong), 403)
	for name, body := range map[string]string{
		"no reason": fmt.Sprintf(`{"job_id": %d, "verdict": "AC", "reason": " "}`, wrong), "a judging error": fmt.Sprintf(`{"job_id": %d, "verdict": "JE", "reason": "x"}`, wrong),
		"a score": fmt.Sprintf(`{"job_id": %d, "verdict": "AC", "score": 1, "reason": "x"}`, wrong), "none of the round": `{"job_id": 999, "verdict": "AC", "reason": "x"}`,
		"not judged": fmt.Sprintf(`{"job_id": %d, "verdict": "AC", "reason": "x"}`, waiting),
	} {
		if r := prof.do("POST", "/api/v1/rounds/final/verdicts", body, asJSON, "Authorization: Bearer "+prof.token); r.status != 422 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	form := func(fields url.Values) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + prof.token
		fields.Set("csrf", s.csrf(cookie))
		return prof.do("POST", "/rounds/final/verdicts", fields.Encode(), asForm, cookie, "Accept: text/html")
	}
	if r := form(url.Values{"job_id": {fmt.Sprint(wrong)}, "verdict": {"AC"}, "reason": {""}}); r.status != 422 {
		t.Errorf("a form without a reason: %d", r.status)
	}
	if r := form(url.Values{"job_id": {fmt.Sprint(wrong)}, "verdict": {"AC"}, "reason": {"the printer ate a blank"}}); r.status != 303 {
		t.Fatalf("a verdict: %d %s", r.status, r.body)
	}
	if !solved("red") {
		t.Error("the board does not know the verdict")
	}
	judged := ann.reads("/clics/2026-01/contests/final/judgements", 200).body
	if !strings.Contains(judged, `"judgement_type_id":"AC"`) || strings.Count(judged, `"current":true`) != 1 {
		t.Errorf("the Contest API tells of %s", judged)
	}
	page := ann.page(fmt.Sprintf("/submissions/%d", wrong), 200)
	if !strings.Contains(page, "set by the staff of the contest") || strings.Contains(page, "the printer ate") {
		t.Error("the team does not read that staff set the verdict, or reads why")
	}
	if page = prof.page("/rounds/final/staff", 200); !strings.Contains(page, "the printer ate a blank") {
		t.Error("the page of staff does not say why")
	}
	list := prof.ask("GET", "/api/v1/rounds/final/verdicts", "", 200)["verdicts"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["before"] != "WA" || list[0].(map[string]any)["counts"] != true || list[0].(map[string]any)["generation"] != 2.0 {
		t.Errorf("the list is %v", list)
	}
	sqltest.AuditNow(t, s.store)

	// The judge's again.
	_, err := s.store.Rejudge(t.Context(), []int64{wrong}, judge.LaneNormal, "prof")
	s.must(err)
	s.finish(wrong, judge.Result{Verdict: judge.WA})
	if solved("red") {
		t.Error("judged again, it is still solved")
	}
	list = prof.ask("GET", "/api/v1/rounds/final/verdicts", "", 200)["verdicts"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["counts"] != false {
		t.Errorf("the list is %v", list)
	}
	if n := sqltest.One[int](t, s.store, "SELECT count(*) FROM audit_log WHERE action = 'round_verdict' AND detail->>'reason' = 'the printer ate a blank'"); n != 1 {
		t.Errorf("the audit log has %d rows of it", n)
	}
	sqltest.AuditNow(t, s.store)
}
