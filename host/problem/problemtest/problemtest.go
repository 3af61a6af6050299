// Package problemtest makes packages of problems for the tests of those who read them.
package problemtest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
)

// Pack is the smallest good package, with other files over it. An empty text removes a file.
func Pack(files map[string]string) fstest.MapFS {
	all := map[string]string{
		"problem.yaml":                    "name: Small\n",
		".timelimit":                      "1\n",
		"problem_statement/problem.en.md": "Say hello.\n",
		"data/sample/1.in":                "1\n",
		"data/sample/1.ans":               "one\n",
		"data/secret/1.in":                "2\n",
		"data/secret/1.ans":               "two\n",
		"submissions/accepted/a.py":       "print()\n",
	}
	maps.Copy(all, files)
	return Files(all)
}

// Read reads a package that must be good.
func Read(t *testing.T, files map[string]string) (*problem.Package, problem.Report) {
	t.Helper()
	p, report, err := importing.Read(Pack(files))
	if err != nil {
		t.Fatal(err)
	}
	Arrives(t, p)
	return p, report
}

// Arrives fails unless a package survives being sent.
func Arrives(t *testing.T, p *problem.Package) {
	t.Helper()
	sent, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := problem.Arrived(sent, fstest.MapFS{})
	if err != nil {
		t.Errorf("%s does not arrive: %v", p.Title, err)
		return
	}
	if again, err := json.Marshal(q); err != nil || string(again) != string(sent) {
		t.Errorf("%s arrives as another package, %v", p.Title, err)
	}
}

// Files returns files as a file system, without those whose text is empty.
func Files(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		if text != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
	}
	return fsys
}

// ZIP packs files below a folder.
func ZIP(t testing.TB, prefix string, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(prefix + name)
		if err == nil {
			_, err = io.WriteString(f, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Unzip reads the package in an archive.
func Unzip(t testing.TB, archive []byte) (*problem.Package, problem.Report, error) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := source.Unzip(z)
	if err != nil {
		t.Fatal(err)
	}
	return importing.Read(fsys)
}

// Kept saves a package and returns its version and the content of its files.
func Kept(t testing.TB, p *problem.Package) (blob.Digest, map[string]string) {
	t.Helper()
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	version, err := p.Save(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range p.Files {
		b, err := blob.ReadAll(t.Context(), store, f.Digest, 1<<20)
		if err != nil || int64(len(b)) != f.Size {
			t.Fatalf("%s has %d bytes, %v; it says %d", f.Path, len(b), err, f.Size)
		}
		files[f.Path] = string(b)
	}
	return version, files
}

// Export is a package as a ZIP file, read again.
func Export(t testing.TB, p *problem.Package) *problem.Package {
	t.Helper()
	var b bytes.Buffer
	if err := p.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	q, _, err := Unzip(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return q
}
