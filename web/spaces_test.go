package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
)

// space makes a space with the problem aplusb.
func (s *stage) space(slug string, with ...func(*judge.Space)) *judge.Space {
	s.Helper()
	v := judge.Space{Slug: slug, Title: "Contest " + slug}
	for _, w := range with {
		w(&v)
	}
	s.must(s.store.CreateSpace(s.Context(), v, "prof"))
	made, err := s.store.Space(s.Context(), slug, "")
	s.must(err)
	s.must(s.store.PutSpaceProblem(s.Context(), made.ID, "aplusb", 0, nil, "prof"))
	return made
}

// member gives accounts a role in a space.
func (s *stage) member(space *judge.Space, role judge.SpaceRole, names ...string) {
	s.Helper()
	unknown, err := s.store.PutSpaceMembers(s.Context(), space.ID, names, role, "prof")
	s.must(err)
	if len(unknown) > 0 {
		s.Fatalf("nobody is called %v", unknown)
	}
}

// refusedWith checks that an error is a refusal of the server, and returns it.
func refusedWith(t *testing.T, err error, status int, reason string) *client.Problem {
	t.Helper()
	problemOf(t, err, status, reason)
	p := new(client.Problem)
	_ = errors.As(err, &p) // or problemOf has complained
	return p
}

// reads checks whether the owner of a token may read the hidden problem stairs: in
// the space, outside, and in the list.
func (s *stage) reads(name string, inSpace, outside, listed bool) {
	s.Helper()
	headers := []string{"Authorization: Bearer " + s.session(name), "Accept: application/json"}
	for path, want := range map[string]bool{"/api/v1/spaces/here/problems/stairs": inSpace, "/api/v1/problems/stairs": outside} {
		if r := s.do(http.MethodGet, path, "", headers...); (r.status == http.StatusOK) != want {
			s.Errorf("GET %s by %s: %d, want %t", path, name, r.status, want)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/problems", "", headers...); strings.Contains(r.body, "stairs") != listed {
		s.Errorf("the list for %s has it: %t", name, !listed)
	}
}

// spaceAccess says who may use which address of a space that is open and not
// listed: the least role in it that is needed.
const spaceAccess = `
contestant GET    /spaces/:space /spaces/:space/submissions /spaces/:space/problems/:slug /spaces/:space/print
contestant GET    /spaces/:space/problems/:slug/pictures/:name /spaces/:space/problems/:slug/documents/:name
contestant POST   /spaces/:space/problems/:slug /spaces/:space/problems/:slug/runs
setter     POST   /spaces/:space/problems /spaces/:space/problems/:slug/remove
staff      GET    /spaces/:space/members /spaces/:space/settings /spaces/:space/import
staff      POST   /spaces/:space/members /spaces/:space/members/:name/remove /spaces/:space/settings /spaces/:space/delete /spaces/:space/import /spaces/:space/invitations /spaces/:space/invitations/:id/revoke

contestant GET    /api/v1/spaces/:space /api/v1/spaces/:space/problems /api/v1/spaces/:space/problems/:slug
contestant GET    /api/v1/spaces/:space/scores /api/v1/spaces/:space/submissions
setter     POST   /api/v1/spaces/:space/problems
setter     DELETE /api/v1/spaces/:space/problems/:slug
staff      GET    /api/v1/spaces/:space/members /api/v1/spaces/:space/invitations
staff      POST   /api/v1/spaces/:space/members /api/v1/spaces/:space/import /api/v1/spaces/:space/invitations
staff      PATCH  /api/v1/spaces/:space
contestant GET    /rounds/:round /api/v1/rounds/:round /api/v1/rounds/:round/problems /api/v1/rounds/:round/board
contestant GET    /rounds/:round/teams/:code /rounds/:round/results /rounds/:round/board.csv /rounds/:round/results.tsv /rounds/:round/ranklist.json
contestant GET    /api/v1/rounds/:round/board/stream /rounds/:round/certificates /rounds/:round/certificates/:code
contestant GET    /spaces/:space/rounds /rounds/:round/clarifications /api/v1/rounds/:round/clarifications
staff      POST   /rounds/:round/clarifications /api/v1/rounds/:round/clarifications
staff      POST   /rounds/:round/clarifications/:code/close /api/v1/rounds/:round/clarifications/:code/close /api/v1/rounds/:round/clarifications/:code/open
contestant GET    /clics/:version/contests/:round /clics/:version/contests/:round/state /clics/:version/contests/:round/access
contestant GET    /clics/:version/contests/:round/account /clics/:version/contests/:round/scoreboard /clics/:version/contests/:round/event-feed
contestant GET    /clics/:version/contests/:round/organizations/:id/:file /clics/:version/contests/:round/problems/:id/:file
staff      POST   /spaces/:space/logos /api/v1/spaces/:space/organizations/:code/logos
staff      DELETE /api/v1/spaces/:space/organizations/:code/logos
contestant GET    /clics/:version/contests/:round/:type /clics/:version/contests/:round/:type/:id
contestant POST   /clics/:version/contests/:round/submissions /clics/:version/contests/:round/clarifications
staff      POST   /clics/:version/contests/:round/awards /clics/:version/contests/:round/commentary
staff      PUT    /clics/:version/contests/:round/submissions/:id /clics/:version/contests/:round/clarifications/:id /clics/:version/contests/:round/awards/:id
staff      PATCH  /clics/:version/contests/:round /clics/:version/contests/:round/awards/:id
staff      DELETE /clics/:version/contests/:round/awards/:id
contestant GET    /rounds/:round/problems /rounds/:round/print /rounds/:round/submissions /rounds/:round/problems/:slug /rounds/:round/problems/:slug/pictures/:name /rounds/:round/problems/:slug/documents/:name
contestant POST   /rounds/:round/tokens /api/v1/rounds/:round/tokens
contestant POST   /rounds/:round/problems/:slug /rounds/:round/problems/:slug/runs
staff      GET    /rounds/:round/resolver /api/v1/rounds/:round/resolver /api/v1/rounds/:round/log /api/v1/rounds/:round/sources
staff      GET    /clics/:version/contests/:round/submissions/:id/files
setter     GET    /rounds/:round/staff
setter     POST   /rounds/:round/problems /rounds/:round/problems/:slug/remove
staff      GET    /spaces/:space/participants
staff      POST   /spaces/:space/rounds /spaces/:space/participants /api/v1/spaces/:space/lineup /rounds/:round/settings /rounds/:round/start /rounds/:round/pause
staff      POST   /rounds/:round/resume /rounds/:round/extend /rounds/:round/freeze /rounds/:round/unfreeze /rounds/:round/thaw /rounds/:round/finalize
staff      POST   /rounds/:round/ignored /rounds/:round/ignored/:id/count /api/v1/rounds/:round/ignored /rounds/:round/adjustments /api/v1/rounds/:round/adjustments /rounds/:round/verdicts /api/v1/rounds/:round/verdicts
staff      GET    /api/v1/rounds/:round/ignored /api/v1/rounds/:round/adjustments /api/v1/rounds/:round/verdicts /api/v1/rounds/:round/persons
staff      POST   /api/v1/rounds/:round/persons
staff      DELETE /api/v1/rounds/:round/ignored/:id /api/v1/rounds/:round/persons/:code
staff      POST   /rounds/:round/removed /rounds/:round/removed/:id/undo /rounds/:round/entries /rounds/:round/entries/:code/remove /rounds/:round/delete
admin      POST   /rounds/:round/reopen
contestant GET    /api/v1/rounds/:round/board/own /api/v1/rounds/:round/explain/:code /api/v1/rounds/:round/awards
setter     POST   /api/v1/rounds/:round/problems
setter     DELETE /api/v1/rounds/:round/problems/:slug
staff      GET    /api/v1/rounds/:round/entries
staff      GET    /api/v1/spaces/:space/participants /api/v1/spaces/:space/participants/:code /api/v1/spaces/:space/groups /api/v1/spaces/:space/organizations
staff      POST   /api/v1/spaces/:space/rounds /api/v1/spaces/:space/participants /api/v1/spaces/:space/groups /api/v1/spaces/:space/organizations
staff      POST   /api/v1/rounds/:round/start /api/v1/rounds/:round/pause /api/v1/rounds/:round/resume /api/v1/rounds/:round/extend
staff      POST   /api/v1/rounds/:round/freeze /api/v1/rounds/:round/unfreeze /api/v1/rounds/:round/thaw /api/v1/rounds/:round/removed
staff      POST   /api/v1/rounds/:round/entries /api/v1/rounds/:round/finalize
admin      POST   /api/v1/rounds/:round/reopen
staff      PATCH  /api/v1/rounds/:round
staff      DELETE /api/v1/rounds/:round /api/v1/rounds/:round/removed/:id /api/v1/rounds/:round/entries/:code
staff      DELETE /api/v1/spaces/:space/participants/:code /api/v1/spaces/:space/groups/:code /api/v1/spaces/:space/organizations/:code
staff      DELETE /api/v1/spaces/:space /api/v1/spaces/:space/members/:name /api/v1/spaces/:space/invitations/:id
`

func TestASpaceLetsInWhomItsRolesName(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	s.papers(blobs)
	picture, paper := s.picture(blobs, "PNG", ".png", "image/png"), s.picture(blobs, "%PDF", ".pdf", "application/pdf")
	_, err := s.store.SavePages(t.Context(), "stairs", "sha256:"+strings.Repeat("b3", 32), judge.Rendering{Files: []judge.PageFile{picture, paper}}, 0)
	s.must(err)
	ctx := t.Context()
	for name, role := range map[string]judge.Role{
		"con": judge.RoleContestant, "set": judge.RoleContestant, "sta": judge.RoleContestant, "other": judge.RoleContestant, "rival": judge.RoleContestant,
		"extra": judge.RoleContestant, "sitesetter": judge.RoleSetter, "sitestaff": judge.RoleStaff,
	} {
		s.must(s.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	here, there := s.space("here"), s.space("there")
	s.member(here, judge.SpaceContestant, "con")
	s.member(here, judge.SpaceSetter, "set")
	s.member(here, judge.SpaceStaff, "sta")
	s.member(there, judge.SpaceStaff, "rival")
	_, err = s.store.Submit(ctx, sql.NewJob{Problem: "aplusb", Language: "cpp", Author: "con", Space: here.ID, Sources: []judge.Source{{Name: "a.cpp", Text: "int x;"}}})
	s.must(err) // so that the space cannot be deleted
	link, err := s.store.MakeInvitation(ctx, here.ID, "x", judge.Invitation{Label: "class", By: "prof", Expires: time.Now().Add(time.Hour), Most: 10})
	s.must(err)

	visitors := map[string]struct {
		token string
		role  string // the least of the table that they have
	}{
		"the guest": {}, "somebody else": {s.session("other"), ""}, "staff of another space": {s.session("rival"), ""}, "a setter of the site": {s.session("sitesetter"), ""},
		"a contestant": {s.session("con"), "contestant"}, "a setter": {s.session("set"), "setter"}, "staff": {s.session("sta"), "staff"}, "staff of the site": {s.session("sitestaff"), "staff"},
		"a key of staff that hands in": {s.keyOf("sta", judge.ScopeSubmit), "contestant"}, "a key of staff of the site": {s.keyOf("sitestaff", judge.ScopeStaff), "staff"},
		"a key of staff of the site that hands in": {s.keyOf("sitestaff", judge.ScopeSubmit), ""},
	}
	roles := []string{"", "contestant", "setter", "staff", "admin"} // the last is of the site
	needs := map[string]string{}
	for line := range strings.Lines(spaceAccess) {
		words := strings.Fields(line)
		for _, path := range words[min(2, len(words)):] {
			needs[words[1]+" "+path] = words[0]
		}
	}
	tried := 0
	for _, route := range s.routesOf() {
		method, path, _ := strings.Cut(route, " ")
		if !strings.Contains(path, ":space") && !strings.Contains(path, ":round") {
			continue
		}
		tried++
		need, listed := needs[route]
		if !listed {
			t.Errorf("%s is not in the table of who may use it", route)
			continue
		}
		for name, v := range visitors {
			s.member(here, judge.SpaceContestant, "extra")
			s.must(s.store.PutSpaceProblem(ctx, here.ID, "stairs", 0, nil, "prof"))
			removed := int64(0)
			if strings.Contains(path, ":round") || strings.Contains(path, ":code") {
				removed = s.roundIn(here, "hers")
			}
			if strings.Contains(path, "awards/:id") {
				s.must(s.store.Rounds.PutAward(ctx, "hers", judge.RoundAward{Code: strconv.FormatInt(link.ID, 10), Citation: "Best", Participants: []string{}}, "prof"))
			}
			if strings.Contains(path, "persons/:code") {
				s.must(s.store.Rounds.PutExtras(ctx, "hers", []rounds.Extra{{Kind: "person", Code: "extra", Data: []byte(`{"name": "Extra", "role": "other"}`)}}, "round_persons", "prof"))
			}
			number := ""
			if strings.HasPrefix(path, "/clics") && strings.Contains(path, "submissions/:id") {
				number = s.firstIn("hers")
			}
			job := ""
			if strings.Contains(path, "ignored/:id") {
				s.firstIn("hers")
				last := sqltest.One[int64](t, s.store, "SELECT max(job_id) FROM job_payloads WHERE round_id IS NOT NULL AND participant_id IS NOT NULL")
				job = strconv.FormatInt(last, 10)
				if err := s.store.Rounds.Ignore(ctx, "hers", last, false, "x", "prof"); !errors.Is(err, sql.ErrNotFound) { // which it is already
					s.must(err)
				}
			}
			question := ""
			if strings.Contains(path, "clarifications/:code") {
				question = s.askedIn("hers")
			}
			address := strings.NewReplacer("problems/:id/:file", "problems/stairs/statement.en.pdf", "organizations/:id/:file", "organizations/extra/logo.100x100.svg", "clarifications/:code", "clarifications/"+question, ":version/contests", "2026-01/contests", "event-feed", "event-feed?stream=false", ":type/:id", "teams/extra", ":type", "teams", "submissions/:id", "submissions/"+number, ":space", "here", ":round", "hers", "removed/:id", "removed/"+strconv.FormatInt(removed, 10), "ignored/:id", "ignored/"+job, ":code", "extra", ":slug", "stairs", "pictures/:name", "pictures/"+picture.Name, "documents/:name", "documents/"+paper.Name, ":name", "extra", ":id", strconv.FormatInt(link.ID, 10)).Replace(path)
			headers := []string{asJSON, "Accept: application/json"}
			if v.token != "" {
				headers = append(headers, "Authorization: Bearer "+v.token)
			}
			if strings.HasSuffix(path, "/board/stream") {
				method = http.MethodHead // it goes on as long as the round does
			}
			r := s.do(method, address, "{}", headers...)
			if r.status >= http.StatusInternalServerError {
				t.Errorf("%s: %s: %d", name, route, r.status)
			}
			let := !slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, r.status)
			if strings.HasPrefix(route, "POST /rounds/:round/problems/:slug") && !strings.HasSuffix(route, "/remove") && name == "a key of staff that hands in" {
				let = true // who is let in, and takes no part
			}
			if want := slices.Index(roles, v.role) >= slices.Index(roles, need); let != want {
				t.Errorf("%s: %s, which is for %s of the space: %d %s", name, route, need, r.status, r.body)
			}
			if v.role == "" && r.status != http.StatusNotFound {
				t.Errorf("%s learns from %s that the space exists: %d", name, route, r.status)
			}
		}
	}
	if tried != len(needs) {
		t.Errorf("%d addresses are of spaces, the table has %d", tried, len(needs))
	}
}

func TestWhatBelongsToASpaceStaysInIt(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	ann, bob, sta, rival, sue := s.someone("ann", judge.RoleContestant), s.someone("bob", judge.RoleContestant), s.someone("sta", judge.RoleContestant),
		s.someone("rival", judge.RoleContestant), s.someone("sue", judge.RoleSetter)
	here, there := s.space("here"), s.space("there", func(v *judge.Space) { v.Listed = true })
	s.member(here, judge.SpaceContestant, "ann")
	s.member(here, judge.SpaceStaff, "sta")
	s.member(there, judge.SpaceStaff, "rival")
	s.must(s.store.PutSpaceProblem(ctx, here.ID, "stairs", 0, nil, "sue"))
	s.own("sue", "stairs")
	s.must(sue.HideProblem(ctx, "stairs", true))

	// The hidden problem is for members of the space alone.
	s.reads("ann", true, true, false)
	s.reads("sta", true, true, false)
	s.reads("bob", false, false, false)
	s.reads("rival", false, false, false)
	s.reads("sue", false, true, true)
	hidden := judge.Source{Name: "a.cpp", Text: "int main() {}"}
	try := func(c *client.Client, space, problem string) error {
		_, err := c.Submit(ctx, client.NewSubmission{Problem: problem, Space: space, Language: "cpp", Sources: []judge.Source{hidden}})
		return err
	}
	refusedWith(t, try(bob, "", "stairs"), 422, "unknown")
	refusedWith(t, try(rival, "there", "stairs"), 404, "not_found")
	refusedWith(t, try(rival, "here", "stairs"), 404, "not_found")
	refusedWith(t, try(bob, "there", "aplusb"), 403, "not_member")
	if p := refusedWith(t, try(ann, "", "stairs"), 422, "missing"); p.Field != "space" { // she may, but not past the space's limits
		t.Errorf("the field is %q", p.Field)
	}
	refusedWith(t, rival.PutSpaceProblem(ctx, "there", "stairs", 0, nil), 422, "unknown") // nor can it be taken elsewhere
	s.must(sue.HideProblem(ctx, "stairs", false))
	s.must(rival.PutSpaceProblem(ctx, "there", "stairs", 1, new(3.0)))
	s.must(sue.HideProblem(ctx, "stairs", true))
	s.must(rival.PutSpaceProblem(ctx, "there", "stairs", 2, nil)) // what is in a space can be arranged

	// A submission is for its author and the staff of its space.
	r, err := ann.Submit(ctx, client.NewSubmission{Problem: "stairs", Space: "here", Language: "cpp", Sources: []judge.Source{hidden}})
	s.must(err)
	for name, tt := range map[string]struct {
		c    *client.Client
		want bool
	}{"its author": {ann, true}, "staff of the space": {sta, true}, "somebody": {bob, false}, "staff of another": {rival, false}, "a setter": {sue, false}} {
		if sub, err := tt.c.Get(ctx, r.JobID); err == nil != tt.want || err == nil && sub.Space != "here" {
			t.Errorf("%s: %+v, %v", name, sub, err)
		}
	}
	all, _, err := sta.List(ctx, client.Filter{Space: "here", Author: "ann"})
	if err != nil || len(all) != 1 {
		t.Errorf("staff see %v, %v", all, err)
	}
	_, _, err = sta.List(ctx, client.Filter{Author: "ann"})
	refusedWith(t, err, 403, "forbidden")
	_, _, err = ann.List(ctx, client.Filter{Space: "here", Author: "sta"})
	refusedWith(t, err, 403, "forbidden")
	if subs, _, err := rival.List(ctx, client.Filter{Space: "there"}); err != nil || len(subs) > 0 {
		t.Errorf("in another space: %v, %v", subs, err)
	}
	s.must(sta.DeleteSpaceMember(ctx, "here", "sta"))
	if _, err := sta.Get(ctx, r.JobID); err == nil {
		t.Error("who is no staff any more still sees it")
	}
	page := s.do(http.MethodGet, "/problems/stairs", "", "Cookie: "+peopleroom.SessionCookie+"="+s.session("bob"), "Accept: text/html")
	if list := s.do(http.MethodGet, "/", "", "Cookie: "+peopleroom.SessionCookie+"="+s.session("bob")); page.status != http.StatusNotFound || strings.Contains(list.body, "Stairs") {
		t.Errorf("the page of a hidden problem: %d; in the list: %t", page.status, strings.Contains(list.body, "Stairs"))
	}
}

func TestAContestFromBeginningToEnd(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	prof, ann := s.someone("prof", judge.RoleStaff), s.someone("ann", judge.RoleContestant)
	s.someone("root", judge.RoleAdmin)
	s.space("clock")
	clock, err := s.store.Space(ctx, "clock", "")
	s.must(err)
	hour := func(n int) time.Time { return clock.Now.Truncate(time.Second).Add(time.Duration(n) * time.Hour) }
	_, err = prof.CreateSpace(ctx, "final", client.SpaceChange{"title": ""})
	refusedWith(t, err, 422, "empty")
	made, err := prof.CreateSpace(ctx, "final", client.SpaceChange{
		"title": "The Final", "opens_at": hour(1), "closes_at": hour(2), "languages": []string{"cpp", "python"}, "max_source_kib": 1, "max_waiting": 2, "per_minute": 50,
	})
	if err != nil || made.Phase != "before" || made.Role != "staff" || made.MaxWaiting != 2 || !made.Opens.Equal(hour(1)) {
		t.Fatalf("space = %+v, %v", made, err)
	}
	_, err = prof.CreateSpace(ctx, "final", client.SpaceChange{"title": "x"})
	refusedWith(t, err, 422, "duplicate")
	_, err = ann.CreateSpace(ctx, "mine", client.SpaceChange{"title": "x"})
	refusedWith(t, err, 403, "forbidden")
	if p := refusedWith(t, prof.PutSpaceMembers(ctx, "final", "contestant", "ann", "nobody"), 422, "unknown"); !strings.Contains(p.Detail, "nobody") {
		t.Errorf("unknown members: %s", p.Detail)
	}
	s.must(prof.PutSpaceMembers(ctx, "final", "contestant", "ann"))
	s.must(prof.PutSpaceProblem(ctx, "final", "aplusb", 0, nil))
	s.must(prof.PutSpaceProblem(ctx, "final", "stairs", 1, new(10.0)))
	hand := func(c *client.Client, problem, language, text string) (client.Receipt, error) {
		return c.Submit(ctx, client.NewSubmission{Problem: problem, Space: "final", Language: language, Sources: []judge.Source{{Name: "main", Text: text}}})
	}
	_, err = ann.SpaceProblems(ctx, "final")
	refusedWith(t, err, 403, "not_open")
	_, err = hand(ann, "aplusb", "cpp", "x")
	if p := refusedWith(t, err, 403, "not_open"); p.Field != "space" || !strings.Contains(p.Remedy, "It opens at") {
		t.Errorf("before it opens: %+v", p)
	}
	_, err = hand(prof, "aplusb", "java", "class Main {}") // staff try it out, in any language
	s.must(err)

	made, err = prof.UpdateSpace(ctx, "final", client.SpaceChange{"opens_at": hour(-1)})
	if err != nil || made.Phase != "open" || made.Closes == nil || len(made.Languages) != 2 {
		t.Fatalf("space = %+v, %v", made, err)
	}
	list, err := ann.SpaceProblems(ctx, "final")
	if err != nil || len(list) != 2 || list[0].Slug != "stairs" || list[0].Label != "A" || *list[0].Points != 10 || list[1].Points != nil || list[1].URL != "/spaces/final/problems/aplusb" {
		t.Errorf("problems = %+v, %v", list, err)
	}
	_, err = hand(ann, "aplusb", "java", "class Main {}")
	if p := refusedWith(t, err, 422, "not_allowed"); p.Field != "language" || !strings.Contains(p.Detail, "cpp, python") {
		t.Errorf("another language: %+v", p)
	}
	_, err = hand(ann, "aplusb", "cpp", strings.Repeat("x", 1025))
	refusedWith(t, err, 413, "too_long")
	_, err = hand(ann, "nosuch", "cpp", "x")
	refusedWith(t, err, 404, "not_found")
	first, err := hand(ann, "stairs", "cpp", "x")
	s.must(err)
	s.finish(first.JobID, judge.Result{Verdict: judge.WA, Score: new(50.0), MaxScore: new(100.0)})
	for range 2 {
		_, err = hand(ann, "aplusb", "cpp", "x")
		s.must(err)
	}
	_, err = hand(ann, "aplusb", "cpp", "x")
	if p := refusedWith(t, err, 429, "too_many_waiting"); p.Field != "space" || p.Remedy == "" || p.RetryAfter <= 0 {
		t.Errorf("too many: %+v", p)
	}
	_, err = prof.UpdateSpace(ctx, "final", client.SpaceChange{"max_waiting": 0})
	s.must(err)
	last, err := hand(ann, "aplusb", "cpp", "x")
	s.must(err)
	_, err = prof.UpdateSpace(ctx, "final", client.SpaceChange{"per_minute": 1})
	s.must(err)
	_, err = hand(ann, "aplusb", "cpp", "x")
	if p := refusedWith(t, err, 429, "too_fast"); p.RetryAfter <= 0 || p.RetryAfter > time.Minute {
		t.Errorf("too fast: %+v", p)
	}
	s.finish(last.JobID, judge.Result{Verdict: judge.AC})

	answer, err := ann.GetSpaceScores(ctx, "final", client.GetSpaceScoresParams{})
	if want := (client.SpaceScore{Rank: 1, Name: "ann", Solved: 1, Tried: 2, Points: 6}); err != nil || len(answer.Scores) != 1 || answer.Scores[0] != want {
		t.Errorf("scores = %v, %v, want %v", answer.Scores, err, want)
	}
	_, err = prof.UpdateSpace(ctx, "final", client.SpaceChange{"closes_at": hour(-2)})
	refusedWith(t, err, 422, "invalid") // before it opened
	_, err = prof.UpdateSpace(ctx, "final", client.SpaceChange{"opens_at": nil, "closes_at": hour(-1)})
	s.must(err)
	_, err = hand(ann, "aplusb", "cpp", "x")
	refusedWith(t, err, 403, "closed")
	tried, err := hand(prof, "aplusb", "cpp", "x")
	s.must(err)
	if sub, err := prof.Get(ctx, tried.JobID); err != nil || !sub.Unofficial || sub.Space != "final" {
		t.Errorf("what staff handed in: %+v, %v", sub, err)
	}
	refusedWith(t, prof.DeleteSpace(ctx, "final"), 409, "in_use")
	s.must(prof.DeleteSpaceProblem(ctx, "final", "stairs"))
	refusedWith(t, prof.DeleteSpaceProblem(ctx, "final", "stairs"), 404, "not_found")
	_, err = prof.CreateSpace(ctx, "empty", client.SpaceChange{"title": "x"})
	s.must(err)
	s.must(prof.DeleteSpace(ctx, "empty"))
	entries, _, err := s.as(s.session("root")).AuditLog(ctx, client.AuditFilter{Subject: "space:final", Actor: "prof"})
	if err != nil || len(entries) != 9 {
		t.Errorf("the log has %d entries, %v: %+v", len(entries), err, entries)
	}
}
