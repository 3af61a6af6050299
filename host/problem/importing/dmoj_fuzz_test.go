package importing_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
)

// FuzzInit puts any text into the place of the init.yml of a good problem of DMOJ. It
// is refused with reasons that name file and key; or it is read, then it holds together
// and gives the same version when it is exported and imported again.
func FuzzInit(f *testing.F) {
	archives, err := filepath.Glob("testdata/packages/dmoj/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	base := fstest.MapFS{}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if file.Name == "init.yml" {
				f.Add(string(file.Data))
			} else if base[file.Name] == nil && strings.HasPrefix(file.Name, "data/") {
				base[file.Name] = &fstest.MapFile{Data: file.Data, Mode: 0o644}
			}
		}
	}
	for name, text := range map[string]string{
		"statement.md": "Add one.\n", "check.cpp": "int main() {}\n", "check.py": "", "testlib.h": "", "gen.py": "", "interactor.cpp": "#include \"testlib.h\"\n",
		"submissions/accepted/a.py": "print(int(input())+1)\n",
	} {
		base[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	for _, text := range []string{
		"", "{", "[]", "test_cases: &a [*a]\n", "test_cases: [{in: data/1.in, out: data/1.out, points: .nan}]\n", "archive: data\ntest_cases: {input_format: '(?P<case>x)|(?P<case>y)'}\n",
		"archive: data\ntest_cases: [{batched: [{in: 1.in, out: 1.out}], points: 1e300, dependencies: [1]}]\n", "? [a]\n: b", "archive: data\ntest_cases: {}\n",
		"archive: .\ntest_cases: [{in: data/1.in, out: data/1.out}]\nchecker: {name: bridged, args: {files: [check.cpp, testlib.h], lang: CPP17, type: testlib}}\n",
		"archive: data\ninteractive: {files: interactor.cpp, type: testlib}\ntest_cases: [{in: 1.in}]\ngenerator: {source: gen.py, args: [1, x]}\n",
		"generator: gen.py\ntest_cases: [{generator_args: [1]}, {generator_args: [yes], points: 3, checker: {name: floats, args: {precision: 301}}}]\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fsys := fstest.MapFS{}
		maps.Copy(fsys, base)
		fsys["init.yml"] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		p, _, err := importing.Read(fsys)
		if (p == nil) != (err != nil) {
			t.Fatalf("package %v with error %v", p, err)
		}
		if err != nil {
			named(t, err)
			return
		}
		together(t, p)
		if top := p.MaxScore(); p.Scoring && (top == nil || !(*top > 0)) {
			t.Errorf("the highest score is %v", top)
		}
		again(t, p)
	})
}

// named fails unless each fault of a problem of DMOJ names its file, and its key where
// it is about one.
func named(t *testing.T, err error) {
	t.Helper()
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		t.Fatalf("error is %T: %v", err, err)
	}
	for _, one := range joined.Unwrap() {
		e, ok := errors.AsType[*problem.Error](one)
		if !ok || e.File == "" || e.Reason == "" {
			t.Fatalf("error %v names no file", one)
		}
		whole := slices.ContainsFunc(append(wholeFile, "holds no keys"), func(reason string) bool { return strings.HasPrefix(e.Reason, reason) })
		if e.File == "init.yml" && e.Key == "" && !whole {
			t.Errorf("error %v names no key", one)
		}
	}
}

// together fails unless a package holds together, in whichever format it came.
func together(t *testing.T, p *problem.Package) {
	t.Helper()
	there, generators, names, before := map[string]bool{"": true}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range p.Files {
		there[f.Path] = true
	}
	for _, g := range p.Generators {
		generators[g.Name] = true
	}
	for _, test := range p.Tests() {
		if !there[test.Input.Path] || !there[test.Answer.Path] {
			t.Errorf("test %s has files that are not there: %+v", test.Name, test)
		}
		if test.Input.Path == "" && (len(test.Made) == 0 || !generators[test.Made[0]]) {
			t.Errorf("test %s cannot be made: %q", test.Name, test.Made)
		}
		if names[test.Name] {
			t.Errorf("test %s is there twice", test.Name)
		}
		names[test.Name] = true
	}
	if len(names) == 0 || len(p.Checkers) == 0 && p.Interactor == nil || p.Limits.CPU <= 0 || p.Limits.MemoryMiB <= 0 || p.Limits.OutputMiB <= 0 {
		t.Errorf("%d tests, checkers %v, limits %+v", len(names), p.Checkers, p.Limits)
	}
	for _, it := range p.Root.Items {
		if it.Group == nil {
			continue
		}
		for _, name := range it.Group.Grading.Requires {
			if !before[name] {
				t.Errorf("group %s requires %s, which does not come before", it.Group.Name, name)
			}
		}
		if before[it.Group.Name] {
			t.Errorf("group %s is there twice", it.Group.Name)
		}
		before[it.Group.Name] = true
	}
}

// held is a store in memory, of which packages need no more.
type held struct {
	blob.Store
	by map[blob.Digest][]byte
}

func (h held) Put(_ context.Context, r io.Reader) (blob.Digest, int64, error) {
	b, err := io.ReadAll(r)
	d := blob.Digest(fmt.Sprintf("sha256:%x", sha256.Sum256(b)))
	h.by[d] = b
	return d, int64(len(b)), err
}

func (h held) Open(_ context.Context, d blob.Digest) (io.ReadCloser, error) {
	b, ok := h.by[d]
	if !ok {
		return nil, blob.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (h held) Has(_ context.Context, d blob.Digest) (bool, error) { return h.by[d] != nil, nil }

// again fails unless a package is the same when it is exported and imported again.
func again(t *testing.T, p *problem.Package) {
	t.Helper()
	store := held{by: map[blob.Digest][]byte{}}
	p.Slug = "fuzzed"
	if _, err := p.Save(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := p.Export(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := source.Unzip(r)
	if err != nil {
		t.Fatal(err)
	}
	q, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatalf("what was exported is refused: %v", err)
	}
	if was, is := describe(p, problem.Report{}, nil), describe(q, problem.Report{}, nil); was != is {
		t.Errorf("exported and imported again it is\n%s\nand was\n%s", is, was)
	}
}
