package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

func TestAQuestionIsForWhoAskedItAndTheJury(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, carl := s.cup()
	guest, at := caller{s, ""}, "/api/v1/rounds/final/clarifications"
	texts := func(c caller) string {
		t.Helper()
		var out []string
		for _, v := range c.ask("GET", at, "", 200)["clarifications"].([]any) {
			row := v.(map[string]any)
			to := ""
			if row["reply_to"] != nil {
				to = "→"
			}
			out = append(out, to+row["text"].(string))
		}
		return strings.Join(out, " | ")
	}
	asked := ann.ask("POST", at, `{"text": " Why? ", "problem": "stairs"}`, 201)["id"].(string)
	for who, want := range map[string]struct {
		c    caller
		text string
	}{"ann": {ann, "Why?"}, "staff": {prof, "Why?"}, "bob": {bob, ""}, "carl": {carl, ""}, "a guest": {guest, ""}} {
		if got := texts(want.c); got != want.text {
			t.Errorf("%s reads %q, want %q", who, got, want.text)
		}
	}
	amy := caller{s, s.session("amy")}
	if got := texts(amy); got != "Why?" {
		t.Errorf("who is in the team reads %q", got)
	}
	prof.ask("POST", at, fmt.Sprintf(`{"text": "Read on.", "reply_to": %q, "to_teams": ["red"]}`, asked), 201)
	prof.ask("POST", at, fmt.Sprintf(`{"text": "All read on.", "reply_to": %q}`, asked), 201)
	prof.ask("POST", at, `{"text": "Universities.", "to_groups": ["uni", "uni"]}`, 201)
	for who, want := range map[string]struct {
		c    caller
		text string
	}{
		"ann": {ann, "Universities. | →All read on. | →Read on. | Why?"}, "staff": {prof, "Universities. | →All read on. | →Read on. | Why?"},
		"bob": {bob, "All read on."}, "carl": {carl, "All read on."}, "a guest": {guest, "All read on."},
	} {
		if got := texts(want.c); got != want.text {
			t.Errorf("%s reads %q, want %q", who, got, want.text)
		}
	}
	// Nobody learns of a question by its name, nor answers in the jury's place.
	bob.ask("POST", at, fmt.Sprintf(`{"text": "x", "reply_to": %q}`, asked), 422)
	bob.ask("POST", at+"/"+asked+"/close", "{}", 403)
	guest.ask("POST", at, `{"text": "x"}`, 403)
	carl.ask("POST", at, `{"text": "x"}`, 403)
	prof.ask("POST", at+"/nosuch/close", "{}", 404)
	for body, field := range map[string]string{
		`{}`: "text", `{"text": "  "}`: "text", `{"text": "` + strings.Repeat("x", judge.MaxClarification+1) + `"}`: "text", `{"text": "x", "problem": "nosuch"}`: "problem",
		`{"text": "x", "to_teams": ["blue"]}`: "to_teams", `{"text": "x", "to_groups": []}`: "to_groups",
	} {
		if out := ann.ask("POST", at, body, 422); out["field"] != field {
			t.Errorf("%.60s: refused for %v", body, out["field"])
		}
	}
	prof.wrong("POST", at, `{"text": "x", "to_teams": ["nosuch"]}`, "to_teams", "unknown")
	prof.wrong("POST", at, `{"text": "x", "to_groups": ["nosuch"]}`, "to_groups", "unknown")
	prof.wrong("POST", at, `{"text": "x", "reply_to": "nosuch"}`, "reply_to", "unknown")

	// A result waits for answers, and one team cannot bury the jury.
	for i := range judge.MaxQuestions {
		bob.ask("POST", at, fmt.Sprintf(`{"text": "And %d?"}`, i), 201)
	}
	bob.wrong("POST", at, `{"text": "And?"}`, "text", "too_many")
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, freeze_ms = NULL"))
	if out := prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 409); !strings.Contains(fmt.Sprint(out), "20 questions have no answer") {
		t.Errorf("with open questions: %v", out)
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE clarifications SET closed_at = now() WHERE text LIKE 'And%'"))
	prof.ask("POST", "/api/v1/rounds/final/finalize", "{}", 200)
	ann.ask("POST", at, `{"text": "x"}`, 403)
}

func TestAJuryAnswersOnAPlainPage(t *testing.T) {
	s := newStage(t)
	_, ann, bob, _ := s.cup()
	cookie := func(c caller) string { return "Cookie: " + peopleroom.SessionCookie + "=" + c.token }
	prof := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
	_, page := s.posted(cookie(ann), "/rounds/final/clarifications", url.Values{"text": {"May we <b>eat</b>?"}, "problem": {"stairs"}})
	s.says(page, "You asked", "May we &lt;b&gt;eat&lt;/b&gt;?", "Problem B", "waits")
	if page := s.show(cookie(bob), "/rounds/final/clarifications"); strings.Contains(page, "May we") {
		t.Error("another team reads a question")
	}
	page = s.show(prof, "/rounds/final/clarifications")
	s.says(page, "Red", "May we", "No answer needed", "Announce")
	id := between(page, "?reply=", `"`)
	s.says(s.show(prof, "/rounds/final/clarifications?reply="+id), "<blockquote", "who asked")
	if r := s.post(prof, "/rounds/final/clarifications", url.Values{"text": {" "}, "reply_to": {id}}); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, id) {
		t.Errorf("an empty answer: %d", r.status)
	}
	s.posted(prof, "/rounds/final/clarifications", url.Values{"text": {"Yes, quietly."}, "reply_to": {id}, "to": {"asker"}})
	s.says(s.show(cookie(ann), "/rounds/final/clarifications"), "Yes, quietly.", "Answer")
	if page := s.show(cookie(bob), "/rounds/final/clarifications"); strings.Contains(page, "quietly") {
		t.Error("another team reads an answer")
	}
	s.posted(cookie(bob), "/rounds/final/clarifications", url.Values{"text": {"When is lunch?"}})
	page = s.show(prof, "/rounds/final/clarifications")
	_, page = s.posted(prof, "/rounds/final/clarifications/"+between(page, "?reply=", `"`)+"/close", url.Values{})
	if strings.Contains(page, "No answer needed") {
		t.Error("a closed question waits")
	}
}
