package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
)

// record has what happened written to the logs of rounds.
func (s *stage) record() {
	s.Helper()
	r, err := recorder.New(recorder.Config{}, s.store.Rounds)
	s.must(err)
	sqltest.UpToNow(s, s.store, func() error { return r.Look(s.Context()) })
}

// cup makes the listed space cup with a round of five hours that has gone on for one, with the problems aplusb and
// stairs, the team red of ann and amy, the team blue of bob, and carl, a member who is in no team.
func (s *stage) cup() (prof, ann, bob, carl caller) {
	s.Helper()
	s.someone("prof", judge.RoleStaff)
	for _, name := range []string{"ann", "amy", "bob", "carl", "eve"} {
		s.someone(name, judge.RoleContestant)
	}
	space := s.space("cup", func(v *judge.Space) { v.Listed = true })
	s.member(space, judge.SpaceContestant, "carl")
	prof = caller{s, s.session("prof")}
	hour := time.Hour.Milliseconds()
	begun := time.Now().Add(-time.Hour)
	s.must(s.store.Rounds.Create(s.Context(), judge.Round{
		Space: "cup", Code: "final", Title: "Final", Kind: judge.RoundContest, Format: "icpc", Start: &begun,
		Duration: new(time.Duration(5*hour) * time.Millisecond), Freeze: new(time.Duration(4*hour) * time.Millisecond),
	}, "prof"))
	prof.ask("POST", "/api/v1/rounds/final/problems", `{"problem": "aplusb"}`, 200)
	prof.ask("POST", "/api/v1/rounds/final/problems", `{"problem": "stairs", "rgb": "#ff0000", "color": "red"}`, 200)
	prof.ask("POST", "/api/v1/spaces/cup/groups", `{"groups": [{"code": "uni", "name": "Universities"}]}`, 200)
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [
		{"code": "red", "name": "Red", "groups": ["uni"], "members": [{"user": "ann", "role": "contestant"}, {"user": "amy", "role": "contestant"}]},
		{"code": "blue", "name": "Blue", "members": [{"user": "bob", "role": "contestant"}]}]}`, 200)
	prof.ask("POST", "/api/v1/rounds/final/entries", `{"participants": ["red", "blue"]}`, 200)
	return prof, caller{s, s.session("ann")}, caller{s, s.session("bob")}, caller{s, s.session("carl")}
}

// hands hands a program in to the round final, and judges it, unless there is no verdict.
func (c caller) hands(problem string, v judge.Verdict) int64 {
	c.Helper()
	out := c.ask("POST", "/api/v1/submissions", fmt.Sprintf(`{"round": "final", "problem": %q, "language": "cpp", "source": "int main() {} // %d"}`, problem, time.Now().UnixNano()), 201)
	id, _ := out["job_id"].(float64)
	if v != "" {
		c.verdict(int64(id), v)
	}
	return int64(id)
}

func (s *stage) verdict(id int64, v judge.Verdict) {
	s.Helper()
	s.finish(id, judge.Result{Verdict: v})
}

// rows are the rows of a board, as short as they can be said: who, rank, solved, and the cells.
func rows(board map[string]any) string {
	var out []string
	list, _ := board["rows"].([]any)
	for _, r := range list {
		row, _ := r.(map[string]any)
		text := fmt.Sprintf("%v %v %v:", row["rank"], row["participant"], row["solved"])
		cells, _ := row["cells"].([]any)
		for _, c := range cells {
			cell, _ := c.(map[string]any)
			text += fmt.Sprintf(" %v+%v %v", cell["judged"], cell["pending"], cell["solved"])
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestARoundIsHandedInToAndItsBoardTellsIt(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, carl := s.cup()
	guest := caller{s, ""}
	board := func(c caller, query, want string) map[string]any {
		t.Helper()
		s.record()
		var out map[string]any
		for range 100 { // the standings hear of it
			if out = c.ask("GET", "/api/v1/rounds/final/board"+query, "", 200); rows(out) == want {
				return out
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("the board %s is\n%s, want\n%s", query, rows(out), want)
		return out
	}
	board(guest, "", "1 blue 0: 0+0 false 0+0 false; 1 red 0: 0+0 false 0+0 false")
	ann.hands("aplusb", judge.WA)
	id := ann.hands("aplusb", "")
	bob.hands("stairs", judge.AC)
	out := board(guest, "", "1 blue 1: 0+0 false 1+0 true; 2 red 0: 1+1 false 0+0 false")
	if p := out["problems"].([]any)[1].(map[string]any); p["slug"] != "stairs" || p["label"] != "B" || p["rgb"] != "#ff0000" || p["solved"] != 1.0 ||
		p["first"].([]any)[0].(map[string]any)["participant"] != "blue" || p["decided"] != true {
		t.Errorf("the column says %v", p)
	}
	// A team mate's submission is the team's, and who is in no team becomes a participant.
	(caller{s, s.session("amy")}).hands("stairs", judge.AC)
	s.verdict(id, judge.AC)
	carl.hands("aplusb", judge.CE)
	out = board(guest, "", "1 red 2: 2+0 true 1+0 true; 2 blue 1: 0+0 false 1+0 true; 3 carl 0: 0+0 false 0+0 false")
	if again := board(guest, "", rows(out)); again["token"] != out["token"] {
		t.Errorf("the token of the same board was %v and is %v", out["token"], again["token"])
	}
	if part := board(guest, "?group=uni", "1 red 2: 2+0 true 1+0 true"); part["total"] != 1.0 {
		t.Errorf("of the group there are %v", part["total"])
	}
	if part := board(guest, "?after=red&limit=1", "2 blue 1: 0+0 false 1+0 true"); part["next"] != "blue" {
		t.Errorf("the cursor is %v", part["next"])
	}
	guest.wrong("GET", "/api/v1/rounds/final/board?group=nosuch", "", "group", "invalid")
	guest.wrong("GET", "/api/v1/rounds/final/board?after=nosuch", "", "after", "invalid")
	guest.wrong("GET", "/api/v1/rounds/final/board?view=jury", "", "view", "invalid")
	ann.ask("GET", "/api/v1/rounds/final/board?view=staff", "", 403)
	page := s.do(http.MethodGet, "/rounds/final", "", "Cookie: "+peopleroom.SessionCookie+"="+ann.token)
	shown := regexp.MustCompile(`<td class="num">(\d+)</td><th scope="row" class="words"><a class="star"[^>]*>☆</a> <a [^>]*>([^<]*)</a></th><td class="num">(\d+)</td>`).FindAllStringSubmatch(page.body, -1)
	if fmt.Sprint(len(shown)) != "3" || shown[0][1] != "1" || shown[0][2] != "Red" || shown[0][3] != "2" || shown[2][1] != "3" || !strings.Contains(page.body, `<tr data-team="red" data-rank="1" class="mine"><td class="num">1</td>`) {
		t.Errorf("the page shows %v", shown)
	}
	// What somebody who prepares it hands in is on no board.
	prof.hands("aplusb", judge.AC)
	board(prof, "?view=staff", rows(out))
	// None of it counts elsewhere before everything is shown.
	if st := guest.ask("GET", "/api/v1/problems/aplusb/statistics", "", 200); st["people_tried"] != 0.0 || st["tries"] != 0.0 {
		t.Errorf("statistics count %v", st)
	}
	if scores := prof.do("GET", "/api/v1/spaces/cup/scores", "", "Authorization: Bearer "+prof.token); !strings.Contains(scores.body, `"solved":0`) || strings.Contains(scores.body, `"solved":1`) {
		t.Errorf("the scores of the space count a round: %s", scores.body)
	}
}

func TestWhatARoundDoesNotTakeIsExplained(t *testing.T) {
	s := newStage(t)
	prof, ann, _, _ := s.cup()
	eve := caller{s, s.session("eve")}
	send := func(c caller, status int, reason, field, fields string) {
		t.Helper()
		out := c.ask("POST", "/api/v1/submissions", `{"language": "cpp", "source": "int main() {}", `+fields+`}`, status)
		if out["reason"] != reason || out["field"] != field || out["detail"] == "" {
			t.Errorf("%s: refused for %v, %v: %v; want %s, %s", fields, out["field"], out["reason"], out["detail"], field, reason)
		}
	}
	send(ann, 422, "unknown", "round", `"round": "nosuch", "problem": "aplusb"`)
	send(ann, 422, "empty", "round", `"round": "", "problem": "aplusb"`)
	send(ann, 422, "invalid", "space", `"round": "final", "space": "cup", "problem": "aplusb"`)
	send(ann, 422, "unknown", "problem", `"round": "final", "problem": "nosuch"`)
	send(eve, 403, "no_participant", "round", `"round": "final", "problem": "aplusb"`)
	prof.ask("POST", "/api/v1/rounds/final/problems", `{"problem": "stairs", "paused": true}`, 200)
	send(ann, 403, "paused", "problem", `"round": "final", "problem": "stairs"`)
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "red", "name": "Red", "status": "banned", "reason": "cheated", "members": [{"user": "ann", "role": "contestant"}]}]}`, 200)
	send(ann, 403, "banned", "round", `"round": "final", "problem": "aplusb"`)
	prof.ask("POST", "/api/v1/spaces/cup/rounds", `{"code": "later", "title": "Later"}`, 201)
	send(ann, 403, "not_open", "round", `"round": "later", "problem": "aplusb"`)
	// A batch names its round once, and what is wrong in which entry.
	out := ann.ask("POST", "/api/v1/submissions/batch", `{"round": "later", "submissions": [{"problem": "aplusb", "language": "cpp", "source": "int main() {}"}]}`, 403)
	if out["field"] != "round" {
		t.Errorf("a batch is refused for %v", out["field"])
	}
	bob := caller{s, s.session("bob")}
	if out := bob.ask("POST", "/api/v1/submissions/batch", `{"round": "final", "submissions": [{"problem": "aplusb", "language": "cpp", "source": "int main() {}"}]}`, 201); len(out["submissions"].([]any)) != 1 {
		t.Errorf("a batch is answered %v", out)
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = 1000, freeze_ms = NULL WHERE code = 'final'"))
	send(bob, 403, "closed", "round", `"round": "final", "problem": "aplusb"`)
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET practice = true WHERE code = 'final'"))
	bob.hands("aplusb", judge.AC)
}

func TestARowIsExplainedByWhatItsReaderKnows(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	guest := caller{s, ""}
	ann.hands("aplusb", judge.WA)
	ann.hands("aplusb", judge.AC)
	bob.hands("stairs", judge.CE)
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	time.Sleep(5 * time.Millisecond)
	bob.hands("aplusb", judge.AC)
	s.record()
	effects := func(c caller, path string) string {
		t.Helper()
		var out []string
		var e map[string]any
		for range 100 {
			if e = c.ask("GET", path, "", 200); e["row"] != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		for _, cell := range e["cells"].([]any) {
			for _, a := range cell.(map[string]any)["attempts"].([]any) {
				at := a.(map[string]any)
				out = append(out, fmt.Sprintf("%v %v %v", cell.(map[string]any)["problem"], at["verdict"], at["effect"]))
			}
		}
		above, _ := e["above"].(map[string]any)
		return fmt.Sprintf("%s; above: %v", strings.Join(out, ", "), above["participant"])
	}
	for _, tt := range []struct {
		c          caller
		path, want string
	}{
		{guest, "red", "aplusb WA wrong, aplusb AC solution; above: <nil>"},
		{guest, "blue", "aplusb <nil> pending, stairs CE free; above: red"},
		{prof, "blue?view=staff", "aplusb AC solution, stairs CE free; above: <nil>"},
	} {
		var got string
		for range 100 { // the standings hear of it
			if got = effects(tt.c, "/api/v1/rounds/final/explain/"+tt.path); got == tt.want {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got != tt.want {
			t.Errorf("%s is explained by %s, want %s", tt.path, got, tt.want)
		}
	}
	guest.ask("GET", "/api/v1/rounds/final/explain/nosuch", "", 404)
	guest.ask("GET", "/api/v1/rounds/final/explain/blue?view=staff", "", 403)
}

func TestInAFreezeATeamHasARowWithItsOwnVerdicts(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	ann.hands("aplusb", judge.AC)
	s.record()
	own := func(c caller, want string) {
		t.Helper()
		got := ""
		for range 300 { // the standings hear of it
			out := c.ask("GET", "/api/v1/rounds/final/board/own", "", 200)
			row, _ := out["row"].(map[string]any)
			got = fmt.Sprint(row["participant"], " of rank ", row["rank"], " solved ", row["solved"], ", alone: ", out["alone"])
			if strings.HasSuffix(got, want) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the own row is %s, want %s", got, want)
	}
	own(ann, "red of rank 1 solved 1, alone: false")
	if page := bob.page("/rounds/final", 200); strings.Contains(page, "data-own") {
		t.Error("before the freeze the page has a row of its own for the viewer")
	}
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	time.Sleep(5 * time.Millisecond)
	bob.hands("stairs", judge.AC)
	s.record()
	own(bob, "blue of rank 2 solved 1, alone: true")
	own(ann, "red of rank 1 solved 1, alone: false")
	for _, c := range []caller{{s, ""}, prof} { // they take no part
		if out := c.ask("GET", "/api/v1/rounds/final/board/own", "", 200); out["row"] != nil || out["alone"] != false {
			t.Errorf("who takes no part has the row %v", out)
		}
	}
	if b := rows(bob.ask("GET", "/api/v1/rounds/final/board", "", 200)); b != "1 red 1: 1+0 true 0+0 false; 2 blue 0: 0+0 false 0+1 false" {
		t.Errorf("the board that bob sees is %s", b)
	}
	_, mine, _ := strings.Cut(bob.page("/rounds/final", 200), "data-own")
	if mine, _, _ = strings.Cut(mine, "</table>"); !strings.Contains(mine, `data-team="blue"`) || !strings.Contains(mine, `class="num solved"`) {
		t.Errorf("bob's own row on the page is %s", mine)
	}
	if strings.Contains(bob.page("/rounds/final?style=projector", 200), "data-own") {
		t.Error("on a projector everybody sees bob's verdicts")
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1 WHERE code = 'final'"))
	time.Sleep(10 * time.Millisecond)
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	s.record()
	own(bob, " solved 1, alone: false")
	if page := bob.page("/rounds/final", 200); strings.Contains(page, "data-own") {
		t.Error("behind the thaw the page has a row of its own for the viewer")
	}
}

func TestAResultStandsOnceNothingIsInItsWay(t *testing.T) {
	s := newStage(t)
	s.someone("root", judge.RoleAdmin)
	prof, ann, bob, _ := s.cup()
	root, guest := caller{s, s.session("root")}, caller{s, ""}
	ann.hands("aplusb", judge.AC)
	left := bob.hands("aplusb", "")
	broken := bob.hands("stairs", judge.JE)
	fields := func(out map[string]any) string {
		list, _ := out["errors"].([]any)
		if list == nil {
			return fmt.Sprint(out["field"])
		}
		var names []string
		for _, e := range list {
			names = append(names, fmt.Sprint(e.(map[string]any)["field"]))
		}
		return strings.Join(names, " ")
	}
	if got := fields(prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 409)); got != "ends_at unjudged errors" {
		t.Errorf("in the way is %s", got)
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, freeze_ms = NULL WHERE code = 'final'"))
	s.verdict(left, judge.WA)
	time.Sleep(10 * time.Millisecond)
	if got := fields(prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 409)); got != "errors" {
		t.Errorf("in the way is %s", got)
	}
	_, err := s.store.Rejudge(t.Context(), []int64{broken}, judge.LaneRejudge, "prof")
	s.must(err)
	s.verdict(broken, judge.WA)
	if out := guest.ask("GET", "/api/v1/rounds/final/awards", "", 200); out["final"] != false || len(out["awards"].([]any)) != 0 {
		t.Errorf("before that everybody sees %v", out)
	}
	prof.wrong("POST", "/api/v1/rounds/final/finalize", `{"b": -1}`, "b", "invalid")
	prof.ask("GET", "/api/v1/rounds/final/awards?view=staff", "", 200)
	out := prof.ask("POST", "/api/v1/rounds/final/finalize", `{"b": 2}`, 200)
	if set, _ := out["settings"].(map[string]any); out["finalized_at"] == nil || set["b"] != 2.0 {
		t.Errorf("finalized: %v", out)
	}
	prof.wrong("PATCH", "/api/v1/rounds/final", `{"title": "Other"}`, "finalized_at", "finalized")
	s.record()
	var awards map[string]any
	for range 100 {
		if awards = guest.ask("GET", "/api/v1/rounds/final/awards", "", 200); strings.Contains(fmt.Sprint(awards), "winner") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if text := fmt.Sprint(awards); !strings.Contains(text, "id:winner participants:[red]") && !strings.Contains(text, "participants:[red]") {
		t.Errorf("awards are %v", awards)
	}
	prof.ask("POST", "/api/v1/rounds/final/reopen", `{"reason": "a wrong test"}`, 403)
	root.wrong("POST", "/api/v1/rounds/final/reopen", `{"reason": " "}`, "reason", "invalid")
	if out := root.ask("POST", "/api/v1/rounds/final/reopen", `{"reason": "a wrong test"}`, 200); out["finalized_at"] != nil {
		t.Errorf("reopened: %v", out)
	}
	if log := root.do("GET", "/api/v1/audit?action=round_reopen", "", "Authorization: Bearer "+root.token); !strings.Contains(log.body, "a wrong test") {
		t.Errorf("the audit log has %s", log.body)
	}
}

// roundPaths are addresses that answer about the round final, or could.
func roundPaths() []string {
	paths := []string{
		"/api/v1/rounds", "/api/v1/rounds/final", "/api/v1/rounds/final/board", "/api/v1/rounds/final/board?group=uni", "/api/v1/rounds/final/board/own", "/api/v1/rounds/final/problems",
		"/api/v1/problems", "/api/v1/problems/aplusb", "/api/v1/problems/aplusb/statistics", "/api/v1/problems/stairs/statistics",
		"/api/v1/spaces", "/api/v1/spaces/cup", "/api/v1/spaces/cup/problems", "/api/v1/spaces/cup/scores", "/api/v1/submissions", "/",
		"/problems/aplusb/statistics", "/spaces/cup", "/people/ann", "/people/bob",
		"/rounds/final", "/rounds/final?fav=red", "/rounds/final?q=red", "/rounds/final?at=1:00:00", "/rounds/final?style=projector", "/rounds/final/teams/red", "/rounds/final/teams/blue",
		"/rounds/final/results", "/rounds/final/board.csv", "/rounds/final/results.tsv", "/rounds/final/ranklist.json", "/rounds/final/certificates/red.svg", "/rounds/final/certificates", "/rounds/final/clarifications",
		"/spaces/cup/rounds", "/api/v1/rounds/final/explain/red", "/api/v1/rounds/final/explain/blue", "/api/v1/rounds/final/awards", "/api/v1/rounds/final/clarifications",
		"/api/v1/rounds/final/board?at=1:00:00", "/rounds/final/problems", "/rounds/final/print", "/rounds/final/problems/aplusb", "/rounds/final/submissions", "/rounds/final/resolver",
		"/api/v1/rounds/final/resolver", "/api/v1/rounds/final/log", "/api/v1/rounds/final/sources",
	}
	for _, version := range clics.Versions {
		at := "/clics/" + string(version) + "/contests/final"
		paths = append(paths, at, at+"/state", at+"/access", at+"/scoreboard", at+"/event-feed?stream=false", at+"/judgements/4-1", at+"/submissions/4/files")
		for _, kind := range clics.Types[1:] {
			if kind != clics.TypeState {
				paths = append(paths, at+"/"+kind)
			}
		}
	}
	return paths
}

// changing are the parts of an answer that differ with the time at which it is asked for, which differs between worlds.
var changing = regexp.MustCompile(`"[a-z_]+":"20\d\d-[^"]*"|"(time_ms|freeze_ms|job_id|id)":-?\d+|"[a-z_]+":"\d+:\d\d:\d\d\.\d{3}"|"startAt":"[^"]*"|"frozenDuration":\[\d+|name="csrf" value="[^"]*"|name="key" value="[^"]*"|href="/submissions/\d+">\d+<|nonce="[^"]*"|data-csrf="[^"]*"|<time [^>]*>[^<]*</time>|\b[0-9a-f]{32}\b`)

// Two rounds that are alike until the freeze, and differ behind it: whoever is told, but those who hand in, gets the same
// answers, byte by byte, but for times.
func TestWhatAFreezeHidesChangesNoAnswer(t *testing.T) {
	paths := roundPaths()
	var worlds [2]map[string]string
	for w := range worlds {
		s := newStage(t)
		prof, ann, bob, carl := s.cup()
		ann.hands("aplusb", judge.WA)
		bob.hands("stairs", judge.WA)
		carl.hands("stairs", judge.WA)
		s.record()
		prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
		time.Sleep(5 * time.Millisecond)
		verdicts := [][]judge.Verdict{{judge.AC, judge.WA, judge.CE, judge.AC}, {judge.WA, judge.RE, judge.AC, ""}}[w]
		for i, v := range verdicts {
			ann.hands([]string{"aplusb", "stairs"}[i%2], v)
		}
		for range w + 1 { // what a team asks is for nobody else, nor how much it asks
			asked := ann.ask("POST", "/api/v1/rounds/final/clarifications", fmt.Sprintf(`{"text": "World %d?"}`, w), 201)
			prof.ask("POST", "/api/v1/rounds/final/clarifications", fmt.Sprintf(`{"text": "It is %d.", "reply_to": %q, "to_teams": ["red"]}`, w, asked["id"]), 201)
		}
		s.record()
		worlds[w] = map[string]string{}
		for who, token := range map[string]string{"guest": "", "bob": bob.token, "carl": carl.token} {
			for _, path := range paths {
				worlds[w][who+" "+path] = caller{s, token}.answer(path)
			}
		}
		if b := worlds[w]["guest /api/v1/rounds/final/board"]; !strings.Contains(b, `"pending":2`) || strings.Contains(b, `"solved":true`) {
			t.Errorf("the board in the freeze: %s", b)
		}
		if b := prof.ask("GET", "/api/v1/rounds/final/board?view=staff", "", 200); !strings.Contains(rows(b), "true") {
			t.Errorf("staff see %s", rows(b))
		}
	}
	alike(t, worlds)
}

// answer is what a path answers, but for what differs with time.
func (c caller) answer(path string) string {
	c.Helper()
	headers := []string{}
	if c.token != "" {
		headers = append(headers, "Authorization: Bearer "+c.token)
	}
	if !strings.HasPrefix(path, "/api/") && c.token != "" {
		headers = []string{"Cookie: " + peopleroom.SessionCookie + "=" + c.token}
	}
	r := c.do(http.MethodGet, path, "", headers...)
	return fmt.Sprint(r.status, " ", changing.ReplaceAllString(r.body, ""))
}

// alike reports what answers otherwise in the one world than in the other.
func alike(t *testing.T, worlds [2]map[string]string) {
	t.Helper()
	for name, one := range worlds[0] {
		if other := worlds[1][name]; one != other {
			at := 0
			for at < min(len(one), len(other)) && one[at] == other[at] {
				at++
			}
			t.Errorf("%s is in one world\n%.300s\nand in the other\n%.300s", name, one[max(at-100, 0):], other[max(at-100, 0):])
		}
	}
}
