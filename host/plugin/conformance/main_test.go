package conformance_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/plugin/plugintest"
	"deepoj/plugins/abi"
)

// shared is the runtime that all tests ask. Its children are built without the
// race detector, which would make guests too slow.
var shared struct {
	once    sync.Once
	runtime *plugin.Runtime
	dir     string
	err     error
}

func TestMain(m *testing.M) {
	status := judgingtest.Main(m, "conformance", 66000, nil)
	if shared.runtime != nil {
		if err := shared.runtime.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	if err := os.RemoveAll(shared.dir); shared.dir != "" && err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func runtime(t *testing.T) *plugin.Runtime {
	t.Helper()
	shared.once.Do(func() { shared.runtime, shared.dir, shared.err = openRuntime() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.runtime
}

func openRuntime() (*plugin.Runtime, string, error) {
	dir, err := os.MkdirTemp("", "conformance-test-")
	if err != nil {
		return nil, dir, err
	}
	plugins, err := plugintest.Open()
	if err != nil {
		return nil, dir, err
	}
	r, err := plugin.New(plugin.Config{CacheDir: plugins.CacheDir, Exe: plugins.Exe, CompileCPU: time.Minute, Log: slog.New(slog.DiscardHandler)})
	return r, dir, err
}

// prove runs the suite. The largest output is small where tests are to be short.
func prove(t *testing.T, wasm []byte, o conformance.Options) conformance.Report {
	t.Helper()
	if testing.Short() && o.LargeBytes == 0 {
		o.LargeBytes = 8_000_000
	}
	r, err := conformance.Run(t.Context(), runtime(t), wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text returns a report as people read it.
func text(t *testing.T, r conformance.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
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
func buildC(t *testing.T, name string, flags ...string) []byte {
	t.Helper()
	need(t, "clang")
	out := filepath.Join(t.TempDir(), "guest.wasm")
	args := []string{"--target=wasm32-wasi", "-O1", "-Wl,--strip-all", "-Wl,--stack-first"}
	args = append(append(args, flags...), "testdata/"+name+".c", "-o", out)
	if said, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
		t.Fatalf("clang %q: %v\n%s", args, err, said)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// checker is a manifest for modules without one.
func checker(p abi.Protocol, tests ...abi.Test) *abi.Manifest {
	return &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "test", Version: "1", Protocol: p, Tests: tests}
}
