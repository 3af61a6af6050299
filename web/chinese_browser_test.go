package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// latin returns what the main part of a page says in Latin letters, each text once: of what people read, with the
// titles and labels of things, and without programs, statements and what is said to be in another language.
const latin = `(() => {
	const out = new Set(), main = document.querySelector("main");
	const foreign = (e) => e.closest("code, pre, script, style, table.code, .cm-editor, article.statement, textarea, option, datalist, [lang]:not(html):not([lang^=zh])");
	const take = (s) => { s = s.replace(/\s+/g, " ").trim(); if (/[A-Za-z]/.test(s)) out.add(s); };
	for (const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT); walk.nextNode();) {
		if (!foreign(walk.currentNode.parentElement)) take(walk.currentNode.data);
	}
	for (const e of main.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
		if (!foreign(e)) for (const name of ["aria-label", "title", "placeholder", "alt"]) take(e.getAttribute(name) ?? "");
	}
	return [...out];
})()`

// words are runs of Latin letters, with what stands inside names.
var words = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*`)

// TestSomebodyTurnsToChinese tells of a person who registers in English, sets a second factor, reads Chinese from then
// on, and watches a verdict come: the browser is started once.
func TestSomebodyTurnsToChinese(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	if !s.server.HasEditor() {
		t.Fatal("the source editor is not built: run `make build`")
	}
	clock := s.clocked()
	ctx, console := browser(t)
	do := func(a ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, a...) }
	}
	at := func(address string) func() error { return do(chromedp.Navigate(address)) }
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	fill := func(id, value string) func() error { return do(chromedp.SendKeys(chromedp.CSS("#"+id), value)) }
	is := func(what, expression, want string) {
		t.Helper()
		if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression)); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", what, got, err, want)
		}
	}

	// In English, as the browser asks.
	steps(s, at(s.url+"/register"), see("h1", "Make an account"), fill("email", "ann@example.org\r"), see(".done", "A letter is on its way"))
	steps(s, at(post.Next(0).Link()), see("label", "Display name"), fill("name", "ann"), fill("display_name", "Ann Lee"),
		fill("new", "battery staple"), fill("again", "battery staple\r"), see(".who", "Ann Lee"))
	steps(s, at(s.url+"/account"), click(`form[action="/account/totp"] button`), see("h1", "Authenticator app"))
	secret, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("#totp-secret")))
	s.must(err)
	secret = strings.ReplaceAll(secret, " ", "")
	steps(s, fill("code", clock.code(s, secret, 0)+"\r"), see("h1", "Recovery codes"))

	// The switch leads back to the page that it is on, and holds from then on, also at the next login. It is below the editor, which
	// moves it when it comes.
	editor := chromedp.CSS(".cm-content")
	steps(s, at(s.url+"/problems/aplusb"), see("#send", "Submit"), do(chromedp.WaitVisible(editor)), click(`.languages [value="zh-Hans"]`), see("#send", "提交"))
	is("the page after the switch", "location.pathname", "/problems/aplusb")
	steps(s, at(s.url+"/account"), click(`form[action="/logout"] button`), see(`.who a[href="/login"]`, "登录"))
	steps(s, at(s.url+"/login?next=/problems/aplusb"), fill("name", "ann"), fill("password", "battery staple\r"),
		see("h1", "还差一步"), fill("code", clock.code(s, secret, 1)+"\r"), see("#send", "提交"))

	// A program is judged while its page is open.
	steps(s, do(chromedp.WaitVisible(editor), chromedp.SetValue(chromedp.CSS("#language"), "cpp"), chromedp.Focus(editor),
		chromedp.SendKeys(editor, "int main() {}")), click("#send"), see(".headline", "等待中"))
	a := s.claim(1)
	steps(s, see(".headline", "正在编译"))
	s.compiled(a, 2)
	used := judge.Usage{CPUMillis: 12, WallMillis: 20, MemoryKiB: 9000}
	done := judge.Result{Verdict: judge.AC, Usage: used, Tests: []judge.TestResult{
		{Index: 1, Name: "sample/1", Group: "sample", Sample: true, Verdict: judge.AC, Usage: used},
		{Index: 2, Name: "secret/1", Group: "secret", Verdict: judge.AC, Usage: used},
	}}
	for _, one := range done.Tests {
		s.test(a, 2, one)
	}
	steps(s, see(".headline", "运行中"))
	s.must(s.store.Finalize(t.Context(), a, done))
	steps(s, see(".headline", "答案正确"), see("#announce", "答案正确"), see(".usage", "12 ms"))

	// What came by itself and what is loaded again say the same, and it is Chinese.
	names := strings.Fields("A plus B C++ Ann Lee ann AC CPU ms s MiB UTC main.cpp judge1-5f3a")
	for _, when := range []string{"as it came", "loaded again"} {
		is("the language "+when, "document.documentElement.lang", "zh-Hans")
		said, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](latin))
		s.must(err)
		if len(said) == 0 {
			t.Error("the page names nothing: not even its problem is found")
		}
		for _, text := range said {
			for _, word := range words.FindAllString(text, -1) {
				if !slices.Contains(names, word) {
					t.Errorf("%s the page says %q in %q, which is no code and no name", when, word, text)
				}
			}
		}
		steps(s, at(s.url+site.SubmissionURL(1)), see(".headline", "答案正确"))
	}
	s.examineAll(ctx, t, console, twoLooks, map[string]string{
		"zh-problem": "/problems/aplusb", "zh-submission": site.SubmissionURL(1), "zh-account": "/account",
	})
}
