package web

import (
	"fmt"
	"strings"
	"testing"

	"deepoj/host/judge"
)

func TestTheFrozenBoardIsOpenedStepByStep(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	ann.hands("aplusb", judge.AC)
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	bob.hands("aplusb", judge.AC)
	bob.hands("stairs", judge.AC)
	ann.hands("stairs", judge.WA)
	s.record()
	steps := func() string {
		t.Helper()
		var out []string
		for path := "/api/v1/rounds/final/resolver?limit=2"; path != ""; {
			page := prof.ask("GET", path, "", 200)
			for _, v := range page["steps"].([]any) {
				v := v.(map[string]any)
				text := fmt.Sprintf("%v %v %v-%v", v["participant"], v["label"], v["was"], v["rank"])
				if cell, shown := v["cell"].(map[string]any); shown {
					text += fmt.Sprintf(" %v", cell["solved"])
				}
				out = append(out, text)
			}
			path = ""
			if next := page["next"]; next != nil {
				path = fmt.Sprintf("/api/v1/rounds/final/resolver?limit=2&after=%v", next)
			}
		}
		return strings.Join(out, "; ")
	}
	const want = "blue A 2-1 true; red B 1-1 false; red  1-1; blue B 1-1 true; blue  1-1" // both solved A in the same minute
	if got := steps(); got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
	for _, path := range []string{"/api/v1/rounds/final/resolver", "/rounds/final/resolver"} {
		for name, c := range map[string]caller{"a team": ann, "a guest": {s, ""}} {
			if r := c.do("GET", path, "", "Authorization: Bearer "+c.token); r.status != 403 && r.status != 401 {
				t.Errorf("%s reads %s: %d", name, path, r.status)
			}
		}
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	s.record()
	if got := steps(); got != want {
		t.Errorf("after the thaw the steps are %s, want %s", got, want)
	}
	s.must(s.store.Rounds.PutAward(t.Context(), "final", judge.RoundAward{Code: "best-name", Citation: "Best name", Participants: []string{"blue"}}, "prof"))
	if out := fmt.Sprint(prof.ask("GET", "/api/v1/rounds/final/awards?view=staff", "", 200)); !strings.Contains(out, "Best name") {
		t.Errorf("the awards are %s", out)
	}
}
