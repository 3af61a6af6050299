package web

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// ask stores a job about a plugin and returns its id.
func (s *stage) ask(kind judge.Kind, p judge.PluginPayload) int64 {
	s.Helper()
	p.SchemaVersion, p.ContentType, p.By = 1, judge.PluginType, "sue"
	payload, err := json.Marshal(p)
	s.must(err)
	r, err := s.store.Submit(s.Context(), sql.NewJob{Author: "sue", Kind: kind, Payload: payload})
	s.must(err)
	return r.JobID
}

// pairUpload is an upload of the checker org.example.pair as sources.
var pairUpload = judge.PluginPayload{
	Op: judge.PluginUpload, Kind: "checker", Name: "org.example.pair", Version: "1.0.0", Protocol: "testlib/1", Files: []judge.PluginFile{file("pair.c", "int main;")},
}

// tell reports a step of a job about a plugin.
func (s *stage) tell(a judge.Attempt, kind judge.EventKind, data string) {
	s.Helper()
	s.must(s.store.Progress(s.Context(), a, []judge.Progress{{Kind: kind, Finding: json.RawMessage(data)}}))
}

const (
	aStage    = `{"stage": "own-tests", "outcome": "passed", "seconds": 0.1}`
	aFinding  = `{"stage": "hostile", "rule": "hostile-exit", "severity": "error", "offender": "an empty output ends with exit code 139", "remedy": "read with care"}`
	aWarning  = `{"stage": "mutants", "rule": "mutant", "severity": "warning", "offender": "a swapped line is accepted", "remedy": "see whether that is meant"}`
	theReport = `{"op": "upload", "problem": "aplusb", "surprise": [1], "report": {"schema": 1, "conforms": false,
		"plugin": {"digest": "sha256:00", "size": 1},
		"stages": [{"stage": "admission", "outcome": "passed"}, ` + aStage + `, {"stage": "hostile", "outcome": "failed"}, {"stage": "oracle", "outcome": "not_run", "reason": "it needs a problem package"}],
		"findings": [` + aFinding + `, ` + aWarning + `],
		"cost": {"calls": 100, "cpu_us_p50": 42, "cpu_us_p99": 1500, "fuel": 12345, "memory_kib": 320, "fuel_per_mb": 31000000.5, "cpu_ms_per_mb": 5.25}}}`
)

func TestTheReportOnAPluginArrivesLive(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	id := s.ask(judge.KindPluginBuild, pairUpload)
	page := func() string {
		t.Helper()
		r := s.do(http.MethodGet, site.JobURL(id)+"/live", "", sue)
		if r.status != http.StatusOK {
			t.Fatalf("the live part: %d %s", r.status, r.body)
		}
		return r.body
	}
	shows := func(texts ...string) {
		t.Helper()
		body := page()
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("the page lacks %q:\n%s", text, body)
			}
		}
	}
	stream := bufio.NewReader(s.sse(site.JobURL(id)+"/events", sue).body)
	next(t, stream, "submitted")
	next(t, stream, "place")
	shows("Waiting", "1st in the queue")
	if full := s.do(http.MethodGet, site.JobURL(id), "", sue).body; !strings.Contains(full, "Upload of org.example.pair 1.0.0") || !strings.Contains(full, `http-equiv="refresh"`) {
		t.Error("the page of a waiting upload does not name it, or does not reload without JavaScript")
	}
	a := s.claim(id)
	next(t, stream, "claimed")
	shows("Compiling")
	s.compiled(a, 0)
	next(t, stream, "compiled")
	shows("Being proved", "0 errors and 0 warnings so far")
	s.tell(a, "stage", aStage)
	next(t, stream, "stage")
	s.tell(a, "finding", aFinding)
	last, _ := next(t, stream, "finding")
	shows("1 error and 0 warnings so far", "hostile-exit", "exit code 139", "read with care", "own tests")
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.WA, Compile: &judge.Compile{OK: true}, Report: json.RawMessage(theReport)}))
	next(t, stream, "finished")
	next(t, stream, "end")
	if _, err := io.ReadAll(stream); err != nil {
		t.Errorf("the stream does not end well: %v", err)
	}
	shows("Does not conform", "1 error and 1 warning.", "a swapped line is accepted", `not run: <span lang="en">it needs a problem package</span>`, "42 µs", "1.5 ms", "12.3 k", "31 M", "5.25 ms", "320 KiB", "data-done")
	if body := page(); strings.Contains(body, "Activate") {
		t.Error("what does not conform can be activated")
	}

	// Who was cut sees what they missed, and nothing twice, also over the API.
	for _, path := range []string{site.JobURL(id) + "/events", "/api/v1/jobs/1/events"} {
		again := bufio.NewReader(s.sse(path, "Last-Event-ID: "+last, sue).body)
		if _, kind := next(t, again, "submitted", "claimed", "compiled", "stage", "finding", "finished"); kind != "finished" {
			t.Errorf("%s: after the finding comes %q, want finished", path, kind)
		}
	}
	whole := s.sse(site.JobURL(id)+"/events", sue)
	text, err := io.ReadAll(whole.body)
	s.must(err)
	if !strings.Contains(string(text), `"finding":{`) || !strings.Contains(string(text), "hostile-exit") {
		t.Errorf("the replay lacks the finding: %s", text)
	}
}

func TestAReportThatConformsOffersWhatToDoNext(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	id := s.ask(judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginUpload, Problem: "stairs"})
	s.addPlugin(1, "1.0.0", true)
	a := s.claim(id)
	s.must(s.store.SavePlugin(t.Context(), judge.Plugin{
		Digest: digest(2), Kind: "checker", Name: "org.example.other", Version: "2.0.0", Protocol: "testlib/1", Manifest: json.RawMessage(`{}`), Conforms: true, JobID: id, By: "sue",
	}))
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC, Report: json.RawMessage(`{"op": "upload", "report": {"conforms": true}}`)}))
	page := s.do(http.MethodGet, site.JobURL(id), "", sue).body
	for _, want := range []string{
		"Upload of org.example.other 2.0.0", "Conforms", `action="/checkers/checker/org.example.other/activate"`, digest(2), "Preview", "Use for the problem", `value="stairs" selected`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, `http-equiv="refresh"`) {
		t.Error("the page of a finished job reloads")
	}
}

func TestTheOutcomeOfEveryOperationIsPutIntoWords(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	sam := "Authorization: Bearer " + s.user("sam", "correct horse", judge.RoleStaff)
	p := s.addPlugin(1, "1.0.0", true)
	for name, tt := range map[string]struct {
		ask    judge.PluginPayload
		result judge.Result
		who    string
		want   []string
	}{
		"sources that do not compile": {
			pairUpload, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{
				Command: "clang --target=wasm32-wasi pair.c", Output: "pair.c:3:5: error: oops", Diagnostics: []judge.Diagnostic{{File: "pair.c", Line: 3, Column: 5, Severity: "error", Message: "oops"}},
			}}, sue, []string{"Does not compile", "pair.c</strong> line 3, column 5: <span lang=\"en\">oops", "Full output", "wasm32-wasi"},
		},
		"a request that cannot be carried out": {
			judge.PluginPayload{Op: judge.PluginBind, Digest: digest(1), Problem: "aplusb"},
			judge.Result{Verdict: judge.JE, JudgeNote: "judges only", Message: "the package is broken", Report: json.RawMessage(`{"op": "bind", "error": "the package is broken"}`)},
			sam,
			[]string{"Use of org.example.pair 1.0.0 for aplusb", "Not done", "the package is broken", "judges only"},
		},
		"a preview that finds changes, for staff": {
			judge.PluginPayload{Op: judge.PluginPreview, Digest: digest(1), Problem: "aplusb", Limit: 50},
			judge.Result{Verdict: judge.WA, Report: json.RawMessage(`{"op": "preview", "checked": 12, "changes": [{"job_id": 4711, "author": "ann", "before": "AC", "after": "WA", "before_score": 50, "after_score": 0, "test": "secret/3", "message": "the tokens differ"}]}`)},
			sam,
			[]string{"Preview of org.example.pair 1.0.0 on aplusb", "Verdicts change", "12 past submissions were judged again. 1 verdict would change.", `href="/submissions/4711"`, "secret/3", "the tokens differ"},
		},
		"a preview that finds nothing": {
			judge.PluginPayload{Op: judge.PluginPreview, Digest: digest(1), Problem: "aplusb"},
			judge.Result{Verdict: judge.AC, Report: json.RawMessage(`{"op": "preview", "checked": 1}`)},
			sue,
			[]string{"Nothing changes", "1 past submission was judged again"},
		},
		"a binding that follows the name": {
			judge.PluginPayload{Op: judge.PluginBind, Digest: digest(1), Problem: "aplusb"},
			judge.Result{Verdict: judge.AC, Report: json.RawMessage(`{"op": "bind", "binding": "name", "version": "sha256:00"}`)},
			sue,
			[]string{"In use", "follows whatever version"},
		},
		"a binding to one version": {
			judge.PluginPayload{Op: judge.PluginBind, Digest: digest(1), Problem: "aplusb"},
			judge.Result{Verdict: judge.AC, Report: json.RawMessage(`{"op": "bind", "binding": "digest"}`)},
			sue,
			[]string{"In use", "stays with exactly this version"},
		},
		"a report that is not the expected JSON": {
			judge.PluginPayload{Op: judge.PluginTest, Digest: digest(1)},
			judge.Result{Verdict: judge.WA, Report: json.RawMessage(`{"op": 7, "changes": {}, "report": {"findings": [{"rule": "own_tests", "severity": "error"}, 3], "cost": "dear"}}`)},
			sue,
			[]string{"Proof of org.example.pair 1.0.0", "Does not conform", "own_tests"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := s.ask(judge.KindPluginTest, tt.ask)
			s.must(s.store.Finalize(t.Context(), s.claim(id), tt.result))
			page := s.do(http.MethodGet, site.JobURL(id), "", tt.who).body
			for _, want := range tt.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
			if tt.who == sue && strings.Contains(page, "judges only") {
				t.Error("a setter sees what is for staff")
			}
		})
	}
	list := s.do(http.MethodGet, "/checkers", "", sue).body
	for _, want := range []string{"Does not compile", "Verdicts change", "Nothing changes", "In use", "Not done", "Preview of " + p.Name} {
		if !strings.Contains(list, want) {
			t.Errorf("the list of jobs lacks %q", want)
		}
	}
}

func TestWhileAPreviewRunsItsChangesAreShown(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	s.addPlugin(1, "1.0.0", true)
	id := s.ask(judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginPreview, Digest: digest(1), Problem: "aplusb"})
	a := s.claim(id)
	s.tell(a, "finding", `{"job_id": 4711, "author": "ann", "before": "AC", "after": "WA", "test": "secret/3"}`)
	page := s.do(http.MethodGet, site.JobURL(id), "", sue).body
	for _, want := range []string{"Judging past submissions", "1 verdict changes so far", "4711", "secret/3"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "/submissions/4711") {
		t.Error("a setter gets a link to what only staff may open")
	}
	_, err := s.store.Fail(t.Context(), a, "the disk of judge1 is full", true)
	s.must(err)
	page = s.do(http.MethodGet, site.JobURL(id), "", sue).body
	if !strings.Contains(page, "Waiting for another try") || !strings.Contains(page, "failed on our side") || strings.Contains(page, "judge1") || strings.Contains(page, "4711") {
		t.Errorf("after a failure of ours: %s", page)
	}
}

func TestAJobThatIsGivenUpSaysThatItIsNotThePluginsFault(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	sam := "Authorization: Bearer " + s.user("sam", "correct horse", judge.RoleStaff)
	id := s.ask(judge.KindPluginBuild, pairUpload)
	s.must(s.store.Bury(t.Context(), s.claim(id), judge.ReasonPayload, "the disk of judge1 is full"))
	for who, seesWhy := range map[string]bool{sue: false, sam: true} {
		page := s.do(http.MethodGet, site.JobURL(id), "", who).body
		if !strings.Contains(page, "Given up") || !strings.Contains(page, "not the plugin&#39;s fault") || strings.Contains(page, "judge1") != seesWhy {
			t.Errorf("the page of a dead job: %s", page)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/jobs/1", "", sue); !strings.Contains(r.body, `"status":"DEAD"`) || !strings.Contains(r.body, "not the plugin's fault") {
		t.Errorf("over the API: %s", r.body)
	}
	other := s.ask(judge.KindPluginTest, pairUpload)
	s.must(s.store.Cancel(t.Context(), other, "sam", ""))
	if page := s.do(http.MethodGet, site.JobURL(other), "", sue).body; !strings.Contains(page, "The job was cancelled") {
		t.Errorf("the page of a cancelled job: %s", page)
	}
}

func TestNothingThatAPluginSaysIsMarkup(t *testing.T) {
	s := newStage(t)
	sam := "Authorization: Bearer " + s.user("sam", "correct horse", judge.RoleStaff)
	const evil = `</pre></code>"'><script>alert(1)</script><img src=x onerror=alert(1)>`
	e := quoted(evil)
	p := judge.Plugin{
		Digest: "sha256:" + evil, Kind: "checker", Name: "org.example.evil", Version: evil, Protocol: evil, Manifest: json.RawMessage(`{}`), Conforms: true, JobID: 1, By: evil,
	}
	s.must(s.store.SavePlugin(t.Context(), p))
	s.must(s.store.ActivatePlugin(t.Context(), p.Digest, evil))
	finding := `{"stage": ` + e + `, "rule": ` + e + `, "severity": ` + e + `, "offender": ` + e + `, "remedy": ` + e + `}`
	stage := `{"stage": ` + e + `, "outcome": ` + e + `, "reason": ` + e + `}`
	change := `{"job_id": 1, "author": ` + e + `, "before": ` + e + `, "after": ` + e + `, "test": ` + e + `, "message": ` + e + `}`
	running := s.ask(judge.KindPluginBuild, judge.PluginPayload{Op: judge.PluginUpload, Name: evil, Version: evil, Problem: evil})
	a := s.claim(running)
	for _, data := range []string{finding, change} {
		s.tell(a, "finding", data)
	}
	s.tell(a, "stage", stage)
	done := s.ask(judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginPreview, Digest: p.Digest, Name: evil, Problem: evil})
	s.must(s.store.Finalize(t.Context(), s.claim(done), judge.Result{
		Verdict: judge.WA, Message: evil, JudgeNote: evil,
		Compile: &judge.Compile{Output: evil, Command: evil, Diagnostics: []judge.Diagnostic{{File: evil, Line: 1, Severity: evil, Message: evil}}},
		Report:  json.RawMessage(`{"error": ` + e + `, "changes": [` + change + `], "report": {"stages": [` + stage + `], "findings": [` + finding + `]}}`),
	}))
	for _, path := range []string{site.JobURL(running), site.JobURL(running) + "/live", site.JobURL(done), site.JobURL(done) + "/live", "/checkers", "/checkers/checker/org.example.evil"} {
		r := s.do(http.MethodGet, path, "", sam)
		if r.status != http.StatusOK || strings.Contains(r.body, "<script>alert") || strings.Contains(r.body, "<img src=x") {
			t.Errorf("GET %s: status %d, or markup that a plugin wrote", path, r.status)
		}
		if !strings.Contains(r.body, "&lt;script&gt;") {
			t.Errorf("GET %s does not show what was written", path)
		}
	}
	text, err := io.ReadAll(s.sse(site.JobURL(done)+"/events", sam).body)
	s.must(err)
	if strings.Contains(string(text), "<script>") {
		t.Error("the stream has markup that a plugin wrote")
	}
}
