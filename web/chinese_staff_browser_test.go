package web

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
)

// TestPagesInChineseAreWholeOnEveryScreen looks at the pages of guests, contestants and staff in Chinese, in both widths
// and sets of colours, and at the words of those that show what the database keeps.
func TestPagesInChineseAreWholeOnEveryScreen(t *testing.T) {
	s := newStage(t)
	s.user("root", "correct horse", judge.RoleAdmin)
	queue, people := s.queueScene(), s.siteScene()
	s.must(s.store.PauseQueue(s.Context(), judge.DefaultQueue, true, "root"))
	s.must(s.store.PauseQueue(s.Context(), judge.DefaultQueue, false, "root"))
	ctx, console := browser(t)
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	s.must(do(chromedp.Navigate(s.url + "/login")))
	s.must(click(ctx, `.languages [value="zh-Hans"]`))
	s.must(see(ctx, "h1", "登录"))
	s.examineAll(ctx, t, console, twoLooks, map[string]string{"zh-login": "/login", "zh-problems-guest": "/problems"})
	s.signInAs(do, "root", "/queue")
	s.must(see(ctx, "h1", "队列"))
	pages := map[string]string{"problems": "/problems", "problem": "/problems/aplusb", "submissions": "/submissions"}
	maps.Copy(pages, queue)
	maps.Copy(pages, people)
	looked := map[string]string{}
	for name := range strings.FieldsSeq("problems problem submissions queue-staff dead-letters rejudge-set audit users user-keys account workers webhook") {
		if pages[name] == "" {
			t.Errorf("there is no page %s", name)
		}
		looked["zh-"+name] = pages[name]
	}
	s.examineAll(ctx, t, console, twoLooks, looked)

	names := strings.Fields("a-submitter-whose-name-is-rather-long a-contestant-with-a-long-name ann ann0 ann1 ann2 ann3 ann4 bob cat dan sue prof root test zoe system" +
		" user job jobs rejudge key queue webhook problem space default stairs aplusb host at old-laptop-of-somebody-with-a-long-name nightly build of the course monitoring" +
		" A plus B C++ cpp Stairs example.org a-machine-with-a-long-name.example.org-17c2 w1 KiB MiB UTC ms s fifo Webhook disable guest judge1-5f3a Rain in the python java cgroup v2 handed twice DEAD schema_version is unknown to every worker that runs here")
	for _, page := range []string{"/audit?limit=200", "/queue"} {
		s.must(do(chromedp.Navigate(s.url + page)))
		said, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](latin))
		s.must(err)
		if len(said) < 5 {
			t.Errorf("%s names only %q", page, said)
		}
		for _, text := range said {
			for _, word := range words.FindAllString(text, -1) {
				if !slices.Contains(names, strings.TrimRight(word, ".")) {
					t.Errorf("%s says %q in %q, which is no code and no name", page, word, text)
				}
			}
		}
	}
}
