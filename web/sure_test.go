package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

func TestWhatCannotBeUndoneIsAskedForAndThenSaid(t *testing.T) {
	s := newStage(t)
	s.someone("ann", judge.RoleContestant)
	s.someone("prof", judge.RoleStaff)
	s.member(s.space("final"), judge.SpaceContestant, "ann")
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
	members := func() int {
		t.Helper()
		v, err := s.store.Space(t.Context(), "final", "")
		s.must(err)
		return int(v.Members)
	}
	form := url.Values{"csrf": {s.csrf(cookie)}, "why": {`"left" & <gone>`}}
	at := "/spaces/final/members/ann/remove"
	asked := s.do(http.MethodPost, at, form.Encode(), asForm, "Accept: text/html", "Referer: "+s.url+"/spaces/final/members?after=a", cookie)
	if asked.status != http.StatusOK || !strings.Contains(asked.body, "take ann out of the space final") || !strings.Contains(asked.body, `href="/spaces/final/members?after=a"`) || members() != 1 {
		t.Fatalf("a form without an answer: %d, %d members\n%s", asked.status, members(), asked.body)
	}
	if away := s.do(http.MethodPost, at, form.Encode(), asForm, "Accept: text/html", "Referer: https://elsewhere.example/x", cookie); strings.Contains(away.body, "elsewhere") {
		t.Errorf("the way back leads to another site:\n%s", away.body)
	}
	action, filled := formIn(t, asked.body)
	if action != at || filled.Get("why") != form.Get("why") || filled.Get("sure") == "" {
		t.Fatalf("the form comes back as %s %v", action, filled)
	}
	r := s.do(http.MethodPost, action, filled.Encode(), asForm, "Accept: text/html", cookie)
	said, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	if r.status != http.StatusSeeOther || members() != 0 || said != "deepoj_done=removed" {
		t.Fatalf("the answer yes: %d, %d members, %q", r.status, members(), said)
	}
	page := s.do(http.MethodGet, r.header.Get("Location"), "", cookie+"; "+said)
	if !strings.Contains(page.body, `role="status" id="what-was-done">Removed.`) || !strings.Contains(page.header.Get("Set-Cookie"), "deepoj_done=;") {
		t.Errorf("the page that follows says nothing, or says it again: %q\n%s", page.header.Get("Set-Cookie"), page.body)
	}
	for _, value := range []string{"x", "<b>", "saved2"} {
		if page := s.do(http.MethodGet, "/spaces/final", "", cookie+"; deepoj_done="+value); strings.Contains(page.body, "what-was-done") {
			t.Errorf("a page says what %q does", value)
		}
	}
	// Programs mean what they send.
	if err := s.as(s.session("prof")).DeleteSpace(t.Context(), "final"); err != nil {
		t.Error(err)
	}
}
