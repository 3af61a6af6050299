package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ask sends a request and reads the answer's JSON.
func ask(t *testing.T, method, url string, body any, out any) (status int) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%s %s: %d %s", method, url, resp.StatusCode, text)
	}
	return resp.StatusCode
}

// outcome is what a client of Judge0 reads of a submission.
type outcome struct {
	Stdout, Stderr, CompileOutput, Message, Time *string
	Token                                        string
	Memory                                       *int64
	ExitCode                                     *int `json:"exit_code"`
	ExitSignal                                   *int `json:"exit_signal"`
	Status                                       struct {
		ID          int
		Description string
	}
	Tests []outcome
}

func (o *outcome) UnmarshalJSON(b []byte) error {
	type plain outcome
	var raw struct {
		CompileOutput *string `json:"compile_output"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	err := json.Unmarshal(b, (*plain)(o))
	o.CompileOutput = raw.CompileOutput
	return err
}

func said(text *string) string {
	if text == nil {
		return "(null)"
	}
	return *text
}

// archive returns a ZIP archive in Base64.
func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		header := zip.FileHeader{Name: name, Method: zip.Deflate}
		if strings.HasPrefix(text, "\x7fELF") {
			header.SetMode(0o755)
		}
		f, err := w.CreateHeader(&header)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// compiled returns a static program for this machine.
func compiled(t *testing.T, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	gcc := exec.CommandContext(t.Context(), "gcc", "-static", "-O1", "-x", "c", "-o", file, "-")
	gcc.Stdin = strings.NewReader(source)
	if said, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, said)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestClientsOfJudge0GetRealVerdicts runs real programs by the interface of
// Judge0, and by our own.
func TestClientsOfJudge0GetRealVerdicts(t *testing.T) {
	needRoot(t)
	heard := make(chan outcome, 1)
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o outcome
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil || r.Method != http.MethodPut {
			t.Errorf("a callback by %s: %v", r.Method, err)
		}
		heard <- o
	}))
	t.Cleanup(listener.Close)
	_, url, _ := up(t, filepath.Join(folder(t), "data"), []string{"CALLBACK_ALLOW=127.0.0.1"})
	const python, c, cpp, executable, multi = 71, 50, 54, 44, 89
	static := compiled(t, "#include <stdio.h>\nint main(int n, char **v) {\n  volatile int *p = 0;\n  if (n == 1) return *p;\n  while (*++v) puts(*v);\n  return 0;\n}\n")
	elsewhere := bytes.Clone(static)
	elsewhere[18] ^= 0xff // the machine that it says it is for
	type fields map[string]any
	base := url + "/judge0/submissions"
	for name, tt := range map[string]struct {
		query  string
		body   fields
		status int
		stdout string
		says   string // in the other fields, with | between parts
	}{
		"it is right":                {"", fields{"language_id": cpp, "source_code": verdictPrograms[0].text, "stdin": "1 2\n", "expected_output": "3  \n\n"}, 3, "3\n", ""},
		"it is wrong":                {"", fields{"language_id": python, "source_code": "print(4)", "expected_output": "3"}, 4, "4\n", ""},
		"nothing is expected":        {"", fields{"language_id": python, "source_code": "print(input())", "stdin": "x"}, 3, "x\n", ""},
		"it takes too long":          {"", fields{"language_id": python, "source_code": "while True: pass", "cpu_time_limit": 0.3}, 5, "(null)", "Time limit exceeded"},
		"it sleeps too long":         {"", fields{"language_id": python, "source_code": "import time\ntime.sleep(99)", "wall_time_limit": 1}, 5, "(null)", "Time limit exceeded (wall clock)"},
		"it does not compile":        {"", fields{"language_id": c, "source_code": "int main(void) { return nothing; }"}, 6, "(null)", "undeclared"},
		"it follows a wild pointer":  {"", fields{"language_id": c, "source_code": "int main(void) { volatile int *p = 0; return *p; }"}, 7, "(null)", "signal 11|by 11"},
		"it divides by zero":         {"", fields{"language_id": c, "source_code": "int main(int n, char **v) { volatile int z = n - 1; return 7 / z; }"}, 9, "(null)", "signal 8"},
		"it aborts":                  {"", fields{"language_id": c, "source_code": "#include <stdlib.h>\nint main(void) { abort(); }"}, 10, "(null)", "signal 6"},
		"it exits with a status":     {"", fields{"language_id": python, "source_code": "import sys\nprint('why', file=sys.stderr)\nsys.exit(3)"}, 11, "(null)", "why"},
		"it writes too much":         {"", fields{"language_id": python, "source_code": "print('x' * 9999)", "max_file_size": 4}, 8, "", "4 KiB"},
		"bytes that are no text":     {"&base64_encoded=true", fields{"language_id": python, "source_code": base64.StdEncoding.EncodeToString([]byte("import sys\nsys.stdout.buffer.write(b'\\xff\\x00')"))}, 3, "/wA=\n", ""},
		"arguments, options":         {"", fields{"language_id": c, "source_code": "#include <stdio.h>\nint main(int n, char **v) { puts(v[1]); puts(W); }", "command_line_arguments": "'a b'", "compiler_options": "-DW='\"two words\"'"}, 3, "a b\ntwo words\n", ""},
		"both streams in one":        {"", fields{"language_id": python, "source_code": "import sys\nprint('e', file=sys.stderr)", "redirect_stderr_to_stdout": true}, 3, "e\n", ""},
		"files beside it":            {"", fields{"language_id": python, "source_code": "from lib.answer import it\nprint(it)", "additional_files": archive(t, map[string]string{"lib/answer.py": "it = 42\n"})}, 3, "42\n", ""},
		"a program of several files": {"", fields{"language_id": multi, "stdin": "in", "additional_files": archive(t, map[string]string{"compile": "gcc -o prog a.c b.c\n", "run": "./prog\n", "a.c": "int b(void);\nint main(void) { return b(); }\n", "b.c": "#include <stdio.h>\nint b(void) { puts(\"b\"); return 0; }\n"})}, 3, "b\n", ""},
		"an executable":              {"&base64_encoded=true", fields{"language_id": executable, "source_code": base64.StdEncoding.EncodeToString(static), "command_line_arguments": "one 'two three'"}, 3, "b25lCnR3byB0aHJlZQo=\n", ""},
		"an executable of elsewhere": {"&base64_encoded=true", fields{"language_id": executable, "source_code": base64.StdEncoding.EncodeToString(elsewhere)}, 11, "(null)", ""},
		"one in an archive":          {"", fields{"language_id": multi, "command_line_arguments": "one", "additional_files": archive(t, map[string]string{"run": "exec ./prog one\n", "prog": string(static)})}, 3, "one\n", ""},
		"options of an interpreter":  {"", fields{"language_id": python, "source_code": "print(1)", "compiler_options": "-O2 --no-such-option"}, 3, "1\n", ""},
		"a pointer in an executable": {"&base64_encoded=true", fields{"language_id": executable, "source_code": base64.StdEncoding.EncodeToString(static)}, 7, "(null)", " by 11"},
		"several runs":               {"", fields{"language_id": python, "source_code": "print(1)", "number_of_runs": 3}, 3, "1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o outcome
			status := ask(t, http.MethodPost, base+"?wait=true&fields=stdout,stderr,compile_output,message,status,time,memory,token,exit_code,exit_signal"+tt.query, tt.body, &o)
			for status == http.StatusCreated && o.Status.ID < 3 { // a wait is bounded
				ask(t, http.MethodGet, base+"/"+o.Token, nil, &o)
			}
			says := said(o.Stderr) + said(o.CompileOutput) + said(o.Message)
			if o.ExitSignal != nil {
				says += fmt.Sprint(" by ", *o.ExitSignal)
			}
			for word := range strings.SplitSeq(tt.says, "|") {
				if !strings.Contains(says, word) {
					t.Errorf("%q is not in %q", word, says)
				}
			}
			if status != http.StatusCreated || o.Status.ID != tt.status || tt.stdout != "" && said(o.Stdout) != tt.stdout {
				t.Errorf("HTTP %d, status %+v, stdout %q, %s", status, o.Status, said(o.Stdout), says)
			}
			if o.Status.ID != 6 && (o.Time == nil || !strings.Contains(*o.Time, ".") || o.Memory == nil) {
				t.Errorf("time %s, or no memory", said(o.Time))
			}
		})
	}
	t.Run("a batch, with several tests and a callback", func(t *testing.T) {
		t.Parallel()
		var tokens []struct{ Token string }
		ask(t, http.MethodPost, base+"/batch", fields{"submissions": []fields{
			{"language_id": python, "source_code": "print(int(input()) + 1)", "callback_url": listener.URL, "tests": []fields{
				{"stdin": "1", "expected_output": "2"}, {"stdin": "2", "expected_output": "4"},
			}},
			{"language_id": python, "source_code": "print('second')"},
		}}, &tokens)
		if len(tokens) != 2 {
			t.Fatalf("the batch gave %v", tokens)
		}
		var got struct{ Submissions []*outcome }
		for deadline := time.Now().Add(2 * time.Minute); ; {
			ask(t, http.MethodGet, base+"/batch?tokens="+tokens[0].Token+",unknown,"+tokens[1].Token, nil, &got)
			if got.Submissions[0].Status.ID > 2 && got.Submissions[2].Status.ID > 2 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the batch is not judged")
			}
			<-time.After(50 * time.Millisecond)
		}
		first := got.Submissions[0]
		if first.Status.ID != 4 || len(first.Tests) != 2 || first.Tests[0].Status.ID != 3 || said(first.Tests[1].Stdout) != "3\n" ||
			got.Submissions[1] != nil || said(got.Submissions[2].Stdout) != "second\n" {
			t.Errorf("the batch: %+v, %v, %+v", first, got.Submissions[1], got.Submissions[2])
		}
		select {
		case o := <-heard:
			if o.Token != tokens[0].Token || o.Status.ID != 4 || said(o.Stdout) != "Mwo=\n" {
				t.Errorf("the callback: %+v", o)
			}
		case <-time.After(2 * time.Minute):
			t.Error("there is no callback")
		}
	})
	t.Run("the samples of a problem, by our own interface", func(t *testing.T) {
		t.Parallel()
		var job struct {
			ID int64 `json:"job_id"`
		}
		ask(t, http.MethodPost, url+"/api/v1/runs", fields{"problem": "aplusb", "language": "cpp", "source": verdictPrograms[0].text, "samples": true}, &job)
		var run struct {
			Status string
			Result struct {
				Verdict string
				Tests   []struct{ Name, Verdict, Stdout string }
			}
		}
		for deadline := time.Now().Add(2 * time.Minute); run.Status != "FINISHED"; {
			ask(t, http.MethodGet, fmt.Sprintf("%s/api/v1/runs/%d?wait=20", url, job.ID), nil, &run)
			if time.Now().After(deadline) {
				t.Fatal("the run is not executed")
			}
		}
		if run.Result.Verdict != "AC" || len(run.Result.Tests) == 0 || run.Result.Tests[0].Name != "sample/1" || run.Result.Tests[0].Stdout == "" {
			t.Errorf("the run: %+v", run.Result)
		}
	})
}
