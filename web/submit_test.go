package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

const asJSON = "Content-Type: application/json"

// quoted writes a string as JSON.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// document reads a problem document and checks what every one must have.
func document(t *testing.T, r reply) site.Fault {
	t.Helper()
	if kind := r.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("status %d has content type %q: %s", r.status, kind, r.body)
	}
	var f site.Fault
	if err := json.Unmarshal([]byte(r.body), &f); err != nil {
		t.Fatalf("not a problem document: %v: %s", err, r.body)
	}
	if f.Status != r.status || f.Title == "" || f.Detail == "" || len(f.TraceID) != 32 || f.TraceID != r.header.Get("Trace-Id") {
		t.Errorf("the problem document of status %d is incomplete: %s", r.status, r.body)
	}
	known := false
	for _, k := range errorKinds {
		known = known || k.Reason == f.Reason
	}
	if !known {
		t.Errorf("/api/errors does not explain %q", f.Reason)
	}
	return f
}

func TestBadInputIsRefusedWithTheNameOfTheField(t *testing.T) {
	s := newStage(t)
	long := strings.Repeat("x", 64<<10+1)
	v1 := func(problem, language, source string) string {
		return fmt.Sprintf(`{"problem": %s, "language": %s, "source": %s}`, quoted(problem), quoted(language), quoted(source))
	}
	tests := map[string]struct {
		body          string
		status        int
		field, reason string
	}{
		"unknown problem":                      {v1("nosuch", "cpp", "x"), 422, "problem", "unknown"},
		"problem with a NUL byte":              {v1("a\x00b", "cpp", "x"), 422, "problem", "unknown"},
		"empty problem":                        {v1("", "cpp", "x"), 422, "problem", "unknown"},
		"unknown language":                     {v1("aplusb", "cobol", "x"), 422, "language", "unknown"},
		"empty language":                       {v1("aplusb", "", "x"), 422, "language", "empty"},
		"language without its tool chain":      {v1("aplusb", "rust", "x"), 422, "language", "language_unavailable"},
		"language that the problem forbids":    {v1("stairs", "java", "x"), 422, "language", "not_allowed"},
		"empty source":                         {v1("aplusb", "cpp", ""), 422, "source", "empty"},
		"source of blanks":                     {v1("aplusb", "cpp", " \n\t"), 422, "source", "empty"},
		"source over the default limit":        {v1("aplusb", "cpp", long), 413, "source", "too_long"},
		"source over the problem's own limit":  {v1("stairs", "cpp", long[:1025]), 413, "source", "too_long"},
		"source with a NUL byte":               {v1("aplusb", "cpp", "int\x00main"), 422, "source", "nul_byte"},
		"source that is a number":              {`{"problem": "aplusb", "language": "cpp", "source": 7}`, 422, "source", "wrong_type"},
		"source that is a list":                {`{"problem": "aplusb", "language": "cpp", "source": ["x"]}`, 422, "source", "wrong_type"},
		"problem that is null":                 {`{"problem": null, "language": "cpp", "source": "x"}`, 422, "problem", "missing"},
		"no source":                            {`{"problem": "aplusb", "language": "cpp"}`, 422, "source", "missing"},
		"no language":                          {`{"problem": "aplusb", "source": "x"}`, 422, "language", "missing"},
		"a field nobody knows":                 {`{"problem": "aplusb", "language": "cpp", "source": "x", "Priority": 9}`, 422, "Priority", "unknown"},
		"a field in another case":              {`{"Problem": "aplusb", "language": "cpp", "source": "x"}`, 422, "Problem", "unknown"},
		"a field twice":                        {`{"problem": "aplusb", "problem": "stairs", "language": "cpp", "source": "x"}`, 422, "problem", "duplicate"},
		"source and sources":                   {`{"problem": "aplusb", "language": "cpp", "source": "x", "sources": []}`, 422, "sources", "invalid"},
		"no files":                             {`{"problem": "aplusb", "language": "cpp", "sources": []}`, 422, "source", "empty"},
		"sources that are a string":            {`{"problem": "aplusb", "language": "cpp", "sources": "x"}`, 422, "sources", "wrong_type"},
		"a file that is a string":              {`{"problem": "aplusb", "language": "cpp", "sources": ["x"]}`, 422, "sources[0]", "wrong_type"},
		"a file without text":                  {`{"problem": "aplusb", "language": "cpp", "sources": [{"name": "a.cpp"}]}`, 422, "sources[0].text", "missing"},
		"a file name that leaves the folder":   {`{"problem": "aplusb", "language": "cpp", "sources": [{"name": "../a.cpp", "text": "x"}]}`, 422, "source.name", "invalid"},
		"two files of one name":                {`{"problem": "aplusb", "language": "cpp", "sources": [{"name": "a", "text": "x"}, {"name": "a", "text": "x"}]}`, 422, "sources[1].name", "duplicate"},
		"several files, one without a name":    {`{"problem": "aplusb", "language": "cpp", "sources": [{"name": "a", "text": "x"}, {"text": "x"}]}`, 422, "sources[1].name", "missing"},
		"a list":                               {`[]`, 400, "body", "wrong_type"},
		"nothing":                              {``, 400, "body", "invalid"},
		"half an object":                       {`{"problem": "aplusb"`, 400, "body", "invalid"},
		"two objects":                          {`{} {}`, 400, "body", "invalid"},
		"broken UTF-8":                         {"{\"problem\": \"aplus\xffb\"}", 400, "body", "not_utf8"},
		"more than the server takes at all":    {v1("aplusb", "cpp", strings.Repeat(long, 70)), 413, "body", "too_long"},
		"a source that is huge, with few bits": {v1("aplusb", "cpp", strings.Repeat("\n", 1<<20)), 422, "source", "empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := document(t, s.do(http.MethodPost, "/api/v1/submissions", tt.body, asJSON))
			if f.Status != tt.status || f.Field != tt.field || f.Reason != tt.reason {
				t.Errorf("got %d %s %s (%s), want %d %s %s", f.Status, f.Field, f.Reason, f.Detail, tt.status, tt.field, tt.reason)
			}
		})
	}
	if subs, _, err := s.client.List(t.Context(), clientFilter); err != nil || len(subs) > 0 {
		t.Errorf("bad input was stored: %v, %v", subs, err)
	}
}

func TestTheOriginalContractNamesItsOwnFields(t *testing.T) {
	s := newStage(t)
	for name, tt := range map[string]struct {
		body, field string
	}{
		"unknown problem":  {`{"problem_id": "x", "language": "cpp", "code": "x"}`, "problem_id"},
		"unknown language": {`{"problem_id": "aplusb", "language": "x", "code": "x"}`, "language"},
		"empty code":       {`{"problem_id": "aplusb", "language": "cpp", "code": ""}`, "code"},
		"wrong type":       {`{"problem_id": 17, "language": "cpp", "code": "x"}`, "problem_id"},
	} {
		t.Run(name, func(t *testing.T) {
			if f := document(t, s.do(http.MethodPost, "/submit", tt.body, asJSON)); f.Field != tt.field || f.Status != 422 {
				t.Errorf("got %d %q, want 422 %q", f.Status, f.Field, tt.field)
			}
		})
	}
	r := s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "int main() {}"}`, asJSON)
	var receipt struct {
		JobID int64 `json:"job_id"`
	}
	if err := json.Unmarshal([]byte(r.body), &receipt); err != nil || r.status != http.StatusOK || receipt.JobID == 0 {
		t.Fatalf("submit: %d %s", r.status, r.body)
	}
	path := fmt.Sprintf("/status/%d", receipt.JobID)
	if r := s.do(http.MethodGet, path, ""); !strings.Contains(r.body, `"status":"PENDING"`) || !strings.Contains(r.body, `"result":null`) {
		t.Errorf("status of a waiting job: %s", r.body)
	}
	s.finish(receipt.JobID, judge.Result{Verdict: judge.AC, Tests: []judge.TestResult{{Index: 1, Verdict: judge.AC}}})
	if r := s.do(http.MethodGet, path, ""); !strings.Contains(r.body, `"status":"FINISHED"`) || !strings.Contains(r.body, `"verdict":"AC"`) {
		t.Errorf("status of a finished job: %s", r.body)
	}
	if f := document(t, s.do(http.MethodGet, "/status/999", "")); f.Status != 404 {
		t.Errorf("status of no job: %d", f.Status)
	}
}

func TestARefusalNamesEveryWrongField(t *testing.T) {
	s := newStage(t)
	f := document(t, s.do(http.MethodPost, "/api/v1/submissions", `{"problem": "x", "language": "y", "source": ""}`, asJSON))
	if len(f.Errors) != 3 {
		t.Errorf("got %d errors, want 3: %v", len(f.Errors), f.Errors)
	}
}

func TestNoLanguageIsTakenBeforeTheFirstWorkerEver(t *testing.T) {
	s := newStage(t)
	s.must(s.store.WorkerGone(t.Context(), "judge1-5f3a"))
	f := document(t, s.do(http.MethodPost, "/api/v1/submissions", `{"problem": "aplusb", "language": "cpp", "source": "x"}`, asJSON))
	if f.Status != 422 || f.Field != "language" || f.Reason != "no_live_worker" {
		t.Errorf("got %d %s %s, want 422 language no_live_worker", f.Status, f.Field, f.Reason)
	}
}

func TestAKeySubmitsOnce(t *testing.T) {
	s := newStage(t)
	body := `{"problem": "aplusb", "language": "cpp", "source": "int main() {}"}`
	first := s.do(http.MethodPost, "/api/v1/submissions", body, asJSON, "Idempotency-Key: k1")
	second := s.do(http.MethodPost, "/api/v1/submissions", body, asJSON, "Idempotency-Key: k1")
	if first.status != http.StatusCreated || second.status != http.StatusOK || first.header.Get("Location") != second.header.Get("Location") {
		t.Errorf("first %d %s, second %d %s", first.status, first.body, second.status, second.body)
	}
	other := strings.Replace(body, "{}", "{ }", 1)
	if f := document(t, s.do(http.MethodPost, "/api/v1/submissions", other, asJSON, "Idempotency-Key: k1")); f.Field != "Idempotency-Key" {
		t.Errorf("another program under the same key: %d %q", f.Status, f.Field)
	}
	if f := document(t, s.do(http.MethodPost, "/api/v1/submissions", body, asJSON, "Idempotency-Key: "+strings.Repeat("k", 201))); f.Field != "Idempotency-Key" {
		t.Errorf("a long key: %d %q", f.Status, f.Field)
	}
}

func TestTheFormWorksWithoutJavaScript(t *testing.T) {
	s := newStage(t)
	const form = "Content-Type: application/x-www-form-urlencoded"
	r := s.do(http.MethodPost, "/problems/aplusb", "language=cpp&key=k&source=int+main%28%29%0D%0A%7B%7D%0D%0A", form)
	if r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/submissions/") {
		t.Fatalf("submit: %d %s", r.status, r.body)
	}
	page := s.do(http.MethodGet, r.header.Get("Location"), "")
	if !strings.Contains(page.body, `http-equiv="refresh"`) {
		t.Error("the page of a waiting submission does not reload without JavaScript")
	}
	sub, err := s.client.Get(t.Context(), 1)
	if err != nil || len(sub.Sources) != 1 || sub.Sources[0] != (judge.Source{Name: "main.cpp", Text: "int main()\n{}\n"}) {
		t.Errorf("stored source: %+v, %v", sub, err)
	}
	again := s.do(http.MethodPost, "/problems/aplusb", "language=rust&key=k2&source=fn+main", form)
	for _, want := range []string{"Not submitted", "rustc was not found", ">\nfn main<"} {
		if !strings.Contains(again.body, want) {
			t.Errorf("the refused form (%d) does not show %q", again.status, want)
		}
	}
	if again.status != http.StatusUnprocessableEntity {
		t.Errorf("the refused form has status %d", again.status)
	}
	upload := "--b\r\nContent-Disposition: form-data; name=\"language\"\r\n\r\npython\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\n\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.py\"\r\nContent-Type: text/plain\r\n\r\nprint(1)\r\n--b--\r\n"
	if r := s.do(http.MethodPost, "/problems/aplusb", upload, "Content-Type: multipart/form-data; boundary=b"); r.status != http.StatusSeeOther {
		t.Errorf("upload: %d %s", r.status, r.body)
	}
}
