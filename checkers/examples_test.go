package checkers_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A recipe of plugins/README.md is the command below one of its headings, in the
// folder that holds the fenced file above it.
var (
	heading = regexp.MustCompile("(?m)^###? .*$")
	example = regexp.MustCompile("(?ms)^```[a-z]+ (pair\\.[a-z]+)\n(.*?)^```$")
	command = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
)

// recipes returns the commands of the README by the name of the file that they
// compile, and its text if the README has it.
func recipes(t *testing.T) (commands, texts map[string]string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "plugins", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands, texts = map[string]string{}, map[string]string{}
	for _, section := range heading.Split(string(readme), -1) {
		told := command.FindStringSubmatch(section)
		switch file := example.FindStringSubmatch(section); {
		case told == nil:
		case file != nil:
			commands[file[1]], texts[file[1]] = told[1], file[2]
		case strings.Contains(told[1], " check.cpp "):
			commands["check.cpp"] = told[1]
		}
	}
	if len(commands) != 4 {
		t.Fatalf("the README has %d recipes", len(commands))
	}
	return commands, texts
}

func TestTheExamplesOfTheREADMEWork(t *testing.T) {
	t.Parallel()
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
	commands, texts := recipes(t)
	for file, text := range texts {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, file), text)
			follow(t, dir, commands[file])
			for _, tt := range tests {
				write(t, filepath.Join(dir, "input"), tt.input)
				write(t, filepath.Join(dir, "output"), tt.output)
				write(t, filepath.Join(dir, "answer"), "1 4\n")
				r := node(t).run(t, request{
					Module: filepath.Join(dir, "pair.wasm"), Dir: dir, Args: append([]string{"pair"}, arguments("testlib/1", "", nil)...),
				})
				if r.Trap != "" || r.Exit != tt.exit {
					t.Errorf("input %q, output %q: %+v, want exit code %d", tt.input, tt.output, r, tt.exit)
				}
			}
		})
	}
}

// follow runs a recipe of the README in a folder, as it is written there, but that
// the compiler of Debian calls the target of Rust by another name.
func follow(t *testing.T, dir, recipe string) {
	t.Helper()
	words := strings.Fields(recipe)
	need(t, words[slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") })])
	cmd := exec.Command("sh", "-ec", recipe)
	if strings.HasPrefix(recipe, "rustc ") {
		rustc, target := rust(t)
		cmd.Args[2] = strings.NewReplacer("rustc ", rustc+" ", "wasm32-wasip1", target).Replace(recipe)
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%v\n%s", recipe, err, out)
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

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
