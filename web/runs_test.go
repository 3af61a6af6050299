package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// ran is a result of a run with these outputs.
func ran(v judge.Verdict, outputs ...judge.RunOutput) judge.Result {
	r := judge.Result{Verdict: v, Compile: &judge.Compile{OK: true}, Worker: "judge1-5f3a", JudgeNote: "judges only"}
	for i := range outputs {
		r.Tests = append(r.Tests, judge.TestResult{
			Index: i + 1, Name: fmt.Sprint(i + 1), Sample: true, Verdict: v, Usage: judge.Usage{CPUMillis: 12, WallMillis: 20, MemoryKiB: 3400},
		})
	}
	r.Report, _ = json.Marshal(judge.RunReport{Outputs: outputs}) // bytes and truth values
	return r
}

func (s *stage) runJSON(path string, headers ...string) (out client.Run) {
	s.Helper()
	r := s.do(http.MethodGet, path, "", headers...)
	if r.status != http.StatusOK || json.Unmarshal([]byte(r.body), &out) != nil {
		s.Fatalf("GET %s: %d %s", path, r.status, r.body)
	}
	return out
}

func TestARunIsAJobThatDoesNotCount(t *testing.T) {
	s := newStage(t)
	body := `{"problem": "aplusb", "language": "cpp", "source": "int main() {}", "stdin": "1 2\n", "expected_output": "3\n",
		"args": ["a b"], "compiler_options": ["-O0"], "limits": {"cpu_ms": 500, "processes": 4}, "merge_stderr": true}`
	r := s.do(http.MethodPost, "/api/v1/runs", body, asJSON, "Idempotency-Key: k")
	if r.status != http.StatusAccepted || r.header.Get("Location") != "/api/v1/runs/1" {
		t.Fatalf("POST: %d %s", r.status, r.body)
	}
	if again := s.do(http.MethodPost, "/api/v1/runs", body, asJSON, "Idempotency-Key: k"); !strings.Contains(again.body, `"existing":true`) {
		t.Errorf("the same again: %s", again.body)
	}
	job := s.claimJob(1)
	var p judge.RunPayload
	s.must(json.Unmarshal(job.Payload, &p))
	if job.Kind != judge.KindRun || !strings.HasPrefix(job.ProblemVersion, "sha256:a1") || p.Sources[0].Name != "main.cpp" ||
		string(p.Tests[0].Input) != "1 2\n" || string(*p.Tests[0].Expected) != "3\n" || p.Limits != (judge.RunLimits{CPUMillis: 500, Processes: 4}) ||
		fmt.Sprint(p.Args, p.Options, p.MergeStderr) != "[a b] [-O0] true" {
		t.Errorf("the worker gets %+v with %+v", job, p)
	}
	waited := make(chan client.Run)
	go func() { waited <- s.runJSON("/api/v1/runs/1?wait=60") }()
	s.must(s.store.Finalize(t.Context(), job.Attempt, ran(judge.AC, judge.RunOutput{Stdout: []byte("3\xff\n"), Stderr: []byte("note")})))
	got := <-waited
	for got.Status != "FINISHED" { // a wait is bounded
		got = s.runJSON("/api/v1/runs/1?wait=60")
	}
	one := got.Result.Tests[0]
	if got.Result.Verdict != judge.AC || one.Stdout != "3\uFFFD\n" || one.StdoutBase64 != "M/8K" || one.Stderr != "note" || one.Usage.CPUMillis != 12 {
		t.Errorf("the answer: %+v", got.Result)
	}
	for _, path := range []string{"/api/v1/submissions/1", "/submissions/1", "/status/1", "/api/v1/jobs/1"} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusNotFound {
			t.Errorf("%s shows a run: %d", path, r.status)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/submissions", ""); strings.Contains(r.body, "job_id") {
		t.Errorf("a run is among the submissions: %s", r.body)
	}
	if r := s.do(http.MethodGet, "/runs/1", ""); r.status != http.StatusOK || !strings.Contains(r.body, "note</pre>") || strings.Contains(r.body, "judges only") {
		t.Errorf("the page: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/api/v1/runs/1/events", ""); !strings.Contains(r.body, "event: end") || strings.Contains(r.body, "judge1-5f3a") {
		t.Errorf("the events: %s", r.body)
	}
}

func TestARunThatIsWrongIsRefusedByField(t *testing.T) {
	s := newStage(t)
	s.beat(append(languages, judge.Language{ID: judge.AnswerLanguage, Name: "Answers", Available: true})...)
	for body, want := range map[string]string{
		`{"language": "answer", "source": "3"}`: "language unknown",
		`{}`:                                    "language missing",
		`{"language": "cpp", "source": "x", "problem": "nosuch"}`:                              "problem unknown",
		`{"language": "rust", "source": "x"}`:                                                  "language language_unavailable",
		`{"language": "cpp", "source": "x", "samples": true}`:                                  "samples invalid",
		`{"language": "cpp", "source": "x", "problem": "aplusb", "samples": 1}`:                "samples wrong_type",
		`{"language": "cpp", "source": "x", "problem": "aplusb", "samples": true, "stdin":""}`: "samples invalid",
		`{"language": "cpp", "source": "x", "limits": {"cpu_ms": 15001}}`:                      "limits.cpu_ms invalid",
		`{"language": "cpp", "source": "x", "limits": {"cpu_ms": 0}}`:                          "limits.cpu_ms invalid",
		`{"language": "cpp", "source": "x", "limits": {"memory_kib": 2047}}`:                   "limits.memory_kib invalid",
		`{"language": "cpp", "source": "x", "limits": {"cpu": 1}}`:                             "limits.cpu unknown",
		`{"language": "cpp", "source": "x", "limits": 3}`:                                      "limits wrong_type",
		`{"language": "cpp", "source": "x", "tests": [{"in": "1"}]}`:                           "tests[0].in unknown",
		`{"language": "cpp", "source": "x", "tests": [{}], "stdin": ""}`:                       "tests invalid",
		`{"language": "cpp", "source": "x", "tests": [1]}`:                                     "tests[0] wrong_type",
		`{"language": "cpp", "source": "x", "tests": [` + strings.Repeat("{},", 20) + `{}]}`:   "tests too_many",
		`{"language": "cpp", "source": "x", "args": "a"}`:                                      "args wrong_type",
		`{"language": "cpp", "source": "x", "args": ["a\u0000"]}`:                              "args invalid",
		`{"language": "cpp", "source": "` + strings.Repeat("x", 257<<10) + `"}`:                "source too_long",
	} {
		f := document(t, s.do(http.MethodPost, "/api/v1/runs", body, asJSON))
		if got := f.Field + " " + f.Reason; got != want {
			t.Errorf("%.80s: %s, want %s", body, got, want)
		}
	}
	if r := s.do(http.MethodPost, "/api/v1/runs", "x", "Content-Type: text/plain"); r.status != http.StatusUnsupportedMediaType {
		t.Errorf("a body that is no JSON: %d", r.status)
	}
}

func TestTheProblemPageRunsWithoutScripts(t *testing.T) {
	s := newStage(t)
	form := func(values ...string) string {
		v := url.Values{"language": {"cpp"}, "source": {"int main() {}"}, "key": {"k"}}
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		return v.Encode()
	}
	post := func(body string) reply {
		return s.do(http.MethodPost, "/problems/aplusb/runs", body, "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
	}
	if r := post(form("stdin", "4 5\r\n6")); r.status != http.StatusSeeOther || r.header.Get("Location") != "/runs/1" {
		t.Fatalf("a run: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/runs/1", ""); !strings.Contains(r.body, `http-equiv="refresh"`) || !strings.Contains(r.body, "Waiting") {
		t.Errorf("the page of a run that waits: %s", r.body)
	}
	if r := post(form("samples", "1", "stdin", "x")); r.header.Get("Location") != "/runs/2" {
		t.Errorf("the samples: %d %s", r.status, r.body)
	}
	own, samples := s.claimJob(1), s.claimJob(2)
	var p, q judge.RunPayload
	s.must(json.Unmarshal(own.Payload, &p))
	s.must(json.Unmarshal(samples.Payload, &q))
	if string(p.Tests[0].Input) != "4 5\n6" || p.Samples || !q.Samples || len(q.Tests) != 0 {
		t.Errorf("the runs are %+v and %+v", p, q)
	}
	s.must(s.store.Finalize(t.Context(), own.Attempt, ran(judge.AC, judge.RunOutput{Stdout: []byte("<9>")})))
	if r := s.do(http.MethodGet, "/runs/1/live?wait=1", ""); !strings.Contains(r.body, "&lt;9&gt;") || !strings.Contains(r.body, "data-done") || strings.Contains(r.body, "Accepted") {
		t.Errorf("the part that changes: %s", r.body)
	}
	r := post(form("source", " ", "stdin", "keep me"))
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "Not run.") || !strings.Contains(r.body, "keep me") {
		t.Errorf("an empty program: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodPost, "/problems/aplusb", form(), "Content-Type: application/x-www-form-urlencoded"); r.header.Get("Location") != "/submissions/3" {
		t.Errorf("the key of the form was used up by a run: %d %s", r.status, r.header.Get("Location"))
	}
}

func TestOnlyTheAuthorAndStaffSeeARun(t *testing.T) {
	s := newStage(t)
	tokens := map[string]string{"guest": ""}
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "sue": judge.RoleSetter, "sam": judge.RoleStaff, "root": judge.RoleAdmin} {
		tokens[name] = s.user(name, "correct horse", role)
	}
	as := func(name string) []string {
		if tokens[name] == "" {
			return []string{asJSON}
		}
		return []string{asJSON, "Authorization: Bearer " + tokens[name]}
	}
	if r := s.do(http.MethodPost, "/api/v1/runs", `{"language": "cpp", "source": "x"}`, as("ann")...); r.status != http.StatusAccepted {
		t.Fatalf("ann runs: %d %s", r.status, r.body)
	}
	s.finish(1, ran(judge.AC, judge.RunOutput{Stdout: []byte("hers")}))
	may := map[string]bool{"ann": true, "sam": true, "root": true}
	for name := range tokens {
		for _, path := range []string{"/api/v1/runs/1", "/api/v1/runs/1/events", "/runs/1", "/runs/1/live", "/runs/1/events"} {
			want := http.StatusNotFound
			if may[name] {
				want = http.StatusOK
			}
			if r := s.do(http.MethodGet, path, "", as(name)...); r.status != want {
				t.Errorf("%s reads %s: status %d, want %d", name, path, r.status, want)
			}
		}
	}
}

func TestARunIsEndedByWhoAskedForIt(t *testing.T) {
	s := newStage(t)
	expected := "3\n"
	r, err := s.client.StartRun(t.Context(), client.NewRun{
		Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}}, Tests: []client.RunTest{{Stdin: "1 2\n", Expected: &expected}},
	})
	s.must(err)
	if got, err := s.client.Run(t.Context(), r.JobID); err != nil || got.Done() || got.Place == nil {
		t.Fatalf("a run that waits: %+v, %v", got, err)
	}
	if page := s.do(http.MethodGet, r.URL, ""); !strings.Contains(page.body, r.URL+"/cancel") {
		t.Error("the page of a run that waits has no button to cancel it")
	}
	_, err = s.client.PostRunCancel(t.Context(), r.JobID, client.Reason{})
	s.must(err)
	got, err := s.client.WaitRun(t.Context(), r.JobID)
	if err != nil || got.Status != "CANCELLED" || got.Result != nil || got.Error == nil {
		t.Errorf("a cancelled run: %+v, %v", got, err)
	}
	if page := s.do(http.MethodGet, r.URL, ""); strings.Contains(page.body, r.URL+"/cancel") {
		t.Error("the page of a cancelled run has a button to cancel it")
	}

	again, err := s.client.StartRun(t.Context(), client.NewRun{Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}}})
	s.must(err)
	s.finish(again.JobID, ran(judge.AC, judge.RunOutput{Stdout: []byte("3\xff\n"), Stderr: []byte("note")}))
	if got, err = s.client.WaitRun(t.Context(), again.JobID); err != nil {
		t.Fatal(err)
	}
	if out, text := got.Result.Tests[0].Outputs(); string(out) != "3\xff\n" || string(text) != "note" {
		t.Errorf("the outputs are %q and %q", out, text)
	}
	before := got
	s.do(http.MethodPost, "/api/v1/runs/2/cancel", "{}", asJSON)
	if got, err = s.client.Run(t.Context(), again.JobID); err != nil || got.Status != before.Status || got.Result == nil {
		t.Errorf("a run that was done is %+v after a cancel, %v", got, err)
	}
}
