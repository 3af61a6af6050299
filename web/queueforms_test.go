package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// post sends a form with the session's CSRF token, unless it has one.
func (s *stage) post(cookie, path string, form url.Values) reply {
	s.Helper()
	if !form.Has("csrf") {
		form.Set("csrf", s.csrf(cookie))
	}
	form.Set("sure", "yes") // where that is asked
	return s.do(http.MethodPost, path, form.Encode(), asForm, cookie, "Accept: text/html")
}

// posted is post where the form must lead to another page; it returns that one.
func (s *stage) posted(cookie, path string, form url.Values) (to, body string) {
	s.Helper()
	r := s.post(cookie, path, form)
	if r.status != http.StatusSeeOther {
		s.Fatalf("POST %s: status %d: %s", path, r.status, r.body)
	}
	to = r.header.Get("Location")
	return to, s.show(cookie, to)
}

// show returns a page, which must be there.
func (s *stage) show(cookie, path string) string {
	s.Helper()
	r := s.do(http.MethodGet, path, "", cookie, "Accept: text/html")
	if r.status != http.StatusOK {
		s.Fatalf("GET %s: status %d: %s", path, r.status, r.body)
	}
	return r.body
}

// says checks that a page has these texts.
func (s *stage) says(page string, want ...string) {
	s.Helper()
	for _, text := range want {
		if !strings.Contains(page, text) {
			s.Errorf("the page does not say %q", text)
		}
	}
}

// front returns the ready and scheduled jobs in the order of the queue.
func (s *stage) front() (ids []int64) {
	s.Helper()
	found, err := s.store.QueueFront(s.Context(), "", "", 0)
	s.must(err)
	for _, r := range found {
		ids = append(ids, r.JobID)
	}
	return ids
}

func numbers(ids ...int64) (out []string) {
	for _, id := range ids {
		out = append(out, fmt.Sprint(id))
	}
	return out
}

func TestFormsOfTheQueueAreForStaffAndNeedTheTokenOfTheirSession(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	s.user("cat", "correct horse", judge.RoleContestant)
	prof, cat := s.login("prof", "correct horse"), s.login("cat", "correct horse")
	waits, dead, wrong := s.submit("aplusb", "cpp", "1"), s.submit("aplusb", "cpp", "2"), s.submit("aplusb", "cpp", "3")
	s.finish(wrong, judge.Result{Verdict: judge.WA})
	s.must(s.store.Bury(t.Context(), s.claim(dead), judge.ReasonPayload, "schema_version 7"))
	_, err := s.store.RedeliverAll(t.Context()) // what the claims have picked along
	s.must(err)
	set, err := s.store.StartRejudge(t.Context(), sql.RejudgeRequest{JobIDs: []int64{wrong}, Reason: "x", By: "prof"})
	s.must(err)
	job := fmt.Sprint(waits)
	letter, rejudging := fmt.Sprint("/dlq/", dead), site.RejudgingURL(set.ID)
	forms := map[string]url.Values{
		"/queue/move": {"verb": {"delete"}, "job": {job}}, "/queues/default/pause": {}, "/queues/default/resume": {},
		letter + "/replay": {}, letter + "/discard": {"reason": {"x"}},
		"/rejudgings": {"reason": {"x"}, "problem": {"aplusb"}}, rejudging + "/apply": {}, rejudging + "/cancel": {},
	}
	for path, form := range forms {
		if r := s.post(cat, path, form); r.status != http.StatusForbidden || strings.Contains(r.body, "another session") {
			t.Errorf("POST %s by a contestant: status %d", path, r.status)
		}
		for _, csrf := range []string{"", s.csrf(cat)} {
			form.Set("csrf", csrf)
			if r := s.post(prof, path, form); r.status != http.StatusForbidden || !strings.Contains(r.body, "another session") {
				t.Errorf("POST %s with the token %q: status %d", path, csrf, r.status)
			}
		}
	}
	for _, path := range []string{"/dlq", letter, "/rejudgings", rejudging} {
		if r := s.do(http.MethodGet, path, "", cat); r.status != http.StatusForbidden {
			t.Errorf("GET %s by a contestant: status %d", path, r.status)
		}
	}
	for _, secret := range []string{"/queue/move", "/dlq", "/rejudgings", "/queues/"} {
		if strings.Contains(s.show(cat, "/queue"), secret) {
			t.Errorf("a contestant's queue has %s", secret)
		}
	}
	if got := s.front(); !slices.Equal(got, []int64{waits, wrong}) {
		t.Errorf("the queue has %v after all that, want %v", got, []int64{waits, wrong})
	}
	if l, err := s.store.DeadLetter(t.Context(), dead); err != nil || l.Resolution != "" {
		t.Errorf("the dead letter is %+v, %v", l, err)
	}
	if sets, err := s.store.RejudgeSets(t.Context(), 0, 0); err != nil || len(sets) != 1 || sets[0].Resolution != "" {
		t.Errorf("the sets are %+v, %v", sets, err)
	}
}

func TestStaffMoveWhatWaitsOnTheQueuePage(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	prof := s.login("prof", "correct horse")
	var ids []int64
	for i := range 5 {
		ids = append(ids, s.submitAs(fmt.Sprint("ann", i), "aplusb", "cpp", "int main() {}"))
	}
	order := func(want ...int) {
		t.Helper()
		var jobs []int64
		for _, i := range want {
			jobs = append(jobs, ids[i])
		}
		if got := s.front(); !slices.Equal(got, jobs) {
			t.Errorf("the queue has %v, want %v", got, jobs)
		}
	}
	move := func(verb string, form url.Values) string {
		t.Helper()
		form.Set("verb", verb)
		_, page := s.posted(prof, "/queue/move", form)
		return page
	}
	page := s.show(prof, "/queue")
	s.says(page, "ann3", "5th", "A plus B", `value="release"`, `action="/queues/default/pause"`, fmt.Sprintf(`aria-label="Job %d"`, ids[4]))

	s.says(move("release", url.Values{"job": numbers(ids[3], ids[4])}), fmt.Sprintf("Released to the front: %d, %d.", ids[3], ids[4]), `value="undo"`)
	order(3, 4, 0, 1, 2)
	s.says(move("undo", url.Values{"job": numbers(ids[3], ids[4])}), "Undone")
	order(0, 1, 2, 3, 4)
	move("delay", url.Values{"job": numbers(ids[0], ids[1])})
	order(2, 3, 4, 0, 1)
	move("move", url.Values{"job": numbers(ids[0]), "before": numbers(ids[3])})
	order(2, 0, 3, 4, 1)
	move("immediate", url.Values{"jobs": {fmt.Sprintf("#%d, %d", ids[4], ids[1])}})
	order(4, 1, 2, 0, 3)
	s.says(move("delete", url.Values{"job": numbers(ids[2])}), fmt.Sprintf("Deleted: %d.", ids[2]))
	order(4, 1, 0, 3)
	move("undo", url.Values{"job": numbers(ids[2])})
	order(4, 1, 2, 0, 3)

	r := s.post(prof, "/queue/move", url.Values{"verb": {"delay"}, "job": numbers(ids[4], ids[0]), "jobs": {"999"}})
	if r.status != http.StatusConflict && r.status != http.StatusNotFound {
		t.Errorf("what cannot all be done: status %d", r.status)
	}
	s.says(r.body, fmt.Sprintf("Put to the back: %d.", ids[0]), fmt.Sprintf("Job %d: ", ids[4]), "Job 999: ")
	order(4, 1, 2, 3, 0)
	for what, form := range map[string]url.Values{
		"Choose at least one job": {"verb": {"release"}}, "is not the number of a job": {"verb": {"release"}, "jobs": {"1 x"}},
		"Name the job that they are moved before": {"verb": {"move"}, "job": numbers(ids[0]), "before": {"soon"}},
		"There is nothing called":                 {"verb": {"burn"}, "job": numbers(ids[0])},
	} {
		if r := s.post(prof, "/queue/move", form); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, what) {
			t.Errorf("%s: status %d", what, r.status)
		}
	}
	order(4, 1, 2, 3, 0)

	_, page = s.posted(prof, "/queues/default/pause", url.Values{})
	s.says(page, `action="/queues/default/resume"`, "the queue is paused")
	_, page = s.posted(prof, "/queues/default/resume", url.Values{})
	s.says(page, `action="/queues/default/pause"`)
	if r := s.post(prof, "/queues/nosuch/pause", url.Values{}); r.status != http.StatusNotFound {
		t.Errorf("pausing a queue that is not there: status %d", r.status)
	}
	page = s.show(prof, "/queue?group=ann3")
	s.says(page, "ann3", "Not finished, of ann3")
	if strings.Contains(page, fmt.Sprintf(`aria-label="Job %d"`, ids[0])) {
		t.Error("the jobs of one submitter have those of another among them")
	}
	s.claim(ids[4])
	s.says(s.show(prof, "/queue"), "running", "judge1-5f3a", "attempt 1", "<dt>Judged in a minute</dt><dd>0</dd>")
}

func TestADeadLetterIsResolvedOnItsPage(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	prof := s.login("prof", "correct horse")
	a, b := s.submit("aplusb", "cpp", "1"), s.submit("aplusb", "cpp", "2")
	for _, id := range []int64{a, b} {
		s.must(s.store.Bury(t.Context(), s.claim(id), judge.ReasonPayload, fmt.Sprintf("schema_version <%d>", id)))
	}
	s.says(s.show(prof, "/queue"), `<a href="/dlq">2</a>`)
	s.says(s.show(prof, "/dlq"), string(judge.ReasonPayload), fmt.Sprint(site.DeadLetterURL(a)), fmt.Sprintf("schema_version &lt;%d&gt;", b))
	s.says(s.show(prof, site.DeadLetterURL(a)), "buried", "judge1-5f3a", fmt.Sprintf("schema_version &lt;%d&gt;", a), site.SubmissionURL(a), "Discard")
	r := s.post(prof, site.DeadLetterURL(a)+"/discard", url.Values{"reason": {"  "}})
	if r.status != http.StatusUnprocessableEntity {
		t.Errorf("discarded without a reason: status %d", r.status)
	}
	s.says(r.body, "Say why.", `aria-invalid="true"`)
	_, page := s.posted(prof, site.DeadLetterURL(a)+"/discard", url.Values{"reason": {"handed in <twice>"}})
	s.says(page, "It was discarded by prof", "handed in &lt;twice&gt;")
	if strings.Contains(page, `id="reason"`) {
		t.Error("a letter that is discarded can be discarded again")
	}
	list := s.show(prof, "/dlq")
	if strings.Contains(list, site.DeadLetterURL(a)+`"`) || !strings.Contains(list, site.DeadLetterURL(b)+`"`) {
		t.Errorf("the list of what nobody has resolved is %s", list)
	}
	s.says(s.show(prof, "/dlq?all=true"), site.DeadLetterURL(a), "discarded by prof: handed in &lt;twice&gt;")
	_, page = s.posted(prof, site.DeadLetterURL(b)+"/replay", url.Values{})
	s.says(page, "It was replayed by prof")
	if got := s.front(); !slices.Equal(got, []int64{b}) {
		t.Errorf("the queue has %v after the replay, want %v", got, []int64{b})
	}
	if r := s.post(prof, site.DeadLetterURL(b)+"/replay", url.Values{}); r.status != http.StatusConflict {
		t.Errorf("replaying what is not dead: status %d", r.status)
	}
	for _, path := range []string{"/dlq/999", "/dlq/x"} {
		if r := s.do(http.MethodGet, path, "", prof, "Accept: text/html"); r.status != http.StatusNotFound {
			t.Errorf("GET %s: status %d", path, r.status)
		}
	}
}

func TestARejudgeSetIsStartedReadAndAppliedOnItsPages(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	prof := s.login("prof", "correct horse")
	var ids []int64
	for range 3 {
		id := s.submit("aplusb", "cpp", "int main() {}")
		s.finish(id, judge.Result{Verdict: judge.WA})
		ids = append(ids, id)
	}
	s.says(s.show(prof, "/rejudgings"), "There is no set yet", `name="key"`, "A plus B")
	r := s.post(prof, "/rejudgings", url.Values{"reason": {""}, "jobs": {"1,x"}, "author": {"ann"}})
	if r.status != http.StatusUnprocessableEntity {
		t.Errorf("a set of nonsense: status %d", r.status)
	}
	s.says(r.body, "is not the number of a job", `value="1,x"`, `value="ann"`)
	s.says(s.post(prof, "/rejudgings", url.Values{"reason": {"why not"}}).body, "choose submissions by", `value="why not"`)
	form := url.Values{"reason": {"wrong <tests>"}, "problem": {"aplusb"}, "verdict": {"WA"}, "jobs": {fmt.Sprintf("%d %d", ids[0], ids[1])}, "key": {"k1"}}
	at, page := s.posted(prof, "/rejudgings", form)
	if again, _ := s.posted(prof, "/rejudgings", form); again != at {
		t.Errorf("the same form made %s and %s", at, again)
	}
	s.says(page, "wrong &lt;tests&gt;", "0 of 2", "Nothing is judged yet", `data-refresh="3000"`, `content="3"`, "Cancel")
	if strings.Contains(page, at+"/apply") {
		t.Error("a set can be applied while it is judged")
	}
	if r := s.post(prof, at+"/apply", url.Values{}); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "under way") {
		t.Errorf("applied while it is judged: status %d", r.status)
	}
	s.finish(ids[0], judge.Result{Verdict: judge.AC})
	s.finish(ids[1], judge.Result{Verdict: judge.WA})
	page = s.show(prof, at)
	s.says(page, "2 of 2", `class="num differs">1`, `class="num same">1`, site.SubmissionURL(ids[0]), at+"/apply")
	if strings.Contains(page, site.SubmissionURL(ids[1])+`"`) {
		t.Error("a submission that does not change is among the changes")
	}
	verdict := func(id int64) judge.Verdict {
		t.Helper()
		sub, err := s.store.Submission(t.Context(), id)
		s.must(err)
		return sub.Result.Verdict
	}
	if v := verdict(ids[0]); v != judge.WA {
		t.Errorf("shown is %s before the set is applied", v)
	}
	_, page = s.posted(prof, at+"/apply", url.Values{})
	s.says(page, "It was applied by prof")
	if v := verdict(ids[0]); v != judge.AC {
		t.Errorf("shown is %s after it", v)
	}
	at, _ = s.posted(prof, "/rejudgings", url.Values{"reason": {"once more"}, "problem": {"aplusb"}, "key": {"k2"}})
	s.claim(ids[2])
	_, page = s.posted(prof, at+"/cancel", url.Values{})
	s.says(page, "It was cancelled by prof")
	if got := s.front(); len(got) != 0 {
		t.Errorf("the queue has %v after the set was cancelled", got)
	}
	s.says(s.show(prof, "/rejudgings"), "applied", "cancelled", "once more", "2 of 2")
}

func TestWhoWaitsFarBackIsToldHowFarAtLeast(t *testing.T) {
	s := newStage(t)
	token := s.user("ann", "correct horse", judge.RoleContestant)
	many := make([]sql.NewJob, 300)
	for i := range many {
		many[i] = sql.NewJob{Problem: "aplusb", Language: "cpp", Author: fmt.Sprint("user", i), Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}}
	}
	_, err := s.store.SubmitMany(t.Context(), many)
	s.must(err)
	id := s.submitAs("ann", "aplusb", "cpp", "int main() {}")
	s.beat(languages...) // all that took its time
	sub, err := s.as(token).Get(t.Context(), id)
	s.must(err)
	if p := sub.Place; p == nil || p.Position != 252 || !p.AtLeast || p.PositionMax < 301 || p.ETALow <= 0 || p.ETAHigh < p.ETALow*float64(p.PositionMax)/252 {
		t.Errorf("the place is %+v, want at least 252, at most all that are ready, and times for both", sub.Place)
	}
	ann := s.login("ann", "correct horse")
	s.beat(languages...)
	s.says(s.show(ann, site.SubmissionURL(id)), "More than 250 others go first, expected ", " to ")
	s.says(s.show(ann, "/queue"), "behind more than 250")
}
