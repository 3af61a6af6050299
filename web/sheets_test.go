package web

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
)

// TestTeamsGetAccountsAndSheetsWithTheirPasswords brings a list in as staff of a space, and takes part by what the sheets say.
func TestTeamsGetAccountsAndSheetsWithTheirPasswords(t *testing.T) {
	s := newStage(t)
	prof, _, _, _ := s.cup()
	s.someone("chief", judge.RoleContestant)
	space, err := s.store.Space(t.Context(), "cup", "")
	s.must(err)
	s.member(space, judge.SpaceStaff, "chief")
	chief := caller{s, s.session("chief")}
	const list = "code,name,room,account,password\nwhite,White,K1,,\ngrey,\"=Grey\",K2,grey-team,an own secret of grey\n"
	form := func(fields url.Values) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + chief.token
		fields.Set("csrf", s.csrf(cookie))
		fields.Set("text", list)
		return chief.do("POST", "/spaces/cup/participants", fields.Encode(), asForm, cookie, "Accept: text/html")
	}
	before := sqltest.One[int](t, s.store, "SELECT count(*) FROM users")
	r := form(url.Values{"accounts": {"all"}})
	if r.status != 200 || !strings.Contains(r.body, "cup-white") || !strings.Contains(r.body, "grey-team") || sqltest.One[int](t, s.store, "SELECT count(*) FROM users") != before {
		t.Fatalf("the preview: %d\n%s", r.status, r.body)
	}
	if _, table, _ := strings.Cut(r.body, `id="steps"`); strings.Contains(table[:strings.Index(table, "</table>")], "own secret") {
		t.Error("the table of the preview shows a password")
	}
	r = form(url.Values{"accounts": {"all"}, "step": {"import"}})
	if r.status != 201 || strings.Count(r.body, `class="sheet"`) != 2 {
		t.Fatalf("the sheets: %d\n%s", r.status, r.body)
	}
	if cache := r.header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("the sheets may be kept: %s", cache)
	}
	found := regexp.MustCompile(`<code>(cup-white|grey-team)</code>(?s:.*?)<code>([^<]+)</code>`).FindAllStringSubmatch(r.body, -1)
	if len(found) != 2 {
		t.Fatalf("the sheets name %v", found)
	}
	guest := caller{s, ""}
	for _, f := range found {
		out := guest.ask("POST", "/api/v1/sessions", fmt.Sprintf(`{"name": %q, "password": %q}`, f[1], f[2]), 201)
		token, _ := out["token"].(string)
		team := caller{s, token}
		if body := team.page("/rounds/final/problems", 200); !strings.Contains(body, "aplusb") {
			t.Errorf("%s does not see the problems", f[1])
		}
	}
	prof.ask("POST", "/api/v1/rounds/final/entries", `{"participants": ["white"]}`, 200)
	white := guest.ask("POST", "/api/v1/sessions", fmt.Sprintf(`{"name": %q, "password": %q}`, found[0][1], found[0][2]), 201)
	token, _ := white["token"].(string)
	caller{s, token}.hands("aplusb", judge.AC)
	s.record()
	if board := rows(prof.ask("GET", "/api/v1/rounds/final/board", "", 200)); !strings.Contains(board, "white 1") {
		t.Errorf("the board is %s", board)
	}
	// The same list once more makes nothing, and shows no password again.
	if r = form(url.Values{"accounts": {"all"}, "step": {"import"}}); r.status != 303 {
		t.Errorf("the same list again: %d", r.status)
	}
	out := prof.ask("POST", "/api/v1/spaces/cup/lineup", `{"text": "code,name\nblack,Black\n", "accounts": true}`, 200)
	if made, _ := out["accounts"].([]any); len(made) != 1 || made[0].(map[string]any)["name"] != "cup-black" || len(made[0].(map[string]any)["password"].(string)) < 10 {
		t.Errorf("by the API: %v", out)
	}
}
