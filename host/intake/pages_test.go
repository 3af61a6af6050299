package intake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/blob"
	"deepoj/host/judging/blame"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
)

// artist draws what it is asked for, or fails.
type artist struct {
	err   error
	asked []string
}

func (a *artist) Draw(_ context.Context, kind string, from problem.File) ([]byte, error) {
	a.asked = append(a.asked, kind+" "+from.Path)
	return []byte("drawn"), a.err
}

func (a *artist) Text(_ context.Context, from problem.File) (string, error) {
	a.asked = append(a.asked, "text "+from.Path)
	return "Fold the paper.\n", a.err
}

// aPNG is a picture of so many pixels.
func aPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hugePNG says that it has more pixels than a browser can hold, and is small.
func hugePNG(t *testing.T) []byte {
	t.Helper()
	b := aPNG(t, 1, 1)
	copy(b[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 × 65536
	binary.BigEndian.PutUint32(b[29:33], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// illustrated is a saved package whose statement shows files as pictures.
func illustrated(t *testing.T, files map[string][]byte, pictures map[string]problem.Picture) *problem.Package {
	t.Helper()
	fsys := fstest.MapFS{
		"problem.yaml": {Data: []byte("name: Drawn\n")}, "problem_statement/problem.en.md": {Data: []byte("x\n")},
		"data/secret/1.in": {Data: []byte("1\n")}, "data/secret/1.ans": {Data: []byte("1\n")}, "submissions/accepted/a.py": {Data: []byte("print(1)\n")},
	}
	for name, data := range files {
		fsys["problem_statement/"+name] = &fstest.MapFile{Data: data}
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	page := "<p>Look:"
	pkg.Pictures = nil
	for name, p := range pictures {
		if p.Name == "" {
			p.Name = strings.TrimPrefix(string(blob.Of(files[name])), "sha256:") + map[string]string{"image/png": ".png", "image/svg+xml": ".svg", "image/jpeg": ".jpg"}[p.Type]
		}
		p.File = problem.File{Path: "problem_statement/" + name, Size: int64(len(files[name]))}
		pkg.Pictures = append(pkg.Pictures, p)
		page += fmt.Sprintf(` <img src="pictures/%s" alt="a view of %s">`, p.Name, name)
	}
	pkg.Slug, pkg.Statement = "drawn", page+"</p>"
	pkg.Statements = map[string]string{"en": pkg.Statement, "sv": "<h2>Indata</h2><p>a &lt; b<annotation>\\frac</annotation></p>"}
	pkg.Titles = map[string]string{"en": "Drawn", "sv": "Ritad"}
	store, err := blob.OpenDir(t.TempDir())
	if err == nil {
		_, err = pkg.Save(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func TestPicturesThatCannotBeShownAreNamedAndTheirDescriptionStays(t *testing.T) {
	t.Parallel()
	missing := &blame.UnavailableError{What: "gs", Reason: "gs is not installed", Remedy: "apt-get install ghostscript"}
	files := map[string][]byte{
		"good.png": aPNG(t, 30, 20), "huge.png": hugePNG(t), "none.jpg": []byte("no JPEG"), "tree.svg": []byte("<svg/>"),
		"figure.eps": []byte("%!PS"), "name.png": aPNG(t, 2, 2), "type.png": aPNG(t, 3, 3), "long.svg": bytes.Repeat([]byte(" "), maxPictureBytes+1),
	}
	pictures := map[string]problem.Picture{
		"good.png": {Type: "image/png"}, "huge.png": {Type: "image/png"}, "none.jpg": {Type: "image/jpeg"}, "tree.svg": {Type: "image/svg+xml"},
		"figure.eps": {Type: "image/png", Convert: "eps"}, "name.png": {Type: "image/png", Name: "../../etc/passwd"},
		"type.png": {Type: "text/html", Name: strings.Repeat("ab", 32) + ".png"}, "long.svg": {Type: "image/svg+xml"},
	}
	pkg := illustrated(t, files, pictures)
	a := &artist{err: missing}
	r, err := pages(t.Context(), a, pkg)
	if err != nil || r.Renderer != problem.Renderer {
		t.Fatalf("%+v, %v", r, err)
	}
	said := strings.Join(r.Warnings, "\n")
	for name, want := range map[string]string{
		"huge.png": "65536 × 65536 pixels", "none.jpg": "none that can be read", "figure.eps": "gs is not installed: apt-get install ghostscript", "name.png": "no name of a picture",
		"type.png": "no name of a picture", "long.svg": "may have 16",
	} {
		if !strings.Contains(said, "problem_statement/"+name+": is a picture that is not shown: ") || !strings.Contains(said, want) {
			t.Errorf("%s is not named with %q:\n%s", name, want, said)
		}
		if !strings.Contains(r.Pages[0].HTML, "<em>[a view of "+name+"]</em>") {
			t.Errorf("the description of %s is lost:\n%s", name, r.Pages[0].HTML)
		}
	}
	if len(r.Warnings) != 6 || len(r.Files) != 2 || strings.Count(r.Pages[0].HTML, "<img ") != 2 {
		t.Errorf("%d warnings, files %+v, page %s", len(r.Warnings), r.Files, r.Pages[0].HTML)
	}
	if p := r.Pages[1]; p.Language != "sv" || p.Title != "Ritad" || p.Text != "Indata a < b" {
		t.Errorf("the page in Swedish is %+v", p)
	}

	a.err = nil
	if r, err = pages(t.Context(), a, pkg); err != nil || len(r.Files) != 3 || len(r.Warnings) != 5 || !slices.Equal(a.asked, []string{"eps problem_statement/figure.eps", "eps problem_statement/figure.eps"}) {
		t.Errorf("drawn: %+v, %v, asked %v", r, err, a.asked)
	}
	for _, f := range r.Files {
		if f.Name == strings.TrimPrefix(string(blob.Of(files["figure.eps"])), "sha256:")+".png" && (f.Digest != string(blob.Of([]byte("drawn"))) || f.Type != "image/png") {
			t.Errorf("the drawing is %+v", f)
		}
	}
	if r, err = pages(t.Context(), nil, pkg); err != nil || r.Renderer != 0 || !strings.Contains(strings.Join(r.Warnings, "\n"), "figure.eps: is a picture that is not shown: it is still to be drawn") {
		t.Errorf("without a sandbox: %+v, %v", r, err)
	}
	a.err = errors.New("the sandbox is away")
	if _, err = pages(t.Context(), a, pkg); err == nil || !strings.Contains(err.Error(), "figure.eps") {
		t.Errorf("a failure of the platform: %v", err)
	}
	a.err = &blame.UnavailableError{What: "x", Agent: true}
	if _, err = pages(t.Context(), a, pkg); err == nil {
		t.Error("a sandbox that is away counts as a missing program")
	}
}

func TestAPDFIsThePageOfItsLanguage(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"problem.pdf": []byte("%PDF-1"), "problem.fi.pdf": []byte("%PDF-2")}
	pkg := illustrated(t, files, nil)
	r, err := pages(t.Context(), &artist{}, pkg)
	if err != nil || len(r.Pages) != 3 || len(r.Files) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	en, fi := r.Pages[0], r.Pages[1]
	if en.Document != strings.TrimPrefix(string(blob.Of(files["problem.pdf"])), "sha256:")+".pdf" || en.HTML == "" || !strings.Contains(en.Text, "Look: Fold the paper.") && !strings.Contains(en.Text, "Fold the paper.") {
		t.Errorf("the page in English is %+v", en)
	}
	if fi.Language != "fi" || fi.HTML != "" || fi.Text != "Fold the paper." || fi.Title != pkg.Title || fi.Document == en.Document {
		t.Errorf("the page in Finnish is %+v", fi)
	}
	missing := &blame.UnavailableError{What: "pdftotext", Reason: "pdftotext is not installed", Remedy: "apt-get install poppler-utils"}
	if r, err = pages(t.Context(), &artist{err: missing}, pkg); err != nil || len(r.Files) != 2 || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "not searched") {
		t.Errorf("without pdftotext: %+v, %v", r, err)
	}
}
