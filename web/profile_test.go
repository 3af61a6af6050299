package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	peopleroom "deepoj/web/people"
)

func TestAProfileIsSeenByWhomItsOwnerChoosesAndShowsWhatTheyMaySee(t *testing.T) {
	s := newStage(t)
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "sue": judge.RoleSetter, "prof": judge.RoleStaff} {
		s.someone(name, role)
	}
	cookie := func(name string) string { return "Cookie: " + peopleroom.SessionCookie + "=" + s.session(name) }
	for _, slug := range []string{"secret-one", "contest-one", "closed-one", "private-one"} {
		s.must(s.store.SaveProblem(t.Context(), judge.Problem{Slug: slug, Title: "Title of " + slug, Version: "sha256:" + strings.Repeat("c", 64), CPUMillis: 1000, MemoryMiB: 64}, "test"))
	}
	solve := func(problem string, space int64) {
		t.Helper()
		r, err := s.store.Submit(t.Context(), sql.NewJob{Problem: problem, Language: "cpp", Author: "ann", Space: space, Sources: []judge.Source{{Name: "main.cpp", Text: problem}}})
		s.must(err)
		s.finish(r.JobID, judge.Result{Verdict: judge.AC})
	}
	solve("aplusb", 0)
	solve("secret-one", 0)
	s.must(s.store.HideProblem(t.Context(), "secret-one", true, "prof"))
	for slug, listed := range map[string]bool{"contest": true, "closed": true, "private": false} {
		v := s.space(slug, func(v *judge.Space) { v.Listed = listed })
		s.must(s.store.PutSpaceProblem(t.Context(), v.ID, slug+"-one", 0, nil, "prof"))
		s.member(v, judge.SpaceContestant, "ann")
		solve(slug+"-one", v.ID)
		if slug != "contest" {
			s.moveSpace(slug, -2, -1)
		}
	}
	wrong := s.submitAs("ann", "stairs", "cpp", "x")
	s.finish(wrong, judge.Result{Verdict: judge.PA, Score: new(50.0), MaxScore: new(100.0)})

	shown := func(who string) string {
		t.Helper()
		headers := []string{"Accept: text/html"}
		if who != "" {
			headers = append(headers, cookie(who))
		}
		r := s.do(http.MethodGet, "/people/ann", "", headers...)
		if r.status != http.StatusOK {
			return fmt.Sprint(r.status)
		}
		var seen []string
		for _, slug := range []string{"aplusb", "secret-one", "contest-one", "closed-one", "private-one"} {
			if strings.Contains(r.body, "/problems/"+slug+`"`) {
				seen = append(seen, slug)
			}
		}
		return strings.Join(seen, " ")
	}
	table := map[judge.Audience]map[string]string{
		judge.AudienceSelf:     {"": "404", "bob": "404", "sue": "404", "ann": "aplusb closed-one private-one", "prof": "aplusb secret-one closed-one private-one"},
		judge.AudienceMembers:  {"": "404", "bob": "aplusb closed-one", "sue": "aplusb secret-one closed-one"},
		judge.AudienceEveryone: {"": "aplusb closed-one", "bob": "aplusb closed-one", "ann": "aplusb closed-one private-one"},
	}
	for _, audience := range judge.Audiences {
		if audience != judge.AudienceSelf { // which holds without a choice
			if to, body := s.posted(cookie("ann"), "/account/profile", url.Values{"seen_by": {string(audience)}}); to != "/people/ann" || !strings.Contains(body, `value="`+string(audience)+`" selected`) {
				t.Errorf("the choice leads to %s", to)
			}
		}
		for who, want := range table[audience] {
			if got := shown(who); got != want {
				t.Errorf("seen by %s: %q sees %q, want %q", audience, who, got, want)
			}
		}
	}
	page := s.show(cookie("bob"), "/people/ann")
	s.says(page, "Submissions by day: 3 submissions on 1 day of the last year", time.Now().UTC().Format("2 Jan 2006")+": 3 submissions, 2 accepted", "Stairs in the Rain")
	if solved, _, _ := strings.Cut(page, `id="tried"`); strings.Contains(solved, "Stairs in the Rain") || strings.Contains(page, "Who sees this page") {
		t.Error("what is partly right counts as solved, or others choose who sees it")
	}
	if r := s.post(cookie("ann"), "/account/profile", url.Values{"seen_by": {"nobody"}}); r.status != http.StatusUnprocessableEntity {
		t.Errorf("a choice that there is not: %d", r.status)
	}
	s.must(s.store.Disable(t.Context(), "ann", true, "prof"))
	for who, want := range map[string]string{"": "404", "bob": "404", "prof": table[judge.AudienceSelf]["prof"]} {
		if got := shown(who); got != want {
			t.Errorf("of a disabled account %q sees %q, want %q", who, got, want)
		}
	}
	// Whoever may not see one learns as much as of an account that there is not.
	same := func(body, name string) string {
		return strings.ReplaceAll(body[:strings.Index(body, "Trace id")], name, "NAME")
	}
	a, b := s.do(http.MethodGet, "/people/ann", "", "Accept: text/html"), s.do(http.MethodGet, "/people/nemo", "", "Accept: text/html")
	if a.status != b.status || same(a.body, "ann") != same(b.body, "nemo") {
		t.Errorf("ann: %d, nobody: %d", a.status, b.status)
	}
}
