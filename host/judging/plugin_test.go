package judging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// testlibLike returns a file of the header of ours that uses what testlib.h
// does, or of a checker written for it.
func testlibLike(t *testing.T, name string) sandbox.File {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "plugins", "sdk", "cpp", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.File{Path: name, Data: b}
}

func source(name, text string) sandbox.File { return sandbox.File{Path: name, Data: []byte(text)} }

func TestSourcesOfAPluginBecomeAModuleThatJudges(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	tests := map[string]struct {
		files    []sandbox.File
		protocol abi.Protocol
	}{
		"in C with a header": {[]sandbox.File{
			source("a.c", "#include \"b.h\"\nint main(int argc, char **argv) { FILE *f = fopen(argv[2], \"r\"); return same(f); }\n"),
			source("b.h", "#include <stdio.h>\nstatic int same(FILE *f) { int a = 0; return fscanf(f, \"%d\", &a) != 1 || a != 3; }\n"),
		}, abi.Testlib1},
		"in C++ with testlib.h of the uploader": {[]sandbox.File{testlibLike(t, "check.cpp"), testlibLike(t, "testlib.h")}, abi.Testlib1},
		"in C++ without testlib.h": {[]sandbox.File{
			source("check.cc", "#include <bits/stdc++.h>\nint main(int, char **argv) { std::ifstream f(argv[2]); int a = 0; f >> a; std::cerr << \"read \" << a; return a == 3 ? 0 : 1; }\n"),
		}, abi.Testlib1},
		"in Go": {[]sandbox.File{
			source("main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tvar a int\n\tf, _ := os.Open(os.Args[2])\n\tfmt.Fscan(f, &a)\n\tif a != 3 {\n\t\tos.Exit(1)\n\t}\n}\n"),
		}, abi.Testlib1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm, c, err := j.CompilePlugin(t.Context(), tt.files)
			if err != nil || wasm == nil || !c.OK || c.Tool == "" || c.Command == "" {
				t.Fatalf("compiled to %d bytes, %+v, %v", len(wasm), c, err)
			}
			again, _, err := j.CompilePlugin(t.Context(), tt.files)
			if err != nil || !bytes.Equal(wasm, again) {
				t.Errorf("the same sources give another module: %v", err)
			}
			m, err := judgingtest.Get(t).Runtime.Load(t.Context(), wasm, &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "org.example.test", Version: "1", Protocol: tt.protocol})
			if err != nil {
				t.Fatal(err)
			}
			for output, want := range map[string]plugin.Outcome{"3\n": plugin.Accepted, "4\n": plugin.Wrong} {
				dir := t.TempDir()
				open := func(name, text string) *os.File {
					f, err := os.Create(filepath.Join(dir, name))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { f.Close() })
					if _, err := f.WriteString(text); err != nil {
						t.Fatal(err)
					}
					return f
				}
				o, err := judgingtest.Get(t).Runtime.Check(t.Context(), m, plugin.Check{Input: open("in", "1\n"), Output: open("out", output), Answer: open("ans", "3\n")})
				if err != nil || o.Outcome != want {
					t.Errorf("for the output %q it says %+v, %v", output, o, err)
				}
			}
		})
	}
}

func TestSourcesThatAreNoPluginAreRefusedWithTheirLines(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	tests := map[string]struct {
		files []sandbox.File
		says  string
		file  string
		line  int
	}{
		"an error in C":         {[]sandbox.File{source("a.c", "int main(void)\n{\n\treturn undeclared;\n}\n")}, "undeclared", "a.c", 3},
		"an error in C++":       {[]sandbox.File{source("a.cpp", "int main()\n{ return undeclared; }\n")}, "undeclared", "a.cpp", 2},
		"an error in Go":        {[]sandbox.File{source("a.go", "package main\n\nfunc main() { undeclared() }\n")}, "undeclared", "a.go", 3},
		"testlib.h is missing":  {[]sandbox.File{testlibLike(t, "check.cpp")}, "add the testlib.h", "check.cpp", 4},
		"two languages":         {[]sandbox.File{source("a.go", "package main"), source("b.c", "")}, "several languages", "", 0},
		"C beside C++":          {[]sandbox.File{source("a.cpp", ""), source("b.c", "")}, "some C++", "", 0},
		"only a header":         {[]sandbox.File{source("a.h", "")}, "no .c, .cpp or .go file", "", 0},
		"an endless include":    {[]sandbox.File{source("a.c", "#include __FILE__\n")}, "included", "", 0},
		"files of the host":     {[]sandbox.File{source("a.c", "#include \"/etc/shadow\"\nint main(void) { return 0; }\n")}, "shadow", "a.c", 1},
		"more than is compiled": {[]sandbox.File{source("a.c", strings.Repeat("/", 5<<20))}, "more than", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm, c, err := j.CompilePlugin(t.Context(), tt.files)
			if err != nil || wasm != nil || c.OK || c.Output == "" || !strings.Contains(c.Output, tt.says) {
				t.Fatalf("compiled to %d bytes, %+v, %v", len(wasm), c, err)
			}
			if tt.line > 0 && (len(c.Diagnostics) == 0 || c.Diagnostics[0].Line != tt.line || c.Diagnostics[0].File != tt.file) {
				t.Errorf("diagnostics %+v, want line %d of %s", c.Diagnostics, tt.line, tt.file)
			}
		})
	}
}

// kept puts a module into the blob store and returns it as an active plugin.
func kept(t *testing.T, kind abi.Kind, name string, wasm []byte, m abi.Manifest) judge.Plugin {
	t.Helper()
	digest, _, err := judgingtest.Get(t).Blobs.Put(t.Context(), bytes.NewReader(wasm))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return judge.Plugin{Digest: string(digest), Kind: string(kind), Name: name, Manifest: manifest, Active: true}
}

func TestAnUploadedCheckerIsUsedByNameOrDigest(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	never, _, err := m.Judge.CompilePlugin(t.Context(), []sandbox.File{source("never.c", "int main(void) { return 43; }\n")})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := plugins.Checker("tokens")
	if err != nil {
		t.Fatal(err)
	}
	strict, usual := kept(t, abi.Checker, "org.example.never", never, abi.Manifest{}), kept(t, abi.Checker, "org.example.tokens", tokens, abi.Manifest{})
	active := []judge.Plugin{strict, usual}
	j, err := m.Open(func(c *judging.Config) {
		c.CacheDir = t.TempDir()
		c.Uploaded = func(_ context.Context, kind string) ([]judge.Plugin, error) {
			if kind != "checker" {
				return nil, nil
			}
			return active, nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, binding string
		want          judge.Verdict
		checker, note string
	}{
		{"by name", "name: org.example.never", judge.WA, strict.Digest, ""},
		{"another by name", "name: org.example.tokens", judge.AC, usual.Digest, ""},
		{"by digest", "digest: \"" + strict.Digest + "\"", judge.WA, strict.Digest, ""},
		{"by a name that means nothing", "name: org.example.missing", judge.JE, "", "org.example.missing is active"},
		{"by the digest of nothing", "digest: \"sha256:" + strings.Repeat("0", 64) + "\"", judge.JE, "", "never uploaded"},
	}
	for _, tt := range tests {
		pkg := echo(t, map[string]string{"deepoj.yaml": "checker: {" + tt.binding + "}\n"})
		r := judged(t, j, python(cat), pkg)
		if r.Verdict != tt.want || r.Checker != tt.checker || !strings.Contains(r.JudgeNote, tt.note) {
			t.Errorf("%s: %s by %q: %s", tt.name, r.Verdict, r.Checker, r.JudgeNote)
		}
	}
	// The name gets another meaning, and nothing is started again.
	active = []judge.Plugin{{Digest: usual.Digest, Kind: "checker", Name: "org.example.never", Active: true}}
	pkg := echo(t, map[string]string{"deepoj.yaml": "checker: {name: org.example.never}\n"})
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC || r.Checker != usual.Digest {
		t.Errorf("after the change: %s by %q", r.Verdict, r.Checker)
	}
}

func TestAnUploadedAdapterAddsALanguage(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	all, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := all.Read("python")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := m.Runtime.Load(t.Context(), wasm, nil)
	if err != nil {
		t.Fatal(err)
	}
	others := slices.DeleteFunc(all.Names(), func(id string) bool { return id == "python" })
	var active []judge.Plugin
	j, err := m.Open(func(c *judging.Config) {
		c.CacheDir, c.Adapters = t.TempDir(), only(t, all, others...)
		c.Uploaded = func(_ context.Context, kind string) ([]judge.Plugin, error) {
			if kind != "toolchain" {
				return nil, nil
			}
			return active, nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	pkg := echo(t, nil)
	offered := func() bool {
		for _, l := range j.Languages(t.Context()) {
			if l.ID == "python" {
				return l.Available
			}
		}
		return false
	}
	if offered() {
		t.Error("python is offered without an adapter")
	}
	active = []judge.Plugin{kept(t, abi.Toolchain, "deepoj.python", wasm, loaded.Manifest)}
	if !offered() {
		t.Error("python is not offered with an uploaded adapter")
	}
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC || r.Adapter != loaded.Digest {
		t.Errorf("verdict %s by adapter %s", r.Verdict, r.Adapter)
	}
	active = nil
	if offered() {
		t.Error("python is offered after its adapter was put away")
	}
}
