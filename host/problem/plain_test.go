package problem_test

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
)

// tests is a folder of tests with a program and a statement.
func tests(files map[string]string) map[string]string {
	all := map[string]string{
		"1.in": "1\n", "1.out": "2\n", "2.in": "5\n", "2.out": "6\n",
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n",
	}
	maps.Copy(all, files)
	return all
}

func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		if text != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
	}
	return fsys
}

// asZIP packs files below a folder.
func asZIP(t testing.TB, prefix string, files map[string]string) []byte {
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

// unzipped reads the package in an archive.
func unzipped(t testing.TB, archive []byte) (*problem.Package, problem.Report, error) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := problem.Unzip(z)
	if err != nil {
		t.Fatal(err)
	}
	return problem.Read(fsys)
}

// kept saves a package and returns its version and the content of its files.
func kept(t testing.TB, p *problem.Package) (blob.Digest, map[string]string) {
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

// exported is a package as a ZIP file, read again.
func exported(t testing.TB, p *problem.Package) *problem.Package {
	t.Helper()
	var b bytes.Buffer
	if err := p.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	q, _, err := unzipped(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAFolderOfTestsIsTheSameAsAZIPFile(t *testing.T) {
	t.Parallel()
	files := tests(nil)
	p, _, err := problem.Read(mapFS(files))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := kept(t, p)
	for name, prefix := range map[string]string{"at the top": "", "in its only folder": "plus/", "in a folder in a folder": "a/plus/"} {
		archived := maps.Clone(files)
		archived["__MACOSX/._1.in"] = "x"
		junk := asZIP(t, prefix, archived)
		q, _, err := unzipped(t, junk)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		arrives(t, q)
		if got, _ := kept(t, q); got != want {
			t.Errorf("%s: the version is %s, want %s", name, got, want)
		}
	}
}

func TestTestsAreReadAsText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\r\n", 10_000)
	files := tests(map[string]string{
		"1.in": "1\r\n2\r\n", "1.out": "\xef\xbb\xbf3\r4\r\r5", "2.in": "a\x00\r\n", "2.out": "\xef\xbb\xbf", "3.in": long, "3.out": strings.Repeat("x", 32<<10-1) + "\r\n\r\n",
		"4.in": "5\n", "4.out": "\r\n",
	})
	p, report, err := problem.Read(mapFS(files))
	if err != nil {
		t.Fatal(err)
	}
	_, got := kept(t, p)
	for name, want := range map[string]string{
		"1.in": "1\n2\n", "1.out": "3\n4\n\n5", "2.in": "a\x00\r\n", "2.out": "", "3.in": strings.ReplaceAll(long, "\r", ""), "3.out": strings.Repeat("x", 32<<10-1) + "\n\n",
		"4.in": "5\n", "4.out": "\n",
	} {
		if got[name] != want {
			t.Errorf("%s is %.40q (%d bytes), want %.40q (%d bytes)", name, got[name], len(got[name]), want, len(want))
		}
	}
	said := ""
	for _, w := range report.Warnings {
		said += w.String() + "\n"
	}
	for _, want := range []string{
		"1.in: has line ends of Windows, which programs do not get: they are turned into those of Unix (5 files like this: also 1.out, 3.in, 3.out, …)",
		"1.out: begins with a byte order mark, which is left out (2 files like this: also 2.out)",
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("the warnings are\n%swant %s", said, want)
		}
	}
	files["deepoj.yaml"] = "binary: true\n"
	if p, _, err = problem.Read(mapFS(files)); err != nil {
		t.Fatal(err)
	}
	if _, got := kept(t, p); got["1.in"] != files["1.in"] || got["1.out"] != files["1.out"] {
		t.Errorf("binary tests are %q and %q", got["1.in"], got["1.out"])
	}
	delete(files, "deepoj.yaml")
	files["1.in"] = "\xff\xfe1\x00"
	if _, _, err = problem.Read(mapFS(files)); err == nil || !strings.Contains(err.Error(), "1.in: is text in UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
}

// DMOJ's judge reads tests as text with an end of the last line.
func TestTestsOfDMOJEndTheirLines(t *testing.T) {
	t.Parallel()
	const init = "test_cases:\n- {in: 1.in, out: 1.out}\n- {in: 2.in, out: 2.out, binary_data: true}\n"
	p, _, err := problem.Read(mapFS(map[string]string{"init.yml": init, "1.in": "1\r\n2", "1.out": "3", "2.in": "1\r\n2", "2.out": "3"}))
	if err != nil {
		t.Fatal(err)
	}
	_, got := kept(t, p)
	for name, want := range map[string]string{"1.in": "1\n2\n", "1.out": "3\n", "2.in": "1\r\n2", "2.out": "3"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestAnArchiveInAProblemOfDMOJIsAFolderOfIt(t *testing.T) {
	t.Parallel()
	inner := asZIP(t, "", map[string]string{"tests/1.in": "1\r\n", "tests/1.out": "2", "more/2.in": "3\n", "more/2.out": "4\n"})
	files := map[string]string{
		"init.yml":     "archive: data.zip\ntest_cases:\n- {in: tests/1.in, out: tests/1.out, points: 40}\n- {in: more/2.in, out: more/2.out, points: 60}\n",
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n", "data.zip": string(inner),
	}
	p, _, err := problem.Read(mapFS(files))
	if err != nil {
		t.Fatal(err)
	}
	arrives(t, p)
	if idle := p.Give("plus", judge.Given{Title: "Plus one", CPUMillis: 1500, MemoryMiB: 32}); len(idle) > 0 {
		t.Errorf("without effect: %v", idle)
	}
	version, got := kept(t, p)
	if _, there := got["data.zip"]; there || got["data.zip/tests/1.in"] != "1\n" || got["data.zip/tests/1.out"] != "2\n" || p.Tests()[1].Input.Path != "data.zip/more/2.in" {
		t.Errorf("the files are %q", got)
	}
	// As a folder on disk, as a ZIP file with the ZIP file in it, and out and in again.
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	onDisk, _, err := problem.Read(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	zipped, _, err := unzipped(t, asZIP(t, "plus/", files))
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]*problem.Package{"on disk": onDisk, "in a ZIP file": zipped} {
		q.Give("plus", judge.Given{Title: "Plus one", CPUMillis: 1500, MemoryMiB: 32})
		if v, _ := kept(t, q); v != version {
			t.Errorf("%s the version is %s, want %s", name, v, version)
		}
	}
	again := exported(t, p)
	again.Give("plus", judge.Given{})
	if v, _ := kept(t, again); v != version {
		t.Errorf("exported and imported, the version is %s, want %s", v, version)
	}
}

// What is in an archive in a package counts as what is in the package does.
func TestAnArchiveInAProblemOfDMOJIsBounded(t *testing.T) {
	t.Parallel()
	bomb := asZIP(t, "", map[string]string{"1.in": strings.Repeat("0", 80<<20), "1.out": "1\n"})
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"a bomb":                {bomb, "data.zip: cannot be read as a ZIP file: the archive unpacks to 80 MiB, more than 100 times its size"},
		"names that leave it":   {asZIP(t, "../", map[string]string{"1.in": "1\n"}), `data.zip: cannot be read as a ZIP file: the archive has an entry named "../1.in"`},
		"a file that is no ZIP": {[]byte("PK\x03\x04 and nothing"), "data.zip: cannot be read as a ZIP file: zip: not a valid zip file"},
		"a ZIP file in it":      {asZIP(t, "", map[string]string{"in.zip": "PK", "1.in": "1\n"}), `init.yml: test_cases[0].out: is "1.out"`},
	} {
		_, _, err := problem.Read(mapFS(map[string]string{"init.yml": "archive: data.zip\ntest_cases:\n- {in: 1.in, out: 1.out}\n", "data.zip": string(tt.archive)}))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func TestWhatIsGivenIsWhatAPackageDoesNotSay(t *testing.T) {
	t.Parallel()
	all := judge.Given{Title: "Plus one", CPUMillis: 500, MemoryMiB: 64}
	for name, tt := range map[string]struct {
		files  map[string]string
		given  judge.Given
		title  string
		cpu    time.Duration
		memory int64
		idle   []string
	}{
		"nothing":                      {tests(nil), judge.Given{}, "plus", 2 * time.Second, 256, nil},
		"everything":                   {tests(nil), all, "Plus one", 500 * time.Millisecond, 64, nil},
		"what deepoj.yaml says itself": {tests(map[string]string{"deepoj.yaml": "title: Own\nlimits: {time_limit: 3, memory: 1024}\n"}), all, "Own", 3 * time.Second, 1024, []string{"deepoj.yaml: title: is \"Own\"", "deepoj.yaml: limits.time_limit: comes from deepoj.yaml: limits.time_limit, so the 500ms", "deepoj.yaml: limits.memory: is 1024 MiB, so the 64 MiB"}},
		"what it says by the way":      {tests(map[string]string{"deepoj.yaml": "limits: {memory: 1024}\n"}), all, "Plus one", 500 * time.Millisecond, 1024, []string{"deepoj.yaml: limits.memory"}},
		"another format":               {map[string]string{"problem.yaml": "name: Small\n", ".timelimit": "1\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "1\n"}, all, "Small", time.Second, 2048, []string{"package: title", "package: limits.time_limit", "package: limits.memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := problem.Read(mapFS(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			idle := p.Give("plus", tt.given)
			if p.Slug != "plus" || p.Title != tt.title || p.Limits.CPU != tt.cpu || p.Limits.MemoryMiB != tt.memory {
				t.Errorf("%q %q, %s, %d MiB; want %q, %s, %d MiB", p.Slug, p.Title, p.Limits.CPU, p.Limits.MemoryMiB, tt.title, tt.cpu, tt.memory)
			}
			if len(idle) != len(tt.idle) {
				t.Fatalf("without effect: %v, want %v", idle, tt.idle)
			}
			for i, f := range idle {
				if !strings.HasPrefix(f.String(), tt.idle[i]) {
					t.Errorf("without effect: %s, want %s", f, tt.idle[i])
				}
			}
			version, _ := kept(t, p)
			again := exported(t, p)
			again.Give("plus", judge.Given{})
			if v, _ := kept(t, again); v != version {
				t.Errorf("exported and imported, the version is %s, want %s", v, version)
			}
		})
	}
}
