package web

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

// heardBoard follows the board of the round final, and gives what comes of it.
func (c caller) heardBoard(token string) (next func() map[string]any, stop func()) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/api/v1/rounds/final/board/stream", http.NoBody)
	c.must(err)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("Last-Event-ID", token)
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // stop does
	c.must(err)
	if resp.StatusCode != http.StatusOK {
		c.Fatalf("the stream of the board: %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	next = func() map[string]any {
		c.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out := map[string]any{}
				c.must(json.Unmarshal([]byte(data), &out))
				return out
			}
		}
		c.Fatalf("the stream of the board has ended: %v", lines.Err())
		return nil
	}
	return next, func() { cancel(); _ = resp.Body.Close() }
}

func TestABoardGoesOnForWhoLooksAtIt(t *testing.T) {
	s := newStage(t)
	_, ann, bob, _ := s.cup()
	s.record()
	guest := caller{s, ""}
	token := func() string { return guest.ask("GET", "/api/v1/rounds/final/board", "", 200)["token"].(string) }
	first := token()
	next, stop := guest.heardBoard(first)
	defer stop()
	ann.hands("aplusb", judge.AC)
	s.record()
	change := next()
	for change["token"] != token() { // the submission and its judgement may be told one after the other
		change = next()
	}
	rows, shifts := change["rows"].([]any), change["shifts"].([]any)
	if len(rows) != 1 || rows[0].(map[string]any)["participant"] != "red" || rows[0].(map[string]any)["place"] != 0.0 || rows[0].(map[string]any)["solved"] != 1.0 {
		t.Errorf("one solution changes %v", rows)
	}
	if len(shifts) != 1 || shifts[0].(map[string]any)["from"] != 1.0 || shifts[0].(map[string]any)["to"] != 1.0 || shifts[0].(map[string]any)["by"] != 1.0 {
		t.Errorf("and shifts %v", shifts)
	}
	if columns := change["problems"].([]any); len(columns) != 1 || columns[0].(map[string]any)["solved"] != 1.0 {
		t.Errorf("and its column: %v", columns)
	}
	if raw, err := json.Marshal(change); err != nil || len(raw) > 2048 {
		t.Errorf("the change has %d bytes", len(raw))
	}
	// Who was away goes on from the board that they have.
	before := token()
	bob.hands("stairs", judge.WA)
	s.record()
	for next()["token"] != token() {
		continue
	}
	late, end := guest.heardBoard(before)
	defer end()
	for {
		change := late()
		if change["reset"] == true {
			t.Fatal("who was away for a moment has to read everything again")
		}
		if change["token"] == token() {
			break
		}
	}
	// Who was away for too long reads the board again, and so does everybody when there are other rows.
	lost, done := guest.heardBoard("p0")
	defer done()
	if change := lost(); change["reset"] != true || change["token"] != token() {
		t.Errorf("a token that nobody knows: %v", change)
	}
	ann.ask("GET", "/api/v1/rounds/final/board/stream?view=staff", "", 403)
	guest.wrong("GET", "/api/v1/rounds/final/board/stream?token=x", "", "token", "invalid")
	caller{s, s.session("carl")}.hands("stairs", judge.AC)
	s.record()
	for change := next(); change["reset"] != true; change = next() {
		continue
	}
}

func TestABoardIsSearchedExportedAndShownAsItWas(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	prof.ask("POST", "/api/v1/spaces/cup/organizations", `{"organizations": [{"code": "tu", "name": "TU Delft"}]}`, 200)
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "blue", "name": "=Blue", "organization": "tu", "members": [{"user": "bob"}]}]}`, 200)
	s.record()
	ann.hands("aplusb", judge.WA)
	ann.hands("aplusb", judge.AC)
	s.record()
	guest := caller{s, ""}
	s.must(s.store.TryExec(t.Context(), "UPDATE contest_log SET at = at - interval '1 minute'"))
	bob.hands("stairs", judge.AC)
	s.record()
	leader := func(query string) string {
		t.Helper()
		row := guest.ask("GET", "/api/v1/rounds/final/board"+query, "", 200)["rows"].([]any)[0].(map[string]any)
		return fmt.Sprint(row["participant"], " ", row["solved"])
	}
	if got := leader("?at=1:00:00"); got != "red 1" {
		t.Errorf("a minute ago %s led", got)
	}
	if out := guest.ask("GET", "/api/v1/rounds/final/board?at=0:30", "", 200); out["total"] != 0.0 {
		t.Errorf("before anything was told the board has %v rows", out["total"])
	}
	guest.wrong("GET", "/api/v1/rounds/final/board?at=soon", "", "at", "invalid")
	page := s.show("Accept: text/html", "/rounds/final?q=delft")
	s.says(page, "=Blue")
	if strings.Contains(page, `data-team="red"`) {
		t.Error("a search finds everybody")
	}
	s.says(s.show("Accept: text/html", "/rounds/final?q=nobody+at+all"), "No team has that in its name.")
	page = s.show("Accept: text/html", "/rounds/final?fav=blue")
	s.says(page, "Favourites", "No favourite any more: =Blue", `href="/rounds/final?fav=blue%2Cred"`)
	s.says(s.show("Accept: text/html", "/rounds/final?at=1:00:00"), "The board as it was shown at 1:00:00 of contest time.")
	if r := s.do(http.MethodGet, "/rounds/final?fav="+strings.Repeat("a,", 3)+strings.Join(manyCodes(60), ","), "", "Accept: text/html"); r.status != http.StatusUnprocessableEntity {
		t.Errorf("sixty favourites: %d", r.status)
	}

	// The page of a team says why.
	page = s.show("Accept: text/html", "/rounds/final/teams/red")
	s.says(page, "Why this rank", "a wrong attempt", "the solution", "A. A plus B")
	if r := s.do(http.MethodGet, "/rounds/final/teams/nosuch", "", "Accept: text/html"); r.status != http.StatusNotFound {
		t.Errorf("a team that there is not: %d", r.status)
	}

	// Files.
	file := guest.reads("/rounds/final/board.csv", 200)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.body, "\ufeff"))).ReadAll()
	s.must(err)
	if len(rows) != 3 || rows[0][0] != "rank" || !strings.Contains(file.body, "'=Blue") || strings.Contains(file.body, ",=Blue") {
		t.Errorf("the table is %q", rows)
	}
	var list struct {
		Type    string
		Contest struct{ Duration []any }
		Rows    []struct {
			User     struct{ ID string }
			Statuses []struct {
				Result *string
				Tries  int
			}
		}
	}
	s.must(json.Unmarshal([]byte(guest.reads("/rounds/final/ranklist.json", 200).body), &list))
	got := map[string]string{}
	for _, r := range list.Rows {
		for _, st := range r.Statuses {
			result := "-"
			if st.Result != nil {
				result = *st.Result
			}
			got[r.User.ID] += fmt.Sprint(result, st.Tries, " ")
		}
	}
	if list.Type != "general" || got["red"] != "FB2 -0 " || got["blue"] != "-0 FB1 " {
		t.Errorf("the ranklist is %+v %v", list, got)
	}
	guest.reads("/rounds/final/results.tsv", 409)
	guest.reads("/rounds/final/certificates/red.svg", 409)
	s.says(s.show("Accept: text/html", "/rounds/final/results"), "The result does not stand yet.")

	// The result.
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, freeze_ms = 10000"))
	prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 200)
	s.record()
	guest.reads("/rounds/final/results.tsv", 409) // what is frozen is not shown by it
	guest.reads("/rounds/final/certificates/red.svg", 409)
	if out := guest.ask("GET", "/api/v1/rounds/final/awards", "", 200); len(out["awards"].([]any)) != 0 {
		t.Errorf("awards are given before the thaw: %v", out)
	}
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	s.record()
	results := guest.reads("/rounds/final/results.tsv", 200).body
	if !strings.HasPrefix(results, "results\t1\n") || len(strings.Split(strings.TrimSpace(results), "\n")) != 3 || !strings.Contains(results, "Gold Medal") {
		t.Errorf("results.tsv is %q", results)
	}
	s.says(s.show("Accept: text/html", "/rounds/final/results"), "Contest winner", "Gold medal", "/certificates/")
	svg := guest.reads("/rounds/final/certificates/blue.svg", 200)
	if svg.header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(svg.body, "=Blue") || !strings.Contains(svg.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a certificate: %s", svg.body)
	}
	all := s.show("Accept: text/html", "/rounds/final/certificates")
	s.says(all, "=Blue", "Contest winner")
	if n := strings.Count(all, "<figure>"); n != 2 || strings.Index(all, "=Blue") > strings.Index(all, ">Red<") {
		t.Errorf("%d certificates, or the winner's is not the first", n)
	}
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "blue", "name": "<script>alert(1)</script>", "members": [{"user": "bob"}]}]}`, 200)
	s.record()
	if svg := guest.reads("/rounds/final/certificates/blue.svg", 200); strings.Contains(svg.body, "<script") {
		t.Errorf("a name is a script: %s", svg.body)
	}
}

func manyCodes(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("t", i))
	}
	return out
}
