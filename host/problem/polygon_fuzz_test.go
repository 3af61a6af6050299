package problem_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"deepoj/host/problem"
)

// FuzzPolygon puts any text into the place of the problem.xml of a good package.
// It is refused with a reason that names an element or attribute, or it is no XML;
// or it is read, and then everything that it names is there.
func FuzzPolygon(f *testing.F) {
	archives, err := filepath.Glob("testdata/packages/polygon/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	base := archived(f, filepath.Join("testdata", "packages", "polygon", "small.txtar"))
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if file.Name == "problem.xml" {
				f.Add(string(file.Data))
			}
		}
	}
	for _, text := range []string{
		"", "<problem", "<!DOCTYPE p [<!ENTITY a \"b\">]><problem>&a;</problem>", "<problem xmlns:a='b' a:x='1' x='2'/>", "<a:problem/>",
		"<?xml version='1.0' encoding='utf-16'?><problem/>",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fsys := fstest.MapFS{}
		maps.Copy(fsys, base)
		fsys["problem.xml"] = &fstest.MapFile{Data: []byte(text)}
		p, _, err := problem.Read(fsys)
		if err == nil {
			sound(t, p)
			return
		}
		joined, _ := err.(interface{ Unwrap() []error })
		if p != nil || joined == nil {
			t.Fatalf("package %v with the error %T %v", p, err, err)
		}
		for _, one := range joined.Unwrap() {
			e, ok := errors.AsType[*problem.Error](one)
			if !ok || e.File == "" || e.Reason == "" || e.File == "problem.xml" && e.Key == "" && len(joined.Unwrap()) > 1 {
				t.Errorf("error %v names no file or key", one)
			}
		}
	})
}

// sound fails unless a package of Polygon holds together.
func sound(t *testing.T, p *problem.Package) {
	t.Helper()
	there, generators, before, names := map[string]bool{"": true}, map[string]bool{}, map[string]bool{}, map[string]bool{}
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
		if names[test.Name] || p.Scoring != (test.Points != nil) {
			t.Errorf("test %s is there twice, or has no points: %+v", test.Name, test)
		}
		names[test.Name] = true
	}
	if len(names) == 0 || len(p.Checkers) == 0 || p.Limits.CPU <= 0 || p.Limits.MemoryMiB <= 0 {
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
		before[it.Group.Name] = true
	}
	if top := p.MaxScore(); p.Scoring && (top == nil || *top < 0) {
		t.Errorf("the highest score is %v", top)
	}
}

func TestAPackageOfPolygonIsReadFromAZIPFileAlike(t *testing.T) {
	t.Parallel()
	fsys := archived(t, filepath.Join("testdata", "packages", "polygon", "groups.txtar"))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fsys)) {
		w, err := z.Create("double-3/" + name)
		if err == nil {
			_, err = w.Write(fsys[name].Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := problem.Unzip(r)
	if err != nil {
		t.Fatal(err)
	}
	want, wantReport, err := problem.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got, gotReport, err := problem.Read(zipped)
	if describe(got, gotReport, err) != describe(want, wantReport, nil) {
		t.Errorf("from a ZIP file:\n%s\nfrom a folder:\n%s", describe(got, gotReport, err), describe(want, wantReport, nil))
	}
}
