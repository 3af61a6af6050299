package checkers_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of plugins/README.md are fenced blocks with a file name.
var example = regexp.MustCompile("(?ms)^```[a-z]+ (pair\\.[a-z]+)\n(.*?)^```$")

func TestTheExamplesOfTheREADMEWork(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "plugins", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, m := range example.FindAllStringSubmatch(string(readme), -1) {
		files[m[1]] = m[2]
	}
	if len(files) != 3 {
		t.Fatalf("the README has %d examples", len(files))
	}
	tests := []struct {
		input, output string
		exit          int
	}{
		{"5\n", "2 3\n", 0},
		{"5\n", "4 1", 0},
		{"5\n", "2 4\n", 1},
		{"5\n", "0 5\n", 1},
		{"5\n", "2\n", 1},
		{"5\n", "2 3 4\n", 1},
		{"5\n", "", 1},
		{"5\n", "two 3\n", 1},
		{"5\n", "9223372036854775807 -9223372036854775802\n", 1},
		{"five\n", "2 3\n", 3},
	}
	for file, text := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, file), text)
			run := buildExample(t, dir, file)
			for _, tt := range tests {
				write(t, filepath.Join(dir, "input"), tt.input)
				write(t, filepath.Join(dir, "output"), tt.output)
				write(t, filepath.Join(dir, "answer"), "1 4\n")
				if exit := run(t); exit != tt.exit {
					t.Errorf("input %q, output %q: exit %d, want %d", tt.input, tt.output, exit, tt.exit)
				}
			}
		})
	}
}

// buildExample builds a file of a folder and returns how to run it as a guest on
// the files of that folder.
func buildExample(t *testing.T, dir, file string) func(*testing.T) int {
	t.Helper()
	var build *exec.Cmd
	switch filepath.Ext(file) {
	case ".c":
		build = exec.Command("clang", "--target=wasm32-wasi", "-O2", "-Wall", "-Werror", "-Wl,--stack-first", "-o", "pair.wasm", file)
	case ".go":
		build = exec.Command("go", "build", "-ldflags=-s -w", "-o", "pair.wasm", file)
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	case ".rs":
		rustc, target := rust(t)
		build = exec.Command(rustc, "-O", "--edition=2021", "-Dwarnings", "--target", target, "-o", "pair.wasm", file)
	}
	need(t, build.Args[0])
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", build.Args, err, out)
	}
	return func(t *testing.T) int {
		t.Helper()
		r := node(t).run(t, request{
			Module: filepath.Join(dir, "pair.wasm"), Dir: dir, Args: append([]string{"pair"}, arguments("testlib/1", "", nil)...),
		})
		if r.Trap != "" {
			t.Errorf("trap: %s", r.Trap)
		}
		return r.Exit
	}
}

// rust returns a Rust compiler that has the standard library for WASI, and what
// it calls it.
func rust(t *testing.T) (rustc, target string) {
	t.Helper()
	for _, rustc := range []string{"rustc", "/usr/bin/rustc"} {
		for _, target := range []string{"wasm32-wasip1", "wasm32-wasi"} {
			folder, err := exec.Command(rustc, "--print", "target-libdir", "--target", target).Output()
			if err != nil {
				continue // it does not know the target, or is not there
			}
			if std, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "libstd-*.rlib")); err == nil && len(std) > 0 {
				return rustc, target
			}
		}
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatal("no rustc has the standard library for WASI")
	}
	t.Skip("no rustc has the standard library for WASI")
	return "", ""
}

func TestTheExampleOfTheRustSDKWorks(t *testing.T) {
	t.Parallel()
	rustc, target := rust(t)
	sdk, err := filepath.Abs(filepath.Join("..", "plugins", "sdk", "rust"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	flags := []string{"-O", "--edition=2021", "-Cpanic=abort", "-Dwarnings", "--target", target}
	for _, args := range [][]string{
		{"--crate-type=rlib", "--crate-name=deepoj_sdk", "-o", "libdeepoj_sdk.rlib", filepath.Join(sdk, "src", "lib.rs")},
		{"--extern=deepoj_sdk=libdeepoj_sdk.rlib", "-o", "pair.wasm", filepath.Join(sdk, "examples", "pair.rs")},
	} {
		cmd := exec.Command(rustc, append(flags, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
		}
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "pair.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(wasm, []byte("judge.manifest")) || !bytes.Contains(wasm, []byte("org.example.pair")) {
		t.Error("the module has no manifest")
	}
	long := strings.Repeat("7", 3<<20)
	tests := map[string]struct {
		input, output string
		exit          int
		message       string
	}{
		"a pair":                      {"5\n", "2 3\n", 0, ""},
		"without a last newline":      {"5", "\n\n4\r\n\t1", 0, ""},
		"another sum":                 {"5\n", "2 4\n", 1, "2 and 4 are no such pair"},
		"one that is too short":       {"5\n", "2\n", 1, "token 2 (line 2): the file ends too early"},
		"one that is too long":        {"5\n", "2\n3\n4\n", 1, "token 3 (line 3): something follows where the file should end"},
		"words":                       {"5\n", "2 three\n", 1, "token 2 (line 1): expected a number, read three"},
		"a number that is too large":  {"5\n", "2 99999999999999999999\n", 1, "token 2 (line 1): expected a number, read 99999999999999999999"},
		"a token longer than is kept": {"5\n", long, 1, "token 1 (line 1): expected a number, read " + long[:40]},
		"a token in several pieces":   {"5\n", strings.Repeat(" ", 1<<16-1) + "2" + strings.Repeat("\n", 1<<17) + "3", 0, ""},
		"an output that is not UTF-8": {"5\n", "\xff\x00\n", 1, "token 1 (line 1): expected a number, read \ufffd?"},
		"an input that is wrong":      {"five\n", "2 3\n", 3, "token 1 (line 1): expected a number, read five"},
		"an input that is missing":    {"", "2 3\n", 3, "token 1 (line 1): the file ends too early"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for file, text := range map[string]string{"input": tt.input, "output": tt.output, "answer": ""} {
				write(t, filepath.Join(folder, file), text)
			}
			r := node(t).run(t, request{
				Module: filepath.Join(dir, "pair.wasm"), Dir: folder, Args: append([]string{"pair"}, arguments("testlib/1", "", nil)...),
			})
			// Node.js gives standard error as bytes.
			said, err := latin1(strings.TrimSpace(r.Stderr))
			if r.Trap != "" || r.Exit != tt.exit || err != nil || said != tt.message {
				t.Errorf("exit %d, message %q, trap %q, %v, want %d and %q", r.Exit, said, r.Trap, err, tt.exit, tt.message)
			}
		})
	}
}

// latin1 returns the bytes that were read as Latin-1.
func latin1(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", fmt.Errorf("%q is no byte", r)
		}
		b = append(b, byte(r))
	}
	return string(b), nil
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
