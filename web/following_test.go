package web

import (
	"strings"
	"testing"

	"deepoj/host/judge"
)

// TestARoundThatFollowsItsSpaceIsForItsMembers looks at the round that a space has had from before there were rounds.
func TestARoundThatFollowsItsSpaceIsForItsMembers(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	s.someone("prof", judge.RoleStaff)
	s.someone("ann", judge.RoleContestant)
	s.someone("eve", judge.RoleContestant)
	space := s.space("class", func(v *judge.Space) { v.Listed = true })
	s.store.Exec(t, `INSERT INTO rounds (space_id, code, title, kind, format, settings, public_runs, follows, created_by)
	  SELECT id, 'class', title, 'contest', 'ioi', '{"mode": "max", "tie": "solved"}', false, true, 'system' FROM spaces WHERE slug = 'class'`)
	s.store.Exec(t, "SELECT follow_times($1)", space.ID)
	s.member(space, judge.SpaceContestant, "ann")
	prof, ann := caller{s, s.session("prof")}, caller{s, s.session("ann")}
	eve, guest := caller{s, s.session("eve")}, caller{s, ""}
	prof.ask("POST", "/api/v1/spaces/class/problems", `{"problem": "aplusb", "points": 20}`, 200)

	out := ann.ask("POST", "/api/v1/submissions", `{"round": "class", "problem": "aplusb", "language": "cpp", "source": "int main() {}"}`, 422)
	if text, _ := out["detail"].(string); !strings.Contains(text, "Hand in to the space class") {
		t.Errorf("handed in to the round: %v", out)
	}
	out = ann.ask("POST", "/api/v1/submissions", `{"space": "class", "problem": "aplusb", "language": "cpp", "source": "int main() {}"}`, 201)
	id, _ := out["job_id"].(float64)
	s.verdict(int64(id), judge.AC)
	s.record()
	if got := rows(ann.ask("GET", "/api/v1/rounds/class/board", "", 200)); !strings.HasPrefix(got, "1 ann 1") {
		t.Errorf("the board is %s", got)
	}
	for who, c := range map[string]caller{"somebody else": eve, "a guest": guest} {
		for _, path := range []string{"/rounds/class", "/rounds/class/problems", "/rounds/class/board.csv", "/rounds/class/teams/ann", "/api/v1/rounds/class", "/api/v1/rounds/class/board"} {
			if r := c.do("GET", path, "", "Authorization: Bearer "+c.token); r.status != 404 && r.status != 401 {
				t.Errorf("%s gets %d from %s", who, r.status, path)
			}
		}
		if list := c.ask("GET", "/api/v1/rounds?space=class", "", 200)["rounds"].([]any); len(list) != 0 {
			t.Errorf("%s is told of %v", who, list)
		}
		if strings.Contains(c.page("/spaces/class", 200), "/rounds/class") {
			t.Errorf("%s is shown the round on the page of the space", who)
		}
	}
	if list := ann.ask("GET", "/api/v1/rounds?space=class", "", 200)["rounds"].([]any); len(list) != 1 {
		t.Errorf("a member is told of %v", list)
	}
	if !strings.Contains(ann.page("/spaces/class", 200), "/rounds/class") {
		t.Error("the page of the space does not lead a member to the round")
	}
	for path, to := range map[string]string{"/rounds/class/problems": "/spaces/class", "/rounds/class/submissions": "/spaces/class/submissions"} {
		if r := ann.do("GET", path, "", "Authorization: Bearer "+ann.token); r.status != 303 || r.header.Get("Location") != to {
			t.Errorf("%s: %d to %s, want %s", path, r.status, r.header.Get("Location"), to)
		}
	}
	ann.page("/rounds/class/problems/aplusb", 404)
	staff := prof.page("/rounds/class/staff", 200)
	if !strings.Contains(staff, "This round follows its space") || strings.Contains(staff, `/rounds/class/delete`) || strings.Contains(staff, `/rounds/class/start`) {
		t.Errorf("the page for staff offers what a round that follows does not take")
	}
	prof.ask("POST", "/api/v1/rounds/class/entries", `{"participants": ["ann"]}`, 422)
	prof.ask("PATCH", "/api/v1/spaces/class", `{"closes_at": "2020-01-01T00:00:00Z"}`, 200)
	if end := prof.ask("GET", "/api/v1/rounds/class", "", 200)["duration_ms"]; end == nil {
		t.Error("the round has no end when its space has one")
	}
}
