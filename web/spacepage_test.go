package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
	peopleroom "deepoj/web/people"
)

func TestTheLanguagesOfASpaceAreThoseThatThereAre(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
	s.space("final", func(v *judge.Space) { v.Languages = []string{"cobol", "cpp"} }) // of a worker that is gone
	page := s.show(cookie, "/spaces/final/settings")
	s.says(page, `value="cobol" checked`, "cobol, which nobody serves", `value="cpp" checked`, `value="python">`)
	form := url.Values{"title": {"The Final"}, "languages": {"cobol", "pythonn"}}
	r := s.post(cookie, "/spaces/final/settings", form)
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "There is no language &#34;pythonn&#34;; there are cpp, java") {
		t.Errorf("a language that there is not: %d %s", r.status, r.body)
	}
	form["languages"] = []string{"python", "cobol"}
	if to, _ := s.posted(cookie, "/spaces/final/settings", form); to != "/spaces/final" {
		t.Errorf("the settings lead to %s", to)
	}
	if v, err := s.store.Space(t.Context(), "final", ""); err != nil || strings.Join(v.Languages, " ") != "python cobol" {
		t.Errorf("the space has %v, %v", v.Languages, err)
	}
	for _, ask := range []struct{ method, path, in string }{
		{http.MethodPatch, "/api/v1/spaces/final", `{"languages": ["cpp", "ada"]}`},
		{http.MethodPost, "/api/v1/spaces", `{"slug": "b", "title": "B", "languages": ["ada"]}`},
	} {
		if f := document(t, s.do(ask.method, ask.path, ask.in, asJSON, "Authorization: Bearer "+s.session("prof"))); f.Status != http.StatusUnprocessableEntity || f.Field != "languages" || f.Reason != "unknown" {
			t.Errorf("%s: %+v", ask.path, f)
		}
	}
}

func TestThePageOfASpaceSaysWhatItsProblemsAreWorthAndItsDescriptionIsMarkdown(t *testing.T) {
	s := newStage(t)
	s.someone("ann", judge.RoleContestant)
	s.someone("prof", judge.RoleStaff)
	v := s.space("final", func(v *judge.Space) {
		v.Description = "**Chapter 1**, see https://example.org/ <img src=x onerror=alert(1)>"
	})
	s.must(s.store.PutSpaceProblem(t.Context(), v.ID, "stairs", 0, nil, "prof"))
	s.member(v, judge.SpaceContestant, "ann")
	for i, verdict := range []judge.Verdict{judge.WA, judge.AC, judge.WA, judge.AC} {
		r, err := s.store.Submit(t.Context(), sql.NewJob{Problem: "aplusb", Language: "cpp", Author: "ann", Space: v.ID, Sources: []judge.Source{{Name: "main.cpp", Text: fmt.Sprint(i)}}})
		s.must(err)
		s.finish(r.JobID, judge.Result{Verdict: verdict})
	}
	page := s.show("Cookie: "+peopleroom.SessionCookie+"="+s.session("ann"), "/spaces/final")
	s.says(page, "<strong>Chapter 1</strong>", `<a href="https://example.org/">`, `<td class="num">1</td>`, `<td class="num">100</td>`, "2 tries")
	if strings.Contains(page, "onerror") || strings.Contains(page, "4 tries") {
		t.Errorf("the page is\n%s", page)
	}
}

// TestASpaceOpensAndClosesByItself looks at pages that nobody touches while a space opens and closes.
func TestASpaceOpensAndClosesByItself(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.someone("prof", judge.RoleStaff)
	opens := func(in, out time.Duration) {
		t.Helper()
		v, err := s.store.Space(t.Context(), "final", "")
		s.must(err)
		v.Opens, v.Closes = new(v.Now.Add(in)), new(v.Now.Add(out))
		s.must(s.store.UpdateSpace(t.Context(), *v, "prof"))
	}
	s.member(s.space("final"), judge.SpaceContestant, "ann")
	opens(30*time.Minute, time.Hour)
	ann := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("ann")
	after := map[string]bool{} // browsers without script come at different seconds
	for range 20 {
		refresh := regexp.MustCompile(`<noscript><meta http-equiv="refresh" content="(18[0-9]{2})">`).FindStringSubmatch(s.show(ann, "/spaces/final"))
		if refresh == nil {
			t.Fatal("the page does not load itself again without script")
		}
		after[refresh[1]] = true
	}
	if len(after) < 2 {
		t.Errorf("all come at once: %v", after)
	}
	ctx, console := browser(t)
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: "Math.random = () => 0"})
	s.must(err)
	s.signInAs(do, "ann", "/spaces/final")
	s.must(see(ctx, ".state", "opens in 29:"))
	waits, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](`import(document.querySelector("script[type=module]").src.replace("app.js", "clock.js")).then(({ jitter }) => [0, 0.999999].map((r) => { Math.random = () => r; return jitter(); }))`, chromedp.EvalAwaitPromise))
	if err != nil || waits[0] != 500 || waits[1] < 8000 || waits[1] > 8500 {
		t.Errorf("browsers wait %v ms, %v", waits, err)
	}
	// Who is early waits on the page of the space, or where they were refused.
	opens(2*time.Second, time.Hour)
	s.must(do(chromedp.Navigate(s.url + "/spaces/final/problems/aplusb")))
	s.must(see(ctx, "main", "opens in"))
	console.take()
	s.must(see(ctx, "h1", "A plus B"))
	opens(2*time.Second, time.Hour)
	s.must(do(chromedp.Navigate(s.url + "/spaces/final")))
	s.must(see(ctx, ".state", "left"))
	s.must(see(ctx, "th", "A plus B"))
	// Nothing can be handed in when it has closed, and nothing is lost.
	opens(-time.Hour, 3*time.Second)
	s.must(do(chromedp.Navigate(s.url+"/spaces/final/problems/aplusb"), chromedp.WaitVisible(chromedp.CSS(".cm-content")), chromedp.SendKeys(chromedp.CSS(".cm-content"), "int a;")))
	s.must(see(ctx, ".within", "closed"))
	s.must(see(ctx, "#notice", "What you wrote stays here"))
	s.must(do(chromedp.WaitVisible(chromedp.CSS("#send:disabled"))))
	s.must(see(ctx, ".cm-content", "int a;"))
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
	late := s.show(ann, "/spaces/final/problems/aplusb")
	s.says(late, "takes no more submissions", `id="send" disabled`)
}
