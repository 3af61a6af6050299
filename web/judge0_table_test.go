package web

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/judge0"
)

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

// exchange is a row of the guide's table: what is sent, and what is answered.
type exchange struct {
	status       int
	method, path string
	body         string
	headers      []string
	want         string // JSON; "" = an empty body
	open         bool   // with further members
	line         string // as the guide has it
}

// exchanges reads the table of the guide, with the texts that its names in braces stand for.
func exchanges(t *testing.T, named map[string]string) (all []exchange) {
	t.Helper()
	guide, err := os.ReadFile("../host/docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (\\d{3}) \\| `(.*?)` \\| (?:`(.*?)`)? *\\| (?:`(\\+?)(.*)` )?\\|$")
	brace := regexp.MustCompile(`\{[a-z0-9][a-z0-9 /.]*\}`)
	filled := func(text string) string {
		return brace.ReplaceAllStringFunc(strings.ReplaceAll(text, "…", program), func(name string) string {
			value, ok := named[strings.Trim(name, "{}")]
			if !ok {
				t.Errorf("the guide says %s, which nobody knows", name)
			}
			return value
		})
	}
	for _, m := range row.FindAllStringSubmatch(string(guide), -1) {
		x := exchange{line: m[0], body: filled(m[3]), headers: []string{asJSON}, want: m[5], open: m[4] != ""}
		x.status, _ = strconv.Atoi(m[1])
		x.method, x.path, _ = strings.Cut(filled(m[2]), " ")
		switch header := regexp.MustCompile(`^[\w-]+: `).MatchString(x.body); {
		case header:
			x.headers, x.body = append(x.headers, x.body), ""
		case x.body != "" && !strings.ContainsAny(x.body[:1], "{["):
			x.headers = []string{"Content-Type: application/x-www-form-urlencoded"}
		}
		all = append(all, x)
	}
	if rows := len(regexp.MustCompile(`(?m)^\| \d{3} \|`).FindAllString(string(guide), -1)); rows != len(all) || rows < 80 {
		t.Fatalf("of the %d rows of the table %d can be read", rows, len(all))
	}
	return all
}

// program is what … stands for in the guide.
const program = `"source_code": "print('hello')", "language_id": 71, "stdin": "in"`

// judge0Scene stores the submissions that the guide's table tells of and returns their tokens by name, with what else
// the table names.
func (s *stage) judge0Scene() map[string]string {
	s.Helper()
	hello := "{" + program + "}"
	named := map[string]string{"waiting": s.judge0Submit(hello)}
	finish := func(name, body string, r judge.Result) {
		s.Helper()
		token := s.judge0Submit(body)
		found, err := s.store.RunsOfTokens(s.Context(), judge0.Prefix+token)
		s.must(err)
		s.finish(found[0].JobID, r)
		named[name] = token
	}
	finish("done", hello, ran(judge.AC, judge.RunOutput{Stdout: []byte("hello\n")}))
	finish("latin1", hello, ran(judge.AC, judge.RunOutput{Stdout: []byte("h\xe9llo\n")}))
	finish("refused", hello, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{Output: "no"}})
	crash := ran(judge.RE, judge.RunOutput{Stderr: []byte("oops")})
	crash.Tests[0].ExitSignal = 11
	finish("crashed", hello, crash)
	left := ran(judge.RE, judge.RunOutput{})
	left.Tests[0].ExitCode = 1
	finish("exited", hello, left)
	slow := ran(judge.TLE, judge.RunOutput{})
	slow.Tests[0].Usage.CPUMillis = 5100
	finish("slow", hello, slow)
	finish("asleep", hello, ran(judge.TLE, judge.RunOutput{}))
	two := ran(judge.AC, judge.RunOutput{Stdout: []byte("1")}, judge.RunOutput{Stdout: []byte("2")})
	two.Verdict, two.Tests[1].Verdict = judge.WA, judge.WA
	finish("two tests", `{"source_code": "x", "language_id": 71, "tests": [{"stdin": "1", "expected_output": "1"}, {"stdin": "2", "expected_output": "3"}]}`, two)
	named["long"] = s.judge0Submit(`{"source_code": "x", "language_id": 54, "stdin": "` + strings.Repeat("A", 50) + `"}`)
	named["staff"] = s.user("sam", "correct horse", judge.RoleStaff)
	named["513 letters"] = strings.Repeat("x", 513)
	named["21 times"] = strings.TrimSuffix(strings.Repeat(hello+",", 21), ",")
	named["21 tokens"] = strings.TrimSuffix(strings.Repeat(named["done"]+",", 21), ",")
	named["archive of run"], named["archive of main.py/x"] = zipped(s.T, "run"), zipped(s.T, "main.py/x")
	return named
}

// TestAClientOfJudge0IsAnsweredAsItExpects sends every row of the guide's table.
func TestAClientOfJudge0IsAnsweredAsItExpects(t *testing.T) {
	s := newStage(t)
	for _, x := range exchanges(t, s.judge0Scene()) {
		r := s.do(x.method, x.path, x.body, x.headers...)
		if r.status != x.status {
			t.Errorf("%s: status %d: %s", x.line, r.status, r.body)
			continue
		}
		if x.want == "" {
			if r.body != "" {
				t.Errorf("%s: it answers %q", x.line, r.body)
			}
			continue
		}
		var got, want any
		if err := json.Unmarshal([]byte(x.want), &want); err != nil {
			t.Fatalf("%s: %v", x.line, err)
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Errorf("%s: %v: %s", x.line, err, r.body)
		} else if err := sameShape(got, want, x.open); err != nil {
			t.Errorf("%s: %v", x.line, err)
		}
	}
	for path, says := range map[string]string{"version": "1.13.1", "license": "LICENSE", "isolate": "sandbox"} {
		if r := s.do(http.MethodGet, "/judge0/"+path, ""); r.status != http.StatusOK || !strings.Contains(r.body, says) {
			t.Errorf("%s: %d %q", path, r.status, r.body)
		}
	}
}

// TestNumbersHaveDecimalsWhereClientsReadThem looks at the text, for clients in languages that tell 5 and 5.0 apart.
func TestNumbersHaveDecimalsWhereClientsReadThem(t *testing.T) {
	s := newStage(t)
	r := s.do(http.MethodGet, "/judge0/config_info", "")
	for _, want := range []string{`"cpu_time_limit":5.0`, `"max_wall_time_limit":20.0`, `"callbacks_timeout":10.0`, `"submission_cache_duration":0.0`, `"memory_limit":128000,`} {
		if !strings.Contains(r.body, want) {
			t.Errorf("there is no %s in %s", want, r.body)
		}
	}
}
