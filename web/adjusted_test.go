package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// TestStaffAddToARow gives a team penalty time, by the page, takes it away by the API, and has everybody see what was added.
func TestStaffAddToARow(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	ann.hands("aplusb", judge.AC)
	bob.hands("aplusb", judge.AC)
	s.record()
	ranks := func() string {
		out := []string{}
		for _, row := range ann.ask("GET", "/api/v1/rounds/final/board", "", 200)["rows"].([]any) {
			row := row.(map[string]any)
			out = append(out, fmt.Sprint(row["rank"], " ", row["participant"], " ", row["total"]))
		}
		return strings.Join(out, ", ")
	}
	before := ranks()
	ann.ask("POST", "/api/v1/rounds/final/adjustments", `{"participant": "red", "minutes": 20}`, 403)
	for _, body := range []string{
		`{}`, `{"participant": "nobody", "minutes": 1}`, `{"participant": "red", "minutes": 100001}`, `{"participant": "red", "minutes": 1.5}`,
		`{"participant": "red", "points": 3}`, fmt.Sprintf(`{"participant": "red", "minutes": 1, "reason": %q}`, strings.Repeat("x", 501)),
	} {
		if r := prof.do("POST", "/api/v1/rounds/final/adjustments", body, asJSON, "Authorization: Bearer "+prof.token); r.status != 422 {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	form := func(fields url.Values) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + prof.token
		fields.Set("csrf", s.csrf(cookie))
		return prof.do("POST", "/rounds/final/adjustments", fields.Encode(), asForm, cookie, "Accept: text/html")
	}
	if r := form(url.Values{"participant": {"red"}, "added": {"many"}, "reason": {"typed"}}); r.status != 422 || !strings.Contains(r.body, `value="typed"`) || !strings.Contains(r.body, `value="many"`) {
		t.Errorf("a word in the place of a number: %d", r.status)
	}
	if r := form(url.Values{"participant": {"red"}, "added": {"20"}, "reason": {"opened the problems before the start"}}); r.status != 303 {
		t.Fatalf("20 minutes: %d %s", r.status, r.body)
	}
	s.record()
	if before != "1 blue 60, 1 red 60" && before != "1 blue 0, 1 red 0" {
		t.Errorf("before the board is %s", before)
	}
	if got, want := ranks(), strings.NewReplacer("1 red 60", "2 red 80", "1 red 0", "2 red 20").Replace(before); got != want {
		t.Errorf("the board is %s, want %s", got, want)
	}
	added := ann.ask("GET", "/api/v1/rounds/final/explain/red", "", 200)["added"].(map[string]any)
	if added["minutes"] != 20.0 {
		t.Errorf("an explanation says that %v was added", added)
	}
	page := bob.do("GET", "/rounds/final/teams/red", "", "Cookie: "+peopleroom.SessionCookie+"="+bob.token, "Accept: text/html").body
	if !strings.Contains(page, "Staff added 20 to the penalty time") || strings.Contains(page, "before the start") {
		t.Error("the page of the team does not say what was added, or why, which is for staff")
	}
	if page = prof.do("GET", "/rounds/final/staff", "", "Cookie: "+peopleroom.SessionCookie+"="+prof.token, "Accept: text/html").body; !strings.Contains(page, "opened the problems before the start") {
		t.Error("the page of staff does not say why")
	}
	list := prof.ask("GET", "/api/v1/rounds/final/adjustments?limit=1", "", 200)
	if l := list["adjustments"].([]any); len(l) != 1 || list["next"] != "red" || l[0].(map[string]any)["by"] != "prof" {
		t.Errorf("the list is %v", list)
	}
	prof.ask("POST", "/api/v1/rounds/final/adjustments", `{"participant": "red"}`, 204)
	s.record()
	if got := ranks(); got != before {
		t.Errorf("after it was taken away the board is %s, and was %s", got, before)
	}
	if l := prof.ask("GET", "/api/v1/rounds/final/adjustments", "", 200)["adjustments"].([]any); len(l) != 0 {
		t.Errorf("nothing is added any more: %v", l)
	}
}
