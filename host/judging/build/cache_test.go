package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deepoj/sandbox"
)

// openedCache returns the cache in a folder.
func openedCache(t *testing.T, dir string, limit int64) *cache {
	t.Helper()
	c, err := openCache(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheCacheGivesBackWhatItKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 1<<20)
	files := []sandbox.File{{Path: "out/Main.class", Mode: 0o644, Data: []byte("class")}, {Path: "main", Mode: 0o755, Data: nil}}
	if err := c.put("k", compiled{}, files); err != nil {
		t.Fatal(err)
	}
	c = openedCache(t, dir, 1<<20) // as after a restart
	var what compiled
	got, ok := c.get("k", &what)
	if !ok || len(got) != 2 || got[0].Path != "out/Main.class" || got[1].Mode != 0o755 || !bytes.Equal(got[0].Data, files[0].Data) {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := c.get("other", &what); ok {
		t.Error("an unknown key was found")
	}
}

func TestADamagedEntryCountsAsAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 1<<20)
	if err := c.put("k", compiled{}, []sandbox.File{{Path: "main", Data: []byte("program")}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 97 {
		b := bytes.Clone(whole)
		b[at] ^= 1
		if err := os.WriteFile(filepath.Join(dir, "k"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		c = openedCache(t, dir, 1<<20) // what is in memory is not damaged
		var what compiled
		if _, ok := c.get("k", &what); ok {
			t.Errorf("byte %d was changed, and nobody noticed", at)
		}
	}
}

func TestWhatCannotBeKeptLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 1<<20)
	whole, nameless := sandbox.File{Path: "main", Data: []byte("program")}, sandbox.File{Path: "a\x00b", Data: []byte("no name of a file")}
	if err := c.put("k", compiled{}, []sandbox.File{whole, nameless}); err == nil {
		t.Error("an entry with an impossible name was kept")
	}
	var what compiled
	if _, ok := c.get("k", &what); ok {
		t.Error("half an entry is there")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestTheCacheCountsWhatItKeeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 1<<20)
	for i, size := range []int{0, 1, 511, 512, 100_000} {
		if err := c.put(fmt.Sprint(i), compiled{}, []sandbox.File{{Path: "main", Data: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
	}
	if again := openedCache(t, dir, 1<<20); c.size != again.size { // which counts what is on the disk
		t.Errorf("it counts %d bytes, and %d are on the disk", c.size, again.size)
	}
}

func TestTheCacheForgetsWhatWasNotUsedForLongest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 110<<10)
	put := func(key string, age time.Duration) {
		t.Helper()
		if err := c.put(key, compiled{}, []sandbox.File{{Path: "main", Data: make([]byte, 30<<10)}}); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, key), then, then); err != nil {
			t.Fatal(err)
		}
	}
	put("old", 3*time.Hour)
	put("older", 4*time.Hour)
	put("young", time.Hour)
	var what compiled
	if _, ok := c.get("older", &what); !ok { // now it is the youngest
		t.Fatal("older is gone already")
	}
	put("new", 0)
	for key, want := range map[string]bool{"old": false, "older": true, "young": true, "new": true} {
		if _, ok := c.get(key, &what); ok != want {
			t.Errorf("%s is kept: %t, want %t", key, ok, want)
		}
	}
}

func TestWhatWasRemovedFromTheDiskIsNotGivenFromMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openedCache(t, dir, 1<<20)
	if err := c.put("k", compiled{}, []sandbox.File{{Path: "main", Data: []byte("program")}}); err != nil {
		t.Fatal(err)
	}
	var what compiled
	first, ok := c.take("k", &what)
	again, ok2 := c.take("k", &what)
	if !ok || !ok2 || first != again {
		t.Errorf("taken twice, it is %p %t and %p %t, want the same files", first, ok, again, ok2)
	}
	if err := os.Remove(filepath.Join(dir, "k")); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.get("k", &what); ok {
		t.Error("an entry that an operator removed is still there")
	}
}
