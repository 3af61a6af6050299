package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
)

// moveSpace changes the times of a space, as hours from now; 0 is none.
func (s *stage) moveSpace(slug string, opens, closes int) {
	s.Helper()
	v, err := s.store.Space(s.Context(), slug, "")
	s.must(err)
	v.Opens, v.Closes = nil, nil
	if opens != 0 {
		v.Opens = new(v.Now.Add(time.Duration(opens) * time.Hour))
	}
	if closes != 0 {
		v.Closes = new(v.Now.Add(time.Duration(closes) * time.Hour))
	}
	s.must(s.store.UpdateSpace(s.Context(), *v, "prof"))
}

// spaceScene fills a space with what its pages show, and returns them. Prof is staff.
func (s *stage) spaceScene() map[string]string {
	s.Helper()
	ctx := s.Context()
	long := "a-member-with-a-rather-long-name@example.org"
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: long, PasswordHash: "x", Role: judge.RoleContestant}))
	v, err := s.store.Space(ctx, "final", "")
	s.must(err)
	v.Description, v.Languages, v.MaxSourceKiB, v.MaxWaiting, v.PerMinute = "Bring your own keyboard.\nNo phones.", []string{"cpp", "python"}, 16, 5, 10
	v.Opens, v.Closes = new(v.Now.Add(-time.Hour)), new(v.Now.Add(time.Hour))
	s.must(s.store.UpdateSpace(ctx, *v, "prof"))
	s.member(v, judge.SpaceContestant, long, "ann")
	s.must(s.store.PutSpaceProblem(ctx, v.ID, "stairs", 0, new(12.5), "prof"))
	s.must(s.store.HideProblem(ctx, "stairs", true, "prof"))
	for i, author := range []string{long, "ann"} {
		r, err := s.store.Submit(ctx, sql.NewJob{Problem: "stairs", Language: "cpp", Author: author, Space: v.ID, Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}})
		s.must(err)
		s.finish(r.JobID, judge.Result{Verdict: judge.WA, Score: new(30.0 * float64(i+1)), MaxScore: new(100.0)})
	}
	s.space("a-course-with-a-long-name", func(v *judge.Space) { v.Title = "A Course of Programming in Which Much Is to Be Learnt" })
	s.roundScene(v)
	return map[string]string{
		"round": "/rounds/night?fav=t2,t3", "round-search": "/rounds/night?q=fox&at=3:00", "round-projector": "/rounds/night?style=projector", "round-team": "/rounds/night/teams/t0", "round-results": "/rounds/night/results?view=staff", "round-certificates": "/rounds/dawn/certificates", "round-desk": "/rounds/night/problems", "round-print": "/rounds/night/print", "round-problem": "/rounds/night/problems/stairs", "round-submissions": "/rounds/night/submissions", "round-resolver": "/rounds/night/resolver", "contest-import": "/contests/import?space=final", "round-all": "/rounds/night?view=staff", "spaces": "/spaces", "space": "/spaces/final", "space-problem": "/spaces/final/problems/stairs", "space-submissions": "/spaces/final/submissions",
		"space-members": "/spaces/final/members", "space-settings": "/spaces/final/settings", "space-rounds": "/spaces/final/rounds", "space-teams": "/spaces/final/participants", "round-staff": "/rounds/night/staff", "round-clarifications": "/rounds/night/clarifications",
	}
}

// roundScene gives a space a frozen round with a board that has every kind of cell.
func (s *stage) roundScene(space *judge.Space) {
	s.Helper()
	ctx, store := s.Context(), s.store.Rounds
	begun := time.Now().Add(-250 * time.Minute)
	s.must(store.Create(ctx, judge.Round{
		Space: space.Slug, Code: "night", Title: "The Night Before the Final", Kind: judge.RoundContest, Format: "icpc", Start: &begun,
		Duration: new(5 * time.Hour), Freeze: new(4 * time.Hour),
	}, "prof"))
	_, err := store.ChangeProblems(ctx, "night", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}, {Problem: "stairs", Label: "B"}}, nil
	})
	s.must(err)
	s.must(store.PutGroups(ctx, space.Slug, []judge.TeamGroup{{Code: "uni", Name: "Universities", Ranked: true}, {Code: "firm", Name: "Companies", Ranked: true}}, "prof"))
	var teams []judge.Participant
	for i, name := range []string{"The Quick Brown Foxes of the North", "∑ of All Fears", "Zwölf Boxkämpfer", "快速棕色狐狸"} {
		teams = append(teams, judge.Participant{Code: fmt.Sprintf("t%d", i), Name: name, Ranked: true, Groups: []string{[]string{"uni", "firm"}[i%2]}})
	}
	teams[0].Members = []judge.ParticipantMember{{User: "ann", Role: judge.MemberContestant}}
	s.must(store.PutParticipants(ctx, space.Slug, teams, "prof"))
	s.must(store.Enter(ctx, "night", []string{"t0", "t1", "t2", "t3"}, "prof"))
	r, err := store.Round(ctx, "night")
	s.must(err)
	asker, err := store.Participant(ctx, space.Slug, "t0")
	s.must(err)
	asked, err := store.Clarify(ctx, "night", asker.ID, judge.Clarification{Text: "May the sum of two numbers be negative?", Problem: "aplusb", By: "ann"})
	s.must(err)
	for _, c := range []judge.Clarification{{Text: "Read the statement again.", ReplyTo: asked, Teams: []string{"t0"}, By: "prof"}, {Text: "There is coffee in the hall.", By: "prof"}} {
		_, err := store.Clarify(ctx, "night", 0, c)
		s.must(err)
	}
	_, err = store.Clarify(ctx, "night", asker.ID, judge.Clarification{Text: "When does it end?", By: "ann"})
	s.must(err)
	for i, h := range []struct {
		team, problem string
		minute        int
		verdict       judge.Verdict
	}{
		{"t0", "aplusb", 12, judge.WA},
		{"t0", "aplusb", 31, judge.AC},
		{"t1", "stairs", 45, judge.WA},
		{"t2", "aplusb", 130, judge.AC},
		{"t2", "stairs", 200, judge.AC},
		{"t1", "aplusb", 244, judge.AC},
		{"t3", "stairs", 245, judge.WA},
	} {
		p, err := store.Participant(ctx, space.Slug, h.team)
		s.must(err)
		got, err := s.store.Submit(ctx, sql.NewJob{
			Problem: h.problem, Language: "cpp", Author: "ann", Round: r.ID, Participant: p.ID, IdempotencyKey: fmt.Sprint("night", i), Sources: []judge.Source{{Name: "main.cpp", Text: "x"}},
		})
		s.must(err)
		s.must(s.store.TryExec(ctx, "UPDATE jobs SET created_at = $2 WHERE job_id = $1", got.JobID, begun.Add(time.Duration(h.minute)*time.Minute)))
		s.finish(got.JobID, judge.Result{Verdict: h.verdict})
	}
	// One whose result stands, of a night before.
	s.must(store.Create(ctx, judge.Round{
		Space: space.Slug, Code: "dawn", Title: "The Warm-up Before the Night Before the Final", Kind: judge.RoundContest, Format: "icpc",
		Start: new(begun.Add(-24 * time.Hour)), Duration: new(5 * time.Hour),
	}, "prof"))
	_, err = store.ChangeProblems(ctx, "dawn", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}}, nil
	})
	s.must(err)
	s.must(store.Enter(ctx, "dawn", []string{"t0", "t1", "t3"}, "prof"))
	dawn, err := store.Round(ctx, "dawn")
	s.must(err)
	for i, team := range []string{"t3", "t0"} {
		p, err := store.Participant(ctx, space.Slug, team)
		s.must(err)
		got, err := s.store.Submit(ctx, sql.NewJob{
			Problem: "aplusb", Language: "cpp", Author: "ann", Round: dawn.ID, Participant: p.ID, At: begun.Add(time.Duration(i+1)*time.Hour - 24*time.Hour),
			IdempotencyKey: fmt.Sprint("dawn", i), Sources: []judge.Source{{Name: "main.cpp", Text: "x"}},
		})
		s.must(err)
		s.finish(got.JobID, judge.Result{Verdict: judge.AC})
	}
	_, err = store.Change(ctx, "dawn", "prof", "round_finalize", func(r judge.Round) (judge.Round, error) {
		r.Finalized, r.FinalizedBy = &r.Now, "prof"
		return r, nil
	})
	s.must(err)
	s.record()
}

// TestAContestIsHeldInTheBrowser tells the story of a contest without JavaScript,
// then looks at every page: the browser is started once.
func TestAContestIsHeldInTheBrowser(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	s.user("ann", "correct horse", judge.RoleContestant)
	ctx, console := browser(t)
	scripts := func(off bool) {
		t.Helper()
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
		s.must(err)
	}
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	at := func(path string) func() error { return func() error { return do(chromedp.Navigate(s.url + path)) } }
	there := func(selector string) func() error {
		return func() error { return do(chromedp.WaitVisible(chromedp.CSS(selector))) }
	}
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	fill := func(id, value string) func() error {
		return func() error { return do(chromedp.SendKeys(chromedp.CSS("#"+id), value)) }
	}
	says := func(selector, want string) {
		t.Helper()
		if got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector))); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s says %q, %v, want %q", selector, got, err, want)
		}
	}

	// A member of the staff makes a contest, with a contestant and a problem.
	scripts(true)
	s.signInAs(do, "prof", "/spaces")
	steps(s, there("#slug"), fill("slug", "final"), fill("title", "The Final"), click(".panel .primary"), there("#place"))
	steps(s, click(`.sub a[href="/spaces/final/members"]`), there("#names"), fill("names", "ann, nobody"), click(".panel .primary"), there("#fault"))
	says("#fault", "nobody")
	steps(s, at("/spaces/final/members"), there("#names"), fill("names", "ann"), click(".panel .primary"), there(`[href="/spaces/final/submissions?author=ann"]`))
	steps(s, at("/spaces/final"), there("#problem"), fill("problem", "A plus B"), fill("points", "5"), click(".panel .primary"), there(`[href="/spaces/final/problems/aplusb"]`))
	s.moveSpace("final", 1, 2)
	steps(s, click(".who form button"), there(`.who a[href="/login"]`))

	// The contestant sees it when it has opened, hands in, and comes too late.
	s.signInAs(do, "ann", "/spaces")
	steps(s, there(`[href="/spaces/final"]`), click(`th [href="/spaces/final"]`), there("#problems"))
	says("main", "shown when the space opens")
	s.moveSpace("final", -1, 2)
	steps(s, at("/spaces/final"), there(`[href="/spaces/final/problems/aplusb"]`), click(`[href="/spaces/final/problems/aplusb"]`), there("#source"))
	steps(s, fill("language", "C++"), fill("source", "int main() {}"), click("#send"), there(".verdict-card"))
	says("header.title", "in final")
	steps(s, at("/spaces/final/problems/aplusb"), there("#source"), fill("language", "C++"), fill("source", "int main() {}"))
	s.moveSpace("final", -2, -1)
	steps(s, click("#send"), there("#fault"))
	says("#fault", "The Final closed at")
	steps(s, at("/spaces/final"), there(".mine"), click(".who form button"), there(`.who a[href="/login"]`))
	if subs, err := s.store.Submissions(t.Context(), sql.Filter{Author: "ann"}); err != nil || len(subs) != 1 || subs[0].Space != "final" {
		t.Errorf("she handed in %+v, %v", subs, err)
	}

	scripts(false)
	pages := s.spaceScene()
	console.take() // the refusals of the story
	s.signInAs(do, "prof", "/spaces")
	s.must(see(ctx, "h1", "Spaces"))
	s.examineAll(ctx, t, console, twoLooks, pages)
}
