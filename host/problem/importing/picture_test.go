package importing_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
	"deepoj/host/problem/source"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><circle r="3"/></svg>`

// illustrated is a package whose statements in two languages show pictures.
var illustrated = map[string]string{
	"problem_statement/problem.en.md":  "![a map](map.png){width=50%} ![tree](tree.svg) ![plan](plan.pdf) ![gone](gone.png)\n",
	"problem_statement/problem.sv.tex": "\\includegraphics[width=3cm]{map} \\illustration{0.3}{old}{From above}\n",
	"problem_statement/map.png":        "\x89PNG\r\n\x1a\nmap",
	"problem_statement/tree.svg":       drawing,
	"problem_statement/plan.pdf":       "%PDF-1.4 plan",
	"problem_statement/old.eps":        "%!PS-Adobe-3.0 EPSF-3.0",
	"problem_statement/unused.png":     "\x89PNG\r\n\x1a\nunused",
}

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// The pictures that statements show are files of the version, by the digest of what the
// setter made, and pages name them so.
func TestPicturesAreFilesOfTheVersion(t *testing.T) {
	t.Parallel()
	p, report := problemtest.Read(t, illustrated)
	want := map[string]problem.Picture{
		digestOf(illustrated["problem_statement/map.png"]) + ".png":  {File: problem.File{Path: "problem_statement/map.png"}, Type: "image/png"},
		digestOf(drawing) + ".svg":                                   {File: problem.File{Path: "deepoj-derived/" + digestOf(drawing) + ".svg"}, Type: "image/svg+xml"},
		digestOf(illustrated["problem_statement/plan.pdf"]) + ".png": {File: problem.File{Path: "problem_statement/plan.pdf"}, Type: "image/png", Convert: "pdf"},
		digestOf(illustrated["problem_statement/old.eps"]) + ".png":  {File: problem.File{Path: "problem_statement/old.eps"}, Type: "image/png", Convert: "eps"},
	}
	if len(p.Pictures) != len(want) {
		t.Errorf("there are %d pictures: %+v", len(p.Pictures), p.Pictures)
	}
	pages := p.Statements["en"] + p.Statements["sv"]
	for _, got := range p.Pictures {
		w := want[got.Name]
		if got.File.Path != w.File.Path || got.Type != w.Type || got.Convert != w.Convert {
			t.Errorf("%s is %+v, and should be %+v", got.Name, got, w)
		}
		if !strings.Contains(pages, `src="pictures/`+got.Name+`"`) {
			t.Errorf("no page shows %s", got.Name)
		}
	}
	if n := strings.Count(pages, "pictures/"+digestOf(illustrated["problem_statement/map.png"])); n != 2 {
		t.Errorf("the map is shown %d times, not in both languages", n)
	}
	said := ""
	for _, w := range report.Warnings {
		said += w.String() + "\n"
	}
	for _, w := range []string{"problem.en.md: shows pictures that are not in the package: gone.png", "tree.svg: holds what a picture may not have, which is left out: svg.onload"} {
		if !strings.Contains(said, w) {
			t.Errorf("nobody says %q:\n%s", w, said)
		}
	}
	if strings.Contains(said, "deepoj-derived") {
		t.Errorf("what reading made is taken for a part of the package:\n%s", said)
	}
}

// A picture that had to be cleaned is stored, and an export does not hold it twice: who
// reads the export gets the same version.
func TestACleanPictureIsStoredAndMadeAgain(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, illustrated)
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	version, err := p.Save(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	q, err := problem.Load(t.Context(), store, version)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(q.Pictures, func(p problem.Picture) bool { return p.Type == "image/svg+xml" })
	r, err := q.Open(t.Context(), q.Pictures[at].File)
	if err != nil {
		t.Fatal(err)
	}
	clean, err := io.ReadAll(r)
	if err != nil || r.Close() != nil || !bytes.Contains(clean, []byte("<circle")) || bytes.Contains(clean, []byte("onload")) {
		t.Errorf("the clean picture is %q, %v", clean, err)
	}
	var archive bytes.Buffer
	if err := q.Export(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := source.Unzip(z)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	again.Slug = q.Slug
	if back, err := again.Save(t.Context(), store); err != nil || back != version {
		t.Errorf("the export becomes version %s and not %s, %v", back, version, err)
	}
}

func TestAPackageMayNotBringWhatIsMadeOfIt(t *testing.T) {
	t.Parallel()
	_, _, err := importing.Read(problemtest.Pack(map[string]string{"deepoj-derived/x.svg": drawing}))
	if err == nil || !strings.Contains(err.Error(), "deepoj-derived/x.svg") {
		t.Errorf("it is read with %v", err)
	}
}
