package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/blob"
	"deepoj/host/embedded"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/plugins"
	"deepoj/sql"
	"deepoj/sql/sqltest"
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
	cache, cold := filepath.Join(dir, "cache"), filepath.Join(dir, "cold") // one that is full already, and an empty one
	account, err := embedded.Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	uid, gid := int(account.UID), int(account.GID) // the program gives up root
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(cache, 0o700), os.Chown(cache, uid, gid), os.Mkdir(cold, 0o700), os.Chown(cold, uid, gid),
		judgingtest.Warm(filepath.Join(cache, "bench"), uid, gid))
	if err != nil {
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
	adapters := filepath.Join(dir, "adapters")
	if err := unpack(adapters, "c", "python"); err != nil {
		t.Fatal(err)
	}
	blobs := filepath.Join(dir, "blobs")
	if err := errors.Join(os.Mkdir(blobs, 0o700), os.Chown(blobs, uid, gid)); err != nil {
		t.Fatal(err)
	}
	dsn := sqltest.DSN(t)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/plugin",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"imported": imported(sqltest.Open(t, dsn), blobs)},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", dir+":"+e.Getenv("PATH"))
			e.Setenv("TMPDIR", os.TempDir()) // the script's own is closed to others
			e.Setenv("DIST", dist)
			e.Setenv("ADAPTERS", adapters)
			e.Setenv("CACHE_DIR", cache)
			e.Setenv("COLD", cold)
			e.Setenv("IMPORT_DSN", dsn)
			e.Setenv("IMPORT_BLOBS", blobs)
			return nil
		},
	})
}

// imported is the command "imported SLUG [FROM [ANSWER]]": the problem is in the
// database and its package is whole, with a time limit that comes from FROM and
// ANSWER in one of its answers.
func imported(store *sqltest.Store, blobs string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		p, err := store.Problem(context.Background(), args[0])
		if neg {
			if !errors.Is(err, sql.ErrNotFound) {
				ts.Fatalf("%s: %v", args[0], err)
			}
			return
		}
		ts.Check(err)
		dir, err := blob.OpenDir(blobs)
		ts.Check(err)
		pkg, err := problem.Load(context.Background(), dir, blob.Digest(p.Version))
		ts.Check(err)
		l := pkg.Limits
		if !pkg.Complete() || l.CPU < time.Second || l.CPU%time.Second != 0 || p.CPUMillis != l.CPU.Milliseconds() {
			ts.Fatalf("%s: complete %t, %s and %d ms", args[0], pkg.Complete(), l.CPU, p.CPUMillis)
		}
		if len(args) > 1 && !strings.HasPrefix(l.CPUFrom, args[1]) {
			ts.Fatalf("%s: the limit is from %q", args[0], l.CPUFrom)
		}
		found := len(args) < 3
		for _, t := range pkg.Tests() {
			b, err := blob.ReadAll(context.Background(), dir, t.Answer.Digest, 1<<20)
			ts.Check(err)
			found = found || strings.TrimSpace(string(b)) == args[2]
		}
		if !found {
			ts.Fatalf("%s: no answer is %s", args[0], args[2])
		}
	}
}

// unpack writes adapters of the binary to files in a new folder, named by their languages.
func unpack(dir string, ids ...string) error {
	all, err := plugins.Languages()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, id := range ids {
		wasm, err := all.Read(id)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, id+".wasm"), wasm, 0o644); err != nil {
			return err
		}
	}
	return nil
}
