package importing_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

// fuzzed are the YAML files of a package, by format.
var fuzzed = []struct{ format, file string }{
	{"2023-07", "problem.yaml"},
	{"2023-07", "data/secret/test_group.yaml"},
	{"2023-07", "data/secret/1.yaml"},
	{"2023-07", "submissions/submissions.yaml"},
	{"2025-09", "problem.yaml"},
	{"2025-09", "data/secret/test_group.yaml"},
	{"", "problem.yaml"},
	{"", "data/testdata.yaml"},
	{"", "deepoj.yaml"},
}

// wholeFile are the reasons that are about a file and no key of it.
var wholeFile = []string{"is not YAML", "must be a mapping of keys", "is longer than", "cannot be read"}

// FuzzYAML puts any text into the place of one YAML file of a good package. It
// is read or refused, and what refuses it because of that file names a key of
// it, unless the file is no mapping at all.
func FuzzYAML(f *testing.F) {
	bases := map[string]fstest.MapFS{"": problemtest.Pack(nil)}
	for _, format := range []string{"2023-07", "2025-09"} {
		bases[format] = archived(f, filepath.Join("testdata", "packages", format, "small.txtar"))
	}
	archives, err := filepath.Glob("testdata/packages/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			i := slices.IndexFunc(fuzzed, func(x struct{ format, file string }) bool {
				return x.file == file.Name && x.format == filepath.Base(filepath.Dir(name))
			})
			if i >= 0 {
				f.Add(byte(i), true, string(file.Data))
			}
		}
	}
	for i, text := range []string{"", "&a [*a]", "a: &a {b: *a}", "? [a]\n: b", "name: !!binary aGk=", "1: 2\n~: 3\n", "{", "type: [[scoring]]", "a: {b: {c: 1}}"} {
		f.Add(byte(i), false, text)
		f.Add(byte(3), true, text)
	}
	f.Fuzz(func(t *testing.T, which byte, scoring bool, text string) {
		x := fuzzed[int(which)%len(fuzzed)]
		fsys := fstest.MapFS{}
		maps.Copy(fsys, bases[x.format])
		if scoring && x.format != "" {
			fsys["problem.yaml"] = &fstest.MapFile{Data: append(slices.Clone(fsys["problem.yaml"].Data), "type: scoring\n"...)}
		}
		fsys[x.file] = &fstest.MapFile{Data: []byte(text)}
		p, _, err := importing.Read(fsys)
		if (p == nil) != (err != nil) {
			t.Fatalf("package %v with error %v", p, err)
		}
		joined, _ := err.(interface{ Unwrap() []error })
		if err != nil && joined == nil {
			t.Fatalf("error is %T", err)
		}
		if joined == nil {
			return
		}
		for _, one := range joined.Unwrap() {
			e, ok := errors.AsType[*problem.Error](one)
			if !ok || e.File == "" || e.Reason == "" {
				t.Fatalf("error %v names no file", one)
			}
			whole := slices.ContainsFunc(wholeFile, func(reason string) bool { return strings.HasPrefix(e.Reason, reason) })
			if e.File == x.file && e.Key == "" && !whole {
				t.Errorf("error %v names no key", one)
			}
		}
	})
}
