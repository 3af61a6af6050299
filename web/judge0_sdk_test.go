package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/judge0"
)

// strict is a client that asks as Judge0's Python SDK does, and that takes nothing it does not know: no missing member,
// no further one, no number of another kind.
type strict struct {
	*stage
	languages []int
}

// kinds are those of members: b(ool), i(nteger), f(loat), l(ist), s(tring), and after ? null.
type kinds map[string]string

// kindsOf makes kinds of lines "KIND NAME NAME".
func kindsOf(text string) kinds {
	all := kinds{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, name := range words[1:] {
			all[name] = words[0]
		}
	}
	return all
}

// what the SDK needs of config_info, and what it knows of a submission.
var (
	configKinds = kindsOf(`b allow_enable_network allow_enable_per_process_and_thread_memory_limit allow_enable_per_process_and_thread_time_limit
b enable_additional_files enable_batched_submissions enable_callbacks enable_command_line_arguments enable_compiler_options enable_network
b enable_per_process_and_thread_memory_limit enable_per_process_and_thread_time_limit enable_submission_delete enable_wait_result maintenance_mode
b redirect_stderr_to_stdout use_docs_as_homepage
l allowed_languages_for_compile_options
f callbacks_timeout cpu_extra_time cpu_time_limit max_cpu_extra_time max_cpu_time_limit max_wall_time_limit submission_cache_duration wall_time_limit
i callbacks_max_tries max_extract_size max_file_size max_max_file_size max_max_processes_and_or_threads max_memory_limit max_number_of_runs
i max_processes_and_or_threads max_queue_size max_stack_limit max_submission_batch_size memory_limit number_of_runs stack_limit`)
	submissionKinds = kindsOf(`base64 source_code
?base64 additional_files stdin expected_output stdout stderr compile_output
?s message compiler_options command_line_arguments callback_url
decimal cpu_time_limit cpu_extra_time wall_time_limit
?decimal time wall_time
i memory_limit stack_limit max_processes_and_or_threads max_file_size number_of_runs language_id status_id
?i memory exit_code exit_signal
b enable_per_process_and_thread_time_limit enable_per_process_and_thread_memory_limit redirect_stderr_to_stdout enable_network
status status
language language
uuid token
stamp created_at
?stamp finished_at`)
)

// is reports whether a value is of a kind.
func is(kind string, value any) bool {
	if rest, ok := strings.CutPrefix(kind, "?"); ok {
		return value == nil || is(rest, value)
	}
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	object, _ := value.(map[string]any)
	switch kind {
	case "b":
		_, ok := value.(bool)
		return ok
	case "l":
		_, ok := value.([]any)
		return ok
	case "i":
		n, err := number.Int64()
		return isNumber && err == nil && n <= math.MaxInt32
	case "f":
		return isNumber && strings.Contains(number.String(), ".")
	case "s":
		return isText
	case "decimal":
		return regexp.MustCompile(`^\d+\.\d+$`).MatchString(text)
	case "base64": // strict but for line breaks
		_, err := base64.StdEncoding.Strict().DecodeString(strings.ReplaceAll(text, "\n", ""))
		return isText && err == nil
	case "uuid":
		return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(text)
	case "stamp":
		_, err := time.Parse("2006-01-02T15:04:05.999999Z", text)
		return err == nil && strings.Contains(text, ".") && strings.HasSuffix(text, "Z")
	case "status":
		return len(object) == 2 && is("i", object["id"]) && is("s", object["description"])
	case "language":
		return len(object) == 2 && is("i", object["id"]) && is("s", object["name"])
	}
	return false
}

// read asks and decodes, as strictly as numbers allow.
func (c *strict) read(method, path string, query url.Values, body any, into any) {
	c.Helper()
	sent := ""
	if body != nil {
		b, err := json.Marshal(body)
		c.must(err)
		sent = string(b)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r := c.do(method, "/judge0"+path, sent, asJSON, "Accept: */*", "User-Agent: python-httpx/0.28.1", "X-Judge0-App: Judge0 Python SDK", "X-Judge0-App-Version: 0.1.0.dev0")
	d := json.NewDecoder(bytes.NewReader([]byte(r.body)))
	d.UseNumber()
	if err := d.Decode(into); err != nil || r.status/100 != 2 {
		c.Fatalf("%s %s: %d %s, %v", method, path, r.status, r.body, err)
	}
}

// members compares an object with what is known of it.
func (c *strict) members(what string, got map[string]any, want kinds) {
	c.Helper()
	for name, value := range got {
		if kind, known := want[name]; !known {
			c.Errorf("%s has the member %s, which is unknown", what, name)
		} else if !is(kind, value) {
			c.Errorf("%s: %s is %v, which is no %s", what, name, value, kind)
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			c.Errorf("%s has no %s", what, name)
		}
	}
}

// connect asks what the SDK asks first.
func (c *strict) connect() {
	c.Helper()
	var languages []map[string]any
	c.read(http.MethodGet, "/languages", nil, nil, &languages)
	for _, l := range languages {
		c.members("a language", l, kinds{"id": "i", "name": "s"})
		id, _ := l["id"].(json.Number).Int64()
		c.languages = append(c.languages, int(id))
	}
	var config, about map[string]any
	c.read(http.MethodGet, "/config_info", nil, nil, &config)
	c.members("config_info", config, configKinds)
	c.read(http.MethodGet, "/about", nil, nil, &about)
	c.members("about", about, kinds{"version": "s", "homepage": "s", "source_code": "s", "maintainer": "s"})
	if about["version"] != "1.13.1" { // by which the SDK chooses the numbers of its names
		c.Errorf("the version is %v", about["version"])
	}
}

func TestTheRequestsOfJudge0sPythonSDKAreAnsweredStrictly(t *testing.T) {
	c := &strict{stage: newStage(t)}
	c.connect()
	for name, id := range map[string]int{"CPP": 52, "CPP_GCC": 52, "CPP_CLANG": 76, "JAVA": 62, "JAVA_OPENJDK": 62, "PYTHON": 71, "PYTHON3": 71, "EXECUTABLE": 44, "MULTI_FILE": 89} {
		if !slices.Contains(c.languages, id) {
			t.Errorf("%s is not supported: %d is not in %v", name, id, c.languages)
		}
	}
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	one := map[string]any{"source_code": b64("print(input())"), "language_id": 71, "stdin": b64("é"), "expected_output": b64("é"), "cpu_time_limit": 1.5, "number_of_runs": 2}
	rest := map[string]any{
		"source_code": b64("int main() {}"), "language_id": 52, "stdin": b64(""), "compiler_options": "-O3 -Wall", "command_line_arguments": "a 'b c'",
		"cpu_time_limit": 1.0, "cpu_extra_time": 0.5, "wall_time_limit": 4.0, "memory_limit": 64000.0, "stack_limit": 64000, "max_processes_and_or_threads": 30,
		"enable_per_process_and_thread_time_limit": false, "enable_per_process_and_thread_memory_limit": false, "max_file_size": 1024,
		"redirect_stderr_to_stdout": true, "enable_network": false, "number_of_runs": 1, "callback_url": "https://example.org/", "additional_files": zipped(t, "data.txt"),
	}
	multi := map[string]any{"source_code": "", "language_id": 89, "additional_files": zipped(t, "run")}
	encoded := url.Values{"base64_encoded": {"true"}}
	var first map[string]any
	c.read(http.MethodPost, "/submissions", url.Values{"base64_encoded": {"true"}, "wait": {"false"}}, one, &first)
	c.members("what was created", first, kinds{"token": "uuid"})
	var more []map[string]any
	c.read(http.MethodPost, "/submissions/batch", encoded, map[string]any{"submissions": []any{rest, multi, one}}, &more)
	tokens := []string{fmt.Sprint(first["token"])}
	for _, m := range more {
		c.members("what was created in a batch", m, kinds{"token": "uuid"})
		tokens = append(tokens, fmt.Sprint(m["token"]))
	}
	look := func(status int) {
		t.Helper()
		var alone map[string]any
		c.read(http.MethodGet, "/submissions/"+tokens[0], url.Values{"base64_encoded": {"true"}, "fields": {"*"}}, nil, &alone)
		var batch struct{ Submissions []map[string]any }
		c.read(http.MethodGet, "/submissions/batch", url.Values{"base64_encoded": {"true"}, "fields": {"*"}, "tokens": {strings.Join(tokens, ",")}}, nil, &batch)
		if len(batch.Submissions) != len(tokens) {
			t.Fatalf("the batch has %d of %d", len(batch.Submissions), len(tokens))
		}
		for i, got := range append(batch.Submissions, alone) {
			what := fmt.Sprintf("submission %d with status %d", i, status)
			known := submissionKinds
			if i == 2 { // of several files
				known = maps.Clone(submissionKinds)
				known["source_code"] = "?base64"
			}
			c.members(what, got, known)
			if n, _ := got["status_id"].(json.Number).Int64(); int(n) != status || i < len(tokens) && got["token"] != tokens[i] {
				t.Errorf("%s: %v, %v", what, got["status_id"], got["token"])
			}
		}
		if back, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(fmt.Sprint(alone["stdin"]))); string(back) != "é" || alone["cpu_time_limit"] != "1.5" {
			t.Errorf("it came back as %q, %v", back, alone["cpu_time_limit"])
		}
	}
	look(1)
	for i, token := range tokens {
		found, err := c.store.RunsOfTokens(t.Context(), judge0.Prefix+token)
		c.must(err)
		result := ran(judge.AC, judge.RunOutput{Stdout: bytes.Repeat([]byte("\xff\x00é"), 40*i), Stderr: []byte("w")})
		result.Compile = &judge.Compile{OK: true, Output: "warning"}
		c.finish(found[0].JobID, result)
	}
	look(3)
}
