package judging_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/build"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/plugin/plugintest"
	"deepoj/plugins"
	"deepoj/plugins/archive"
	"deepoj/sandbox"
)

// watched is a sandbox that counts its boxes and says of every tool that it is
// at one path.
type watched struct {
	runner.Sandbox
	path  string
	boxes atomic.Int32
}

func (w *watched) Box(ctx context.Context) (*sandbox.Box, error) {
	w.boxes.Add(1)
	return w.Sandbox.Box(ctx)
}

func (w *watched) Tool(ctx context.Context, name string) (sandbox.Tool, error) {
	tool, err := w.Sandbox.Tool(ctx, name)
	tool.Path = w.path
	return tool, err
}

func TestAToolSaysItsVersionOnceUntilItsFileIsReplaced(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	all, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	box := &watched{Sandbox: m.Agent, path: filepath.Join(t.TempDir(), "python3")}
	install := func() {
		t.Helper()
		next := box.path + ".new"
		if err := os.WriteFile(next, []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		same := time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)
		if err := os.Chtimes(next, same, same); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, box.path); err != nil {
			t.Fatal(err)
		}
	}
	cacheDir := t.TempDir()
	start := func() *judging.Judge {
		t.Helper()
		j, err := m.Open(func(c *judging.Config) {
			c.Sandbox, c.CacheDir, c.Adapters = box, cacheDir, only(t, all, "python")
		})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	asks := func(when string, j *judging.Judge, want int32) {
		t.Helper()
		box.boxes.Store(0)
		l := j.Languages(t.Context())
		if len(l) != 1 || !l[0].Available || l[0].Version == "" {
			t.Fatalf("%s: languages are %+v", when, l)
		}
		if got := box.boxes.Load(); got != want {
			t.Errorf("%s: the tool ran %d times, not %d", when, got, want)
		}
	}
	install()
	j := start()
	asks("the first time", j, 1)
	asks("the second time", j, 0)
	asks("after a restart", start(), 0)
	install()
	asks("after the file was replaced by one of the same size and time", j, 1)
	asks("after that and a restart", start(), 0)
}

// The runtime after the restart has no program to run adapters with.
func TestAnAdapterIsNotAskedForItsCommandAfterARestart(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	all, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := plugintest.Open()
	if err != nil {
		t.Fatal(err)
	}
	idle, err := plugin.New(plugin.Config{CacheDir: shared.CacheDir, Exe: "/bin/false"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := idle.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	languages := func(r *plugin.Runtime, adapter string) []judge.Language {
		t.Helper()
		j, err := m.Open(func(c *judging.Config) {
			c.Plugins, c.CacheDir, c.Adapters = r, dir, only(t, all, adapter)
		})
		if err != nil {
			t.Fatal(err)
		}
		return j.Languages(t.Context())
	}
	first := languages(m.Runtime, "c")
	if len(first) != 1 || !first[0].Available || first[0].Command == "" {
		t.Fatalf("languages are %+v", first)
	}
	if again := languages(idle, "c"); !reflect.DeepEqual(again, first) {
		t.Errorf("after a restart languages are %+v, want %+v", again, first)
	}
	languages(m.Runtime, "python") // so that its module is known
	dir = t.TempDir()
	if other := languages(idle, "python"); other[0].Available {
		t.Error("the runtime without a program has asked an adapter")
	}
}

// only returns some of the adapters that come with Deep-OJ.
func only(t *testing.T, all *archive.Archive, ids ...string) build.Adapters {
	t.Helper()
	some := map[string][]byte{}
	for _, id := range ids {
		wasm, err := all.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		some[id] = wasm
	}
	return judging.Modules(some)
}
