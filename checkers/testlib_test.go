package checkers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cpp is what plugins/README.md tells authors of testlib checkers to use.
var cpp = filepath.Join("..", "plugins", "sdk", "cpp")

// buildTestlib compiles a checker for WASI as the README says, with the real
// header found in folder.
func buildTestlib(t *testing.T, source, folder string) string {
	t.Helper()
	need(t, "clang++")
	module := filepath.Join(t.TempDir(), "check.wasm")
	cmd := exec.Command("clang++", "--target=wasm32-wasi", "-std=c++17", "-O1", "-DPC_BASE_EXIT_CODE=50", "-D_WASI_EMULATED_SIGNAL",
		"-I", filepath.Join(cpp, "include"), "-include", "deepoj/testlib.h", "-I", folder, "-Wl,--stack-first", "-Wl,-z,stack-size=67108864",
		"-o", module, source, filepath.Join(cpp, "exceptions.cpp"), "-lwasi-emulated-signal")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return module
}

func TestCheckersWrittenForTestlibRun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(cpp, "testdata")
	module := buildTestlib(t, filepath.Join(folder, "check.cpp"), folder)
	tests := map[string]struct {
		input, output, answer string
		exit                  int
		message               string
	}{
		"accepted":             {"2", "3 1", "1 3", 0, "2 numbers"},
		"wrong":                {"2", "3 3", "1 3", 1, "number 2 is not among them"},
		"an early end":         {"2", "3", "1 3", 1, "unexpected end of file"},
		"no number":            {"2", "3 x", "1 3", 2, "expected a number, read x"},
		"half a number":        {"2", "3 1x", "1 3", 2, "expected a number, read 1x"},
		"a number too large":   {"2", "3 99999999999999999999", "1 3", 2, "expected a number, read 99999999999999999999"},
		"a broken answer":      {"2", "3 1", "1", 3, "unexpected end of file"},
		"a broken input":       {"x", "3 1", "1", 3, "expected a number, read x"},
		"the largest number":   {"1", "9223372036854775807", "9223372036854775807", 0, "1 numbers"},
		"after a failed parse": {"1", "-0", "0", 2, "expected a number, read -0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runTestlib(t, module, tt.input, tt.output, tt.answer)
			if r.Trap != "" || r.Exit != tt.exit || strings.TrimSpace(r.Stderr) != tt.message {
				t.Errorf("%+v, want exit %d and %q", r, tt.exit, tt.message)
			}
		})
	}
}

func TestAThrowEndsTheCheckerWithItsType(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(cpp, "testdata")
	numbers := strings.Repeat("1 ", 13)
	r := runTestlib(t, buildTestlib(t, filepath.Join(folder, "check.cpp"), folder), "13", numbers, numbers)
	if r.Trap == "" {
		t.Errorf("%+v, want a trap", r)
	}
}

func runTestlib(t *testing.T, module, input, output, answer string) reply {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{"input": input, "output": output, "answer": answer} {
		write(t, filepath.Join(dir, file), text)
	}
	return node(t).run(t, request{
		Module: module, Dir: dir, Args: append([]string{"check"}, arguments("testlib/1", "", nil)...),
	})
}

// With TESTLIB naming a folder that holds testlib.h and a folder of checkers,
// all of them are compiled twice and must agree with their native builds.
func TestRealTestlibCheckersAgreeWithNativeBuilds(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("TESTLIB")
	if folder == "" {
		return // nothing to compare: testlib.h is not ours to ship
	}
	sources, err := filepath.Glob(filepath.Join(folder, "checkers", "*.cpp"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s holds no checkers: %v", folder, err)
	}
	texts := []string{"", "1\n", "1 2\n", "1 2 3\n", "1.000001\n", "YES\n", "no\n", "a b\nc\n", "case 1: 5\n", "x", "-0\n", "1e5\n"}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Parallel()
			need(t, "g++")
			module := buildTestlib(t, source, folder)
			exe := filepath.Join(t.TempDir(), "check")
			cmd := exec.Command("g++", "-std=c++17", "-O1", "-w", "-DPC_BASE_EXIT_CODE=50", "-I", folder, "-o", exe, source)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
			}
			for _, output := range texts {
				for _, answer := range texts {
					there := runTestlib(t, module, "", output, answer)
					dir := t.TempDir()
					for file, text := range map[string]string{"input": "", "output": output, "answer": answer} {
						write(t, filepath.Join(dir, file), text)
					}
					here := exitCode(t, exec.Command(exe, arguments("testlib/1", dir, nil)...))
					if there.Trap != "" || there.Exit != here {
						t.Errorf("output %q, answer %q: exit %d natively, %+v as a guest", output, answer, here, there)
					}
				}
			}
		})
	}
}
