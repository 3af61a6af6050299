package dmoj_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

func TestTestsOfDMOJEndTheirLines(t *testing.T) {
	t.Parallel()
	const init = "test_cases:\n- {in: 1.in, out: 1.out}\n- {in: 2.in, out: 2.out, binary_data: true}\n"
	p, _, err := importing.Read(problemtest.Files(map[string]string{"init.yml": init, "1.in": "1\r\n2", "1.out": "3", "2.in": "1\r\n2", "2.out": "3"}))
	if err != nil {
		t.Fatal(err)
	}
	_, got := problemtest.Kept(t, p)
	for name, want := range map[string]string{"1.in": "1\n2\n", "1.out": "3\n", "2.in": "1\r\n2", "2.out": "3"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestAnArchiveInAProblemOfDMOJIsAFolderOfIt(t *testing.T) {
	t.Parallel()
	inner := problemtest.ZIP(t, "", map[string]string{"tests/1.in": "1\r\n", "tests/1.out": "2", "more/2.in": "3\n", "more/2.out": "4\n"})
	files := map[string]string{
		"init.yml":     "archive: data.zip\ntest_cases:\n- {in: tests/1.in, out: tests/1.out, points: 40}\n- {in: more/2.in, out: more/2.out, points: 60}\n",
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n", "data.zip": string(inner),
	}
	p, _, err := importing.Read(problemtest.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	problemtest.Arrives(t, p)
	if idle := p.Give("plus", judge.Given{Title: "Plus one", CPUMillis: 1500, MemoryMiB: 32}); len(idle) > 0 {
		t.Errorf("without effect: %v", idle)
	}
	version, got := problemtest.Kept(t, p)
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
	onDisk, _, err := importing.Read(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	zipped, _, err := problemtest.Unzip(t, problemtest.ZIP(t, "plus/", files))
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]*problem.Package{"on disk": onDisk, "in a ZIP file": zipped} {
		q.Give("plus", judge.Given{Title: "Plus one", CPUMillis: 1500, MemoryMiB: 32})
		if v, _ := problemtest.Kept(t, q); v != version {
			t.Errorf("%s the version is %s, want %s", name, v, version)
		}
	}
	again := problemtest.Export(t, p)
	again.Give("plus", judge.Given{})
	if v, _ := problemtest.Kept(t, again); v != version {
		t.Errorf("exported and imported, the version is %s, want %s", v, version)
	}
}

// What is in an archive in a package counts as what is in the package does.
func TestAnArchiveInAProblemOfDMOJIsBounded(t *testing.T) {
	t.Parallel()
	bomb := problemtest.ZIP(t, "", map[string]string{"1.in": strings.Repeat("0", 80<<20), "1.out": "1\n"})
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"a bomb":                {bomb, "data.zip: cannot be read as a ZIP file: the archive unpacks to 80 MiB, more than 100 times its size"},
		"names that leave it":   {problemtest.ZIP(t, "../", map[string]string{"1.in": "1\n"}), `data.zip: cannot be read as a ZIP file: the archive has an entry named "../1.in"`},
		"a file that is no ZIP": {[]byte("PK\x03\x04 and nothing"), "data.zip: cannot be read as a ZIP file: zip: not a valid zip file"},
		"a ZIP file in it":      {problemtest.ZIP(t, "", map[string]string{"in.zip": "PK", "1.in": "1\n"}), `init.yml: test_cases[0].out: is "1.out"`},
	} {
		_, _, err := importing.Read(problemtest.Files(map[string]string{"init.yml": "archive: data.zip\ntest_cases:\n- {in: 1.in, out: 1.out}\n", "data.zip": string(tt.archive)}))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
