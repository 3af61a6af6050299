package keyring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func environment(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, set := env[name]; return v, set }
}

func TestKeysAreKeptForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := File(environment(map[string]string{"HOME": "/nowhere", "XDG_CONFIG_HOME": dir}))
	ring, err := Open(path)
	if err != nil || ring.Default() != "" {
		t.Fatalf("without a file: %+v, %v", ring, err)
	}
	for _, e := range []Entry{{Server: "http://a", Key: "doj_1"}, {Server: "http://b", Key: "doj_2"}, {Server: "http://a", User: "ann", Key: "doj_3"}} {
		if err := ring.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", name, info.Mode(), want, err)
		}
	}
	if ring, err = Open(path); err != nil || len(ring.Entries) != 2 || ring.Default() != "http://a" {
		t.Fatalf("read again: %+v, %v", ring, err)
	}
	if e, found := ring.Find("http://a"); !found || e.Key != "doj_3" || e.User != "ann" {
		t.Errorf("the key of a server that got a new one: %+v", e)
	}
	if err := ring.Remove("http://a"); err != nil || ring.Default() != "http://b" {
		t.Errorf("after one is removed the default is %q: %v", ring.Default(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the file there is %v, %v", left, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "doj_") {
		t.Errorf("a file that others may read: %v", err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "log in again") {
		t.Errorf("a file that is cut off: %v", err)
	}
}

func TestWithoutAHomeNothingIsKept(t *testing.T) {
	t.Parallel()
	if got := File(environment(map[string]string{"HOME": "relative"})); got != "" {
		t.Errorf("keys would be kept in %s", got)
	}
	if got := File(environment(map[string]string{"HOME": "/home/ann"})); got != "/home/ann/.config/deepoj/servers.json" {
		t.Errorf("keys would be kept in %s", got)
	}
	ring, err := Open("")
	if err != nil || ring.Put(Entry{Server: "http://a"}) == nil {
		t.Errorf("without a place: %v, and a key is taken", err)
	}
}

func TestAServerIsTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", "HTTP://Judge.example:80/": "http://judge.example", "https://judge.example:443": "https://judge.example",
		"https://judge.example/oj//": "https://judge.example/oj", "http://[::1]:8080": "http://[::1]:8080",
	} {
		if got, err := Address(given); got != want || err != nil {
			t.Errorf("%s is written %q, %v; want %q", given, got, err, want)
		}
	}
	for _, wrong := range []string{"ftp://a", "http://", "http://ann:secret@a", "http://a/?b", "http://a\x7f"} {
		if got, err := Address(wrong); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q is taken as %q, or its password told: %v", wrong, got, err)
		}
	}
}
