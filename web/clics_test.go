package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

const contestAPI = "/clics/2026-01/contests/final"

// tells is the event feed from a token on, as far as it goes now.
func (c caller) tells(path, since string) (events []clics.Event) {
	c.Helper()
	r := c.reads(path+"/event-feed?stream=false&since_token="+since, http.StatusOK)
	if since == "" {
		r = c.reads(path+"/event-feed?stream=false", http.StatusOK)
	}
	for line := range strings.Lines(r.body) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var e clics.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			c.Fatalf("the feed has %q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// reads sends a request without a body.
func (c caller) reads(path string, status int) reply {
	c.Helper()
	var headers []string
	if c.token != "" {
		headers = append(headers, "Authorization: Bearer "+c.token)
	}
	r := c.do(http.MethodGet, path, "", headers...)
	if r.status != status {
		c.Errorf("GET %s: %d %s, want %d", path, r.status, r.body, status)
	}
	return r
}

// objects are what there is at all endpoints of a contest, by address.
func (c caller) objects(path string) map[string]string {
	c.Helper()
	all := map[string]string{"contest/": c.reads(path, http.StatusOK).body, "state/": c.reads(path+"/state", http.StatusOK).body}
	for _, kind := range clics.Types[1:] {
		if kind == clics.TypeState {
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(c.reads(path+"/"+kind, http.StatusOK).body), &list); err != nil {
			c.Fatalf("%s: %v", kind, err)
		}
		for _, raw := range list {
			var object struct{ ID string }
			c.must(json.Unmarshal(raw, &object))
			all[kind+"/"+object.ID] = string(raw)
			if one := c.reads(path+"/"+kind+"/"+object.ID, http.StatusOK).body; one != string(raw) {
				c.Errorf("%s/%s is %s, and %s in the list", kind, object.ID, one, raw)
			}
		}
	}
	return all
}

// after are the objects that there are after events.
func after(events []clics.Event) map[string]string {
	all := map[string]string{}
	for _, e := range events {
		id := ""
		if e.ID != nil {
			id = *e.ID
		}
		if delete(all, e.Type+"/"+id); string(e.Data) != "null" {
			all[e.Type+"/"+id] = string(e.Data)
		}
	}
	return all
}

func TestTheEventFeedEndsInWhatTheEndpointsHave(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.RatePerUser, c.RatePerAddress = 1<<20, 1<<20 })
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}}, judge.Language{ID: "python", Name: "Python", Available: true, Extensions: []string{"py"}})
	prof, ann, bob, carl := s.cup()
	guest := caller{s, ""}
	ann.hands("aplusb", judge.WA)
	bob.hands("stairs", judge.AC)
	s.record()
	hidden := caller{s, s.session("eve")}
	viewers := map[string]caller{"a guest": guest, "a team": ann, "another team": bob, "staff": prof, "a member of no team": carl, "a stranger": hidden}
	tokens := map[string]string{}
	seen := map[string][]clics.Event{}
	step := func(what string) {
		t.Helper()
		s.record()
		for name, c := range viewers {
			for _, version := range []string{"2026-01", "2023-06"} {
				path := "/clics/" + version + "/contests/final"
				events := c.tells(path, "")
				if got, want := after(events), c.objects(path); !maps.Equal(got, want) {
					for key := range want {
						if got[key] != want[key] {
							t.Errorf("%s: %s of %s is told as %s, and is %s", what, key, name, got[key], want[key])
						}
					}
					t.Errorf("%s: %s is told %d objects of %d", what, name, len(got), len(want))
				}
				// Who goes on from a token is told the rest, whichever it was.
				for _, i := range []int{0, len(events) / 2, len(events) - 2} {
					if rest := c.tells(path, events[i].Token); !equalEvents(rest, events[i+1:]) {
						t.Errorf("%s: %s goes on from %s with %d events, want %d", what, name, events[i].Token, len(rest), len(events)-i-1)
					}
				}
				if version == "2026-01" {
					more := c.tells(path, tokens[name])
					if tokens[name] != "" && !equalEvents(append(slices.Clone(seen[name]), more...), events) {
						t.Errorf("%s: %s, who stayed, was told other things than one who comes now", what, name)
					}
					seen[name], tokens[name] = events, events[len(events)-1].Token
				}
			}
		}
	}
	step("at first")
	ann.hands("stairs", judge.RE)
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	step("the freeze begins")
	bob.hands("aplusb", judge.AC)
	ann.hands("aplusb", judge.CE)
	asked := ann.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "Is B hard?", "problem": "stairs"}`, 201)["id"].(string)
	prof.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "There is coffee."}`, 201)
	step("in the freeze")
	ids := map[string]string{"to one": fmt.Sprintf(`{"text": "Yes.", "reply_to": %q, "to_teams": ["red"]}`, asked), "to all": fmt.Sprintf(`{"text": "Read the statement.", "reply_to": %q}`, asked), "to a group": `{"text": "Universities, wait.", "to_groups": ["uni"]}`}
	for what, body := range ids {
		ids[what] = prof.ask("POST", "/api/v1/rounds/final/clarifications", body, 201)["id"].(string)
	}
	step("answers")
	for name, want := range map[string]string{"a guest": "to all", "a member of no team": "to all", "a stranger": "to all", "another team": "to all", "a team": "to all, to one, to a group, asked", "staff": "to all, to one, to a group, asked"} {
		for what, id := range map[string]string{"to all": ids["to all"], "to one": ids["to one"], "to a group": ids["to a group"], "asked": asked} {
			object, told := after(seen[name])["clarifications/"+id]
			if wants := slices.Contains(strings.Split(want, ", "), what); told != wants {
				t.Errorf("%s is told of what is %s: %t", name, what, told)
			}
			if refers := strings.Contains(object, asked) && what == "to all"; refers != (name == "a team" || name == "staff") && what == "to all" {
				t.Errorf("%s is told of a question: %s", name, object)
			}
		}
	}
	for name, want := range map[string]bool{"a guest": false, "a team": false, "another team": true, "staff": true} {
		if _, told := after(seen[name])["judgements/4-1"]; told != want {
			t.Errorf("%s is told of a verdict in the freeze: %t", name, told)
		}
	}
	// Time that is taken out changes the contest time of everything.
	was := after(seen["a guest"])["submissions/1"]
	r, err := s.store.Rounds.Round(t.Context(), "final")
	s.must(err)
	from := r.Start.Add(time.Minute).UTC()
	prof.ask("POST", "/api/v1/rounds/final/removed", fmt.Sprintf(`{"from": %q, "to": %q}`, from.Format(time.RFC3339Nano), from.Add(10*time.Minute).Format(time.RFC3339Nano)), 200)
	step("time was taken out")
	if is := after(seen["a guest"])["submissions/1"]; is == was || is == "" {
		t.Errorf("with other contest time a submission is %s still", is)
	}
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "blue", "name": "Blue", "hidden": true, "members": [{"user": "bob"}]}]}`, 200)
	step("a team is hidden")
	if _, told := after(seen["a guest"])["teams/blue"]; told {
		t.Error("a team that is hidden is told of")
	}
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "blue", "name": "Blue", "members": [{"user": "bob"}]}]}`, 200)
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 200)
	step("the result stands")
	if _, told := after(seen["a guest"])["awards/winner"]; told {
		t.Error("everybody is told who has won what is frozen")
	}
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	step("it is thawed")
	// What is exported is a package with nothing wrong, the same each time, of which the recounted board is that of the package.
	for name, c := range map[string]caller{"staff": prof, "a team": ann} {
		for _, release := range []string{"2026-01", "2023-06"} {
			files, err := s.as(c.token).ExportContest(t.Context(), release, "final")
			s.must(err)
			if found := clics.Package(files).Check(); len(found) > 0 || files["scoreboard.json"] == nil {
				t.Errorf("the package of %s, %s: %v", release, name, found)
			}
			again, err := s.as(c.token).ExportContest(t.Context(), release, "final")
			s.must(err)
			delete(files, "scoreboard.json") // which has the time at which it was asked for
			delete(again, "scoreboard.json")
			if !maps.EqualFunc(files, again, bytes.Equal) {
				t.Errorf("the package of %s, %s is another each time", release, name)
			}
			if sources := files["submissions/1/files.zip"] != nil; sources != (name == "staff") {
				t.Errorf("%s gets sources: %t", name, sources)
			}
		}
	}
	for _, key := range []string{"awards/winner", "judgements/4-1"} {
		if _, told := after(seen["a guest"])[key]; !told {
			t.Errorf("nobody is told of %s", key)
		}
	}
}

// equalEvents compares what is told, and behind which tokens.
func equalEvents(a, b []clics.Event) bool {
	return slices.EqualFunc(a, b, func(a, b clics.Event) bool {
		return a.Type == b.Type && a.Token == b.Token && string(a.Data) == string(b.Data) && (a.ID == nil) == (b.ID == nil) && (a.ID == nil || *a.ID == *b.ID)
	})
}

func TestTheContestAPIRefusesInItsOwnWords(t *testing.T) {
	s := newStage(t)
	prof, ann, _, _ := s.cup()
	s.record()
	for path, want := range map[string]int{
		contestAPI + "/doesnt-exist": 404, contestAPI + "/doesnt-exist/42": 404, contestAPI + "/submissions/999999": 404, contestAPI + "/submissions/xyz9999": 404,
		contestAPI + "/event-feed?since_id=999999": 400, contestAPI + "/event-feed?since_token=p999999": 400, contestAPI + "/event-feed?since_token=s1": 400,
		contestAPI + "/event-feed?since_token=t1.0": 400, "/clics/2020-03/contests": 404, "/clics/2026-01/contests/nosuch": 404, contestAPI + "/submissions/1/files": 404,
		contestAPI + "/scoreboard?group_id=nosuch": 404, contestAPI + "/account": 404,
	} {
		r := s.do(http.MethodGet, path, "", "Accept: text/html")
		var body struct {
			Code    int
			Message string
		}
		if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.status != want || body.Code != want || body.Message == "" {
			t.Errorf("GET %s: %d %s, want %d", path, r.status, r.body, want)
		}
	}
	ann.reads(contestAPI+"/event-feed?since_token=p1", 400)
	prof.reads(contestAPI+"/event-feed?since_token=p1", 400)
	prof.reads(contestAPI+"/event-feed?since_token=s999999", 400)
	if r := s.do(http.MethodGet, "/clics/contests/final/teams?x=1", ""); r.status != http.StatusTemporaryRedirect || r.header.Get("Location") != contestAPI+"/teams?x=1" {
		t.Errorf("the newest release is at %d %s", r.status, r.header.Get("Location"))
	}
	// A round without an end is no contest until it has one.
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = NULL, freeze_ms = NULL"))
	prof.ask("PATCH", "/api/v1/rounds/final", `{"title": "Endless"}`, 200)
	s.record()
	guest := caller{s, ""}
	guest.reads(contestAPI, 404)
	guest.reads(contestAPI+"/teams", 404)
	if r := guest.reads("/clics/2026-01/contests", 200); r.body != "[]" {
		t.Errorf("the list has %s", r.body)
	}
	prof.ask("PATCH", "/api/v1/rounds/final", `{"duration_ms": 36000000}`, 200)
	s.record()
	if got, want := after(guest.tells(contestAPI, "")), guest.objects(contestAPI); !maps.Equal(got, want) || want["teams/red"] == "" {
		t.Errorf("it is a contest again: %v, want %v", got, want)
	}
}

func TestATeamHandsInByTheContestAPI(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, _, _ := s.cup()
	s.record()
	password := "correct horse battery"
	hash, err := people.HashPassword(password)
	s.must(err)
	s.must(s.store.TryExec(t.Context(), "UPDATE users SET password_hash = $1 WHERE name = 'ann'", hash))
	basic := func(name, secret string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+secret))
	}
	key := s.keyOf("ann", judge.ScopeSubmit)
	for secret, want := range map[string]string{password: "team", key: "team"} {
		for range 2 { // the second time it is remembered
			r := s.do(http.MethodGet, contestAPI+"/account", "", basic("ann", secret))
			if r.status != 200 || !strings.Contains(r.body, fmt.Sprintf(`"type":%q,"team_id":"red"`, want)) {
				t.Errorf("the account: %d %s", r.status, r.body)
			}
		}
	}
	for _, wrong := range []string{basic("ann", "wrong"), basic("bob", key), basic("ann", key+"x"), "Authorization: Basic %%%"} {
		if r := s.do(http.MethodGet, contestAPI+"/account", "", wrong); r.status != 401 || !strings.HasPrefix(r.header.Get("Www-Authenticate"), "Basic ") {
			t.Errorf("%s: %d %s", wrong, r.status, r.body)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/account", "", basic("ann", key)); r.status == 200 {
		t.Error("a name and a key are taken elsewhere, too")
	}
	packed := func(files ...string) string {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, name := range files {
			f, err := w.Create(name)
			s.must(err)
			_, err = io.WriteString(f, "int main() {} // "+name)
			s.must(err)
		}
		s.must(w.Close())
		return base64.StdEncoding.EncodeToString(out.Bytes())
	}
	post := func(body string) reply {
		t.Helper()
		defer s.recording()()
		return s.do(http.MethodPost, contestAPI+"/submissions", body, asJSON, basic("ann", password))
	}
	r := post(fmt.Sprintf(`{"problem_id": "aplusb", "language_id": "cpp", "files": [{"data": %q, "mime": "application/zip"}]}`, packed("src/main.cc")))
	var made clics.Submission
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != 201 || made.Team != "red" || made.Problem != "aplusb" || made.ID != "1" || made.Files != nil {
		t.Fatalf("handed in: %d %s", r.status, r.body)
	}
	if at := r.header.Get("Location"); at != contestAPI+"/submissions/1" {
		t.Errorf("it is at %s", at)
	}
	// Staff read it.
	var read clics.Submission
	s.must(json.Unmarshal([]byte(prof.reads(contestAPI+"/submissions/1", 200).body), &read))
	if len(read.Files) != 1 || read.Files[0].Href != "contests/final/submissions/1/files" {
		t.Fatalf("staff are told %+v", read)
	}
	archive := prof.reads("/clics/2026-01/"+read.Files[0].Href, 200).body
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	s.must(err)
	if len(z.File) != 1 || z.File[0].Name != "main.cc" {
		t.Errorf("the archive has %d files", len(z.File))
	}
	if again := prof.reads("/clics/2026-01/"+read.Files[0].Href, 200).body; again != archive {
		t.Error("the archive is another each time")
	}
	file := fmt.Sprintf(`"files": [{"data": %q}]`, packed("a.cc"))
	for body, want := range map[string]int{
		`{`: 400, `{"problem_id": "aplusb", "language_id": "cpp"}`: 400, `{"problem_id": "nosuch", "language_id": "cpp", ` + file + `}`: 400,
		`{"problem_id": "aplusb", "language_id": "cobol", ` + file + `}`: 400, `{"problem_id": "aplusb", "language_id": "cpp", "files": [{"data": "%"}]}`: 400,
		`{"problem_id": "aplusb", "language_id": "cpp", "files": [{"data": "aGVsbG8="}]}`: 400, `{"problem_id": "aplusb", "language_id": "cpp", "id": "7", ` + file + `}`: 403,
		`{"problem_id": "aplusb", "language_id": "cpp", "time": "2014-06-25T11:22:05.034+01", ` + file + `}`: 403, `{"problem_id": "aplusb", "language_id": "cpp", "team_id": "blue", ` + file + `}`: 403,
		fmt.Sprintf(`{"problem_id": "aplusb", "language_id": "cpp", "files": [{"data": %q}]}`, packed(strings.Fields(strings.Repeat("a.cc ", 17))...)): 400,
	} {
		if r := post(body); r.status != want {
			t.Errorf("%.120s: %d %s, want %d", body, r.status, r.body, want)
		}
	}
	if r := s.do(http.MethodPost, contestAPI+"/submissions", "{}", asJSON, "Authorization: Bearer "+s.session("eve")); r.status < 400 {
		t.Errorf("a stranger hands in: %d", r.status)
	}
	// What the filters choose.
	ann.hands("stairs", judge.AC)
	s.record()
	for query, want := range map[string]int{"team_id=red": 2, "team_id=blue": 0, "problem_id=stairs": 1, "problem_id=stairs&team_id=red": 1, "language_id=python3": 0} {
		var list []clics.Submission
		s.must(json.Unmarshal([]byte(ann.reads(contestAPI+"/submissions?"+query, 200).body), &list))
		if len(list) != want {
			t.Errorf("submissions?%s has %d, want %d", query, len(list), want)
		}
	}
	var teams []clics.Team
	s.must(json.Unmarshal([]byte(ann.reads(contestAPI+"/teams?group_id=uni", 200).body), &teams))
	if len(teams) != 1 || teams[0].ID != "red" {
		t.Errorf("the teams of a group are %+v", teams)
	}
	var board clics.Scoreboard
	s.must(json.Unmarshal([]byte(ann.reads(contestAPI+"/scoreboard", 200).body), &board))
	if len(board.Rows) != 2 || board.Rows[0].Team != "red" || *board.Rows[0].Score.Solved != 1 {
		t.Errorf("the board is %+v", board)
	}
}

// TestAFeedOfATeamEndsForWhoLeavesIt looks at a feed that goes on, of which who reads it is looked at from time to time.
func TestAFeedOfATeamEndsForWhoLeavesIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	prof, _, bob, _ := s.cup()
	s.record()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+contestAPI+"/event-feed", http.NoBody)
	s.must(err)
	req.Header.Set("Authorization", "Bearer "+bob.token)
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	defer resp.Body.Close()
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "blue", "name": "Blue", "members": []}]}`, 200)
	s.record()
	if _, err := io.Copy(io.Discard, resp.Body); ctx.Err() != nil {
		t.Errorf("who has left a team is told on what it alone is told: %v", err)
	}
}
