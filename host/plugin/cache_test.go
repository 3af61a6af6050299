package plugin_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

func TestAModuleIsCompiledOncePerDigest(t *testing.T) {
	dir := t.TempDir()
	_, m := probe(t, plugin.Config{CacheDir: dir, Workers: 1})
	wasm := buildC(t, "probe")
	later := open(t, plugin.Config{CacheDir: dir, Workers: 1, Exe: "/bin/false"}) // which compiles nothing
	again, err := later.Load(t.Context(), wasm, checker(abi.Testlib1, abi.Limits{FuelM: 7}))
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest != m.Digest || again.Size != int64(len(wasm)) || again.Manifest.Limits.FuelM != 7 {
		t.Errorf("got %+v, want %s of %d bytes with 7 million units", again, m.Digest, len(wasm))
	}
	if _, err := later.Load(t.Context(), accepting, checker(abi.Testlib1, abi.Limits{})); err == nil {
		t.Error("a module that is not in the cache was loaded without a compiler")
	}
}

func TestManyWhoLoadTheSameModuleGetIt(t *testing.T) {
	dir := t.TempDir()
	runtimes := []*plugin.Runtime{open(t, plugin.Config{CacheDir: dir, Workers: 1}), open(t, plugin.Config{CacheDir: dir, Workers: 1})}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := runtimes[i%2].Load(t.Context(), accepting, checker(abi.Testlib1, abi.Limits{})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "*", "tmp-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestDamagedMachineCodeIsMadeAgain(t *testing.T) {
	damage := map[string]func(path string) error{
		"cut short": func(path string) error { return os.Truncate(path, 100) },
		"deleted":   os.Remove,
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, plugin.Config{CacheDir: dir, Workers: 1})
			m, err := r.Load(t.Context(), module(append([][]byte{manifestSection(t, `{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`)}, sections(accepting)...)...), nil)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.Contains(path, "/code/") {
					n++
					return harm(path)
				}
				return err
			})
			if err != nil || n == 0 {
				t.Fatalf("harmed %d files, %v", n, err)
			}
			for range 2 {
				if o, err := r.Check(t.Context(), m, check(t, "", "", "")); err != nil || o.Outcome != plugin.Accepted {
					t.Errorf("got %+v, %v", o, err)
				}
			}
		})
	}
}

// sections returns a module without its head.
func sections(wasm []byte) [][]byte { return [][]byte{wasm[8:]} }

// manifestSection makes the custom section of a manifest.
func manifestSection(t *testing.T, manifest string) []byte {
	t.Helper()
	content := append([]byte{byte(len(abi.Section))}, abi.Section...)
	content = append(content, manifest...)
	size := len(content)
	return append([]byte{0, byte(size&0x7f | 0x80), byte(size>>7&0x7f | 0x80), byte(size >> 14)}, content...)
}

func TestADamagedModuleIsAdmittedAgain(t *testing.T) {
	wasm := module(append([][]byte{manifestSection(t, `{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`)}, sections(accepting)...)...)
	flip := func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o600)
	}
	for name, tt := range map[string]struct {
		file string
		harm func(path string) error
	}{
		"what is known of it is cut short": {"about.json", func(path string) error { return os.Truncate(path, 10) }},
		"what is known of it is empty":     {"about.json", func(path string) error { return os.Truncate(path, 0) }},
		"the module has another bit":       {"module.wasm", flip},
		"the module is gone":               {"module.wasm", os.Remove},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := open(t, plugin.Config{CacheDir: dir, Workers: 1}).Load(t.Context(), wasm, nil); err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join(dir, "*", "*", tt.file))
			if err != nil || len(found) != 1 {
				t.Fatalf("%q, %v", found, err)
			}
			before, err := os.ReadFile(found[0])
			if err != nil || tt.harm(found[0]) != nil {
				t.Fatal(err)
			}
			r := open(t, plugin.Config{CacheDir: dir, Workers: 1})
			m, err := r.Load(t.Context(), wasm, nil)
			if err != nil {
				t.Fatal(err)
			}
			if o, err := r.Check(t.Context(), m, check(t, "", "", "")); err != nil || o.Outcome != plugin.Accepted {
				t.Errorf("%+v, %v", o, err)
			}
			if after, err := os.ReadFile(found[0]); err != nil || !slices.Equal(after, before) {
				t.Errorf("%s is not made again: %v", tt.file, err)
			}
		})
	}
}

func TestTheBytesOfAModuleAreReadOnlyWhereTheCacheDoesNotKnowThem(t *testing.T) {
	dir := t.TempDir()
	r := open(t, plugin.Config{CacheDir: dir, Workers: 1})
	reads := 0
	read := func() ([]byte, error) {
		reads++
		return accepting, nil
	}
	load := func(digest string) error {
		m, err := r.LoadDigest(t.Context(), digest, read, checker(abi.Testlib1, abi.Limits{}))
		if err == nil && m.Digest != digest {
			t.Errorf("loaded %s instead of %s", m.Digest, digest)
		}
		return err
	}
	digest := plugin.Digest(accepting)
	for range 3 {
		if err := load(digest); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 1 {
		t.Errorf("read %d times, want once", reads)
	}
	modules, err := filepath.Glob(filepath.Join(dir, "*", strings.TrimPrefix(digest, "sha256:")))
	if err != nil || len(modules) != 1 {
		t.Fatalf("the module is in %v, %v", modules, err)
	}
	if err := os.RemoveAll(modules[0]); err != nil {
		t.Fatal(err)
	}
	if err := load(digest); err != nil || reads != 2 {
		t.Errorf("when somebody has emptied the cache: %v, read %d times, want twice", err, reads)
	}
	if err := load(plugin.Digest([]byte("something else"))); err == nil || !strings.Contains(err.Error(), "is not what was read") {
		t.Errorf("a module that is not what its digest says: %v", err)
	}
}

func TestADigestThatIsNoneNamesNoFolder(t *testing.T) {
	r := open(t, plugin.Config{CacheDir: t.TempDir(), Workers: 1})
	for _, digest := range []string{"", "sha256:", "sha256:abc", "../../../etc", "sha256:" + strings.Repeat("../", 21) + "a", strings.ToUpper(plugin.Digest(accepting))} {
		if _, err := r.LoadDigest(t.Context(), digest, func() ([]byte, error) { return accepting, nil }, nil); err == nil || !strings.Contains(err.Error(), "is no digest") {
			t.Errorf("load %q: %v, want that it is no digest", digest, err)
		}
	}
}
