package archive_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/archive"
)

// modules are some that share most of their content, which itself cannot be compressed.
func modules() []archive.Module {
	random := rand.New(rand.NewPCG(1, 2))
	common := make([]byte, 3<<20)
	for i := range common {
		common[i] = byte(random.Uint32())
	}
	return []archive.Module{
		{"c", slices.Concat(common, []byte("C"))},
		{"a", slices.Concat([]byte("A"), common)},
		{"empty", nil},
		{"b", slices.Concat(common[:1<<20], []byte("B"), common[1<<20:])},
	}
}

func packed(t *testing.T, modules []archive.Module) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Pack(&out, modules); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestModulesComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	a, err := archive.Open(packed(t, modules()))
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Names(); !slices.Equal(got, []string{"a", "b", "c", "empty"}) {
		t.Errorf("names are %q", got)
	}
	for range 2 { // unpacked, and unpacked again once they are given back
		for _, m := range modules() {
			wasm, err := a.Read(m.Name)
			if err != nil || !bytes.Equal(wasm, m.Wasm) {
				t.Errorf("%s has %d bytes, want the %d that were packed; %v", m.Name, len(wasm), len(m.Wasm), err)
			}
		}
		runtime.GC()
	}
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no bytes
	if got := a.Digest("empty"); got != empty {
		t.Errorf("the digest of no bytes is %s, want %s", got, empty)
	}
	if got := a.Digest("d"); got != "" {
		t.Errorf("a module that is not there has digest %s", got)
	}
	if _, err := a.Read("d"); err == nil || !strings.Contains(err.Error(), "there are a, b, c, empty") {
		t.Errorf("error is %v, want one that names the modules that are there", err)
	}
}

func TestWhatModulesShareIsPackedOnce(t *testing.T) {
	t.Parallel()
	all := modules()
	if one, three := len(packed(t, all[:1])), len(packed(t, all)); three > one+one/50 {
		t.Errorf("three modules take %d bytes, one of them %d", three, one)
	}
}

func TestAnArchiveDoesNotDependOnTheOrderOfItsModules(t *testing.T) {
	t.Parallel()
	all := modules()
	first := packed(t, all)
	slices.Reverse(all)
	if !bytes.Equal(packed(t, all), first) {
		t.Error("the same modules in another order make other bytes")
	}
}

// A start with a warm cache asks for digests only.
func TestDigestsAreKnownWithoutUnpacking(t *testing.T) {
	t.Parallel()
	file := packed(t, modules())
	table, _, _ := bytes.Cut(file, []byte("\n\n"))
	a, err := archive.Open(append(slices.Clone(table), "\n\nno stream at all"...))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Names()) != 4 || a.Digest("a") == "" {
		t.Errorf("names %q, digest %q", a.Names(), a.Digest("a"))
	}
	if _, err := a.Read("a"); err == nil {
		t.Error("a module was read out of nothing")
	}
}

// Modules that nobody holds are given back.
func TestUnpackedModulesDoNotStayInMemory(t *testing.T) {
	a, err := archive.Open(packed(t, modules()))
	if err != nil {
		t.Fatal(err)
	}
	held := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	kept, err := a.Read("a")
	if err != nil {
		t.Fatal(err)
	}
	if more := held() - before; more > int64(len(kept))*3/2 {
		t.Errorf("%d bytes are held for one module of %d", more, len(kept))
	}
	runtime.KeepAlive(kept)
	if more := held() - before; more > 1<<20 {
		t.Errorf("%d bytes are held when nobody holds a module", more)
	}
	runtime.KeepAlive(a)
}

func TestADamagedArchiveIsAnError(t *testing.T) {
	t.Parallel()
	file := packed(t, modules())
	table, stream, _ := bytes.Cut(file, []byte("\n\n"))
	digest, rest, _ := strings.Cut(string(table), " ")
	other := strings.Repeat("0", len(digest))
	for name, damaged := range map[string]string{
		"without a table":                        "",
		"with a table without an end":            string(table),
		"with a line that is none":               "hello\n\n" + string(stream),
		"with a digest that is none":             "x" + digest[1:] + " " + rest + "\n\n" + string(stream),
		"with a size that is none":               digest + " -1 a\n\n",
		"with a size beyond sense":               digest + " 1000000000000 a\n\n",
		"with another digest":                    other + " " + rest + "\n\n" + string(stream),
		"cut short":                              string(file[:len(file)/2]),
		"with modules that are not in its table": rest[strings.Index(rest, "\n")+1:] + "\n\n" + string(stream),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := archive.Open([]byte(damaged))
			if err == nil {
				_, err = a.Read(a.Names()[0])
			}
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestNamesInAnArchiveAreDistinctWords(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{""}, {"a b"}, {"a\n"}, {"a", "a"}} {
		var list []archive.Module
		for _, name := range names {
			list = append(list, archive.Module{Name: name})
		}
		if err := archive.Pack(&bytes.Buffer{}, list); err == nil {
			t.Errorf("names %q were packed", names)
		}
	}
}
