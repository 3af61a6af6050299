package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// meaning makes of a text what a schema of a parameter has it mean, or says why it
// cannot.
func meaning(schema map[string]any, text string) (any, error) {
	switch schema["type"] {
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return float64(n), err
	case "number":
		return strconv.ParseFloat(text, 64)
	case "boolean":
		return strconv.ParseBool(text)
	case "string":
		return text, nil
	}
	return nil, fmt.Errorf("the description has the type %v", schema["type"])
}

// misfit says why a text is no value of a parameter; "" if it is one.
func misfit(schema map[string]any, text string) string {
	value, err := meaning(schema, text)
	if err != nil {
		return fmt.Sprintf("%q: %v", text, err)
	}
	if n, ok := value.(float64); ok {
		if least, bound := schema["minimum"].(float64); bound && n < least {
			return fmt.Sprintf("%v is below %v", n, least)
		}
		if most, bound := schema["maximum"].(float64); bound && n > most {
			return fmt.Sprintf("%v is above %v", n, most)
		}
	}
	return mismatch(nil, schema, value, "value")
}

// queryOf returns the schemas of the query parameters of an operation.
func queryOf(op map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	list, _ := op["parameters"].([]any)
	for _, p := range list {
		if name, _ := dig(p, "name").(string); dig(p, "in") == "query" {
			out[name], _ = dig(p, "schema").(map[string]any)
		}
	}
	return out
}

// wrongQuery says what of the query of a request that was answered is not as it is
// described.
func wrongQuery(op map[string]any, q url.Values) (wrong []string) {
	schemas := queryOf(op)
	for name, values := range q {
		schema, known := schemas[name]
		if !known {
			wrong = append(wrong, "the parameter "+name+" is not in the description")
			continue
		}
		for _, text := range values {
			if found := misfit(schema, text); found != "" {
				wrong = append(wrong, "the parameter "+name+": "+found)
			}
		}
	}
	return wrong
}

// wrongForm is wrongQuery of a form.
func wrongForm(document map[string]any, schema map[string]any, body []byte, boundary string) (wrong []string) {
	value := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for form := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := form.NextPart()
		if err != nil {
			break
		}
		text, _ := io.ReadAll(part)
		property, _ := properties[part.FormName()].(map[string]any)
		switch before, list := value[part.FormName()].([]any); {
		case property["type"] == "array" || list:
			value[part.FormName()] = append(before, string(text))
		case property == nil:
			value[part.FormName()] = string(text)
		default:
			if value[part.FormName()], err = meaning(property, string(text)); err != nil {
				wrong = append(wrong, fmt.Sprintf("the field %s: %v", part.FormName(), err))
			}
		}
	}
	if found := mismatch(document, schema, value, "form"); schema == nil || found != "" {
		wrong = append(wrong, "the form is not as it is described: "+found)
	}
	return wrong
}

// watchedEvents tells of each event of a stream that is read.
type watchedEvents struct {
	io.ReadCloser
	tell func(event string, data any)
	part []byte // of an event
}

func (w *watchedEvents) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.part = append(w.part, p[:n]...)
	for {
		text, rest, whole := bytes.Cut(w.part, []byte("\n\n"))
		if !whole {
			return n, err
		}
		w.part = bytes.Clone(rest)
		event, data := "", any(nil)
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if name == "event" {
				event = value
			}
			if name == "data" && json.Unmarshal([]byte(value), &data) != nil {
				data = value
			}
		}
		if event != "" {
			w.tell(event, data)
		}
	}
}

func TestEveryParameterIsTakenAsItIsDescribed(t *testing.T) {
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, func(c *site.Config) { c.Blobs = store })
	ctx := t.Context()
	root := s.someone("root", judge.RoleAdmin)
	_, _, err = root.CreateWebhook(ctx, client.NewWebhook{URL: "http://10.0.0.1/", Kinds: judge.WebhookKinds})
	s.must(err)
	id := s.submitAs("root", "aplusb", "cpp", "int main() {}")
	s.finish(id, judge.Result{Verdict: judge.WA})
	run, err := root.StartRun(ctx, client.NewRun{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}})
	s.must(err)
	s.finish(run.JobID, ran(judge.AC, judge.RunOutput{}))
	job, err := s.store.Submit(ctx, sql.NewJob{Kind: judge.KindVerify, Author: "root", Payload: json.RawMessage(`{"problem": "aplusb", "version": "sha256:00", "by": "root"}`)})
	s.must(err)
	s.finish(job.JobID, judge.Result{Verdict: judge.AC})
	set, err := s.store.StartRejudge(ctx, sql.RejudgeRequest{JobIDs: []int64{id}, Reason: "why not", By: "root"})
	s.must(err)
	s.finish(id, judge.Result{Verdict: judge.AC}) // so that streams of it end
	s.must(s.store.CreateSpace(ctx, judge.Space{Slug: "course", Title: "A course"}, "root"))
	s.must(s.store.Rounds.Create(ctx, judge.Round{Space: "course", Code: "day-1", Title: "Day 1", Kind: judge.RoundContest, Format: "icpc", Start: new(time.Now())}, "root"))
	s.record()
	names := map[string]string{
		"/spaces/:space": "/spaces/course", "/rounds/:round": "/rounds/day-1",
		"/users/:name": "/users/root", "/submissions/:id": fmt.Sprint("/submissions/", id), "/runs/:id": fmt.Sprint("/runs/", run.JobID), "/jobs/:id": fmt.Sprint("/jobs/", job.JobID),
		"/rejudgings/:id": fmt.Sprint("/rejudgings/", set.ID), "/webhooks/:id": "/webhooks/1", "/problems/:slug": "/problems/aplusb",
	}
	token := "Authorization: Bearer " + s.session("root")
	document, err := documented()
	s.must(err)
	tried := 0
	for _, op := range operations(s.server.addresses()) {
		method, path, _ := strings.Cut(op.Route, " ")
		for name, real := range names {
			path = strings.Replace(path, name, real, 1)
		}
		for name, schema := range queryOf(operationOf(document, method, path)) {
			if p, known := parameterOf(op.Route, name); !known || p.does == "" || schema["type"] == nil {
				t.Errorf("%s: the parameter %s is described by half", op.Route, name)
			}
			good, bad := map[any][]string{"integer": {"1", "7"}, "number": {"0", "0.01"}, "boolean": {"true", "false", "1"}, "string": {"x"}}[schema["type"]],
				map[any][]string{"integer": {"x", "1.5"}, "number": {"x", "NaN"}, "boolean": {"maybe"}}[schema["type"]]
			if n, bounded := schema["minimum"].(float64); bounded {
				bad = append(bad, fmt.Sprint(n-1))
				good = slices.DeleteFunc(good, func(value string) bool {
					x, err := strconv.ParseFloat(value, 64)
					return err == nil && x < n
				})
			}
			if n, bounded := schema["maximum"].(float64); bounded {
				good, bad = append(good, fmt.Sprint(n)), append(bad, fmt.Sprint(n+1))
			}
			if list, closed := schema["enum"].([]any); closed {
				good, bad = nil, []string{"nosuch"}
				for _, value := range list {
					good = append(good, fmt.Sprint(value))
				}
			}
			if pattern, some := schema["pattern"].(string); some {
				known := regexp.MustCompile(pattern)
				good, bad = nil, nil
				for _, value := range []string{"1", "1,2", "1.2", "1.2.0.1790000000000000.7", "x", "0", "1,", "1.", "3:41:00", "p7"} {
					if known.MatchString(value) {
						good = append(good, value)
					} else {
						bad = append(bad, value)
					}
				}
				if len(good) == 0 {
					t.Errorf("%s: no value is tried of %s, %s", op.Route, name, pattern)
				}
			}
			ask := func(value string) (status int, wrong []string) {
				t.Helper()
				tried++
				headers := []string{token, "Accept: application/json"}
				if method == http.MethodPost {
					for media := range uploads[op.Route] {
						if media != "multipart/form-data" {
							headers = append(headers, "Content-Type: "+media)
						}
					}
				}
				method := method
				endless := strings.HasSuffix(op.Route, "/board/stream") && slices.Contains(good, value)
				if endless { // a stream that goes on as long as the round does
					method = http.MethodHead
				}
				r := s.do(method, path+"?"+url.Values{name: {value}}.Encode(), "no file", headers...)
				var f site.Fault
				if r.status >= 400 && endless {
					t.Errorf("%s?%s=%s: status %d", op.Route, name, value, r.status)
					return r.status, nil
				}
				if r.status >= 400 {
					s.must(json.Unmarshal([]byte(r.body), &f))
				}
				wrong = append(wrong, f.Field)
				for _, e := range f.Errors {
					wrong = append(wrong, e.Field)
				}
				return r.status, wrong
			}
			for _, value := range bad {
				if status, wrong := ask(value); status != 422 && status != 400 || !slices.Contains(wrong, name) {
					t.Errorf("%s?%s=%s: status %d names %v, want a refusal of the parameter", op.Route, name, value, status, wrong)
				}
			}
			for _, value := range good {
				if value == "plan/1" { // not of a checker
					continue
				}
				if status, wrong := ask(value); slices.Contains(wrong, name) && name != "name" && name != "problem" && name != "lang" && !strings.HasSuffix(parameters[op.Route+" "+name].does, "behind this one: the next of the page before") && !strings.Contains(parameters[op.Route+" "+name].does, ", by the") || status >= 500 {
					t.Errorf("%s?%s=%s: status %d names %v, and the description allows it", op.Route, name, value, status, wrong)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d values were tried", tried)
	}
}

func TestADescriptionOfAParameterThatIsWrongIsNoticed(t *testing.T) {
	t.Parallel()
	document, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	op := operationOf(document, "GET", "/api/v1/users")
	for query, right := range map[string]bool{
		"role=setter&limit=200&after=ann": true, "limit=201": false, "limit=0": false, "limit=few": false, "role=emperor": false, "colour=red": false,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := wrongQuery(op, q); (len(wrong) == 0) != right {
			t.Errorf("%s: %v", query, wrong)
		}
	}
	schema, _ := dig(operationOf(document, "POST", "/api/v1/plugins"), "requestBody", "content", "multipart/form-data", "schema").(map[string]any)
	for name, tt := range map[string]struct {
		fields map[string]string
		right  bool
	}{
		"as it is":          {map[string]string{"files": "x", "kind": "checker"}, true},
		"no file":           {map[string]string{"kind": "checker"}, false},
		"no such kind":      {map[string]string{"files": "x", "kind": "emperor"}, false},
		"a field too many":  {map[string]string{"files": "x", "colour": "red"}, false},
		"no such protocol":  {map[string]string{"files": "x", "protocol": "smoke/1"}, false},
		"an empty key even": {map[string]string{"files": "x", "key": ""}, true},
	} {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for field, value := range tt.fields {
			if err := w.WriteField(field, value); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		if wrong := wrongForm(document, schema, body.Bytes(), w.Boundary()); (len(wrong) == 0) != tt.right {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	var heard []string
	events := &watchedEvents{ReadCloser: io.NopCloser(strings.NewReader("retry: 1\n\n: beat\n\nid: 1\nevent: finished\ndata: {\"id\": 1}\n\nevent: end\ndata: 7\n\n")), tell: func(event string, data any) {
		schema := dig(operationOf(document, "GET", "/api/v1/runs/1/events"), "responses", "200", "content", site.EventStream, "x-event-data", map[bool]string{true: "end", false: "default"}[event == "end"])
		heard = append(heard, event+" "+mismatch(document, schema, data, "event"))
	}}
	if _, err := io.ReadAll(events); err != nil {
		t.Fatal(err)
	}
	if len(heard) != 2 || !strings.Contains(heard[0], "is missing") || !strings.Contains(heard[1], "is of type") {
		t.Errorf("of two events that are wrong it says %q", heard)
	}
}
