package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

// TestPersonsAccountsAndCommentaryAreToldToWhomTheyAreFor has them told by the Contest API, its feed and the page of a team, and nothing
// of a team that is hidden, nor whose account is whose.
func TestPersonsAccountsAndCommentaryAreToldToWhomTheyAreFor(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, carl := s.cup()
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "ghost", "name": "Ghost", "hidden": true, "members": [{"user": "eve"}]}]}`, 200)
	prof.ask("POST", "/api/v1/rounds/final/entries", `{"participants": ["ghost"]}`, 200)
	persons := `{"persons": [{"code": "p1", "name": "Ann Lee", "participants": ["red"]}, {"code": "p2", "name": "Cora Fox", "role": "coach", "participants": ["red", "blue"]},
		{"code": "p3", "name": "Eve Day", "participants": ["ghost"]}, {"code": "p4", "name": "Zed", "participants": ["nobody"]}]}`
	ann.ask("POST", "/api/v1/rounds/final/persons", persons, 403)
	prof.ask("POST", "/api/v1/rounds/final/persons", persons, 200)
	for _, wrong := range []struct{ body, field string }{
		{`{"persons": [{"code": "p9", "name": "X", "role": "king"}]}`, "persons[0].role"},
		{`{"persons": [{"code": "p9", "name": "X"}]}`, "persons[0].participants"},
		{`{"persons": [{"code": "p 9", "name": "X", "role": "other"}]}`, "persons[0].code"},
		{`{"persons": []}`, "persons"},
	} {
		prof.wrong("POST", "/api/v1/rounds/final/persons", wrong.body, wrong.field, "invalid")
	}
	job := ann.hands("aplusb", judge.AC)
	s.record()
	const api = "/clics/2026-01/contests/final/"
	ids := func(c caller, kind string) string {
		t.Helper()
		var out []string
		for _, part := range strings.Split(c.reads(api+kind, 200).body, `{"id":"`)[1:] {
			out = append(out, part[:strings.IndexByte(part, '"')])
		}
		return strings.Join(out, " ")
	}
	guest := caller{s, ""}
	for _, want := range []struct {
		who  string
		c    caller
		kind string
		ids  string
	}{
		{"everybody", guest, "persons", "p1 p2"},
		{"another team", bob, "persons", "p1 p2"},
		{"staff", prof, "persons", "p1 p2 p3"},
		{"everybody", guest, "accounts", ""},
		{"a team", ann, "accounts", "amy ann"},
		{"another team", bob, "accounts", "bob"},
		{"a member", carl, "accounts", ""},
		{"staff", prof, "accounts", "amy ann bob eve"},
	} {
		if got := ids(want.c, want.kind); got != want.ids {
			t.Errorf("of %s are told to %s: %s, want %s", want.kind, want.who, got, want.ids)
		}
	}
	for _, c := range []caller{guest, ann, prof} {
		seen := map[string]string{}
		for _, e := range c.tells(api[:len(api)-1], "") {
			if e.ID != nil {
				seen[e.Type] += *e.ID + " "
			}
		}
		if got, want := strings.TrimSpace(seen["persons"]), ids(c, "persons"); got != want {
			t.Errorf("the feed tells of the persons %s, the endpoint of %s", got, want)
		}
		if got, want := strings.TrimSpace(seen["accounts"]), ids(c, "accounts"); got != want {
			t.Errorf("the feed tells of the accounts %s, the endpoint of %s", got, want)
		}
	}
	page := guest.page("/rounds/final/teams/red", 200)
	if !strings.Contains(page, "Ann Lee") || !strings.Contains(page, "Cora Fox") || strings.Contains(page, "Eve Day") {
		t.Errorf("the page of a team is %s", page)
	}
	ann.ask("POST", api+"commentary", `{"message": "hi", "tags": []}`, 403)
	for _, wrong := range []string{
		`{"message": "", "tags": []}`, `{"message": "x"}`, `{"message": "x", "tags": ["a b"]}`, `{"message": "x", "tags": ["a", "a"]}`, `{"message": "x", "tags": [], "team_ids": ["none"]}`,
		`{"message": "x", "tags": [], "problem_ids": ["none"]}`, `{"message": "x", "tags": [], "submission_ids": ["99"]}`, `{"id": "1", "message": "x", "tags": []}`, `{"message": "x", "tags": [], "time": null}`,
	} {
		prof.sends("POST", "/commentary", wrong, 400)
	}
	one := prof.sends("POST", "/commentary", `{"message": "{teams:red} leads", "tags": ["accepted-winner"], "team_ids": ["red"], "problem_ids": ["aplusb"], "submission_ids": ["1"]}`, 201)
	if one["message"] != "{teams:red} leads" || fmt.Sprint(one["submission_ids"]) != "[1]" || one["contest_time"] == nil {
		t.Errorf("the comment is %v", one)
	}
	prof.sends("POST", "/commentary", `{"message": "{teams:ghost} is fast", "tags": [], "team_ids": ["ghost"]}`, 201)
	if a, b := ids(guest, "commentary"), ids(prof, "commentary"); a != one["id"] || len(strings.Fields(b)) != 2 {
		t.Errorf("of commentary are told everybody: %s, staff: %s", a, b)
	}
	// A submission that staff have not count is spoken of no more.
	prof.ask("POST", "/api/v1/rounds/final/ignored", fmt.Sprintf(`{"job_id": %d}`, job), 204)
	s.record()
	if a := ids(guest, "commentary"); a != "" {
		t.Errorf("of a submission that does not count everybody is told %s", a)
	}
	// What programs of the jury say of the freeze waits for the thaw.
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	time.Sleep(5 * time.Millisecond)
	bob.hands("stairs", judge.AC)
	s.record()
	open := prof.sends("POST", "/commentary", `{"message": "Coffee.", "tags": ["submission"]}`, 201)
	number := func() string { list := strings.Fields(ids(guest, "submissions")); return list[len(list)-1] }()
	prof.sends("POST", "/commentary", `{"message": "{teams:blue} solves it", "tags": ["accepted-winner"], "team_ids": ["blue"]}`, 201)
	prof.sends("POST", "/commentary", fmt.Sprintf(`{"message": "{teams:blue} is right", "tags": [], "submission_ids": [%q]}`, number), 201)
	if a := ids(guest, "commentary"); a != open["id"] {
		t.Errorf("in the freeze everybody is told %s, want %s", a, open["id"])
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	time.Sleep(5 * time.Millisecond)
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	s.record()
	if a := strings.Fields(ids(guest, "commentary")); len(a) != 3 {
		t.Errorf("after the thaw everybody is told %s", a)
	}
	prof.ask("DELETE", "/api/v1/rounds/final/persons/p1", "", 204)
	prof.ask("DELETE", "/api/v1/rounds/final/persons/p1", "", 404)
	s.record()
	if got := ids(guest, "persons"); got != "p2" {
		t.Errorf("then persons are %s", got)
	}
	list := prof.ask("GET", "/api/v1/rounds/final/persons?limit=1", "", 200)
	if list["next"] != "p2" || len(list["persons"].([]any)) != 1 {
		t.Errorf("a page of persons is %v", list)
	}
}
