package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// queueScene fills the database with jobs in every state, dead letters and
// rejudge sets, and returns the pages that show them to staff.
func (s *stage) queueScene() map[string]string {
	s.Helper()
	ctx := s.Context()
	var finished []int64
	for i, v := range []judge.Verdict{judge.WA, judge.WA, judge.TLE, judge.AC, judge.AC} {
		id := s.submitAs(fmt.Sprint("ann", i), "aplusb", "cpp", "int main() {}")
		s.finish(id, judge.Result{Verdict: v})
		finished = append(finished, id)
	}
	set, err := s.store.StartRejudge(ctx, sql.RejudgeRequest{Reason: "test 7 had a wrong answer", Problem: "aplusb", By: "sue"})
	s.must(err)
	for i, v := range []judge.Verdict{judge.AC, judge.AC, judge.MLE, judge.AC, judge.RE} {
		s.finish(finished[i], judge.Result{Verdict: v})
	}
	buried, discarded := s.submit("stairs", "cpp", "1"), s.submit("stairs", "cpp", "2")
	for _, id := range []int64{buried, discarded} {
		s.must(s.store.Bury(ctx, s.claim(id), judge.ReasonPayload, "schema_version 7 is unknown to every worker that runs here"))
	}
	s.must(s.store.Discard(ctx, discarded, "sue", "handed in twice"))
	s.claim(s.submit("aplusb", "cpp", "int main() {}"))
	var waiting []int64
	for _, author := range []string{"a-submitter-whose-name-is-rather-long", "bob", "cat", "dan"} {
		waiting = append(waiting, s.submitAs(author, "stairs", "cpp", "int main() {}"))
	}
	s.must(s.store.Release(ctx, waiting[3], "sue"))
	_, err = s.store.Delay(ctx, waiting[1], "sue")
	s.must(err)
	_, err = s.store.StartRejudge(ctx, sql.RejudgeRequest{Reason: "a new compiler", JobIDs: finished[:2], By: "sue"})
	s.must(err)
	return map[string]string{
		"queue-staff": "/queue", "queue-moved": fmt.Sprintf("/queue?done=release&job=%d&job=%d", waiting[0], waiting[1]),
		"dead-letters": "/dlq?all=true", "dead-letter": site.DeadLetterURL(buried), "rejudge-sets": "/rejudgings", "rejudge-set": site.RejudgingURL(set.ID),
	}
}

// staffSignIn gives the browser the session of a member of staff.
func (s *stage) staffSignIn(do func(...chromedp.Action[chromedp.Void]) error) {
	s.Helper()
	s.user("prof", "correct horse", judge.RoleStaff)
	s.signInAs(do, "prof", "/queue")
}

// signInAs logs somebody in whose password is "correct horse".
func (s *stage) signInAs(do func(...chromedp.Action[chromedp.Void]) error, name, next string) {
	s.Helper()
	steps(s,
		func() error { return do(chromedp.Navigate(s.url + "/login?next=" + next)) },
		func() error {
			return do(chromedp.SendKeys(chromedp.CSS(`[name="name"]`), name), chromedp.SendKeys(chromedp.CSS(`[name="password"]`), "correct horse\r"))
		},
	)
}

func TestPagesOfTheQueueFitTheScreen(t *testing.T) {
	s := newStage(t)
	pages := s.queueScene()
	ctx, console := browser(t)
	s.staffSignIn(func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) })
	s.must(see(ctx, "h1", "Queue"))
	s.examineAll(ctx, t, console, looks, pages)
}

func TestStaffRunTheQueueWithoutJavaScript(t *testing.T) {
	s := newStage(t)
	a, b := s.submitAs("ann", "aplusb", "cpp", "1"), s.submitAs("bob", "aplusb", "cpp", "2")
	dead, wrong := s.submit("aplusb", "cpp", "3"), s.submit("aplusb", "cpp", "4")
	s.finish(wrong, judge.Result{Verdict: judge.WA})
	s.must(s.store.Bury(t.Context(), s.claim(dead), judge.ReasonPayload, "schema_version 7"))
	_, err := s.store.RedeliverAll(t.Context()) // what the claims have picked along
	s.must(err)
	ctx, console := browser(t)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	s.must(err)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	there := func(selector string) func() error { return do(chromedp.WaitVisible(chromedp.CSS(selector))) }
	text := func(selector string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
		s.must(err)
		return got
	}
	s.staffSignIn(func(a ...chromedp.Action[chromedp.Void]) error { return do(a...)() })
	steps(s, there("#moves"), do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`[value="%d"]`, b)))), click(`#moves [value="release"]`), there("#done"))
	if got := text("#done span"); got != fmt.Sprintf("Released to the front: %d.", b) {
		t.Errorf("the page says %q", got)
	}
	if got := s.front(); !slices.Equal(got, []int64{b, a}) {
		t.Errorf("the queue has %v, want %v", got, []int64{b, a})
	}
	steps(s, click(`#done button`), there(`#done:not(:has(button))`))
	if got := s.front(); !slices.Equal(got, []int64{a, b}) {
		t.Errorf("after the undo the queue has %v, want %v", got, []int64{a, b})
	}
	steps(s, click(`[action="/queues/default/pause"] button`), there(`[action="/queues/default/resume"]`),
		click(`.sub a[href="/dlq"]`), there(".page-deadletters h1"), click(fmt.Sprintf(`a[href="%s"]`, site.DeadLetterURL(dead))), there("#reason"),
		do(chromedp.SendKeys(chromedp.CSS("#reason"), "handed in twice\r")), there(".page-sure h1"), click("form.stack button"), there("#resolved"))
	if got := text("#resolved"); !strings.Contains(got, "discarded by prof") || !strings.Contains(got, "handed in twice") {
		t.Errorf("the letter says %q", got)
	}
	steps(s, click(`.sub a[href="/rejudgings"]`), there("#start"), do(chromedp.SetValue(chromedp.CSS("#verdict"), "WA")),
		do(chromedp.SendKeys(chromedp.CSS("#reason"), "wrong tests\r")), there("#matrix"))
	s.finish(wrong, judge.Result{Verdict: judge.AC}) // the page loads itself again until the set is judged
	steps(s, there(`[action$="/apply"]`), there(".differs"), click(`[action$="/apply"] button`), there(".page-sure h1"), click("form.stack button"), there("#resolved"))
	if sub, err := s.store.Submission(t.Context(), wrong); err != nil || sub.Result.Verdict != judge.AC {
		t.Errorf("after the set was applied the submission is %+v, %v", sub, err)
	}
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}
