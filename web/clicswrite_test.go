package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// recording has the recorder write on until what it returns is called.
func (s *stage) recording() (stop func()) {
	s.Helper()
	answered, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-answered:
				return
			case <-time.After(30 * time.Millisecond):
				s.record()
			}
		}
	}()
	return func() { close(answered); <-done }
}

// sends sends JSON to the Contest API, while the recorder writes on, and returns the answer, whose status has to be as said.
func (c caller) sends(method, path, body string, status int) map[string]any {
	c.Helper()
	defer c.recording()()
	r := c.do(method, contestAPI+path, body, asJSON, "Authorization: Bearer "+c.token)
	if r.status != status {
		c.Errorf("%s %s %s: %d %s, want %d", method, path, body, r.status, r.body, status)
	}
	var out map[string]any
	if r.body != "" {
		if err := json.Unmarshal([]byte(r.body), &out); err != nil {
			c.Errorf("%s %s: %v in %s", method, path, err, r.body)
		}
	}
	if at := r.header.Get("Location"); status == 201 && at != contestAPI+strings.TrimSuffix(path, "/"+fmt.Sprint(out["id"]))+"/"+fmt.Sprint(out["id"]) {
		c.Errorf("%s %s: it is at %q", method, path, at)
	}
	return out
}

func TestWhoRunsAContestHandsInForTeams(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, _, _ := s.cup()
	s.record()
	begun := sqltest.One[time.Time](t, s.store, "SELECT starts_at FROM rounds")
	packed, err := clics.PackSources([]judge.Source{{Name: "main.cpp", Text: "int main() {}"}})
	s.must(err)
	body := func(more string) string {
		return fmt.Sprintf(`{"problem_id": "aplusb", "language_id": "cpp", "files": [{"data": %q}]%s}`, base64.StdEncoding.EncodeToString(packed), more)
	}
	then := clics.AbsTime(begun.Add(10*time.Minute + 123*time.Millisecond))
	if out := prof.sends("POST", "/submissions", body(`, "team_id": "red"`), 201); out["team_id"] != "red" || out["id"] != "1" {
		t.Errorf("for a team, now: %v", out)
	}
	if out := prof.sends("POST", "/submissions", body(fmt.Sprintf(`, "team_id": "blue", "time": %q`, then)), 201); out["time"] != then || out["contest_time"] != "0:10:00.123" || out["team_id"] != "blue" {
		t.Errorf("for a team, at a time: %v", out)
	}
	put := body(fmt.Sprintf(`, "id": "7", "team_id": "red", "time": %q`, then))
	for range 2 { // the same again is the same
		if out := prof.sends("PUT", "/submissions/7", put, 201); out["id"] != "7" || out["time"] != then {
			t.Errorf("by its id: %v", out)
		}
	}
	if out := ann.sends("POST", "/submissions", body(""), 201); out["id"] != "8" {
		t.Errorf("the next of a team has the id %v, want 8", out["id"])
	}
	prof.sends("PUT", "/submissions/7", strings.Replace(put, "aplusb", "stairs", 1), 409)
	for what, tt := range map[string]struct {
		who          caller
		method, path string
		body         string
		status       int
	}{
		"a team by id":               {ann, "PUT", "/submissions/9", strings.Replace(put, `"7"`, `"9"`, 1), 403},
		"a team at a time":           {ann, "POST", "/submissions", body(fmt.Sprintf(`, "time": %q`, then)), 403},
		"a team for another":         {ann, "POST", "/submissions", body(`, "team_id": "blue"`), 403},
		"staff for nobody":           {prof, "POST", "/submissions", body(""), 400},
		"staff for who is not":       {prof, "POST", "/submissions", body(`, "team_id": "green"`), 400},
		"staff in the future":        {prof, "POST", "/submissions", body(`, "team_id": "red", "time": "2100-01-01T00:00:00Z"`), 400},
		"staff before the start":     {prof, "POST", "/submissions", body(`, "team_id": "red", "time": "2000-01-01T00:00:00Z"`), 403},
		"staff with an id":           {prof, "POST", "/submissions", body(`, "team_id": "red", "id": "9"`), 403},
		"another id":                 {prof, "PUT", "/submissions/9", put, 409},
		"an id that is no number":    {prof, "PUT", "/submissions/x", strings.Replace(put, `"7"`, `"x"`, 1), 400},
		"by id without a time":       {prof, "PUT", "/submissions/9", body(`, "id": "9", "team_id": "red"`), 400},
		"a time that is none":        {prof, "POST", "/submissions", body(`, "team_id": "red", "time": "noon"`), 400},
		"another kind of an archive": {prof, "POST", "/submissions", strings.Replace(body(`, "team_id": "red"`), `"data"`, `"mime": "text/plain", "data"`, 1), 400},
	} {
		if out := tt.who.sends(tt.method, tt.path, tt.body, tt.status); out["code"] != float64(tt.status) || out["message"] == "" {
			t.Errorf("%s: %v", what, out)
		}
	}
	if n := sqltest.One[int](t, s.store, "SELECT count(*) FROM job_payloads WHERE round_id IS NOT NULL"); n != 4 {
		t.Errorf("%d were stored, want 4", n)
	}
	if out := prof.sends("GET", "/access", "", 200); !strings.Contains(fmt.Sprint(out["capabilities"]), "admin_submit") {
		t.Errorf("staff may %v", out["capabilities"])
	}
	if out := ann.sends("GET", "/access", "", 200); fmt.Sprint(out["capabilities"]) != "[team_submit post_clar]" {
		t.Errorf("a team may %v", out["capabilities"])
	}
}

func TestClarificationsAndAwardsComeByTheContestAPI(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, carl := s.cup()
	s.record()
	asked := ann.sends("POST", "/clarifications", `{"text": "How?", "problem_id": "aplusb", "from_team_id": "red"}`, 201)
	if asked["from_team_id"] != "red" || asked["problem_id"] != "aplusb" || asked["reply_to_id"] != nil {
		t.Errorf("a question: %v", asked)
	}
	answer := prof.sends("POST", "/clarifications", fmt.Sprintf(`{"text": "So.", "reply_to_id": %q, "to_team_ids": ["red"]}`, asked["id"]), 201)
	if answer["from_team_id"] != nil || answer["reply_to_id"] != asked["id"] {
		t.Errorf("an answer: %v", answer)
	}
	if out := prof.sends("POST", "/clarifications", `{"text": "For blue.", "from_team_id": "blue"}`, 201); out["from_team_id"] != "blue" {
		t.Errorf("for a team: %v", out)
	}
	put := `{"id": "c-1", "text": "Said before.", "to_team_id": "blue", "time": "2026-01-01T09:00:00+01"}`
	if out := prof.sends("PUT", "/clarifications/c-1", put, 201); out["id"] != "c-1" || out["time"] != "2026-01-01T08:00:00.000Z" {
		t.Errorf("by its id: %v", out)
	}
	prof.sends("PUT", "/clarifications/c-1", put, 409)
	for _, tt := range []struct {
		who    caller
		path   string
		body   string
		status int
	}{
		{ann, "", `{"text": "x", "to_team_ids": ["blue"]}`, 403},
		{ann, "", `{"text": "x", "from_team_id": "blue"}`, 403},
		{ann, "", `{"text": " "}`, 400},
		{ann, "", `{"text": "x", "time": "2026-01-01T09:00:00Z"}`, 403},
		{ann, "", `{"text": "x", "problem_id": "lift"}`, 400},
		{carl, "", `{"text": "x"}`, 403},
		{prof, "", `{"text": "x", "to_team_ids": ["green"]}`, 400},
		{prof, "", `{"text": "x", "reply_to_id": "nosuch"}`, 400},
		{prof, "", `{"text": "x", "id": "y"}`, 400},
		{prof, "", `{"text": "x", "from_team_id": "green"}`, 400},
	} {
		tt.who.sends("POST", "/clarifications", tt.body, tt.status)
	}
	ann.sends("PUT", "/clarifications/c-2", strings.ReplaceAll(put, "c-1", "c-2"), 403)
	prof.sends("PUT", "/clarifications/c-2", put, 409)

	made := prof.sends("POST", "/awards", `{"citation": "Best costumes", "team_ids": ["red"]}`, 201)
	if made["citation"] != "Best costumes" || fmt.Sprint(made["team_ids"]) != "[red]" {
		t.Errorf("an award: %v", made)
	}
	id := fmt.Sprint(made["id"])
	prof.sends("PUT", "/awards/best-name", `{"id": "best-name", "citation": "Best name", "team_ids": ["blue", "red"]}`, 201)
	if out := prof.sends("PATCH", "/awards/best-name", `{"team_ids": []}`, 200); out["citation"] != "Best name" || fmt.Sprint(out["team_ids"]) != "[]" {
		t.Errorf("changed: %v", out)
	}
	for _, tt := range []struct {
		who          caller
		method, path string
		body         string
		status       int
	}{
		{ann, "POST", "/awards", `{"citation": "x", "team_ids": []}`, 403},
		{prof, "POST", "/awards", `{"citation": "x"}`, 400},
		{prof, "POST", "/awards", `{"id": "x", "citation": "x", "team_ids": []}`, 400},
		{prof, "PUT", "/awards/winner", `{"id": "winner", "citation": "x", "team_ids": []}`, 403},
		{prof, "PUT", "/awards/first-to-solve-aplusb", `{"citation": "x", "team_ids": []}`, 403},
		{prof, "PUT", "/awards/x", `{"id": "y", "citation": "x", "team_ids": []}`, 409},
		{prof, "PUT", "/awards/x", `{"citation": "x", "team_ids": ["green"]}`, 400},
		{prof, "PATCH", "/awards/nosuch", `{"citation": "x"}`, 404},
		{prof, "DELETE", "/awards/nosuch", ``, 404},
		{bob, "DELETE", "/awards/" + id, ``, 403},
	} {
		tt.who.sends(tt.method, tt.path, tt.body, tt.status)
	}
	if out := ann.objects(contestAPI); out["awards/"+id] != "" {
		t.Error("a team is told of an award while the contest goes on")
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, freeze_ms = NULL"))
	for _, c := range prof.ask("GET", "/api/v1/rounds/final/clarifications", "", 200)["clarifications"].([]any) {
		if c := c.(map[string]any); c["from"] != nil && c["answered"] == false {
			prof.ask("POST", fmt.Sprintf("/api/v1/rounds/final/clarifications/%v/close", c["id"]), "", 204)
		}
	}
	prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 200)
	s.record()
	if out := ann.objects(contestAPI); out["awards/"+id] == "" || out["awards/winner"] == "" && out["awards/rank-1"] == "" && out["awards/honorable-mention"] == "" {
		t.Errorf("when the result stands, awards are %v", out)
	}
	r := prof.do("DELETE", contestAPI+"/awards/"+id, "", "Authorization: Bearer "+prof.token)
	s.record()
	if out := ann.objects(contestAPI); r.status != 204 || out["awards/"+id] != "" {
		t.Errorf("taken back: %d, %s", r.status, out["awards/"+id])
	}
}

func TestTheStartAndTheThawAreSetByTheContestAPI(t *testing.T) {
	s := newStage(t)
	prof, ann, _, _ := s.cup()
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() + interval '1 hour'"))
	s.record()
	later := clics.AbsTime(time.Now().Add(2 * time.Hour))
	if out := prof.sends("PATCH", "", fmt.Sprintf(`{"id": "final", "start_time": %q}`, later), 200); out["start_time"] != later {
		t.Errorf("another start: %v", out)
	}
	if out := prof.sends("PATCH", "", `{"id": "final", "start_time": null, "countdown_pause_time": "0:10:00"}`, 200); out["start_time"] != nil || out["countdown_pause_time"] != "0:10:00.000" {
		t.Errorf("paused: %v", out)
	}
	thaw := func(at time.Time) string {
		return fmt.Sprintf(`{"id": "final", "scoreboard_thaw_time": %q}`, clics.AbsTime(at))
	}
	for body, status := range map[string]int{
		`{"id": "other", "start_time": null}`: 409, `{"start_time": null}`: 409, `{"id": "final"}`: 400, `{"id": "final", "start_time": "noon"}`: 400, `{"id": "final", "name": "x"}`: 400,
		`{"id": "final", "start_time": "2020-01-01T00:00:00Z"}`: 403, `{"id": "final", "start_time": "2100-01-01T00:00:00Z", "countdown_pause_time": "0:01:00"}`: 400,
		thaw(time.Now()): 403,
	} {
		prof.sends("PATCH", "", body, status)
	}
	ann.sends("PATCH", "", `{"id": "final", "start_time": null}`, 403)
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() - interval '4 hours 30 minutes', paused_ms = NULL"))
	s.record()
	prof.sends("PATCH", "", fmt.Sprintf(`{"id": "final", "start_time": %q}`, later), 403)
	prof.sends("PATCH", "", thaw(time.Now().Add(time.Minute)), 403)
	prof.sends("PATCH", "", thaw(time.Now().Add(time.Hour)), 204)
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() - interval '5 hours', thaw_at = NULL"))
	s.record()
	if out := prof.sends("PATCH", "", thaw(time.Now()), 200); out["id"] != "final" {
		t.Errorf("thawed: %v", out)
	}
	prof.sends("PATCH", "", thaw(time.Now()), 403)
}
