package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/web/site"
)

// documented reads the description of the API once.
var documented = sync.OnceValues(func() (map[string]any, error) {
	raw, err := describeAPI("test", compose(new(site.Site)).addresses(), false)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
})

// dig follows names into nested objects.
func dig(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// mismatch says how a value differs from a schema, "" if it does not. An object may
// have no members that its schema does not name: the description has everything.
func mismatch(document map[string]any, schema, value any, at string) string {
	m, _ := schema.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		return mismatch(document, dig(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), value, at)
	}
	if options, ok := m["anyOf"].([]any); ok {
		var all []string
		for _, option := range options {
			found := mismatch(document, option, value, at)
			if found == "" {
				return ""
			}
			all = append(all, found)
		}
		return all[0]
	}
	if enum, ok := m["enum"].([]any); ok && !slices.Contains(enum, value) {
		return fmt.Sprintf("%s: %v is not one of %v", at, value, enum)
	}
	kinds, one := []any{m["type"]}, m["type"] != nil
	if list, ok := m["type"].([]any); ok {
		kinds = list
	}
	kind := "null"
	switch v := value.(type) {
	case string:
		kind = "string"
		if _, err := time.Parse(time.RFC3339, v); m["format"] == "date-time" && err != nil {
			return fmt.Sprintf("%s: %q is no time", at, v)
		}
	case bool:
		kind = "boolean"
	case float64:
		kind = "number"
		if v == math.Trunc(v) && slices.Contains(kinds, any("integer")) {
			kind = "integer"
		}
	case []any:
		kind = "array"
		for i, item := range v {
			if found := mismatch(document, m["items"], item, fmt.Sprintf("%s[%d]", at, i)); found != "" {
				return found
			}
		}
	case map[string]any:
		kind = "object"
		properties, closed := m["properties"].(map[string]any)
		for name, member := range v {
			schema, known := properties[name]
			if !known && closed {
				return fmt.Sprintf("%s.%s is not in the description", at, name)
			}
			if !known {
				schema = m["additionalProperties"]
			}
			if found := mismatch(document, schema, member, at+"."+name); found != "" {
				return found
			}
		}
		required, _ := m["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				return fmt.Sprintf("%s.%v is missing", at, name)
			}
		}
	}
	if one && !slices.Contains(kinds, any(kind)) {
		return fmt.Sprintf("%s is of type %s, the description has %v", at, kind, m["type"])
	}
	return ""
}

// operationOf finds what describes a request: the path and the operation.
func operationOf(document map[string]any, method, path string) map[string]any {
	parts := strings.Split(path, "/")
	var found map[string]any
	fewest := math.MaxInt
	for template, item := range document["paths"].(map[string]any) {
		op, _ := dig(item, strings.ToLower(method)).(map[string]any)
		names := strings.Split(template, "/")
		if op == nil || len(names) != len(parts) {
			continue
		}
		parameters, fits := 0, true
		for i, name := range names {
			if strings.HasPrefix(name, "{") {
				parameters++
			} else if name != parts[i] {
				fits = false
			}
		}
		if fits && parameters < fewest { // a word goes before a parameter
			found, fewest = op, parameters
		}
	}
	return found
}

// watched compares what a client of the API sends and gets with the description.
type watched struct{ t *testing.T }

func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	media, form, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if req.Body != nil && (media == "application/json" || media == "multipart/form-data") {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	document, err := documented()
	if err != nil {
		return nil, err
	}
	op := operationOf(document, req.Method, req.URL.Path)
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if op == nil {
		return resp, nil
	}
	if resp.StatusCode < 300 {
		for _, wrong := range append(wrongQuery(op, req.URL.Query()), wrongHeaders(op, req.Header, resp)...) {
			w.t.Errorf("%s %s: %s", req.Method, req.URL.Path, wrong)
		}
		if schema, _ := dig(op, "requestBody", "content", media, "schema").(map[string]any); media == "multipart/form-data" {
			for _, wrong := range wrongForm(document, schema, sent, form["boundary"]) {
				w.t.Errorf("%s %s: %s", req.Method, req.URL.Path, wrong)
			}
		}
	}
	if schemas, _ := dig(op, "responses", "200", "content", kind, "x-event-data").(map[string]any); schemas != nil {
		resp.Body = &watchedEvents{ReadCloser: resp.Body, tell: func(event string, data any) {
			schema, special := schemas[event]
			if !special {
				schema = schemas["default"]
			}
			if found := mismatch(document, schema, data, event); found != "" {
				w.t.Errorf("%s %s: %s", req.Method, req.URL.Path, found)
			}
		}}
	}
	if !strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "ndjson") || resp.StatusCode == http.StatusNotModified || resp.Header.Get("Content-Encoding") != "" {
		return resp, nil
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))
	name := fmt.Sprintf("%s %s: %d", req.Method, req.URL.Path, resp.StatusCode)
	content := dig(op, "responses", fmt.Sprint(resp.StatusCode), "content", kind)
	if resp.StatusCode >= http.StatusBadRequest {
		content = dig(document, "components", "responses", "refused", "content", kind)
	}
	if content == nil {
		w.t.Errorf("%s with %s is not in the description of the API", name, kind)
		return resp, nil
	}
	compare := func(what string, schema any, raw []byte) {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			w.t.Errorf("%s: %s: %v", name, what, err)
		} else if found := mismatch(document, schema, value, what); found != "" {
			w.t.Errorf("%s: %s", name, found)
		}
	}
	compare("answer", dig(content, "schema"), got)
	if body := dig(op, "requestBody", "content", "application/json", "schema"); resp.StatusCode < 300 && media == "application/json" && len(sent) > 0 && body != nil {
		compare("request", body, sent)
	}
	return resp, nil
}

func TestEveryAddressOfTheAPIIsDescribed(t *testing.T) {
	s := newStage(t)
	document, err := documented()
	s.must(err)
	needs, described := accessOf(t), map[string]bool{}
	words := map[string]string{
		"anyone": "anybody, without an account", "guest": "whoever may use the site", "user": "whoever has an account", "login": "whoever has logged in: a key cannot",
		"setter": "setters, staff and administrators", "staff": "staff and administrators", "admin": "administrators",
		"proof": "administrators who have just proved who they are: a key cannot",
	}
	for _, op := range operations(s.server.addresses()) {
		if described[op.Route] {
			t.Errorf("%s is described twice", op.Route)
		}
		described[op.Route] = true
		method, path, _ := strings.Cut(op.Route, " ")
		if want, got := words[needs[op.Route]], dig(operationOf(document, method, path), "description"); got != "For "+want+"." {
			t.Errorf("%s is described with %q, and is for %s", op.Route, got, want)
		}
		if status := cmp.Or(op.Status, 200); status < 200 || status > 299 || op.Out == nil && op.Media == "" && status != http.StatusNoContent {
			t.Errorf("%s is described by half: %+v", op.Route, op)
		}
	}
	for _, route := range s.routesOf() {
		_, path, _ := strings.Cut(route, " ")
		api := strings.HasPrefix(path, "/api/v1/") || path == "/submit" || path == "/status/:id" || path == "/api/openapi.json"
		if api && !described[route] {
			t.Errorf("%s is not described", route)
		}
		if !api && described[route] {
			t.Errorf("%s is described and no part of the API", route)
		}
		delete(described, route)
	}
	for route := range described {
		t.Errorf("%s is described and does not exist", route)
	}
	r := s.do(http.MethodGet, "/api/openapi.json", "")
	var served map[string]any
	if err := json.Unmarshal([]byte(r.body), &served); err != nil || served["openapi"] != "3.1.0" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("what is served: %d %v", r.status, err)
	}
	// Every reference leads somewhere.
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && dig(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...) == nil {
				t.Errorf("%s leads nowhere", ref)
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(served)
}

func TestADescriptionThatIsWrongIsNoticed(t *testing.T) {
	t.Parallel()
	document, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	schema := dig(operationOf(document, "GET", "/api/v1/users/ann"), "responses", "200", "content", "application/json", "schema")
	good := `{"name": "ann", "role": "setter", "created_at": "2030-01-01T00:00:00Z", "disabled_at": null, "one_time": false, "display_name": "Ann", "email": "ann@example.org"}`
	for name, text := range map[string]string{
		"as it is": good, "a member too many": strings.Replace(good, "{", `{"x": 1, `, 1), "one too few": strings.Replace(good, `"name": "ann", `, "", 1),
		"another type": strings.Replace(good, `false`, `"no"`, 1), "no such role": strings.Replace(good, "setter", "emperor", 1),
		"no time": strings.Replace(good, "2030-01-01T00:00:00Z", "today", 1), "null": `null`, "a time where null may be": strings.Replace(good, "null", `"2030-01-01T00:00:00Z"`, 1),
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		found := mismatch(document, schema, value, "answer")
		if right := text == good || strings.Contains(name, "null may be"); (found == "") != right {
			t.Errorf("%s: %q", name, found)
		}
	}
	if operationOf(document, "POST", "/api/v1/plugins/rollback") == nil || dig(operationOf(document, "POST", "/api/v1/plugins/rollback"), "responses", "200") == nil {
		t.Error("a word does not go before a parameter")
	}
}
