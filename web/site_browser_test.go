package web

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// siteScene fills the database with what administrators look at, and returns
// their pages.
func (s *stage) siteScene() map[string]string {
	s.Helper()
	for i, role := range []judge.Role{judge.RoleContestant, judge.RoleContestant, judge.RoleSetter, judge.RoleStaff} {
		name := []string{"ann", "a-contestant-with-a-long-name@example.org", "sue", "prof"}[i]
		s.must(s.store.CreateUser(s.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role, OneTime: i == 2}))
	}
	s.must(s.store.Disable(s.Context(), "ann", true, "test"))
	for i, label := range []string{"nightly build of the course", "monitoring", "old-laptop-of-somebody-with-a-long-name"} {
		k := judge.Key{User: "root", Label: label, Scope: judge.Scopes[i]}
		if i == 1 {
			k.Expires = new(time.Now().Add(90 * 24 * time.Hour))
		}
		_, err := s.store.CreateKey(s.Context(), k, label, "root")
		s.must(err)
	}
	s.must(s.store.RevokeKey(s.Context(), 3, "root", "root"))
	s.finish(s.submitAs("root", "aplusb", "cpp", "int main() {}"), judge.Result{Verdict: judge.AC})
	s.finish(s.submitAs("root", "stairs", "cpp", "int main() {}"), judge.Result{Verdict: judge.PA, Score: new(3.0), MaxScore: new(100.0)})
	s.claim(s.submitAs("ann", "aplusb", "cpp", "int main() {}"))
	s.must(s.store.WorkerBeat(s.Context(), judge.WorkerInfo{
		Name: "a-machine-with-a-long-name.example.org-17c2", Pool: "default", Slots: 8, Version: "test", Calibration: 1043.7, Started: time.Now(), Languages: []judge.Language{
			{ID: "cpp", Name: "C++", Version: "g++ 13.1.0", Command: "g++ -std=c++23 -o main main.cpp", Available: true},
			{ID: "kotlin", Name: "Kotlin", Unavailable: "kotlinc was not found; install it"},
		},
	}))
	w, err := s.store.CreateWebhook(s.Context(), judge.Webhook{
		Owner: "root", Everyone: true, Problem: "aplusb", Kinds: judge.WebhookKinds, URL: "http://10.0.0.1/an/address/that/is/rather/long/and-has-hardly-any-place-to-break.php?of=it",
	}, []byte("x"), "root")
	s.must(err)
	for range 3 { // the address is private, so they fail
		_, err := s.store.TryWebhook(s.Context(), w.ID)
		s.must(err)
	}
	return map[string]string{
		"webhooks": "/webhooks", "webhook": "/webhooks/" + strconv.FormatInt(w.ID, 10), "workers": "/workers", "feed": "/feed", "audit": "/audit", "languages-differ": "/languages", "users": "/users", "user": "/users/a-contestant-with-a-long-name@example.org", "user-disabled": "/users/ann", "account": "/account", "profile": "/people/root", "user-keys": "/users/root",
	}
}

// TestAnAdministratorRunsTheSite tells a story without JavaScript, then looks at
// every page: the browser is started once.
func TestAnAdministratorRunsTheSite(t *testing.T) {
	full := streamingFeed
	full.Source, full.Full, full.SinkError = "a-machine-with-a-long-name.example.org:5432/deepoj", true, "kafka_brokers=a-broker-with-a-long-name.example.org:9092: no such host: correct it"
	s := newStage(t, func(c *site.Config) { c.FeedStatus = feedThatSays(t, streamingFeed, full) })
	s.user("root", "correct horse", judge.RoleAdmin)
	ctx, console := browser(t)
	scripts := func(off bool) {
		t.Helper()
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
		s.must(err)
	}
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	there := func(selector string) func() error {
		return func() error { return do(chromedp.WaitVisible(chromedp.CSS(selector))) }
	}
	text := func(selector string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
		s.must(err)
		return got
	}
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	fill := func(id, value string) func() error {
		return func() error { return do(chromedp.SendKeys(chromedp.CSS("#"+id), value)) }
	}
	scripts(true)
	s.signInAs(do, "root", "/users")
	steps(s, there("#names"), fill("names", "zoe"), click(".panel .primary"), there("#made"))
	given := text(".panel.done code")
	steps(s, click(`.who form button`), there(`.who a[href="/login"]`))

	// Zoe logs in, has to choose a password, and arrives where she wanted.
	steps(s, func() error { return do(chromedp.Navigate(s.url + "/login?next=/submissions")) }, there("#name"), fill("name", "zoe"), fill("password", given+"\r"), there("#current"))
	steps(s, fill("current", given), fill("new", "battery staple"), fill("again", "battery staple\r"), there(".page-submissions h1"))
	steps(s, click(`.who form button`), there(`.who a[href="/login"]`))

	scripts(false)
	pages := s.siteScene()
	s.signInAs(do, "root", "/users")
	s.must(see(ctx, "h1", "Users"))
	s.examineAll(ctx, t, console, twoLooks, pages)
}
