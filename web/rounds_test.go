package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/logo"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
)

// roundIn makes a round of a space that began an hour ago, with the problem stairs, unless it is there, and the
// organization, the group and the participant extra, which takes part. It returns an interval that was removed from it.
func (s *stage) roundIn(space *judge.Space, code string) (removed int64) {
	s.Helper()
	ctx, store := s.Context(), s.store.Rounds
	begun := time.Now().Add(-time.Hour)
	if err := store.Create(ctx, judge.Round{Space: space.Slug, Code: code, Title: "Round " + code, Kind: judge.RoundContest, Format: "icpc", Start: &begun, Duration: new(5 * time.Hour)}, "prof"); err != nil && !errors.Is(err, sql.ErrExists) {
		s.Fatal(err)
	}
	_, err := store.ChangeProblems(ctx, code, "prof", func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		if !slices.ContainsFunc(list, func(p judge.RoundProblem) bool { return p.Problem == "stairs" }) {
			list = append(list, judge.RoundProblem{Problem: "stairs", Label: "S"})
		}
		return list, nil
	})
	s.must(err)
	s.must(store.PutOrganizations(ctx, space.Slug, []judge.Organization{{Code: "extra", Name: "Extra"}}, "prof"))
	svg := []byte("<svg/>")
	picture, err := logo.Read(svg)
	s.must(err)
	s.must(store.PutLogo(ctx, space.Slug, "extra", picture, svg, "prof"))
	s.must(store.PutGroups(ctx, space.Slug, []judge.TeamGroup{{Code: "extra", Name: "Extra"}}, "prof"))
	s.must(store.PutParticipants(ctx, space.Slug, []judge.Participant{{Code: "extra", Name: "Extra", Organization: "extra"}}, "prof"))
	s.must(store.Enter(ctx, code, []string{"extra"}, "prof"))
	r, err := store.Change(ctx, code, "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		if len(r.Removed) == 0 {
			r.Removed = []judge.RoundRemoved{{From: r.Start.Add(time.Minute), To: r.Start.Add(2 * time.Minute)}}
		}
		return r, nil
	})
	s.must(err)
	s.record()
	return r.Removed[0].ID
}

// firstIn hands something in to a round, unless that has been, and returns its number there.
func (s *stage) firstIn(code string) string {
	s.Helper()
	ctx := s.Context()
	r, err := s.store.Rounds.Round(ctx, code)
	s.must(err)
	p, err := s.store.Rounds.Participant(ctx, r.Space, "extra")
	s.must(err)
	got, err := s.store.Submit(ctx, sql.NewJob{
		Problem: "stairs", Language: "cpp", Author: "con", Round: r.ID, Participant: p.ID, IdempotencyKey: "first", Sources: []judge.Source{{Name: "a.cpp", Text: "int x;"}},
	})
	s.must(err)
	s.record()
	n, err := s.store.Rounds.Number(ctx, got.JobID)
	s.must(err)
	return fmt.Sprint(n)
}

// askedIn asks something in a round, and returns its code.
func (s *stage) askedIn(code string) string {
	s.Helper()
	r, err := s.store.Rounds.Round(s.Context(), code)
	s.must(err)
	p, err := s.store.Rounds.Participant(s.Context(), r.Space, "extra")
	s.must(err)
	asked, err := s.store.Rounds.Clarify(s.Context(), code, p.ID, judge.Clarification{Text: "Why?", By: "con", Teams: []string{}, Groups: []string{}})
	if f, ok := errors.AsType[*judge.FieldError](err); ok && f.Reason == "too_many" {
		all, err := s.store.Rounds.Clarifications(s.Context(), r.ID, rounds.ClarificationFilter{All: true, Limit: 1})
		s.must(err)
		return all[0].Code
	}
	s.must(err)
	return asked
}

// caller asks the API as somebody.
type caller struct {
	*stage
	token string
}

// ask sends a request that has to be answered with a status, and returns what came.
func (c caller) ask(method, path, body string, status int) map[string]any {
	c.Helper()
	headers := []string{"Accept: application/json", asJSON}
	if c.token != "" {
		headers = append(headers, "Authorization: Bearer "+c.token)
	}
	r := c.do(method, path, body, headers...)
	if r.status != status {
		c.Errorf("%s %s %s: %d %s, want %d", method, path, body, r.status, r.body, status)
	}
	out := map[string]any{}
	if r.body != "" && json.Unmarshal([]byte(r.body), &out) != nil {
		c.Errorf("%s %s: no JSON: %s", method, path, r.body)
	}
	return out
}

// wrong sends a request that has to be refused for a field.
func (c caller) wrong(method, path, body, field, reason string) {
	c.Helper()
	if out := c.ask(method, path, body, http.StatusUnprocessableEntity); out["field"] != field || out["reason"] != reason || out["detail"] == "" {
		c.Errorf("%s %s %s: refused for %v, %v: %v; want %s, %s", method, path, body, out["field"], out["reason"], out["detail"], field, reason)
	}
}

func TestARoundFromItsBeginningToItsThaw(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	prof := caller{s, s.session("prof")}
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup", Listed: true}, "prof"))
	hour := time.Hour.Milliseconds()
	made := prof.ask("POST", "/api/v1/spaces/cup/rounds", fmt.Sprintf(`{"code": "day-1", "title": "Day 1", "duration_ms": %d, "freeze_ms": %d}`, 5*hour, 4*hour), 201)
	for name, want := range map[string]any{
		"code": "day-1", "space": "cup", "kind": "contest", "format": "icpc", "starts_at": nil, "phase": "unscheduled", "time_ms": 0.0, "ends_at": nil,
		"public_runs": true, "practice": false, "follows": false, "thawed_at": nil,
	} {
		if made[name] != want {
			t.Errorf("a new round has %s %v, want %v", name, made[name], want)
		}
	}
	prof.wrong("POST", "/api/v1/spaces/cup/rounds", `{"code": "day-1", "title": "x"}`, "code", "duplicate")
	prof.ask("POST", "/api/v1/rounds/day-1/start", "{}", 200)
	running := prof.ask("GET", "/api/v1/rounds/day-1", "", 200)
	if running["phase"] != "running" || running["ends_at"] == nil || running["freezes_at"] == nil || running["time_ms"].(float64) > 60_000 {
		t.Errorf("it runs: %v", running)
	}
	// From the beginning of its freeze on it is hidden, until it is thawed after the end.
	begun, err := time.Parse(time.RFC3339, running["starts_at"].(string))
	s.must(err)
	prof.ask("POST", "/api/v1/rounds/day-1/start", "{}", 422)
	prof.ask("PATCH", "/api/v1/rounds/day-1", fmt.Sprintf(`{"starts_at": %q}`, begun.Add(time.Hour).Format(time.RFC3339)), 422)
	if out := prof.ask("POST", "/api/v1/rounds/day-1/extend", fmt.Sprintf(`{"by_ms": %d}`, hour), 200); out["duration_ms"] != float64(6*hour) || out["freeze_ms"] != float64(5*hour) {
		t.Errorf("extended, it lasts %v and freezes at %v", out["duration_ms"], out["freeze_ms"])
	}
	if out := prof.ask("POST", "/api/v1/rounds/day-1/freeze", "{}", 200); out["phase"] != "frozen" {
		t.Errorf("frozen, it is %v", out["phase"])
	}
	prof.ask("POST", "/api/v1/rounds/day-1/thaw", "{}", 422)
	if out := prof.ask("POST", "/api/v1/rounds/day-1/unfreeze", "{}", 200); out["phase"] != "running" {
		t.Errorf("shown again, it is %v", out["phase"])
	}
	s.store.Exec(t, "UPDATE rounds SET starts_at = starts_at - interval '2 hours'")
	from, to := begun.Add(-time.Hour).UTC().Format(time.RFC3339), begun.Add(-30*time.Minute).UTC().Format(time.RFC3339)
	prof.wrong("POST", "/api/v1/rounds/day-1/removed", fmt.Sprintf(`{"from": %q, "to": %q}`, to, from), "to", "invalid")
	out := prof.ask("POST", "/api/v1/rounds/day-1/removed", fmt.Sprintf(`{"from": %q, "to": %q, "reason": "power"}`, from, to), 200)
	removed := out["removed"].([]any)[0].(map[string]any)
	if at := out["time_ms"].(float64); removed["reason"] != "power" || at < float64(hour) || at > 1.6*float64(hour) {
		t.Errorf("without half an hour: %v", out)
	}
	prof.wrong("POST", "/api/v1/rounds/day-1/removed", fmt.Sprintf(`{"from": %q, "to": %q}`, from, to), "from", "overlaps")
	prof.ask("DELETE", fmt.Sprint("/api/v1/rounds/day-1/removed/", removed["id"]), "", 204)
	prof.ask("DELETE", "/api/v1/rounds/day-1/removed/99999", "", 404)
	prof.ask("POST", "/api/v1/rounds/day-1/freeze", "{}", 200)
	s.store.Exec(t, "UPDATE rounds SET starts_at = starts_at - interval '9 hours'")
	if out := prof.ask("GET", "/api/v1/rounds/day-1", "", 200); out["phase"] != "over" {
		t.Errorf("at the end it is %v", out["phase"])
	}
	if out := prof.ask("POST", "/api/v1/rounds/day-1/thaw", "{}", 200); out["thawed_at"] == nil {
		t.Errorf("thawed: %v", out)
	}
	if list := prof.ask("GET", "/api/v1/rounds?space=cup&limit=1", "", 200); len(list["rounds"].([]any)) != 1 || list["next"] != "day-1" {
		t.Errorf("listed: %v", list)
	}
	prof.ask("GET", "/api/v1/rounds?space=none", "", 404)
	s.must(s.store.ProveSession(t.Context(), people.HashToken(prof.token), "prof", time.Now()))
	prof.ask("DELETE", "/api/v1/rounds/day-1", "", 204)
	prof.ask("GET", "/api/v1/rounds/day-1", "", 404)
}

func TestWhatIsWrongWithARoundIsSaid(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	prof := caller{s, s.session("prof")}
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup"}, "prof"))
	good := `{"code": "c1", "title": "C", "duration_ms": 3600000}`
	for body, want := range map[string][2]string{
		`{"title": "x"}`:                                                     {"code", "missing"},
		`{"code": "c1"}`:                                                     {"title", "missing"},
		`{"code": "c", "title": "x"}`:                                        {"code", "invalid"},
		`{"code": "c1", "title": " "}`:                                       {"title", "invalid"},
		`{"code": "c1", "title": "x", "kind": "party"}`:                      {"kind", "invalid"},
		`{"code": "c1", "title": "x", "format": "chess"}`:                    {"format", "invalid"},
		`{"code": "c1", "title": "x", "settings": []}`:                       {"settings", "wrong_type"},
		`{"code": "c1", "title": "x", "settings": {"penalty": 1}}`:           {"settings", "invalid"},
		`{"code": "c1", "title": "x", "duration_ms": 0}`:                     {"duration_ms", "invalid"},
		`{"code": "c1", "title": "x", "duration_ms": "1h"}`:                  {"duration_ms", "wrong_type"},
		`{"code": "c1", "title": "x", "duration_ms": 99999999999999}`:        {"duration_ms", "invalid"},
		`{"code": "c1", "title": "x", "duration_ms": 9000, "freeze_ms": -1}`: {"freeze_ms", "invalid"},
		`{"code": "c1", "title": "x", "starts_at": "now"}`:                   {"starts_at", "invalid"},
		`{"code": "c1", "title": "x", "public_runs": 1}`:                     {"public_runs", "wrong_type"},
		`{"code": "c1", "title": "x", "colour": "red"}`:                      {"colour", "unknown"},
	} {
		prof.wrong("POST", "/api/v1/spaces/cup/rounds", body, want[0], want[1])
	}
	prof.ask("POST", "/api/v1/spaces/cup/rounds", good, 201)
	prof.wrong("PATCH", "/api/v1/rounds/c1", `{"code": "c2"}`, "code", "unknown")
	prof.wrong("PATCH", "/api/v1/rounds/c1", `{"duration_ms": -5}`, "duration_ms", "invalid")
	prof.wrong("POST", "/api/v1/rounds/c1/extend", `{}`, "by_ms", "missing")
	prof.wrong("POST", "/api/v1/rounds/c1/removed", `{"from": "2030-01-01T00:00:00Z"}`, "to", "missing")
	prof.wrong("POST", "/api/v1/rounds/c1/entries", `{"participants": []}`, "participants", "invalid")
	prof.wrong("POST", "/api/v1/rounds/c1/entries", `{"participants": ["x"]}`, "participants", "unknown")
	if out := prof.ask("PATCH", "/api/v1/rounds/c1", `{"title": "Other", "settings": {"penalty_minutes": 5}, "freeze_ms": 1800000, "practice": true}`, 200); out["title"] != "Other" || out["freeze_ms"] != 1.8e6 || out["practice"] != true {
		t.Errorf("changed: %v", out)
	}

	for body, want := range map[string][2]string{
		`{}`:                                       {"problem", "missing"},
		`{"problem": "none"}`:                      {"problem", "unknown"},
		`{"problem": "aplusb", "version": "x"}`:    {"version", "unknown"},
		`{"problem": "aplusb", "label": "a b"}`:    {"label", "invalid"},
		`{"problem": "aplusb", "points": -1}`:      {"points", "invalid"},
		`{"problem": "aplusb", "rgb": "red"}`:      {"rgb", "invalid"},
		`{"problem": "aplusb", "color": "a\tb"}`:   {"color", "invalid"},
		`{"problem": "aplusb", "place": -1}`:       {"place", "invalid"},
		`{"problem": "aplusb", "paused": "maybe"}`: {"paused", "wrong_type"},
	} {
		prof.wrong("POST", "/api/v1/rounds/c1/problems", body, want[0], want[1])
	}
	prof.ask("POST", "/api/v1/rounds/c1/problems", `{"problem": "aplusb", "points": 2.5, "rgb": "#ff0000", "color": "red", "paused": true}`, 200)
	out := prof.ask("POST", "/api/v1/rounds/c1/problems", `{"problem": "stairs", "place": 1}`, 200)
	list := out["problems"].([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	if first["slug"] != "stairs" || first["label"] != "B" || second["label"] != "A" || second["points"] != 2.5 || second["paused_at"] == nil || second["rgb"] != "#ff0000" {
		t.Errorf("problems: %v", list)
	}
	prof.wrong("POST", "/api/v1/rounds/c1/problems", `{"problem": "stairs", "label": "A"}`, "label", "duplicate")
	out = prof.ask("POST", "/api/v1/rounds/c1/problems", `{"problem": "aplusb", "points": null, "paused": false}`, 200)
	if second = out["problems"].([]any)[1].(map[string]any); second["points"] != nil || second["paused_at"] != nil || second["color"] != "red" {
		t.Errorf("changed: %v", second)
	}
	prof.ask("DELETE", "/api/v1/rounds/c1/problems/stairs", "", 204)
	prof.ask("DELETE", "/api/v1/rounds/c1/problems/stairs", "", 404)
}

func TestWhoTakesPartIsSentInLists(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	for _, name := range []string{"ann", "bob"} {
		s.someone(name, judge.RoleContestant)
	}
	prof := caller{s, s.session("prof")}
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup"}, "prof"))
	base := "/api/v1/spaces/cup/"
	for path, bodies := range map[string]map[string][2]string{
		"organizations": {
			`{}`:                      {"organizations", "missing"},
			`{"organizations": []}`:   {"organizations", "invalid"},
			`{"organizations": {}}`:   {"organizations", "wrong_type"},
			`{"organizations": [[]]}`: {"organizations[0]", "wrong_type"},
			`{"organizations": [{"code": "u", "name": "U"}, {"code": "é", "name": "E"}]}`:    {"organizations[1].code", "invalid"},
			`{"organizations": [{"code": "u", "name": " "}]}`:                                {"organizations[0].name", "invalid"},
			`{"organizations": [{"code": "u", "name": "U", "country": "nl"}]}`:               {"organizations[0].country", "invalid"},
			`{"organizations": [{"code": "u", "name": "U", "url": "javascript:alert(1)"}]}`:  {"organizations[0].url", "invalid"},
			`{"organizations": [{"code": "u", "name": "U", "logo": "x"}]}`:                   {"organizations[0].logo", "unknown"},
			`{"organizations": [{"code": "u", "name": "U"}, {"code": "u", "name": "V"}]}`:    {"code", "duplicate"},
			`{"organizations": [{"code": "u", "name": "` + strings.Repeat("x", 201) + `"}]}`: {"organizations[0].name", "invalid"},
			`{"organizations": [{"code": "u", "name": "U", "formal_name": "a\u0000b"}]}`:     {"organizations[0].formal_name", "invalid"},
		},
		"groups": {
			`{"groups": [{"name": "G"}]}`:                           {"groups[0].code", "missing"},
			`{"groups": [{"code": "g", "name": "G", "sort": "x"}]}`: {"groups[0].sort", "wrong_type"},
		},
		"participants": {
			`{"participants": [{"code": "t", "name": "T", "status": "gone"}]}`:                                               {"participants[0].status", "invalid"},
			`{"participants": [{"code": "t", "name": "T", "status": "banned"}]}`:                                             {"participants[0].reason", "missing"},
			`{"participants": [{"code": "t", "name": "T", "members": [{"user": "ann", "role": "boss"}]}]}`:                   {"participants[0].members", "invalid"},
			`{"participants": [{"code": "t", "name": "T", "members": [{"user": "ann"}, {"user": "ann", "role": "coach"}]}]}`: {"participants[0].members", "duplicate"},
			`{"participants": [{"code": "t", "name": "T", "groups": ["g", "g"]}]}`:                                           {"participants[0].groups", "duplicate"},
			`{"participants": [{"code": "t", "name": "T", "groups": ["g"]}]}`:                                                {"groups", "unknown"},
			`{"participants": [{"code": "t", "name": "T", "organization": "u"}]}`:                                            {"organization", "unknown"},
			`{"participants": [{"code": "t", "name": "T", "members": [{"user": "eve"}]}]}`:                                   {"members", "unknown"},
			`{"participants": [{"code": "t", "name": "T", "members": [{"user": "ann", "seat": 1}]}]}`:                        {"participants[0].members", "wrong_type"},
		},
	} {
		for body, want := range bodies {
			prof.wrong("POST", base+path, body, want[0], want[1])
		}
	}
	prof.ask("POST", base+"organizations", `{"organizations": [{"code": "uni", "name": "Uni", "country": "NLD", "url": "https://uni.example"}]}`, 200)
	prof.ask("POST", base+"groups", `{"groups": [{"code": "north", "name": "North"}, {"code": "guests", "name": "Guests", "ranked": false, "sort": 2}]}`, 200)
	out := prof.ask("POST", base+"participants", `{"participants": [
		{"code": "t1", "name": "One", "organization": "uni", "groups": ["north"], "members": [{"user": "ann"}]},
		{"code": "t2", "name": "Two", "status": "banned", "reason": "cheated", "members": [{"user": "bob", "role": "coach"}]}]}`, 200)
	if out["changed"] != 2.0 {
		t.Errorf("%v", out)
	}
	one := prof.ask("GET", base+"participants/t1", "", 200)
	if one["organization"] != "uni" || one["ranked"] != true || one["status"] != "active" || fmt.Sprint(one["members"]) != "[map[role:contestant user:ann]]" || fmt.Sprint(one["groups"]) != "[north]" {
		t.Errorf("read: %v", one)
	}
	if list := prof.ask("GET", base+"participants?after=t1", "", 200); len(list["participants"].([]any)) != 1 || list["next"] != nil {
		t.Errorf("behind the first: %v", list)
	}
	if list := prof.ask("GET", base+"groups?limit=1", "", 200); list["next"] != "guests" {
		t.Errorf("the first group: %v", list)
	}
	prof.ask("DELETE", base+"organizations/uni", "", 409)
	prof.ask("DELETE", base+"participants/t1", "", 204)
	prof.ask("DELETE", base+"organizations/uni", "", 204)
	prof.ask("DELETE", base+"organizations/uni", "", 404)
}

func TestARoundIsSeenByWhoSeesItsSpace(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	for _, name := range []string{"ann", "bob", "set"} {
		s.someone(name, judge.RoleContestant)
	}
	space := s.space("cup")
	s.member(space, judge.SpaceContestant, "ann")
	s.member(space, judge.SpaceSetter, "set")
	prof, ann, bob, set := caller{s, s.session("prof")}, caller{s, s.session("ann")}, caller{s, s.session("bob")}, caller{s, s.session("set")}
	prof.ask("POST", "/api/v1/spaces/cup/rounds", `{"code": "day-1", "title": "Day 1"}`, 201)
	set.ask("POST", "/api/v1/rounds/day-1/problems", `{"problem": "aplusb"}`, 200)
	ann.ask("GET", "/api/v1/rounds/day-1", "", 200)
	bob.ask("GET", "/api/v1/rounds/day-1", "", 404)
	for who, n := range map[caller]int{ann: 1, bob: 0, prof: 1} {
		if list := who.ask("GET", "/api/v1/rounds", "", 200); len(list["rounds"].([]any)) != n {
			t.Errorf("%d rounds are listed, want %d", len(list["rounds"].([]any)), n)
		}
	}
	// Problems are secret before the start.
	if out := ann.ask("GET", "/api/v1/rounds/day-1/problems", "", 403); out["reason"] != "not_open" {
		t.Errorf("before the start: %v", out)
	}
	set.ask("GET", "/api/v1/rounds/day-1/problems", "", 200)
	prof.ask("POST", "/api/v1/rounds/day-1/start", "{}", 200)
	if out := ann.ask("GET", "/api/v1/rounds/day-1/problems", "", 200); len(out["problems"].([]any)) != 1 {
		t.Errorf("after the start: %v", out)
	}
	// A hidden problem is taken by setters of the site alone.
	s.must(s.store.HideProblem(t.Context(), "stairs", true, "prof"))
	set.wrong("POST", "/api/v1/rounds/day-1/problems", `{"problem": "stairs"}`, "problem", "unknown")
	prof.ask("POST", "/api/v1/rounds/day-1/problems", `{"problem": "stairs"}`, 200)
	set.ask("POST", "/api/v1/rounds/day-1/problems", `{"problem": "stairs", "label": "Z"}`, 200)
}
