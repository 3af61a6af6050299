package source_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
	"deepoj/host/problem/source"
)

// link is the content of an archive entry that is a symbolic link.
type link string

// zipped makes an archive of the small package with a prefix before each name,
// and more entries.
func zipped(t *testing.T, prefix string, more map[string]any) *zip.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name, text string, mode fs.FileMode) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range problemtest.Pack(nil) {
		add(prefix+name, string(f.Data), 0o644)
	}
	for name, content := range more {
		switch c := content.(type) {
		case string:
			add(prefix+name, c, 0o644)
		case link:
			add(prefix+name, string(c), fs.ModeSymlink|0o777)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is said of links.
const (
	leavesPackage = "is a link that leads out of the package: put the file itself there, or make the archive with zip -r"
	leadsNowhere  = "is a link that leads nowhere: put the file there"
)

func TestAnArchiveIsReadLikeAFolder(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, _ := problemtest.Read(t, nil)
	want, err := p.Save(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for name, prefix := range map[string]string{"at the top": "", "in its only folder": "small/"} {
		fsys, err := source.Unzip(zipped(t, prefix, nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q, _, err := importing.Read(fsys)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := q.Save(t.Context(), store); err != nil || got != want {
			t.Errorf("%s: the version is %s, %v; want %s", name, got, err, want)
		}
	}
}

func TestLinksInAnArchiveStayInIt(t *testing.T) {
	t.Parallel()
	fsys, err := source.Unzip(zipped(t, "p/", map[string]any{
		"data/secret/group": link("../shared"), "data/shared/7.in": "7\n", "data/shared/7.ans": "seven\n",
		"data/secret/9.in": link("1.in"), "data/secret/9.ans": link("../../data/secret/1.ans"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if tests := p.Tests(); len(tests) != 4 || tests[3].Name != "secret/group/7" {
		t.Errorf("the tests are %+v", tests)
	}
	for name, to := range map[string]struct {
		target link
		want   string
	}{
		"absolute": {"/etc/passwd", leavesPackage}, "out": {"../../../../etc/passwd", leavesPackage}, "dangling": {"nothing", leadsNowhere}, "itself": {"x.in", leadsNowhere},
	} {
		fsys, err := source.Unzip(zipped(t, "p/", map[string]any{"data/secret/x.in": to.target}))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := importing.Read(fsys); err == nil || !strings.Contains(err.Error(), "data/secret/x.in: "+to.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAHostileArchiveIsRefused(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]map[string]any{
		"a name that climbs out":  {"../evil": "x"},
		"a name from the root":    {"/evil": "x"},
		"a name with a backslash": {`a\b`: "x"},
		"a file that is a folder": {"problem.yaml/x": "x"},
	} {
		if _, err := source.Unzip(zipped(t, "", more)); err == nil {
			t.Errorf("%s: it was opened", name)
		}
	}
}

func TestLinksInAFolderStayInIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, problemtest.Pack(nil)); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "data", "secret")
	for name, target := range map[string]string{"5.in": "1.in", "5.ans": "../secret/1.ans"} {
		if err := os.Symlink(target, filepath.Join(secret, name)); err != nil {
			t.Fatal(err)
		}
	}
	open := func() error {
		fsys, slug, closer, err := source.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer closer.Close()
		if slug != filepath.Base(dir) {
			t.Errorf("slug is %q", slug)
		}
		_, _, err = importing.Read(fsys)
		return err
	}
	if err := open(); err != nil {
		t.Errorf("links within the package: %v", err)
	}
	for target, want := range map[string]string{
		outside: leavesPackage, "nowhere": leadsNowhere, "../../../" + filepath.Base(filepath.Dir(outside)) + "/secret": leavesPackage,
	} {
		name := filepath.Join(secret, "6.in")
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
		if err := open(); err == nil || !strings.Contains(err.Error(), "data/secret/6.in: "+want) {
			t.Errorf("a link to %s: %v", target, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(secret, "circle")); err != nil {
		t.Fatal(err)
	}
	if err := open(); err == nil || !strings.Contains(err.Error(), "links must not lead in a circle") {
		t.Errorf("a circle: %v", err)
	}
}
