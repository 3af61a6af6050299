package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/client"
	"deepoj/web/job"
)

// staff calls the API as a member of staff and reads the answer into out.
func (s *stage) staff(token, method, path, body string, out any, headers ...string) reply {
	s.Helper()
	headers = append(headers, "Authorization: Bearer "+token)
	if body != "" {
		headers = append(headers, asJSON)
	}
	r := s.do(method, path, body, headers...)
	if out != nil {
		if err := json.Unmarshal([]byte(r.body), out); err != nil || r.status >= 300 {
			s.Fatalf("%s %s: status %d: %s", method, path, r.status, r.body)
		}
	}
	return r
}

func TestTheQueueIsControlledByStaffAlone(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "int main() {}")
	s.user("cat", "correct horse", judge.RoleContestant)
	token, err := s.client.Login(t.Context(), "cat", "correct horse")
	s.must(err)
	at := fmt.Sprintf("/api/v1/submissions/%d", id)
	calls := []string{
		"POST " + at + "/release", "POST " + at + "/immediate", "POST " + at + "/delay", "POST " + at + "/move", "POST " + at + "/delete", "POST " + at + "/undo",
		"GET /api/v1/queues", "POST /api/v1/queues/default/pause", "POST /api/v1/queues/default/resume", "GET /api/v1/queue?group=guest",
		"GET /api/v1/dlq", "GET /api/v1/dlq/1", "POST /api/v1/dlq/1/replay", "POST /api/v1/dlq/1/discard",
		"GET /api/v1/rejudgings", "POST /api/v1/rejudgings", "GET /api/v1/rejudgings/1", "POST /api/v1/rejudgings/1/apply", "POST /api/v1/rejudgings/1/cancel",
	}
	for _, call := range calls {
		method, path, _ := strings.Cut(call, " ")
		body := ""
		if method == http.MethodPost {
			body = `{"reason":"x","problem":"aplusb"}`
		}
		if r := s.staff(token, method, path, body, nil); r.status != http.StatusForbidden {
			t.Errorf("%s: status %d for a contestant, want 403", call, r.status)
		}
	}
}

func TestStaffMoveWhatWaits(t *testing.T) {
	s := newStage(t)
	token := s.user("prof", "correct horse", judge.RoleStaff)
	var ids []int64
	for i := range 3 {
		ids = append(ids, s.submitAs(fmt.Sprint("ann", i), "aplusb", "cpp", "int main() {}"))
	}
	type moved struct {
		Undone string        `json:"undone"`
		Place  job.PlaceJSON `json:"place"`
	}
	move := func(id int64, verb, body string) (m moved) {
		t.Helper()
		s.staff(token, http.MethodPost, fmt.Sprintf("/api/v1/submissions/%d/%s", id, verb), body, &m)
		return m
	}
	if m := move(ids[2], "release", "{}"); m.Place.Position != 1 {
		t.Errorf("released to position %d, want 1", m.Place.Position)
	}
	if m := move(ids[2], "undo", "{}"); m.Undone != "release" || m.Place.Position != 3 {
		t.Errorf("undo gave %+v, want the release undone and position 3", m)
	}
	if m := move(ids[2], "immediate", "{}"); m.Place.Position != 1 {
		t.Errorf("made immediate to position %d, want 1", m.Place.Position)
	}
	if f := document(t, s.staff(token, http.MethodPost, fmt.Sprintf("/api/v1/submissions/%d/delay", ids[2]), "{}", nil)); f.Reason != "immediate_cannot_move" {
		t.Errorf("an immediate submission was put back: %+v", f)
	}
	move(ids[2], "undo", "{}")
	if m := move(ids[0], "delay", "{}"); m.Place.Position != 3 {
		t.Errorf("delayed to position %d, want 3", m.Place.Position)
	}
	if m := move(ids[0], "move", fmt.Sprintf(`{"before":%d}`, ids[2])); m.Place.Position != 2 {
		t.Errorf("moved to position %d, want 2", m.Place.Position)
	}
	move(ids[1], "delete", "{}")
	if r := s.staff(token, http.MethodPost, fmt.Sprintf("/api/v1/submissions/%d/delete", ids[1]), "{}", nil); r.status != http.StatusConflict {
		t.Errorf("deleting twice: status %d, want 409", r.status)
	}
	if f := document(t, s.staff(token, http.MethodPost, fmt.Sprintf("/api/v1/submissions/%d/move", ids[0]), `{"before":"x"}`, nil)); f.Field != "before" {
		t.Errorf("refused with field %q, want before", f.Field)
	}
	var group struct {
		Waiting []client.Waiting `json:"waiting"`
	}
	s.staff(token, http.MethodGet, "/api/v1/queue?group=ann0", "", &group)
	if len(group.Waiting) != 1 || group.Waiting[0].JobID != ids[0] || group.Waiting[0].Place == nil || group.Waiting[0].Place.Position != 1 {
		t.Errorf("ann0 waits with %+v, want job %d first", group.Waiting, ids[0])
	}
	var queues struct {
		Queues []client.Queue `json:"queues"`
	}
	s.staff(token, http.MethodPost, "/api/v1/queues/default/pause", "{}", nil)
	s.staff(token, http.MethodGet, "/api/v1/queues", "", &queues)
	if len(queues.Queues) != 1 || !queues.Queues[0].Paused || queues.Queues[0].MaxTries != 5 {
		t.Errorf("queues = %+v, want the default one, paused", queues.Queues)
	}
	if m := move(ids[2], "release", "{}"); m.Place.Why != "paused" {
		t.Errorf("waits because of %q, want paused", m.Place.Why)
	}
}

func TestADeadLetterIsReadReplayedAndDiscarded(t *testing.T) {
	s := newStage(t)
	token := s.user("prof", "correct horse", judge.RoleStaff)
	ids := []int64{s.submit("aplusb", "cpp", "1"), s.submit("aplusb", "cpp", "2")}
	for _, id := range ids {
		s.must(s.store.Bury(t.Context(), s.claim(id), judge.ReasonPayload, "schema_version 7"))
	}
	list := func(query string) (found []int64) {
		t.Helper()
		var out struct {
			Letters []client.DeadLetter `json:"dead_letters"`
		}
		s.staff(token, http.MethodGet, "/api/v1/dlq"+query, "", &out)
		for _, l := range out.Letters {
			found = append(found, l.JobID)
		}
		return found
	}
	if got := list(""); !slices.Equal(got, []int64{ids[1], ids[0]}) {
		t.Errorf("dead letters of %v, want both, newest first", got)
	}
	var one struct {
		Letter   client.DeadLetter `json:"dead_letter"`
		Attempts []client.Attempt  `json:"attempts"`
	}
	at := fmt.Sprintf("/api/v1/dlq/%d", ids[0])
	s.staff(token, http.MethodGet, at, "", &one)
	if one.Letter.Reason != string(judge.ReasonPayload) || len(one.Attempts) != 1 || one.Attempts[0].Outcome != "buried" || !strings.Contains(string(one.Letter.Error), "schema_version 7") {
		t.Errorf("dead letter = %+v", one)
	}
	if f := document(t, s.staff(token, http.MethodPost, at+"/discard", "{}", nil)); f.Field != "reason" {
		t.Errorf("discarded without a reason: %+v", f)
	}
	s.staff(token, http.MethodPost, at+"/discard", `{"reason":"handed in twice"}`, new(struct{}))
	s.staff(token, http.MethodGet, at, "", &one)
	if one.Letter.Resolution != "discarded" || one.Letter.ResolvedBy != "prof" || one.Letter.Note != "handed in twice" {
		t.Errorf("discarded letter = %+v", one.Letter)
	}
	if got := list(""); !slices.Equal(got, ids[1:]) {
		t.Errorf("unresolved are %v, want %v", got, ids[1:])
	}
	if got := list("?all=true"); len(got) != 2 {
		t.Errorf("all are %v, want both", got)
	}
	var replayed struct {
		Generation int32 `json:"generation"`
	}
	s.staff(token, http.MethodPost, at+"/replay", "{}", &replayed)
	if replayed.Generation != 2 {
		t.Errorf("replayed as generation %d, want 2", replayed.Generation)
	}
	if r := s.staff(token, http.MethodPost, at+"/replay", "{}", nil); r.status != http.StatusConflict {
		t.Errorf("replaying what is not dead: status %d, want 409", r.status)
	}
	if r := s.staff(token, http.MethodGet, "/api/v1/dlq/999", "", nil); r.status != http.StatusNotFound {
		t.Errorf("no such letter: status %d, want 404", r.status)
	}
}

func TestSubmissionsAreRejudgedAsASet(t *testing.T) {
	s := newStage(t)
	token := s.user("prof", "correct horse", judge.RoleStaff)
	id := s.submit("aplusb", "cpp", "int main() {}")
	s.finish(id, judge.Result{Verdict: judge.WA})
	var set client.RejudgeSet
	for range 2 {
		s.staff(token, http.MethodPost, "/api/v1/rejudgings", `{"reason":"wrong tests","problem":"aplusb","verdict":"WA"}`, &set, "Idempotency-Key: k1")
	}
	if set.ID != 1 || set.Total != 1 || set.Waiting != 1 || set.Done {
		t.Fatalf("set = %+v", set)
	}
	at := fmt.Sprintf("/api/v1/rejudgings/%d", set.ID)
	if f := document(t, s.staff(token, http.MethodPost, at+"/apply", "{}", nil)); f.Reason != "unfinished" {
		t.Errorf("applied too early: %+v", f)
	}
	s.finish(id, judge.Result{Verdict: judge.AC})
	var got struct {
		Set     client.RejudgeSet      `json:"rejudging"`
		Matrix  []client.RejudgeTurn   `json:"matrix"`
		Changes []client.RejudgeChange `json:"changes"`
	}
	s.staff(token, http.MethodGet, at, "", &got)
	if !got.Set.Done || got.Set.Changed != 1 || len(got.Changes) != 1 || got.Changes[0].Before != judge.WA || got.Changes[0].After != judge.AC ||
		!slices.Equal(got.Matrix, []client.RejudgeTurn{{Before: judge.WA, After: judge.AC, Count: 1}}) {
		t.Errorf("set = %+v", got)
	}
	verdict := func() judge.Verdict {
		t.Helper()
		sub, err := s.as(token).Get(t.Context(), id)
		s.must(err)
		return sub.Result.Verdict
	}
	if v := verdict(); v != judge.WA {
		t.Errorf("shown is %s before the set is applied, want WA", v)
	}
	s.staff(token, http.MethodPost, at+"/apply", "{}", &set)
	if set.Resolution != "applied" || set.ResolvedBy != "prof" {
		t.Errorf("set = %+v", set)
	}
	if v := verdict(); v != judge.AC {
		t.Errorf("shown is %s after it, want AC", v)
	}
	if f := document(t, s.staff(token, http.MethodPost, "/api/v1/rejudgings", `{"reason":"everything"}`, nil)); f.Field != "problem" {
		t.Errorf("a set of everything: %+v", f)
	}
	var all struct {
		Sets []client.RejudgeSet `json:"rejudgings"`
	}
	s.staff(token, http.MethodGet, "/api/v1/rejudgings", "", &all)
	if len(all.Sets) != 1 {
		t.Errorf("%d sets, want 1", len(all.Sets))
	}
}

func TestASubmissionAskedForOnceIsNotStoredTwiceWhileItWaits(t *testing.T) {
	s := newStage(t)
	staff := s.user("prof", "correct horse", judge.RoleStaff)
	ann, bob := s.as(s.user("ann", "correct horse", judge.RoleContestant)), s.as(s.user("bob", "correct horse", judge.RoleContestant))
	submit := func(c *client.Client, text string, once bool) client.Receipt {
		t.Helper()
		r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Text: text}}, Once: once})
		s.must(err)
		return r
	}
	first := submit(ann, "int main() {}", true)
	if again := submit(ann, "int main() {}", true); again.JobID != first.JobID || !again.Existing || first.Existing {
		t.Errorf("the first is %+v, the second %+v", first, again)
	}
	for name, r := range map[string]client.Receipt{
		"another program": submit(ann, "int main() { return 1; }", true),
		"another user":    submit(bob, "int main() {}", true),
		"not once":        submit(ann, "int main() {}", false),
	} {
		if r.Existing || r.JobID == first.JobID {
			t.Errorf("%s gets %+v", name, r)
		}
	}
	s.must(s.as(staff).Cancel(t.Context(), first.JobID))
	if later := submit(ann, "int main() {}", true); later.Existing || later.JobID == first.JobID {
		t.Errorf("when it has ended it gets %+v", later)
	}
	body := `{"problem": "aplusb", "language": "cpp", "source": "x", "once": "yes"}`
	if f := document(t, s.staff(staff, http.MethodPost, "/api/v1/submissions", body, nil)); f.Status != http.StatusUnprocessableEntity || f.Field != "once" {
		t.Errorf("once = \"yes\": %+v", f)
	}
}

func TestStaffSayWhenASubmissionIsJudged(t *testing.T) {
	s := newStage(t)
	token := s.user("prof", "correct horse", judge.RoleStaff)
	ann := s.user("ann", "correct horse", judge.RoleContestant)
	prof, ctx := s.as(token), t.Context()
	submit := func(n client.NewSubmission) client.Receipt {
		t.Helper()
		n.Problem, n.Language = "aplusb", "cpp"
		if n.Sources == nil {
			n.Sources = []judge.Source{{Text: "int main() {}"}}
		}
		r, err := prof.Submit(ctx, n)
		s.must(err)
		return r
	}
	first := s.submit("aplusb", "cpp", "int main() {}")
	keyed := submit(client.NewSubmission{JobKey: "k", Priority: -1})
	urgent, now := submit(client.NewSubmission{Priority: 7}), submit(client.NewSubmission{Immediate: true})
	again := submit(client.NewSubmission{JobKey: "k", Sources: []judge.Source{{Text: "int main() { return 1; }"}}})
	if again.JobID != keyed.JobID || !again.Existing {
		t.Errorf("the second submission of a key is %+v, want job %d", again, keyed.JobID)
	}
	if sub, err := prof.Get(ctx, keyed.JobID); err != nil || sub.Sources[0].Text != "int main() { return 1; }" {
		t.Errorf("the submission of the key is %+v, %v; want the newer program", sub, err)
	}
	if want := []int64{now.JobID, urgent.JobID, first, keyed.JobID}; !slices.Equal(s.front(), want) {
		t.Errorf("the queue has %v, want %v", s.front(), want)
	}
	for field, value := range map[string]string{"immediate": "true", "priority": "1", "job_key": `"k"`} {
		body := fmt.Sprintf(`{"problem": "aplusb", "language": "cpp", "source": "x", %q: %s}`, field, value)
		if f := document(t, s.staff(ann, http.MethodPost, "/api/v1/submissions", body, nil)); f.Status != http.StatusForbidden || f.Field != field {
			t.Errorf("%s from a contestant: %+v", field, f)
		}
	}
	for field, value := range map[string]string{"immediate": `"yes"`, "priority": "1001", "job_key": `""`} {
		body := fmt.Sprintf(`{"problem": "aplusb", "language": "cpp", "source": "x", %q: %s}`, field, value)
		if f := document(t, s.staff(token, http.MethodPost, "/api/v1/submissions", body, nil)); f.Status != http.StatusUnprocessableEntity || f.Field != field {
			t.Errorf("%s = %s: %+v", field, value, f)
		}
	}
}

func TestAnAdministratorSaysHowQueuesBehave(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	root, staff := s.admin(), s.someone("prof", judge.RoleStaff)
	_, err := staff.PostQueue(ctx, "course", client.PostQueueRequest{})
	problemOf(t, err, http.StatusForbidden, "forbidden")
	q, err := root.PostQueue(ctx, "course", client.PostQueueRequest{Ordering: judge.LIFO, SpacingSeconds: 60, MaxBacklog: 9})
	s.must(err)
	if q.Ordering != judge.LIFO || q.SpacingSeconds != 60 || q.MaxBacklog != 9 || q.MaxTries != 5 {
		t.Errorf("the new queue: %+v", q)
	}
	_, err = staff.PostQueuePause(ctx, "course")
	s.must(err)
	if q, err = root.PostQueue(ctx, "course", client.PostQueueRequest{MaxTries: 2}); err != nil || !q.Paused || q.MaxTries != 2 || q.Ordering != judge.FIFO {
		t.Errorf("a paused queue that is set anew: %+v, %v", q, err)
	}
	for field, wrong := range map[string]client.PostQueueRequest{
		"ordering": {Ordering: "random"}, "max_wait_seconds": {MaxWaitSeconds: -1}, "redeliver_seconds": {RedeliverSeconds: 1e12}, "max_tries": {MaxTries: -1}, "group_limit": {GroupLimit: 1 << 40},
	} {
		_, err := root.PostQueue(ctx, "course", wrong)
		if refused, ok := errors.AsType[*client.Problem](err); !ok || refused.Status != http.StatusUnprocessableEntity || refused.Field != field {
			t.Errorf("a wrong %s: %v", field, err)
		}
	}
	entries, _, err := root.AuditLog(ctx, client.AuditFilter{Subject: "queue:course", Action: "queue_set"})
	if s.must(err); len(entries) != 2 || entries[0].Actor != "root" || !strings.Contains(string(entries[0].Detail), `"max_tries":2`) {
		t.Errorf("the audit log says %+v", entries)
	}
}

func TestStaffAskWhetherAnythingIsLost(t *testing.T) {
	s := newStage(t)
	s.submit("aplusb", "cpp", "int main() {}")
	staff := s.someone("prof", judge.RoleStaff)
	broken := func() (sum int64) {
		a, err := staff.GetInvariants(t.Context())
		if s.must(err); len(a.Invariants) < 9 {
			t.Errorf("only %d invariants are told", len(a.Invariants))
		}
		for _, i := range a.Invariants {
			sum += i.Count
		}
		return sum
	}
	if n := broken(); n != 0 {
		t.Errorf("%d violations where nothing is wrong", n)
	}
	s.store.Exec(t, "DELETE FROM outbox_events")
	if n := broken(); n == 0 {
		t.Error("a job that lost its place in the queue is no violation")
	}
}
