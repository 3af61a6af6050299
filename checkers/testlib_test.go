package checkers_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// cpp is what plugins/README.md tells authors of testlib checkers to use, and
// standIn a header of ours with the properties of testlib.h and programs for it.
var (
	cpp     = filepath.Join("..", "plugins", "sdk", "cpp")
	standIn = filepath.Join(cpp, "testdata")
)

// buildTestlib compiles a program for WASI by the recipe of the README, with the
// testlib.h that is in a folder.
func buildTestlib(t *testing.T, source, folder string) string {
	t.Helper()
	commands, _ := recipes(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "folder", "of"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"check.cpp": source, "plugins": filepath.Join("..", "plugins"), filepath.Join("folder", "of", "testlib"): folder,
	} {
		to, err := filepath.Abs(to)
		if err == nil {
			err = os.Symlink(to, filepath.Join(dir, link))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	follow(t, dir, commands["check.cpp"])
	return filepath.Join(dir, "check.wasm")
}

// buildNative compiles the same program for this machine.
func buildNative(t *testing.T, source, folder string) string {
	t.Helper()
	need(t, "g++")
	exe := filepath.Join(t.TempDir(), "check")
	cmd := exec.Command("g++", "-std=c++17", "-O1", "-w", "-DPC_BASE_EXIT_CODE=50", "-I", folder, "-o", exe, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return exe
}

func TestCheckersWrittenForTestlibRun(t *testing.T) {
	t.Parallel()
	module := buildTestlib(t, filepath.Join(standIn, "check.cpp"), standIn)
	tests := map[string]struct {
		input, output, answer string
		exit                  int
		message               string
	}{
		"accepted":             {"2", "3 1", "1 3", 0, "ok 2 numbers"},
		"wrong":                {"2", "3 3", "1 3", 1, "wrong answer number 2 is not among them"},
		"an early end":         {"2", "3", "1 3", 2, "unexpected eof Unexpected end of file - token expected"},
		"more than is asked":   {"2", "3 1 1", "1 3", 2, "wrong output format Extra information in the output file"},
		"no number":            {"2", "3 x", "1 3", 2, `wrong output format Expected integer, but "x" found`},
		"half a number":        {"2", "3 1x", "1 3", 2, `wrong output format Expected integer, but "1x" found`},
		"a number too large":   {"2", "3 99999999999999999999", "1 3", 2, `wrong output format Expected integer, but "99999999999999999999" found`},
		"a broken answer":      {"2", "3 1", "1", 3, "FAIL Unexpected end of file - token expected (answer)"},
		"a broken input":       {"x", "3 1", "1", 3, `FAIL Expected integer, but "x" found (input)`},
		"the largest number":   {"1", "9223372036854775807", "9223372036854775807", 0, "ok 1 numbers"},
		"after a failed parse": {"1", "-0", "0", 2, `wrong output format Expected integer, but "-0" found`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runTestlib(t, module, "", tt.input, tt.output, tt.answer)
			if r.trap != "" || r.exit != tt.exit || strings.TrimSpace(r.stderr) != tt.message {
				t.Errorf("%+v, want exit %d and %q", r, tt.exit, tt.message)
			}
		})
	}
	t.Run("a throw ends it with the type", func(t *testing.T) {
		t.Parallel()
		numbers := strings.Repeat("1 ", 13)
		r := runTestlib(t, module, "", "13", numbers, numbers)
		if r.trap == "" || !strings.Contains(r.stderr, "threw an exception of type") {
			t.Errorf("%+v, want a trap", r)
		}
	})
}

// Every kind of program for testlib says and writes as a guest what it does as a
// program of this machine.
func TestEveryKindOfTestlibProgramRuns(t *testing.T) {
	t.Parallel()
	for source, tt := range map[string]struct {
		files []string // input, output and answer, if there are
		args  []string
		stdin string
		says  string
	}{
		"points.cpp":   {files: []string{"", "12.5", ""}, says: "points 12.5 of what there is"},
		"validate.cpp": {stdin: "2\n3 0\n", says: "FAIL number 2 is 0"},
		"generate.cpp": {args: []string{"-n=3", "17"}, says: "3\n"},
		"interact.cpp": {files: []string{"7", "", "0"}, stdin: "50\n3\n7\n", says: "lower\nhigher\nright\n"},
		"score.cpp":    {stdin: "1 OK 40 -\n2 PT 12.5 a=1\n", says: "12.500\n"},
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(standIn, source)
			there := runTestlib(t, buildTestlib(t, file, standIn), tt.stdin, append(tt.files, tt.args...)...)
			here := runNative(t, buildNative(t, file, standIn), tt.stdin, append(tt.files, tt.args...)...)
			if here != there || !strings.Contains(here.stdout+here.stderr, tt.says) {
				t.Errorf("natively %+v, as a guest %+v: want %q", here, there, tt.says)
			}
		})
	}
}

// world writes files for a program into a folder and returns its arguments: the
// first three words are the texts of files, unless there are fewer.
func world(t *testing.T, dir, stdin string, words []string) (args []string) {
	t.Helper()
	write(t, filepath.Join(dir, "stdin"), stdin)
	if len(words) < 3 {
		return words
	}
	for i, file := range []string{"input", "output", "answer"} {
		write(t, filepath.Join(dir, file), words[i])
		args = append(args, file)
	}
	return append(args, words[3:]...)
}

// ended is how a program ended, and what it said and wrote.
type ended struct {
	exit                 int
	trap                 string
	stdout, stderr, tout string
}

// runTestlib runs a module, and runNative a program of this machine.
func runTestlib(t *testing.T, module, stdin string, words ...string) (r ended) {
	t.Helper()
	g := guestOf(t, module)
	dir := t.TempDir()
	args := world(t, dir, stdin, words)
	ctx := context.WithoutCancel(t.Context())
	var out, errs strings.Builder
	m, err := g.rt.InstantiateModule(ctx, g.module, wazero.NewModuleConfig().WithName("").WithArgs(append([]string{"check"}, args...)...).
		WithStdin(strings.NewReader(stdin)).WithStdout(&out).WithStderr(&errs).WithFSConfig(wazero.NewFSConfig().WithDirMount(dir, "/")))
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		r.exit = int(exit.ExitCode())
	case err != nil:
		r.trap = err.Error()
	default:
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	r.stdout, r.stderr, r.tout = out.String(), errs.String(), tout(t, dir)
	return r
}

// testlibGuest is a module that is compiled.
type testlibGuest struct {
	rt     wazero.Runtime
	module wazero.CompiledModule
}

// guests are those of the modules that ran before, by file.
var guests struct {
	sync.Mutex
	by map[string]testlibGuest
}

// guestOf compiles a module, once.
func guestOf(t *testing.T, module string) testlibGuest {
	t.Helper()
	guests.Lock()
	defer guests.Unlock()
	if g, ok := guests.by[module]; ok {
		return g
	}
	wasm, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background() // it outlives the test
	g := testlibGuest{rt: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false))}
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, g.rt); err == nil {
		g.module, err = g.rt.CompileModule(ctx, wasm)
	}
	if err != nil {
		t.Fatal(err)
	}
	if guests.by == nil {
		guests.by = map[string]testlibGuest{}
	}
	guests.by[module] = g
	return g
}

func runNative(t *testing.T, exe, stdin string, words ...string) (r ended) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(exe, world(t, dir, stdin, words)...)
	cmd.Dir = dir
	in, err := os.Open(filepath.Join(dir, "stdin"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errs
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit) && exit.Exited():
		r.exit = exit.ExitCode()
	case err != nil:
		r.trap = err.Error()
	}
	r.stdout, r.stderr, r.tout = out.String(), errs.String(), tout(t, dir)
	return r
}

// tout is what an interactor wrote for the checker.
func tout(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "output"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}
