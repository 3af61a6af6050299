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

// page is what a page says, whose status has to be as said.
func (c caller) page(path string, status int) string {
	c.Helper()
	r := c.do("GET", path, "", "Authorization: Bearer "+c.token, "Accept: text/html")
	if r.status != status {
		c.Errorf("%s: %d, want %d: %.300s", path, r.status, status, r.body)
	}
	return r.body
}

func TestATeamTakesPartOnPages(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, bob, carl := s.cup()
	amy, eve, guest := caller{s, s.session("amy")}, caller{s, s.session("eve")}, caller{s, ""}
	s.record()
	says := func(what, body string, want ...string) {
		t.Helper()
		for _, w := range want {
			if absent := strings.TrimPrefix(w, "!"); strings.Contains(body, absent) == (w != absent) {
				t.Errorf("%s: %q is there: %t", what, absent, w != absent)
			}
		}
	}
	says("the desk of a team", ann.page("/rounds/final/problems", 200), "You take part as", "Red", "/rounds/final/problems/stairs", "!waiting")
	says("the desk of a guest", guest.page("/rounds/final/problems", 200), "!You take part as", "/rounds/final/problems/stairs")
	body := ann.page("/rounds/final/problems/aplusb", 200)
	says("a problem", body, `action="/rounds/final/problems/aplusb"`, `href="/rounds/final/problems"`, "!/problems/aplusb/statistics")

	form := func(c caller, path string, fields url.Values) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + c.token
		fields.Set("csrf", s.csrf(cookie))
		return c.do("POST", path, fields.Encode(), asForm, cookie, "Accept: text/html")
	}
	r := form(ann, "/rounds/final/problems/aplusb", url.Values{"language": {"cpp"}, "source": {"int main() {}"}})
	at := r.header.Get("Location")
	if r.status != 303 || !strings.HasPrefix(at, "/submissions/") {
		t.Fatalf("handed in: %d %s %.300s", r.status, at, r.body)
	}
	id := sqltest.One[int64](t, s.store, "SELECT job_id FROM job_payloads WHERE round_id IS NOT NULL AND participant_id IS NOT NULL")
	says("what waits", ann.page("/rounds/final/problems", 200), "waiting")
	s.verdict(id, judge.AC)
	s.record()
	says("the desk afterwards", ann.page("/rounds/final/problems", 200), "solved")
	says("the problem afterwards", amy.page("/rounds/final/problems/aplusb", 200), fmt.Sprintf("/submissions/%d", id))
	says("a mate's list", amy.page("/rounds/final/submissions", 200), fmt.Sprintf("/submissions/%d", id))
	says("a mate's view of it", amy.page(at, 200), "Red", "/rounds/final/problems/aplusb?from=")
	says("a mate's form with it", amy.page(fmt.Sprintf("/rounds/final/problems/aplusb?from=%d", id), 200), "int main() {}")
	says("the jury's list", prof.page("/rounds/final/submissions?problem=aplusb", 200), fmt.Sprintf("/submissions/%d", id), "Red")
	for name, c := range map[string]caller{"another team": bob, "a member": carl, "a stranger": eve} {
		says("the list of "+name, c.page("/rounds/final/submissions", 200), fmt.Sprintf("!/submissions/%d", id))
		c.page(at, 404)
		c.page(fmt.Sprintf("/rounds/final/problems/aplusb?from=%d", id), 404)
	}
	// A form that cannot be comes back as it was, and a stranger's is refused.
	if r := form(ann, "/rounds/final/problems/aplusb", url.Values{"language": {"cobol"}, "source": {"int again;"}}); r.status != 422 || !strings.Contains(r.body, "int again;") {
		t.Errorf("another language: %d", r.status)
	}
	if r := form(eve, "/rounds/final/problems/aplusb", url.Values{"language": {"cpp"}, "source": {"x"}}); r.status != 403 {
		t.Errorf("a stranger hands in: %d", r.status)
	}
	ann.page("/rounds/final/problems/nosuch", 404)
	// A problem that is not open to all is for members alone, and in the version that the round judges by.
	s.must(s.store.HideProblem(t.Context(), "stairs", true, "prof"))
	s.must(s.store.KeepVersion(t.Context(), judge.Problem{Slug: "stairs", Title: "Older stairs", Version: "sha256:0d"}, "prof", 0))
	prof.ask("POST", "/api/v1/rounds/final/problems", `{"problem": "stairs", "version": "sha256:0d"}`, 200)
	for name, c := range map[string]caller{"a team": ann, "a member": carl, "staff": prof} {
		says("a hidden problem, for "+name, c.page("/rounds/final/problems/stairs", 200), "Older stairs")
	}
	says("on paper", ann.page("/rounds/final/print", 200), "A. ", "B. Older stairs", "2 problems", "!left out", `href="/rounds/final/problems"`)
	says("on a guest's paper", guest.page("/rounds/final/print", 200), "A. ", "!Older stairs", "is left out")
	guest.page("/rounds/final/problems/stairs", 404)
	eve.page("/rounds/final/problems/stairs", 404)
	// Nothing is shown before the start, and nothing is taken behind the end.
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() + interval '1 hour'"))
	says("before the start", ann.page("/rounds/final/problems", 200), "shown when the round begins", "!stairs")
	ann.page("/rounds/final/problems/aplusb", 403)
	prof.page("/rounds/final/problems/aplusb", 200)
	ann.page("/rounds/final/print", 403)
	says("paper for the organisers", prof.page("/rounds/final/print", 200), "Older stairs")
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() - interval '6 hours'"))
	says("behind the end", ann.page("/rounds/final/problems/aplusb", 200), "takes no more submissions")
	if r := form(ann, "/rounds/final/problems/aplusb", url.Values{"language": {"cpp"}, "source": {"x"}}); r.status != 422 && r.status != 403 {
		t.Errorf("handed in behind the end: %d", r.status)
	}
}

func TestARoundOfIOITakesAProblemAgainAfterAMinute(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, _, _ := s.cup()
	prof.ask("POST", "/api/v1/spaces/cup/rounds", `{"code": "olympiad", "title": "Olympiad", "format": "ioi", "starts_at": "2020-01-01T00:00:00Z"}`, 201)
	prof.ask("POST", "/api/v1/rounds/olympiad/problems", `{"problem": "aplusb"}`, 200)
	prof.ask("POST", "/api/v1/rounds/olympiad/entries", `{"participants": ["red"]}`, 200)
	hand := func(n int, status int) reply {
		t.Helper()
		r := ann.do("POST", "/api/v1/submissions", fmt.Sprintf(`{"round": "olympiad", "problem": "aplusb", "language": "cpp", "source": "// %d"}`, n), asJSON, "Authorization: Bearer "+ann.token)
		if r.status != status {
			t.Errorf("submission %d: %d %s, want %d", n, r.status, r.body, status)
		}
		return r
	}
	hand(1, 201)
	if r := hand(2, 429); !strings.Contains(r.body, "too_soon") || !regexp.MustCompile(`^([1-9]|[1-5][0-9]|60)$`).MatchString(r.header.Get("Retry-After")) {
		t.Errorf("at once: %s, Retry-After %s", r.body, r.header.Get("Retry-After"))
	}
	prof.ask("PATCH", "/api/v1/rounds/olympiad", `{"settings": {"min_interval_s": 0, "max_submissions": 2}}`, 200)
	hand(3, 201)
	if r := hand(4, 403); !strings.Contains(r.body, "too_many") {
		t.Errorf("the third: %s", r.body)
	}
}
