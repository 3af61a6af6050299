package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// TestAPageOfAnotherOriginRunsPrograms drives the example of the guide, which another port serves.
func TestAPageOfAnotherOriginRunsPrograms(t *testing.T) {
	elsewhere := httptest.NewServer(http.FileServer(http.Dir("../host/docs")))
	t.Cleanup(elsewhere.Close)
	s := newStage(t, func(c *site.Config) { c.AuthRequired, c.CORSOrigins = true, []string{elsewhere.URL} })
	s.user("ann", "correct horse", judge.RoleContestant)
	key, session := s.keyOf("ann", judge.ScopeSubmit), s.session("ann")
	ctx, console := browser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	server, source := chromedp.CSS("#server"), chromedp.CSS("#source")
	steps(s,
		// The browser is logged in here, and its cookie is sent along: both are addresses of one machine.
		do(chromedp.Navigate(s.url+"/login"), chromedp.Evaluate[chromedp.Void](`document.cookie = "`+peopleroom.SessionCookie+`=`+session+`; path=/"`)),
		do(chromedp.Navigate(s.url+"/account")), see("h1", "ann"),
		do(chromedp.Navigate(elsewhere.URL+"/judge0.html?server="+url.QueryEscape(s.url+"/judge0")), chromedp.WaitVisible(server)),
		see("#status", "This needs an account."),
		do(chromedp.Evaluate[chromedp.Void](`fetch(part("server").value + "/submissions", {
			method: "POST", mode: "no-cors", credentials: "include", body: '{"language_id": 71, "source_code": "print(1)"}',
		}).then(() => fetch(part("server").value + "/about", {credentials: "include"})).then(
			() => document.title = "it was read", () => document.title = "it was kept")`)),
		see("title", "it was kept"),
		do(chromedp.SetValue(chromedp.CSS("#key"), key), chromedp.Evaluate[chromedp.Void](`attempt(languages)`)),
		see("#language", "C++ (g++ 12.2.0), 54"),
		do(chromedp.SetValue(source, "print('hé', input())"), chromedp.Click(chromedp.CSS("button"))),
		see("#status", "In Queue"),
	)
	s.finish(1, ran(judge.AC, judge.RunOutput{Stdout: []byte("hé 41\n")}))
	steps(s, see("#status", "Accepted, 0.012 s"), see("#output", "hé 41"))
	if runs, _, err := s.store.RunPage(t.Context(), "judge0:", 0, 9); err != nil || len(runs) != 1 || runs[0].Author != "ann" || runs[0].Asked.Sources[0].Text != "print('hé', input())" {
		t.Errorf("it stored %+v, %v", runs, err)
	}
	steps(s,
		do(chromedp.SetValue(source, " "), chromedp.Evaluate[chromedp.Void](`attempt(run)`)),
		see("#status", "source_code can't be blank"),
	)
	console.take() // the refusals

	// Without the setting the browser keeps the answers from the page, and says so.
	s.start(func(c *site.Config) { c.AuthRequired = true })
	steps(s,
		do(chromedp.SetValue(server, s.url+"/judge0"), chromedp.SetValue(source, "print(1)"), chromedp.Evaluate[chromedp.Void](`attempt(run)`)),
		see("#status", "does not allow pages of "+elsewhere.URL),
	)
	if said := strings.Join(console.take(), "; "); !strings.Contains(said, "CORS") {
		t.Errorf("the browser says %q", said)
	}
}
