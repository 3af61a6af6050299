package importing_test

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
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
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
		p, _, err := importing.Read(fsys)
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
	together(t, p)
	for _, test := range p.Tests() {
		if p.Scoring != (test.Points != nil) {
			t.Errorf("test %s has points, or none, though the package scores: %t", test.Name, p.Scoring)
		}
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
	zipped, err := source.Unzip(r)
	if err != nil {
		t.Fatal(err)
	}
	want, wantReport, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got, gotReport, err := importing.Read(zipped)
	if describe(got, gotReport, err) != describe(want, wantReport, nil) {
		t.Errorf("from a ZIP file:\n%s\nfrom a folder:\n%s", describe(got, gotReport, err), describe(want, wantReport, nil))
	}
}
