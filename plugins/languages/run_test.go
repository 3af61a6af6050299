package languages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deepoj/plugins/abi"
)

// request asks for a plan under 256 MiB. Go programs find a warm cache.
func request(sources ...abi.Source) abi.PlanRequest {
	return abi.PlanRequest{
		Judge: abi.Version, Op: abi.OpPlan, Sources: sources,
		Limits: abi.RunLimits{CPUMillis: 5000, MemoryMiB: 256},
	}
}

// adapter is one that was built for this machine.
type adapter struct {
	id       string
	program  string
	manifest abi.Manifest
}

// build holds what the tests build once: the programs of all adapters, together,
// the adapters by id, and the Go cache.
var build = struct {
	sync.Mutex

	dir      string
	adapters map[string]*adapter
	programs func() error
	cache    func() error
}{adapters: map[string]*adapter{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "deepoj-languages-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	build.dir = dir
	build.programs = sync.OnceValue(buildAdapters)
	build.cache = sync.OnceValue(fillCache)
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// buildAdapters builds the adapters as a program of this machine, under the names of all.
func buildAdapters() error {
	program := filepath.Join(build.dir, "all")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "../adapters").CombinedOutput(); err != nil {
		return fmt.Errorf("build the adapters: %w\n%s", err, out)
	}
	folder := filepath.Join(build.dir, "adapters")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	for _, id := range ids {
		if err := os.Symlink(program, filepath.Join(folder, id)); err != nil {
			return err
		}
	}
	return nil
}

// load returns an adapter.
func load(t *testing.T, id string) *adapter {
	t.Helper()
	build.Lock()
	defer build.Unlock()
	if a, ok := build.adapters[id]; ok {
		return a
	}
	if err := build.programs(); err != nil {
		t.Fatal(err)
	}
	a := &adapter{id: id, program: filepath.Join(build.dir, "adapters", id)}
	a.ask(t, abi.OpDescribe, nil, &a.manifest)
	build.adapters[id] = a
	return a
}

// ask runs one operation of the adapter.
func (a *adapter) ask(t *testing.T, op string, question, answer any) {
	t.Helper()
	in, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(a.program, op)
	cmd.Stdin = bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s of %s: %v: %s", op, a.id, err, stderr.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%s of %s answers %q: %v", op, a.id, out, err)
	}
}

func (a *adapter) plan(t *testing.T, q abi.PlanRequest) abi.Plan {
	t.Helper()
	if a.id == "go" && q.Options == nil {
		if err := build.cache(); err != nil {
			t.Fatal(err)
		}
		q.Options = map[string]string{"cache": filepath.Join(build.dir, "go-cache")}
	}
	var p abi.Plan
	a.ask(t, abi.OpPlan, q, &p)
	return p
}

// compile carries out the plan's compile steps in a new folder and returns the
// folder and the last step's result.
func (a *adapter) compile(t *testing.T, q abi.PlanRequest, p abi.Plan) (string, result) {
	t.Helper()
	if p.Error != nil {
		t.Fatalf("%s refuses: %+v", a.id, p.Error)
	}
	for _, tool := range a.manifest.Language.Tools {
		a.requireTool(t, tool.Name)
	}
	dir := t.TempDir()
	for _, f := range p.Files {
		text := f.Text
		if f.Source != nil {
			text = q.Sources[*f.Source].Text
		}
		file := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var r result
	for _, step := range p.Compile {
		if r = execute(t, dir, step); r.code != 0 {
			break
		}
	}
	return dir, r
}

// run compiles and runs.
func (a *adapter) run(t *testing.T, q abi.PlanRequest) result {
	t.Helper()
	p := a.plan(t, q)
	dir, r := a.compile(t, q, p)
	if r.code != 0 {
		t.Fatalf("%s does not compile: %s%s", a.id, r.stdout, r.stderr)
	}
	return execute(t, keep(t, dir, p.Artifacts), p.Run)
}

// keep copies what the globs name into a new folder, as the sandbox does
// between compiling and running.
func keep(t *testing.T, dir string, globs []string) string {
	t.Helper()
	kept := t.TempDir()
	for _, glob := range globs {
		from := filepath.Join(dir, strings.TrimSuffix(glob, "/**"))
		to := filepath.Join(kept, strings.TrimSuffix(glob, "/**"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	return kept
}

// compileErrors returns the diagnostics of sources that must not compile.
func (a *adapter) compileErrors(t *testing.T, q abi.PlanRequest) []abi.Diagnostic {
	t.Helper()
	p := a.plan(t, q)
	_, r := a.compile(t, q, p)
	if r.code == 0 {
		t.Fatalf("%s compiles it", a.id)
	}
	if p.Diagnostics.Name == "plugin" {
		var reply abi.DiagnosticsReply
		a.ask(t, abi.OpDiagnostics, abi.DiagnosticsRequest{
			Judge: abi.Version, Op: abi.OpDiagnostics, Sources: q.Sources, Stdout: r.stdout, Stderr: r.stderr,
		}, &reply)
		return reply.Diagnostics
	}
	return hostReads(t, q, p, r.stderr)
}

// hostReads reads the formats that the host knows, as far as these tests need.
func hostReads(t *testing.T, q abi.PlanRequest, p abi.Plan, stderr string) []abi.Diagnostic {
	t.Helper()
	pattern := map[string]string{
		"gcc":   `(?m)^(?P<file>[^:\n]+):(?P<line>\d+):(?P<col>\d+): (?:fatal )?(?P<severity>error|warning): (?P<message>.*)$`,
		"javac": `(?m)^(?P<file>[^:\n]+\.java):(?P<line>\d+): (?P<severity>error|warning): (?P<message>.*)\n.*\n(?P<col> *)\^`,
	}[p.Diagnostics.Name]
	if pattern == "" {
		t.Fatalf("unknown diagnostics format %q", p.Diagnostics.Name)
	}
	re := regexp.MustCompile(pattern)
	var found []abi.Diagnostic
	for _, m := range re.FindAllStringSubmatch(stderr, -1) {
		group := func(name string) string { return m[re.SubexpIndex(name)] }
		d := abi.Diagnostic{Severity: group("severity"), Message: group("message"), Column: len(group("col")) + 1}
		if _, err := fmt.Sscan(group("line"), &d.Line); err != nil {
			t.Fatal(err)
		}
		if column, err := strconv.Atoi(group("col")); err == nil {
			d.Column = column // a number, not the space before a caret
		}
		for _, f := range p.Files {
			if f.Path == group("file") && f.Source != nil {
				d.File = q.Sources[*f.Source].Name
			}
		}
		found = append(found, d)
	}
	return found
}

// result is how a step ended.
type result struct {
	code           int
	stdout, stderr string
}

// execute runs a step with the stack that a sandbox would give it.
func execute(t *testing.T, dir string, s abi.Step) result {
	t.Helper()
	r, err := executeIn(t.Context(), dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func executeIn(ctx context.Context, dir string, s abi.Step) (result, error) {
	program := s.Program
	if s.Tool != "" {
		program = s.Tool
	}
	args := append([]string{"-c", `ulimit -s 262144 && exec "$@"`, "step", program}, s.Args...)
	cmd := exec.CommandContext(ctx, "/bin/sh", args...)
	cmd.Dir = dir
	// Root's own home: a rustup or pyenv proxy looks there for its tool.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for key, value := range s.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return result{exit.ExitCode(), stdout.String(), stderr.String()}, nil
	}
	if err != nil {
		return result{}, fmt.Errorf("run %q: %w", program, err)
	}
	return result{0, stdout.String(), stderr.String()}, nil
}

// requireTool skips a test whose tool is missing, or fails it where that tool
// must be there.
func (a *adapter) requireTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil && slices.Contains(optional, a.id) {
		t.Skipf("%s is not installed, as on most machines", name)
	}
	requireTool(t, name)
}

// requireTool skips a test whose tool is missing, or fails it where all tools
// must be there.
func requireTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
}

// fillCache carries out the Go adapter's plan for preparing its cache.
func fillCache() error {
	if err := build.programs(); err != nil {
		return err
	}
	q := abi.PlanRequest{
		Judge: abi.Version, Op: abi.OpPlan, Sources: []abi.Source{{Name: "any.go"}},
		Options: map[string]string{"prepare": "true", "cache": filepath.Join(build.dir, "go-cache")},
	}
	in, err := json.Marshal(q)
	if err != nil {
		return err
	}
	ask := exec.Command(filepath.Join(build.dir, "adapters", "go"), abi.OpPlan)
	ask.Stdin = bytes.NewReader(in)
	out, err := ask.Output()
	if err != nil {
		return err
	}
	var p abi.Plan
	if err := json.Unmarshal(out, &p); err != nil {
		return err
	}
	dir := filepath.Join(build.dir, "prepare")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, p.Files[0].Path), []byte(p.Files[0].Text), 0o644); err != nil {
		return err
	}
	r, err := executeIn(context.Background(), dir, p.Compile[0])
	if err == nil && r.code != 0 {
		err = errors.New(r.stderr)
	}
	return err
}
