package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

func TestABatchIsHandedInAndAskedForAtOnce(t *testing.T) {
	s := newStage(t)
	programs := make([]client.NewSubmission, 3)
	for i := range programs {
		programs[i] = client.NewSubmission{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: fmt.Sprint("int main() { return ", i, "; }")}}}
	}
	first, err := s.client.SubmitBatch(t.Context(), "", "k", programs)
	s.must(err)
	again, err := s.client.SubmitBatch(t.Context(), "", "k", programs)
	s.must(err)
	ids := make([]int64, len(first))
	for i := range first {
		ids[i] = first[i].JobID
		if first[i].Existing || !again[i].Existing || again[i].JobID != first[i].JobID {
			t.Errorf("entry %d is %+v, and again %+v", i, first[i], again[i])
		}
	}
	s.user("ann", "correct horse", judge.RoleContestant)
	other, err := s.store.Submit(t.Context(), sql.NewJob{
		Problem: "aplusb", Language: "cpp", Author: "ann", Sources: []judge.Source{{Name: "a.cpp", Text: "int main() {}"}},
	})
	s.must(err)
	found, err := s.client.GetBatch(t.Context(), []int64{ids[2], other.JobID, 999, ids[0]})
	s.must(err)
	if len(found) != 4 || found[0] == nil || found[0].JobID != ids[2] || found[1] != nil || found[2] != nil || found[3] == nil || found[3].JobID != ids[0] {
		t.Errorf("asked for own, another's, none and own: %+v", found)
	}
}

func TestABatchIsStoredAsAWholeOrNotAtAll(t *testing.T) {
	s := newStage(t)
	good := `{"problem": "aplusb", "language": "cpp", "source": "int main() {}"}`
	send := func(body string, headers ...string) site.Fault {
		t.Helper()
		return document(t, s.do(http.MethodPost, "/api/v1/submissions/batch", body, append(headers, asJSON)...))
	}
	f := send(`{"submissions": [` + good + `, {"problem": "nosuch", "language": "cobol", "source": "x"}, ` + good + `, {"problem": "aplusb", "language": "cpp"}, 5]}`)
	var fields []string
	for _, e := range f.Errors {
		fields = append(fields, e.Field+" "+e.Reason)
	}
	want := "submissions[1].problem unknown; submissions[1].language unknown; submissions[3].source missing; submissions[4] wrong_type"
	if got := strings.Join(fields, "; "); f.Status != 422 || got != want {
		t.Errorf("%d, %s, want %s", f.Status, got, want)
	}
	for body, want := range map[string]string{
		`{}`: "submissions missing", `{"submissions": []}`: "submissions empty", `{"submissions": 5}`: "submissions wrong_type",
		`{"submissions": [` + good + strings.Repeat(", "+good, 50) + `]}`:                                              "submissions too_many",
		`{"submissions": [` + strings.TrimSuffix(good, "}") + `, "space": "x"}]}`:                                      "submissions[0].space unknown",
		`{"submissions": [` + good + `], "space": "nosuch"}`:                                                           "space not_found",
		`{"submissions": [` + good + `, ` + strings.TrimSuffix(good, "}") + `, "priority": 5}]}`:                       "submissions[1].priority forbidden",
		`{"submissions": [` + good + `, {"problem": "aplusb", "language": "cpp", "source": "x", "problem": "pairs"}]}`: "submissions[1].problem duplicate",
	} {
		if f := send(body); f.Field+" "+f.Reason != want {
			t.Errorf("%.120s: %d %s %s, want %s", body, f.Status, f.Field, f.Reason, want)
		}
	}
	stats, err := s.store.QueueStats(t.Context())
	s.must(err)
	if stats.Pending != 0 {
		t.Errorf("%d programs of refused batches are stored", stats.Pending)
	}
	batch := func(source string) string {
		return `{"submissions": [` + good + `, {"problem": "aplusb", "language": "cpp", "source": "` + source + `"}]}`
	}
	if r := s.do(http.MethodPost, "/api/v1/submissions/batch", batch("x"), asJSON, "Idempotency-Key: k"); r.status != http.StatusCreated {
		t.Errorf("a batch: %d %s", r.status, r.body)
	}
	if f := send(batch("y"), "Idempotency-Key: k"); f.Field != "Idempotency-Key" {
		t.Errorf("another batch under the same key: %d %s", f.Status, f.Field)
	}
	for _, ids := range []string{"", "x", "1,,2", "-1", strings.Repeat("1,", 50) + "1"} {
		if f := document(t, s.do(http.MethodGet, "/api/v1/submissions/batch?ids="+ids, "")); f.Status != 422 || f.Field != "ids" {
			t.Errorf("ids=%s: %d %s", ids, f.Status, f.Field)
		}
	}
}
