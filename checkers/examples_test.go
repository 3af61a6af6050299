package checkers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// buildExample builds a file of a folder and returns how to run it on the files
// of that folder: as a guest, and Rust natively, because Debian's has no library
// for WASI.
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
		build = exec.Command("rustc", "-O", "--edition=2021", "-Dwarnings", "-o", "pair", file)
	}
	need(t, build.Args[0])
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", build.Args, err, out)
	}
	if filepath.Ext(file) == ".rs" {
		return func(t *testing.T) int {
			t.Helper()
			return exitCode(t, exec.Command(filepath.Join(dir, "pair"), arguments("testlib/1", dir, nil)...))
		}
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
