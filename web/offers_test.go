package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
)

// TestASubmissionIsTakenWhileNoWorkerRuns hands in while no worker lives, as in a
// restart: nothing is refused, and pages say what it waits for. The server that is
// asked was started after the worker had gone.
func TestASubmissionIsTakenWhileNoWorkerRuns(t *testing.T) {
	s := newStage(t)
	s.must(s.store.OfferLanguages(t.Context(), languages))
	s.must(s.store.WorkerGone(t.Context(), "judge1-5f3a"))
	s.user("ann", "correct horse", judge.RoleContestant)
	ann := s.login("ann", "correct horse")
	r := s.do(http.MethodPost, "/api/v1/submissions", `{"problem": "aplusb", "language": "java", "source": "class Main {}"}`, asJSON, ann, "X-CSRF-Token: "+s.csrf(ann))
	if r.status != http.StatusAccepted && r.status != http.StatusCreated {
		t.Fatalf("a submission was answered with %d: %s", r.status, r.body)
	}
	s.says(s.show(ann, "/problems/aplusb"), "Nothing can be judged now.", "What you hand in is kept", "Java · OpenJDK 17.0.13 · waits for a worker")
	s.says(s.show(ann, "/submissions/1"), "no worker is running that has Java")
	s.says(s.show(ann, "/languages"), "No worker is running that has Java; what is handed in waits for one.")
	if body := s.show(ann, "/api/v1/submissions/1"); !strings.Contains(body, `"why":"no_live_worker","language":"Java"`) {
		t.Errorf("the API does not say what it waits for: %s", body)
	}

	w := judge.WorkerInfo{Name: "judge2", Pool: "default", Languages: languages, Unfit: "blob_store", UnfitWhy: "the bucket b cannot be used"}
	s.must(s.store.WorkerBeat(t.Context(), w))
	s.server.Catalog.Forget()
	s.says(s.show(ann, "/submissions/1"), "every worker that has Java lacks something and takes no jobs until it is back")
	page := s.show(ann, "/queue")
	s.says(page, "takes no jobs: blob_store")
	if strings.Contains(page, "the bucket b") {
		t.Error("a contestant reads why a worker takes no jobs")
	}
	s.user("sam", "correct horse", judge.RoleStaff)
	sam := s.login("sam", "correct horse")
	s.says(s.show(sam, "/queue"), "takes no jobs: blob_store", "the bucket b cannot be used")
	s.says(s.show(sam, "/workers"), "takes no jobs", "the bucket b cannot be used")
	if body := s.show(ann, "/readyz"); !strings.Contains(body, "1 of them without blob_store, taking no jobs") || !strings.Contains(body, `"missing":["workers"`) {
		t.Errorf("/readyz: %s", body)
	}
}

// TestStaffTakeALanguageOffTheListAndPutItBack does so on the page and by API, over
// a worker that offers the language again.
func TestStaffTakeALanguageOffTheListAndPutItBack(t *testing.T) {
	s := newStage(t)
	s.must(s.store.OfferLanguages(t.Context(), languages))
	token := s.user("sam", "correct horse", judge.RoleStaff)
	s.user("ann", "correct horse", judge.RoleContestant)
	sam, ann := s.login("sam", "correct horse"), s.login("ann", "correct horse")
	submit := func() reply {
		return s.do(http.MethodPost, "/api/v1/submissions", `{"problem": "aplusb", "language": "java", "source": "class Main {}"}`, asJSON, ann, "X-CSRF-Token: "+s.csrf(ann))
	}
	if r := s.post(ann, "/languages/java/withdraw", url.Values{}); r.status != http.StatusForbidden {
		t.Errorf("a contestant took a language off: status %d", r.status)
	}
	s.posted(sam, "/languages/java/withdraw", url.Values{})
	s.must(s.store.OfferLanguages(t.Context(), languages)) // a worker starts
	f := document(t, submit())
	if f.Status != 422 || f.Field != "language" || f.Reason != "language_withdrawn" {
		t.Errorf("got %d %s %s, want 422 language language_withdrawn", f.Status, f.Field, f.Reason)
	}
	s.says(s.show(sam, "/languages"), "off the list", "Offer again")
	if page := s.show(ann, "/languages"); strings.Contains(page, "Offer again") {
		t.Error("a contestant sees what staff may do")
	}
	if body := s.show(ann, "/api/v1/languages"); !strings.Contains(body, `"withdrawn":true`) {
		t.Errorf("the API does not say that it is off: %s", body)
	}
	if r := s.staff(token, http.MethodPost, "/api/v1/languages/java/offer", "", nil); r.status != http.StatusOK {
		t.Fatalf("offer by API: %d %s", r.status, r.body)
	}
	if r := submit(); r.status >= 300 {
		t.Errorf("after it was put back: %d %s", r.status, r.body)
	}
	if r := s.post(sam, "/languages/cobol/withdraw", url.Values{}); r.status != http.StatusNotFound {
		t.Errorf("a language that is unknown: status %d, want 404", r.status)
	}
	log, err := s.store.AuditLog(t.Context(), sql.AuditFilter{Subject: "language:java"})
	if err != nil || len(log) != 2 || log[0].Action != "language_offer" || log[1].Action != "language_withdraw" || log[1].Actor != "sam" {
		t.Errorf("the audit log has %+v, %v", log, err)
	}
}

// TestDeadLettersOfOneReasonAreJudgedAgainAllAtOnce has many that died of one reason
// and one that died of another, on the page and by API.
func TestDeadLettersOfOneReasonAreJudgedAgainAllAtOnce(t *testing.T) {
	s := newStage(t)
	token := s.user("sam", "correct horse", judge.RoleStaff)
	sam := s.login("sam", "correct horse")
	kill := func(reason judge.Reason) int64 {
		id := s.submit("aplusb", "cpp", "x")
		s.must(s.store.Bury(t.Context(), s.claim(id), reason, "the store was away"))
		return id
	}
	for round, by := range []string{"page", "API"} {
		var ids []int64
		for range 205 { // more than one statement takes
			ids = append(ids, kill(judge.ReasonPayload))
		}
		other := kill(judge.ReasonMissingField)
		if by == "page" {
			s.says(s.show(sam, "/dlq"), "payload_missing_or_invalid", "205", "Judge all again")
			to, body := s.posted(sam, "/dlq/replay", url.Values{"reason": {"payload_missing_or_invalid"}})
			s.says(body, "205 jobs are to be judged again")
			if to != "/dlq?again=205" {
				t.Errorf("went to %s", to)
			}
		} else {
			r := s.staff(token, http.MethodPost, "/api/v1/dlq/replay", `{"reason": "payload_missing_or_invalid"}`, nil)
			if r.status != http.StatusAccepted || !strings.Contains(r.body, `"jobs":205`) {
				t.Errorf("by API: %d %s", r.status, r.body)
			}
		}
		for _, id := range ids {
			if job, err := s.store.Submission(t.Context(), id); err != nil || job.Status != judge.Pending || job.Tries != 0 {
				t.Fatalf("job %d is %+v, %v; want it to wait with all its tries", id, job, err)
			}
		}
		if job, err := s.store.Submission(t.Context(), other); err != nil || job.Status != judge.Dead {
			t.Errorf("a job that died of something else is %+v, %v", job, err)
		}
		log, err := s.store.AuditLog(t.Context(), sql.AuditFilter{Action: "replay_all"})
		if err != nil || len(log) != round+1 || log[0].Actor != "sam" || !strings.Contains(string(log[0].Detail), "205") {
			t.Errorf("the audit log has %+v, %v", log, err)
		}
	}
	for _, bad := range []string{`{"reason": ""}`, `{}`} {
		if r := s.staff(token, http.MethodPost, "/api/v1/dlq/replay", bad, nil); r.status != 422 && r.status != 400 {
			t.Errorf("%s: status %d", bad, r.status)
		}
	}
	s.user("ann", "correct horse", judge.RoleContestant)
	if r := s.post(s.login("ann", "correct horse"), "/dlq/replay", url.Values{"reason": {"max_tries"}}); r.status != http.StatusForbidden {
		t.Errorf("a contestant: status %d, want 403", r.status)
	}
}
