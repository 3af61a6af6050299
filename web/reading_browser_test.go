package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// TestASubmissionIsReadInTheBrowser looks at a submission while it is judged, and at what is left of it on the page of
// its problem: nothing is loaded again by hand.
func TestASubmissionIsReadInTheBrowser(t *testing.T) {
	s := newStage(t)
	if !s.server.HasEditor() {
		t.Fatal("the source editor is not built: run `make build`")
	}
	source := "int main() { // sum\n    return 0;\n}\n"
	id := s.submit("aplusb", "cpp", source)
	page := s.do(http.MethodGet, site.SubmissionURL(id), "").body
	if resubmit, card := strings.Index(page, "Edit and resubmit"), strings.Index(page, "verdict-card"); resubmit < 0 || card < resubmit {
		t.Errorf("to resubmit comes at %d, the verdict at %d", resubmit, card)
	}
	ctx, console := browser(t)
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	title := func(want string) func() error {
		return func() error {
			_, err := chromedp.Run(ctx, chromedp.PollFunction[bool](`(want) => document.title === want`, chromedp.WithPollingArgs(want)))
			return err
		}
	}
	steps(s,
		func() error { return chromedp.Do(ctx, chromedp.Navigate(s.url+site.SubmissionURL(id))) },
		title("Waiting · Submission 1 · Deep-OJ"), see(".code .tok-keyword", "return"), see(".code .tok-comment", "// sum"),
	)
	s.finish(id, judge.Result{Verdict: judge.WA, Tests: []judge.TestResult{
		{Index: 1, Name: "sample/1", Sample: true, Group: "sample", Verdict: judge.WA, Output: "4\n"},
	}})
	steps(s,
		title("WA · Submission 1 · Deep-OJ"), func() error { return chromedp.Do(ctx, chromedp.WaitNotPresent(chromedp.CSS(`[action$="/cancel"]`))) }, see("#fail-want-1 mark", "3"), see("#fail-got-1 mark", "4"), see(".failure", "first differ in line 1"),
		see(".code .tok-keyword", "return"), // also in the part that came anew
		func() error { return click(ctx, "[data-copy-lines]") }, see("[data-copy-lines]", "Copied"),
		func() error { return chromedp.Do(ctx, chromedp.Navigate(s.url+"/problems/aplusb")) }, see("#own-rows", "WA"),
	)
	second := s.submit("aplusb", "cpp", source)
	steps(s, func() error { return chromedp.Do(ctx, chromedp.Navigate(s.url+"/problems/aplusb")) }, see("#own-rows", "pending"))
	s.finish(second, judge.Result{Verdict: judge.AC})
	steps(s, see("#own-rows", "AC"))
	for name, l := range twoLooks {
		s.must(l.set(ctx))
		for at, path := range map[string]string{"own": "/problems/aplusb", "read": site.SubmissionURL(id)} {
			s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+path), chromedp.WaitVisible(chromedp.CSS(".cm-content, .tok-keyword"))))
			examine(ctx, t, name+" "+at, console, false)
			s.must(picture(ctx, at+"-"+name))
		}
	}
}

func TestASourceIsSavedByWhoeverMayReadIt(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	id := s.submitAs("ann", "aplusb", "cpp", "<script>alert(1)</script>\n")
	at := site.SubmissionURL(id) + "/sources/1"
	if r := s.do(http.MethodGet, at, ""); r.status != http.StatusNotFound {
		t.Errorf("the guest gets %d: %s", r.status, r.body)
	}
	ann := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("ann")
	r := s.do(http.MethodGet, at, "", ann)
	if r.status != http.StatusOK || r.body != "<script>alert(1)</script>\n" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") ||
		r.header.Get("Content-Disposition") != `attachment; filename="main.cpp"` || r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("her source: %d, %v, %q", r.status, r.header, r.body)
	}
	for _, n := range []string{"0", "2", "-1", "x"} {
		if r := s.do(http.MethodGet, site.SubmissionURL(id)+"/sources/"+n, "", ann); r.status != http.StatusNotFound {
			t.Errorf("file %s gets %d", n, r.status)
		}
	}
}

func TestTheListOfProblemsIsAtItsOwnAddressToo(t *testing.T) {
	s := newStage(t)
	at, own := s.do(http.MethodGet, "/", ""), s.do(http.MethodGet, "/problems", "")
	list := func(page string) string { // without the form of the footer, which leads back to the address
		_, page, _ = strings.Cut(page, "<main")
		page, _, _ = strings.Cut(page, "</main>")
		return page
	}
	if own.status != http.StatusOK || !strings.Contains(list(own.body), "A plus B") || list(own.body) != list(at.body) {
		t.Errorf("/problems is %d:\n%s", own.status, own.body)
	}
}
