package web

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// TestSomebodyRegistersInABrowser registers, confirms the address, logs in and resets without JavaScript, against a real
// mail server, and then looks at every page of it: the browser is started once.
func TestSomebodyRegistersInABrowser(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	s.user("root", "correct horse", judge.RoleAdmin)
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "algo", Title: "Algorithms"}, "root"))
	ctx, console := browser(t)
	scripts := func(off bool) {
		t.Helper()
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
		s.must(err)
	}
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	open := func(address string) func() error {
		return func() error { return do(chromedp.Navigate(address)) }
	}
	there := func(selector string) func() error {
		return func() error { return do(chromedp.WaitVisible(chromedp.CSS(selector))) }
	}
	fill := func(id, value string) func() error {
		return func() error { return do(chromedp.SendKeys(chromedp.CSS("#"+id), value)) }
	}
	scripts(true)
	steps(s, open(s.url+"/login"), there(`a[href="/register"]`), open(s.url+"/register"), there("#email"), fill("email", "ann@example.org\r"), there(".done"))
	steps(s, open(post.Next(0).Link()), there("#display_name"), fill("name", "ann"), fill("display_name", "Ann Lee"),
		fill("new", "battery staple"), fill("again", "battery staple\r"), there(`.who a[href="/account"]`))
	steps(s, func() error { return click(ctx, `.who form button`) }, there(`.who a[href="/login"]`), open(s.url+"/login/reset"), there("#account"), fill("account", "ann\r"), there(".done"))
	steps(s, open(post.Next(1).Link()), there("#new"), fill("new", "staple battery"), fill("again", "staple battery\r"), there(`main a[href="/login"]`))
	steps(s, open(s.url+"/login"), there("#name"), fill("name", "ann"), fill("password", "staple battery\r"), there(`.who a[href="/account"]`))
	steps(s, func() error { return click(ctx, `.who form button`) }, there(`.who a[href="/login"]`))

	scripts(false)
	s.examineAll(ctx, t, console, twoLooks, map[string]string{"register": "/register", "reset": "/login/reset", "login-open": "/login"})
	s.keyOf("ann", judge.ScopeSubmit)
	s.do("POST", "/api/v1/password-resets", `{"account": "ann@example.org"}`, asJSON)
	s.must(do(chromedp.Navigate(post.Next(3).Link())))
	s.examineAll(ctx, t, console, twoLooks, map[string]string{"link-reset": "/login/link"})
	s.do("POST", "/api/v1/registrations", `{"email": "bob@example.org"}`, asJSON)
	s.must(do(chromedp.Navigate(post.Next(4).Link())))
	s.examineAll(ctx, t, console, twoLooks, map[string]string{"link-register": "/login/link"})
	s.signInAs(do, "root", "/users/import")
	s.must(see(ctx, "h1", "Import people"))
	steps(s, fill("text", "name,display_name,email,space\nann,,,algo\nzoe,Zoe Zhang,zoe@example.org,algo\n"), func() error { return click(ctx, `.panel .primary`) }, there("#steps"))
	s.must(picture(ctx, "import-preview"))
	steps(s, func() error { return click(ctx, "#go") }, there("#passwords"))
	s.must(picture(ctx, "import-done"))
	s.examineAll(ctx, t, console, twoLooks, map[string]string{"import": "/users/import", "members-invite": "/spaces/algo/members", "account-profile": "/account", "import-space": "/spaces/algo/import"})
}
