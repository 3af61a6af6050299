package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/sandbox"
)

// judgeCommand makes the test binary the one-shot command.
const judgeCommand = "judge"

// judged runs the one-shot command and returns its line and its exit status.
func judged(t *testing.T, args ...string) (line, stderr string, status int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(exe, append([]string{judgeCommand}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), status
}

// folder writes files into a folder of the host.
func folder(t *testing.T, files ...sandbox.File) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheOneShotCommandSaysWhatTheAgentSays(t *testing.T) {
	a := shared.get(t)
	dir := folder(t, hostile(t, "process"), hostile(t, "memory"), hostile(t, "output"))
	b := open(t, a, sandbox.BoxOptions{})
	if err := b.Put(t.Context(), hostile(t, "process"), hostile(t, "memory"), hostile(t, "output")); err != nil {
		t.Fatal(err)
	}
	limits := []string{"--time-ms", "300", "--wall-ms", "3000", "--memory-kb", "65536", "--output-kb", "1024", "--procs", "32"}
	for _, command := range []string{
		"./process nothing", "./process exit 3", "./process segv", "./process spin", "./process sleep", "./process fork-bomb",
		"./memory heap 128", "./memory child 128", "./output stdout", "./output file", "./missing",
	} {
		t.Run(command, func(t *testing.T) {
			args := strings.Fields(command)
			o := run(t, b, sandbox.Cmd{Program: args[0], Args: args[1:], Limits: sandbox.Limits{
				CPU: 300 * ms, Wall: 3000 * ms, MemoryBytes: 64 * mib, OutputBytes: mib, FileBytes: mib, Processes: 32,
			}})
			line, stderr, status := judged(t, append(append([]string{"--job-id", "7", "--attempt-id", "2", "--dir", dir}, limits...), append([]string{"--"}, args...)...)...)
			if status != 0 || stderr != "" {
				t.Fatalf("exit status %d: %s", status, stderr)
			}
			got, err := sandbox.ParseReport([]byte(line), 7, 2)
			if err != nil {
				t.Fatal(err)
			}
			want := sandbox.NewReport(7, 2, o.Result, nil)
			if want.Verdict == sandbox.MLE { // whether the parent ends before we kill it is chance
				want.ExitSignal, want.ExitCode = got.ExitSignal, got.ExitCode
			}
			if got.Verdict != want.Verdict || got.ExitSignal != want.ExitSignal || got.ExitCode != want.ExitCode ||
				got.OOM != want.OOM || got.SandboxError != want.SandboxError || got.Driver != want.Driver {
				t.Errorf("the command said %s, the agent %+v", line, want)
			}
		})
	}
}

func TestTheOneShotCommandReadsAndWritesNamedFiles(t *testing.T) {
	needRoot(t)
	dir := folder(t, sandbox.File{Path: "in", Mode: 0o644, Data: []byte("b\na\n")})
	out, errs := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	line, stderr, status := judged(t, "--job-id", "1", "--attempt-id", "1", "--stdin", filepath.Join(dir, "in"), "--stdout", out, "--stderr", errs,
		"--", "sort")
	p, err := sandbox.ParseReport([]byte(line), 1, 1)
	if err != nil || status != 0 || p.Verdict != sandbox.OK || strings.Count(line, "\n") != 1 {
		t.Fatalf("it said %q %q with status %d: %v", line, stderr, status, err)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "a\nb\n" {
		t.Errorf("the output is %q, %v", b, err)
	}
}

func TestTheOneShotCommandRefusesBadInput(t *testing.T) {
	needRoot(t)
	ids := []string{"--job-id", "1", "--attempt-id", "1"}
	for name, args := range map[string][]string{
		"no time":              {"--time-ms", "0"},
		"negative time":        {"--time-ms", "-5"},
		"endless time":         {"--time-ms", "9223372036854775807"},
		"negative wall time":   {"--wall-ms", "-1"},
		"no memory":            {"--memory-kb", "0"},
		"more memory than all": {"--memory-kb", "9223372036854775807"},
		"no output":            {"--output-kb", "0"},
		"no processes":         {"--procs", "0"},
		"too many processes":   {"--procs", "100000000"},
		"a missing folder":     {"--dir", "/no/such/folder"},
		"a missing input":      {"--stdin", "/no/such/file"},
		"an impossible output": {"--stdout", "/no/such/folder/file"},
		"an unknown driver":    {"--driver", "v3"},
		"a relative root":      {"--ro", "relative"},
	} {
		t.Run(name+" is SE", func(t *testing.T) {
			line, stderr, status := judged(t, append(append(append([]string{}, ids...), args...), "--", "true")...)
			p, err := sandbox.ParseReport([]byte(line), 1, 1)
			if err != nil || status != 0 || p.Verdict != sandbox.SE {
				t.Errorf("it said %q %q with status %d: %v", line, stderr, status, err)
			}
		})
	}
	for name, args := range map[string][]string{
		"no job":          {"--attempt-id", "1", "--", "true"},
		"a negative job":  {"--job-id", "-1", "--attempt-id", "1", "--", "true"},
		"no program":      ids,
		"an unknown flag": append([]string{"--frobnicate"}, ids...),
	} {
		t.Run(name+" is a usage error", func(t *testing.T) {
			line, stderr, status := judged(t, args...)
			if status != 2 || line != "" || stderr == "" {
				t.Errorf("it said %q %q with status %d", line, stderr, status)
			}
		})
	}
}

func TestABadLineIsRefusedWithAReason(t *testing.T) {
	good := sandbox.NewReport(1, 2, sandbox.Result{Verdict: sandbox.OK, Driver: "v2"}, nil)
	change := func(f func(*sandbox.Report)) string {
		p := good
		f(&p)
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, tt := range map[string]struct{ line, reason string }{
		"nothing":                    {"", "not_json"},
		"half a line":                {`{"schema_version":1,"job_`, "not_json"},
		"words":                      {"Segmentation fault", "not_json"},
		"a very long line":           {`{"error":"` + strings.Repeat("x", 1<<20) + `"}`, "not_json"},
		"two lines":                  {change(func(*sandbox.Report) {}) + "\n{}", "not_json"},
		"a wrong type":               {`{"schema_version":1,"job_id":"1"}`, "range"},
		"another version":            {change(func(p *sandbox.Report) { p.SchemaVersion = 2 }), "schema_version"},
		"another job":                {change(func(p *sandbox.Report) { p.JobID = 9 }), "job_id"},
		"another attempt":            {change(func(p *sandbox.Report) { p.AttemptID = 9 }), "attempt_id"},
		"a verdict that is not ours": {change(func(p *sandbox.Report) { p.Verdict = "AC" }), "verdict"},
		"no verdict":                 {change(func(p *sandbox.Report) { p.Verdict = "" }), "verdict"},
		"SE without an error":        {change(func(p *sandbox.Report) { p.Verdict = sandbox.SE }), "verdict"},
		"an error without SE":        {change(func(p *sandbox.Report) { p.SandboxError = "x" }), "verdict"},
		"negative time":              {change(func(p *sandbox.Report) { p.TimeMillis = -1 }), "range"},
		"absurd memory":              {change(func(p *sandbox.Report) { p.MemoryKiB = 1 << 60 }), "range"},
		"an absurd signal":           {change(func(p *sandbox.Report) { p.ExitSignal = 1000 }), "range"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sandbox.ParseReport([]byte(tt.line), 1, 2)
			if e, ok := errors.AsType[*sandbox.ProtocolError](err); !ok || e.Reason != tt.reason {
				t.Errorf("ParseReport = %v, want reason %s", err, tt.reason)
			}
		})
	}
	if _, err := sandbox.ParseReport([]byte(change(func(*sandbox.Report) {})), 1, 2); err != nil {
		t.Errorf("a good line is refused: %v", err)
	}
}
