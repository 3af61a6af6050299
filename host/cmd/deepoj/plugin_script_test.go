package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/embedded"
)

// TestPluginsAreBuiltTestedAndRunFromTheCommandLine runs the scripts in
// testdata/plugin with the program as it ships: it becomes a sandbox agent and
// workers, which the race detector would make too slow.
func TestPluginsAreBuiltTestedAndRunFromTheCommandLine(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("this test needs root")
		}
		t.Skip("this test needs root")
	}
	dir, err := os.MkdirTemp("", "deepoj-cli-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cache := filepath.Join(dir, "cache") // what one script compiles the others find
	account, err := embedded.Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(cache, 0o700), os.Chown(cache, int(account.UID), int(account.GID)))
	if err != nil { // the program gives up root
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "deepoj"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	dist, err := filepath.Abs("../../../plugins/dist")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/plugin",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", dir+":"+e.Getenv("PATH"))
			e.Setenv("TMPDIR", os.TempDir()) // the script's own is closed to others
			e.Setenv("DIST", dist)
			e.Setenv("CACHE_DIR", cache)
			return nil
		},
	})
}
