package conformance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// The examples of plugins/README.md: fenced blocks with a file name, and the
// manifest that goes with them.
var (
	example  = regexp.MustCompile("(?ms)^```[a-z]+ (pair\\.(?:c|go|rs))\n(.*?)^```$")
	manifest = regexp.MustCompile("(?ms)^```json\n(\\{\n  \"judge\": 1,.*?)^```$")
)

// Who begins with an example begins with a plugin that conforms.
func TestTheExamplesOfTheREADMEConform(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "plugins", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := manifest.FindSubmatch(readme)
	examples := example.FindAllSubmatch(readme, -1)
	if said == nil || len(examples) != 3 {
		t.Fatalf("the README has %d examples, and a manifest: %t", len(examples), said != nil)
	}
	for _, e := range examples {
		name := string(e[1])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), e[2], 0o600); err != nil {
				t.Fatal(err)
			}
			build := exec.Command("clang", "--target=wasm32-wasi", "-O2", "-Wl,--stack-first", "-o", "pair.wasm", name)
			switch filepath.Ext(name) {
			case ".rs": // Debian's, which has the library for WASI
				build = exec.Command("/usr/bin/rustc", "-O", "--edition=2021", "--target", "wasm32-wasi", "-o", "pair.wasm", name)
			case ".go":
				build = exec.Command("go", "build", "-ldflags=-s -w", "-o", "pair.wasm", name)
				build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
			}
			need(t, build.Args[0])
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", build.Args, err, out)
			}
			wasm, err := os.ReadFile(filepath.Join(dir, "pair.wasm"))
			if err != nil {
				t.Fatal(err)
			}
			if wasm, err = plugin.Embed(wasm, said[1]); err != nil {
				t.Fatal(err)
			}
			if r := prove(t, wasm, conformance.Options{}); !r.Conforms {
				t.Error(text(t, r))
			}
		})
	}
}

// A checker that was written for testlib, with the wrapper of the SDK.
func TestACheckerWrittenForTestlibConforms(t *testing.T) {
	t.Parallel()
	need(t, "clang++")
	cpp := filepath.Join("..", "..", "..", "plugins", "sdk", "cpp")
	dir := t.TempDir()
	out, exceptions := filepath.Join(dir, "check.wasm"), filepath.Join(dir, "exceptions.o")
	for _, args := range [][]string{
		{"-c", "-o", exceptions, filepath.Join(cpp, "exceptions.cpp")}, // apart: what includes the header of testlib twice does not link
		{
			"-DPC_BASE_EXIT_CODE=50", "-D_WASI_EMULATED_SIGNAL", "-I", filepath.Join(cpp, "include"), "-include", "deepoj/testlib.h",
			"-I", filepath.Join(cpp, "testdata"), "-Wl,--stack-first", "-Wl,-z,stack-size=67108864", "-o", out,
			filepath.Join(cpp, "testdata", "check.cpp"), exceptions, "-lwasi-emulated-signal",
		},
	} {
		build := exec.Command("clang++", append([]string{"--target=wasm32-wasi", "-std=c++17", "-O1"}, args...)...)
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", build.Args, err, said)
		}
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	m, err := json.Marshal(checker(abi.Testlib1,
		abi.Test{Input: "2\n", Output: "3 1\n", Answer: "1 3\n", Expect: "accepted"},
		abi.Test{Input: "2\n", Output: "3 3\n", Answer: "1 3\n", Expect: "wrong"},
		abi.Test{Input: "2\n", Output: "3 x\n", Answer: "1 3\n", Expect: "presentation"},
		abi.Test{Input: "2\n", Output: "3 1\n", Answer: "1\n", Expect: "failed"}))
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err = plugin.Embed(wasm, m); err != nil {
		t.Fatal(err)
	}
	if r := prove(t, wasm, conformance.Options{}); !r.Conforms {
		t.Error(text(t, r))
	}
}
