package plugin_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deepoj/host/plugin"
	"deepoj/host/plugin/plugintest"
	"deepoj/plugins/abi"
)

// holdCommand runs [hold], escapeCommand runs [escape], landlockCommand runs [reachOut].
const (
	holdCommand     = "plugin-hold"
	escapeCommand   = "plugin-escape"
	landlockCommand = "plugin-landlock"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
		os.Exit(plugin.Child(os.Args[1:]))
	}
	if len(os.Args) == 4 && os.Args[1] == holdCommand {
		fmt.Fprintln(os.Stderr, hold(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	if len(os.Args) == 2 && os.Args[1] == escapeCommand {
		escape()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == landlockCommand {
		reachOut(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// childExe is the program of the children when the race detector would make
// guests too slow. Its race is run by one test, see [TestTheChildrenRaceToo].
var childExe = sync.OnceValues(func() (string, error) {
	if !underRace {
		return "", nil
	}
	s, err := plugintest.Open()
	return s.Exe, err
})

// open returns a runtime with a cache of its own that ends with the test.
func open(t *testing.T, cfg plugin.Config) *plugin.Runtime {
	t.Helper()
	if cfg.CacheDir == "" {
		cfg.CacheDir = t.TempDir()
	}
	if cfg.CompileCPU == 0 {
		cfg.CompileCPU = time.Minute // the race detector makes compiling slow
	}
	if cfg.Exe == "" {
		exe, err := childExe()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Exe = exe
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	r, err := plugin.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// need skips the test when a tool is missing, or fails it where all are
// required.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatalf("%s is missing", tool)
	}
	t.Skipf("%s is missing", tool)
}

// buildC compiles a C guest of testdata.
func buildC(t *testing.T, name string) []byte {
	t.Helper()
	need(t, "clang")
	return build(t, exec.Command("clang", "--target=wasm32-wasi", "-O2", "-Wl,--strip-all", "testdata/"+name+".c", "-o"))
}

// buildGo compiles a Go guest of testdata.
func buildGo(t *testing.T, name string) []byte {
	t.Helper()
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	cmd.Args = append(cmd.Args, "")
	out := filepath.Join(t.TempDir(), name+".wasm")
	cmd.Args[len(cmd.Args)-1] = out
	cmd.Args = append(cmd.Args, "./testdata/"+name)
	return output(t, cmd, out)
}

// build runs a compiler whose last argument will be the file to write.
func build(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd.Args = append(cmd.Args, out)
	return output(t, cmd, out)
}

func output(t *testing.T, cmd *exec.Cmd, out string) []byte {
	t.Helper()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// file returns an open file with a content.
func file(t *testing.T, content string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	return f
}

// check is a question with contents.
func check(t *testing.T, input, output, answer string, args ...string) plugin.Check {
	t.Helper()
	return plugin.Check{Input: file(t, input), Output: file(t, output), Answer: file(t, answer), Args: args}
}

// checker is a manifest for modules without one.
func checker(p abi.Protocol, l abi.Limits) *abi.Manifest {
	return &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "test", Version: "1", Protocol: p, Limits: l}
}
