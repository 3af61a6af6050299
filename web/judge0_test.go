package web

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/jobs"
	"deepoj/web/judge0"
	"deepoj/web/site"
)

// judge0Submit stores a submission as a client of Judge0 and returns its token.
func (s *stage) judge0Submit(body string, headers ...string) string {
	s.Helper()
	r := s.do(http.MethodPost, "/judge0/submissions", body, append(headers, asJSON)...)
	var got struct{ Token string }
	if r.status != http.StatusCreated || json.Unmarshal([]byte(r.body), &got) != nil || got.Token == "" {
		s.Fatalf("POST /judge0/submissions: %d %s", r.status, r.body)
	}
	return got.Token
}

// sameShape compares an answer with what is expected of it, where "TOKEN", "TIME"
// and "ANY" stand for what differs each time. What is an object may have further
// members with open.
func sameShape(got, want any, open bool) error {
	token := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	stamp := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	switch want := want.(type) {
	case string:
		text, isText := got.(string)
		if want == "ANY" || want == "TOKEN" && isText && token.MatchString(text) || want == "TIME" && isText && stamp.MatchString(text) {
			return nil
		}
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || !open && len(object) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for name, member := range want {
			value, there := object[name]
			if !there {
				return fmt.Errorf("%s is missing in %v", name, got)
			}
			if err := sameShape(value, member, open); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Errorf("%v is not %v", got, want)
		}
		for i := range want {
			if err := sameShape(list[i], want[i], open); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%v is not %v", got, want)
	}
	return nil
}

// zipped is an archive of empty files in Base64.
func zipped(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestAClientOfJudge0IsAnsweredAsItExpects(t *testing.T) {
	s := newStage(t)
	hello := `{"source_code": "print('hello')", "language_id": 71, "stdin": "in"}`
	waiting := s.judge0Submit(hello)
	finish := func(token string, r judge.Result) {
		t.Helper()
		found, err := s.store.RunsOfTokens(t.Context(), judge0.Prefix+token)
		s.must(err)
		s.finish(found[0].JobID, r)
	}
	well := s.judge0Submit(hello)
	finish(well, ran(judge.AC, judge.RunOutput{Stdout: []byte("hello\n")}))
	latin := s.judge0Submit(hello)
	finish(latin, ran(judge.AC, judge.RunOutput{Stdout: []byte("h\xe9llo\n")}))
	long := s.judge0Submit(`{"source_code": "x", "language_id": "54", "stdin": "` + strings.Repeat("A", 50) + `"}`)
	broken := s.judge0Submit(hello)
	finish(broken, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{Output: "no"}})
	crashed := s.judge0Submit(hello)
	segv := ran(judge.RE, judge.RunOutput{Stderr: []byte("oops")})
	segv.Tests[0].ExitSignal = 11
	finish(crashed, segv)
	left := s.judge0Submit(hello)
	one := ran(judge.RE, judge.RunOutput{})
	one.Tests[0].ExitCode = 1
	finish(left, one)
	several := s.judge0Submit(`{"source_code": "x", "language_id": 71, "tests": [{"stdin": "1", "expected_output": "1"}, {"stdin": "2", "expected_output": "3"}]}`)
	two := ran(judge.AC, judge.RunOutput{Stdout: []byte("1")}, judge.RunOutput{Stdout: []byte("2")})
	two.Verdict, two.Tests[1].Verdict = judge.WA, judge.WA
	finish(several, two)

	queued := `{"stdout": null, "time": null, "memory": null, "stderr": null, "token": "TOKEN", "compile_output": null, "message": null, "status": {"id": 1, "description": "In Queue"}}`
	outcome := func(stdout, stderr, compiled, message, figures string, id int, status string) string {
		return fmt.Sprintf(`{"stdout": %s, "stderr": %s, "compile_output": %s, "message": %s, %s, "token": "TOKEN", "status": {"id": %d, "description": %q}}`,
			stdout, stderr, compiled, message, figures, id, status)
	}
	const figures, none = `"time": "0.012", "memory": 3400`, `"time": null, "memory": null`
	accepted := outcome(`"hello\n"`, "null", "null", "null", figures, 3, "Accepted")
	notText := `"%s cannot be converted to UTF-8, use base64_encoded=true query parameter"`
	twenty := strings.TrimSuffix(strings.Repeat(well+",", 21), ",")
	for _, tt := range []struct {
		request, body string
		status        int
		want          string // "+" in front: with further members
	}{
		// Submissions
		{"POST /judge0/submissions", hello, 201, `{"token": "TOKEN"}`},
		{"POST /judge0/submissions/?base64_encoded=true&wait=false", `{"source_code": "cHJp\nbnQoMSk", "language_id": 71}`, 201, `{"token": "TOKEN"}`},
		{"POST /judge0/submissions FORM", "source_code=print&language_id=71&cpu_time_limit=1.5&unknown=1", 201, `{"token": "TOKEN"}`},
		{"POST /judge0/submissions", `{"source_code": "x", "language_id": 71, "number_of_runs": null, "memory_limit": "128000", "enable_network": false, "max_file_size": 1024, "enable_per_process_and_thread_time_limit": true}`, 201, `{"token": "TOKEN"}`},
		{"POST /judge0/submissions", `{}`, 422, `{"language_id": ["can't be blank"], "source_code": ["can't be blank"]}`},
		{"POST /judge0/submissions", `{"source_code": "x", "language_id": 9999}`, 422, `{"language_id": ["language with id 9999 doesn't exist"]}`},
		{"POST /judge0/submissions", `{"source_code": "x", "language_id": 73}`, 422, `{"language_id": ["no running worker serves the language with id 73"]}`},
		{
			"POST /judge0/submissions", `{"source_code": "x", "language_id": 71, "cpu_time_limit": 16, "wall_time_limit": -1, "memory_limit": 2047, "stack_limit": "much", "number_of_runs": 1.5}`, 422,
			`{"cpu_time_limit": ["must be less than or equal to 15"], "wall_time_limit": ["must be greater than 0"], "memory_limit": ["must be greater than or equal to 2048"], "stack_limit": ["is not a number"], "number_of_runs": ["must be an integer"]}`,
		},
		{
			"POST /judge0/submissions", `{"source_code": "x", "language_id": 71, "enable_network": true, "callback_url": "file:///etc/passwd", "compiler_options": "'"}`, 422,
			`{"enable_network": ["this option cannot be enabled"], "callback_url": ["is not an http or https address"], "compiler_options": ["is not a command line"]}`,
		},
		{"POST /judge0/submissions", `{"source_code": "x", "language_id": 71, "additional_files": "eA=="}`, 422, `{"additional_files": ["is not a ZIP archive"]}`},
		{
			"POST /judge0/submissions", `{"source_code": "x", "language_id": 71, "additional_files": "` + zipped(t, "main.py/x") + `"}`, 422,
			`{"additional_files": ["has \"main.py/x\", but \"main.py\" is the program itself and no folder"]}`,
		},
		{"POST /judge0/submissions", `{"source_code": "x", "language_id": 89}`, 422, `{"source_code": ["should be null for a multi-file program"], "additional_files": ["can't be blank"]}`},
		{"POST /judge0/submissions?base64_encoded=true", `{"source_code": "!", "language_id": 71}`, 422, `{"source_code": ["is not Base64"]}`},
		{"POST /judge0/submissions?base64_encoded=true", `{"source_code": "/w==", "language_id": 71}`, 422, `{"source_code": ["is not UTF-8 text"]}`},
		{"POST /judge0/submissions", `[]`, 400, `{"error": "the body is not a JSON object"}`},
		{"POST /judge0/submissions?fields=token,x,y", hello, 400, `{"error": "invalid fields: [x, y]"}`},
		{"GET /judge0/submissions/" + waiting, "", 200, queued},
		{"GET /judge0/submissions/" + well, "", 200, accepted},
		{"GET /judge0/submissions/" + well + "?base64_encoded=true&fields=stdout,stdin,status_id", "", 200, `{"stdout": "aGVsbG8K\n", "stdin": "aW4=\n", "status_id": 3}`},
		{"GET /judge0/submissions/" + long + "?base64_encoded=true&fields=stdin", "", 200, `{"stdin": "` + strings.Repeat("QUFB", 15) + `\nQUFBQUE=\n"}`},
		{"GET /judge0/submissions/" + well + "?fields=*", "", 200, `{"source_code": "print('hello')", "language_id": 71, "stdin": "in", "expected_output": null, "stdout": "hello\n", "status_id": 3,
			"created_at": "TIME", "finished_at": "TIME", "started_at": "TIME", "queued_at": "TIME", "time": "0.012", "memory": 3400, "stderr": null, "token": "TOKEN", "number_of_runs": 1,
			"cpu_time_limit": "5.0", "cpu_extra_time": "1.0", "wall_time_limit": "10.0", "memory_limit": 256000, "stack_limit": 64000, "max_processes_and_or_threads": 60,
			"enable_per_process_and_thread_time_limit": false, "enable_per_process_and_thread_memory_limit": false, "max_file_size": 1024, "compile_output": null,
			"exit_code": 0, "exit_signal": null, "message": null, "wall_time": "0.02", "compiler_options": null, "command_line_arguments": null,
			"redirect_stderr_to_stdout": false, "callback_url": null, "additional_files": null, "enable_network": false,
			"status": {"id": 3, "description": "Accepted"}, "language": {"id": 71, "name": "Python 3 (CPython 3.11.2)"}, "tests": null}`},
		{"GET /judge0/submissions/" + latin, "", 400, `{"error": ` + fmt.Sprintf(notText, "some attributes for this submission") + `}`},
		{"GET /judge0/submissions/" + latin + "?base64_encoded=true&fields=stdout", "", 200, `{"stdout": "aOlsbG8K\n"}`},
		{"GET /judge0/submissions/" + broken, "", 200, outcome("null", "null", `"no"`, "null", none, 6, "Compilation Error")},
		{"GET /judge0/submissions/" + crashed, "", 200, outcome("null", `"oops"`, "null", `"Caught fatal signal 11"`, figures, 7, "Runtime Error (SIGSEGV)")},
		{"GET /judge0/submissions/" + crashed + "?fields=exit_code,exit_signal", "", 200, `{"exit_code": null, "exit_signal": 11}`},
		{"GET /judge0/submissions/" + left, "", 200, outcome("null", "null", "null", `"Exited with error code 1"`, figures, 11, "Runtime Error (NZEC)")},
		{"GET /judge0/submissions/" + several + "?fields=stdout,status_id", "", 200, `{"stdout": "2", "status_id": 4, "tests": [
			{"stdout": "1", "stderr": null, "time": "0.012", "wall_time": "0.02", "memory": 3400, "exit_code": 0, "exit_signal": null, "message": null, "status": {"id": 3, "description": "Accepted"}},
			{"stdout": "2", "stderr": null, "time": "0.012", "wall_time": "0.02", "memory": 3400, "exit_code": 0, "exit_signal": null, "message": null, "status": {"id": 4, "description": "Wrong Answer"}}]}`},
		{"GET /judge0/submissions/" + well + "?fields=nothing", "", 400, `{"error": "invalid fields: [nothing]"}`},
		{"GET /judge0/submissions/00000000-0000-4000-8000-000000000000", "", 404, `{"error": "ANY"}`},
		{"GET /judge0/submissions", "", 403, `{"error": "ANY"}`},
		{"DELETE /judge0/submissions/" + well, "", 403, `{"error": "ANY"}`},

		// Batches
		{"POST /judge0/submissions/batch", `{"submissions": [` + hello + `, {"language_id": 71}]}`, 201, `[{"token": "TOKEN"}, {"source_code": ["can't be blank"]}]`},
		{"POST /judge0/submissions/batch", `{"submissions": [{"source_code": "x"}]}`, 422, `[{"language_id": ["can't be blank"]}]`},
		{"POST /judge0/submissions/batch", `{"submissions": []}`, 400, `{"error": "there should be at least one submission in a batch"}`},
		{"POST /judge0/submissions/batch", `{"submissions": [` + strings.Repeat(hello+",", 20) + hello + `]}`, 400, `{"error": "number of submissions in a batch should be less than or equal to 20"}`},
		{"POST /judge0/submissions/batch?wait=true", `{"submissions": [` + hello + `]}`, 400, `{"error": "wait not allowed"}`},
		{"POST /judge0/submissions/batch", `{"submissions": 3}`, 400, `{"error": "ANY"}`},
		{"GET /judge0/submissions/batch?tokens=" + well + ",nothing," + waiting, "", 200, `{"submissions": [` + accepted + `, null, ` + queued + `]}`},
		{"GET /judge0/submissions/batch?fields=status_id TOKENS " + well, "", 200, `{"submissions": [{"status_id": 3}]}`},
		{"GET /judge0/submissions/batch?tokens=" + well + "," + latin, "", 400, `{"error": ` + fmt.Sprintf(notText, "some attributes for one or more submissions") + `}`},
		{"GET /judge0/submissions/batch", "", 400, `{"error": "there should be at least one submission in a batch"}`},
		{"GET /judge0/submissions/batch?tokens=" + twenty, "", 400, `{"error": "number of submissions in a batch should be less than or equal to 20"}`},

		// What there is
		{"GET /judge0/languages", "", 200, `[{"id": 54, "name": "C++ (g++ 12.2.0)"}, {"id": 62, "name": "Java (OpenJDK 17.0.13)"}, {"id": 71, "name": "Python 3 (CPython 3.11.2)"}, {"id": 89, "name": "Multi-file program"}]`},
		{"GET /judge0/languages/all", "", 200, `[{"id": 54, "name": "ANY", "is_archived": false}, {"id": 62, "name": "ANY", "is_archived": false}, {"id": 71, "name": "ANY", "is_archived": false},
			{"id": 73, "name": "Rust", "is_archived": true}, {"id": 89, "name": "ANY", "is_archived": false}]`},
		{"GET /judge0/languages/92", "", 200, `{"id": 92, "name": "Python 3 (CPython 3.11.2)", "is_archived": false, "source_file": "main.py", "compile_cmd": "python3 main.py"}`},
		{"GET /judge0/languages/1", "", 404, `{"error": "ANY"}`},
		{"GET /judge0/about", "", 200, `{"version": "ANY", "homepage": "ANY", "source_code": "ANY", "maintainer": "Deep-OJ test"}`},
		{"GET /judge0/config_info", "", 200, `+{"enable_wait_result": true, "max_submission_batch_size": 20, "cpu_time_limit": 5, "max_cpu_time_limit": 15, "memory_limit": 256000, "max_memory_limit": 524288,
			"max_file_size": 1024, "max_max_file_size": 4096, "number_of_runs": 1, "max_number_of_runs": 20, "allow_enable_network": false, "callbacks_max_tries": 3}`},
		{"GET /judge0/system_info", "", 200, `+{"CPU(s)": "ANY", "Mem": "ANY"}`},
		{"GET /judge0/workers", "", 200, `[{"queue": "default", "size": "ANY", "available": 2, "idle": 2, "working": 0, "paused": 0, "failed": 0}]`},
		{"GET /judge0/statistics", "", 200, `+{"submissions": {"total": "ANY"}}`},
		{"POST /judge0/authorize", "", 403, `{"error": "ANY"}`},
		{"GET /judge0/nothing", "", 404, `{"error": "ANY"}`},
	} {
		request, form := strings.CutSuffix(tt.request, " FORM")
		request, tokens, _ := strings.Cut(request, " TOKENS ")
		method, path, _ := strings.Cut(request, " ")
		headers := []string{asJSON}
		if form {
			headers = []string{"Content-Type: application/x-www-form-urlencoded"}
		}
		if tokens != "" {
			headers = append(headers, "tokens: "+tokens)
		}
		r := s.do(method, path, tt.body, headers...)
		var got, want any
		text, open := strings.CutPrefix(tt.want, "+")
		s.must(json.Unmarshal([]byte(text), &want))
		if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != tt.status {
			t.Errorf("%s %.100s: status %d, want %d: %s", tt.request, tt.body, r.status, tt.status, r.body)
		} else if err := sameShape(got, want, open); err != nil {
			t.Errorf("%s %.100s: %v", tt.request, tt.body, err)
		}
	}
	var statuses []judge0.Status
	r := s.do(http.MethodGet, "/judge0/statuses", "")
	s.must(json.Unmarshal([]byte(r.body), &statuses))
	if !slices.Equal(statuses, judge0.Statuses) || len(statuses) != 14 || statuses[10] != (judge0.Status{ID: 11, Description: "Runtime Error (NZEC)"}) {
		t.Errorf("statuses: %v", statuses)
	}
	for _, path := range []string{"version", "license", "isolate"} {
		if r := s.do(http.MethodGet, "/judge0/"+path, ""); r.status != http.StatusOK || r.body == "" {
			t.Errorf("%s: %d %q", path, r.status, r.body)
		}
	}
	if r := s.do(http.MethodPost, "/judge0/authenticate", ""); r.status != http.StatusOK {
		t.Errorf("the guest authenticates: %d", r.status)
	}
}

func TestAFullQueueIsToldAsJudge0Does(t *testing.T) {
	s := newStage(t)
	s.must(s.store.SaveQueue(t.Context(), judge.Queue{Name: judge.DefaultQueue, MaxBacklog: 1, MaxTries: 5, Redeliver: time.Minute, Spacing: time.Second, MaxWait: time.Minute}))
	s.judge0Submit(`{"source_code": "x", "language_id": 71}`)
	r := s.do(http.MethodPost, "/judge0/submissions", `{"source_code": "x", "language_id": 71}`, asJSON)
	if r.status != http.StatusServiceUnavailable || r.body != `{"error":"queue is full"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestAClientOfJudge0Waits(t *testing.T) {
	s := newStage(t)
	answered := make(chan reply)
	ask := func(query string) {
		answered <- s.do(http.MethodPost, "/judge0/submissions?wait=true"+query, `{"source_code": "x", "language_id": 71, "expected_output": "1"}`, asJSON)
	}
	next := func() int64 {
		for {
			tickets, err := s.store.Pick(t.Context(), jobs.PickRequest{Dispatcher: "test", Limit: 1})
			s.must(err)
			if len(tickets) > 0 {
				return tickets[0].JobID
			}
		}
	}
	go ask("&fields=stdout,status")
	s.finish(next(), ran(judge.WA, judge.RunOutput{Stdout: []byte("2")}))
	if r := <-answered; r.status != http.StatusCreated || r.body != `{"status":{"id":4,"description":"Wrong Answer"},"stdout":"2"}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	go ask("")
	s.finish(next(), ran(judge.AC, judge.RunOutput{Stdout: []byte("\xff")}))
	if r := <-answered; r.status != http.StatusCreated || !strings.Contains(r.body, `"token":`) || !strings.Contains(r.body, "cannot be converted to UTF-8") {
		t.Errorf("an output that is no text: %d %s", r.status, r.body)
	}
}

func TestTheTokensOfJudge0AreThoseOfSessions(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.AuthRequired = true })
	tokens := map[string]string{}
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "sue": judge.RoleSetter, "sam": judge.RoleStaff, "root": judge.RoleAdmin} {
		tokens[name] = s.user(name, "correct horse", role)
	}
	auth := func(name string) string { return "X-Auth-Token: " + tokens[name] }
	hers := s.judge0Submit(`{"source_code": "x", "language_id": 71}`, auth("ann"))
	for name, header := range map[string][]string{"": nil, "wrong": {"X-Auth-Token: wrong"}, "elsewhere": {"X-Token: " + tokens["ann"]}} {
		for _, call := range []string{"POST /judge0/authenticate", "GET /judge0/submissions/" + hers, "GET /judge0/languages", "POST /judge0/submissions", "GET /judge0/workers"} {
			method, path, _ := strings.Cut(call, " ")
			if r := s.do(method, path, "", header...); r.status != http.StatusUnauthorized || !strings.HasPrefix(r.body, `{"error":`) {
				t.Errorf("%s with token %q: status %d %s", call, name, r.status, r.body)
			}
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/submissions", "", auth("ann")); r.status != http.StatusUnauthorized {
		t.Errorf("X-Auth-Token holds elsewhere: %d", r.status)
	}
	for name, may := range map[string]struct{ see, rule bool }{"ann": {true, false}, "bob": {}, "sue": {}, "sam": {true, true}, "root": {true, true}} {
		for call, allowed := range map[string]int{
			"POST /judge0/authenticate": 200, "GET /judge0/languages": 200, "GET /judge0/submissions/" + hers: 200,
			"GET /judge0/submissions/batch?tokens=" + hers: 200, "GET /judge0/submissions": 200, "POST /judge0/authorize": 200,
			"DELETE /judge0/submissions/" + hers: 400,
		} {
			method, path, _ := strings.Cut(call, " ")
			r := s.do(method, path, "", auth(name))
			switch {
			case path == "/judge0/submissions" || method == http.MethodDelete || strings.HasSuffix(path, "authorize"):
				if !may.rule {
					allowed = http.StatusForbidden
				}
			case strings.HasSuffix(path, "/"+hers) && !may.see:
				allowed = http.StatusNotFound
			case strings.HasPrefix(path, "/judge0/submissions/batch") && !may.see:
				if r.body != `{"submissions":[null]}` {
					t.Errorf("%s gets %s in a batch", name, r.body)
				}
			}
			if r.status != allowed {
				t.Errorf("%s for %s: status %d, want %d: %s", call, name, r.status, allowed, r.body)
			}
		}
	}
	var page struct {
		Submissions []map[string]any
		Meta        map[string]any
	}
	for range 2 {
		s.judge0Submit(`{"source_code": "y", "language_id": 71}`, auth("bob"))
	}
	r := s.do(http.MethodGet, "/judge0/submissions?page=2&per_page=2&fields=token", "", auth("ann"), "X-Auth-User: "+tokens["root"])
	s.must(json.Unmarshal([]byte(r.body), &page))
	if len(page.Submissions) != 1 || page.Submissions[0]["token"] != hers || fmt.Sprint(page.Meta) != "map[current_page:2 next_page:<nil> prev_page:1 total_count:3 total_pages:2]" {
		t.Errorf("the second page: %s", r.body)
	}
	if r := s.do(http.MethodGet, "/judge0/submissions", "", auth("ann"), "X-Auth-User: "+tokens["bob"]); r.status != http.StatusForbidden {
		t.Errorf("a contestant's X-Auth-User: %d", r.status)
	}
}

func TestACallbackIsMadeUntilItIsTaken(t *testing.T) {
	type call struct{ method, kind, body string }
	heard := make(chan call, 10)
	var failures atomic.Int32
	failures.Store(2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if failures.Add(-1) >= 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
		heard <- call{r.Method, r.Header.Get("Content-Type"), string(body)}
	}))
	t.Cleanup(server.Close)
	submit := func(s *stage) string {
		t.Helper()
		token := s.judge0Submit(`{"source_code": "x", "language_id": 71, "callback_url": "` + server.URL + `/told"}`)
		s.finish(1, ran(judge.AC, judge.RunOutput{Stdout: []byte("h\xe9")}))
		return token
	}
	outcomes := func(s *stage, want string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; {
			if r := s.do(http.MethodGet, "/metrics", ""); strings.Contains(r.body, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("there is no %s", want)
			}
			<-time.After(50 * time.Millisecond)
		}
	}

	// A private address that nobody allowed hears nothing, and is given up.
	refused := newStage(t)
	submit(refused)
	outcomes(refused, `web_callbacks_total{outcome="failed"} 1`)
	if len(heard) > 0 {
		t.Fatalf("a private address heard %+v", <-heard)
	}

	s := newStage(t, func(c *site.Config) { c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	token := submit(s)
	for i := range 3 {
		select {
		case got := <-heard:
			want := `{"compile_output":null,"memory":3400,"message":null,"status":{"id":3,"description":"Accepted"},"stderr":null,"stdout":"aOk=\n","time":"0.012","token":"` + token + `"}`
			if got != (call{"PUT", "application/json", want}) {
				t.Errorf("call %d: %+v", i+1, got)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("there is no further call")
		}
	}
	outcomes(s, `web_callbacks_total{outcome="told"} 1`)
	if due, err := s.store.DueCallbacks(t.Context(), 10); err != nil || len(due) > 0 || len(heard) > 0 {
		t.Errorf("after the end there are %d callbacks (%v) and %d calls", len(due), err, len(heard))
	}
}

// chapters are the addresses that the guide tells of.
var chapters = []string{site.Judge0Path, "/api/v1/runs", "/api/v1/sessions", "/api/v1/account", "/api/v1/keys", "/api/v1/users", "/api/v1/webhooks", "/api/v1/spaces", "/api/v1/submissions/batch", "/api/v1/audit", "/api/v1/workers", "/api/v1/languages"}

func TestTheGuideNamesEveryRoute(t *testing.T) {
	s := newStage(t)
	guide, err := os.ReadFile("../host/docs/api.md")
	s.must(err)
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(GET|POST|PUT|PATCH|DELETE) .*? \\|").FindAllStringSubmatch(string(guide), -1) {
		for _, path := range regexp.MustCompile("/[a-z0-9_/:]+").FindAllString(row[0], -1) {
			documented[row[1]+" "+path] = true
		}
	}
	for _, route := range s.server.app.GetRoutes(true) {
		told := slices.ContainsFunc(chapters, func(prefix string) bool { return route.Path == prefix || strings.HasPrefix(route.Path, prefix+"/") })
		if !told || route.Method == http.MethodHead {
			continue
		}
		name := route.Method + " " + route.Path
		if !documented[name] {
			t.Errorf("%s is not in the guide", name)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("the guide names %s, which there is not", name)
	}
}
