package judging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os/exec"
	"strings"
	"testing"

	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// figureEPS is a blue box of 200 × 100 points with a word, as drawing programs write it.
const figureEPS = `%!PS-Adobe-3.0 EPSF-3.0
%%BoundingBox: 50 20 250 120
%%EndComments
0 0 1 setrgbcolor 50 20 200 100 rectfill
1 setgray /Helvetica findfont 40 scalefont setfont 60 60 moveto (edges) show
showpage
%%EOF
`

// figurePDF is a PDF of one page, so many points wide and high, that does what content
// says.
func figurePDF(width, height int, content string) []byte {
	var out bytes.Buffer
	var at []int
	object := func(body string) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>", width, height))
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return out.Bytes()
}

const redBoxAndWord = "1 0 0 rg 0 0 200 100 re f 1 g BT /F 40 Tf 10 30 Td (vertex) Tj ET"

// needsTools ends a test where a drawing program is missing.
func needsTools(t *testing.T) {
	t.Helper()
	for _, tool := range judging.DrawingTools() {
		if _, err := exec.LookPath(tool.Name); err != nil {
			judgingtest.Missing(t, "the Debian package "+tool.Package)
		}
	}
}

// put stores a file that is to be drawn.
func put(t *testing.T, data []byte) problem.File {
	t.Helper()
	g, n, err := judgingtest.Get(t).Blobs.Put(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return problem.File{Path: "figure", Size: n, Digest: g}
}

func TestFiguresAreDrawnInABox(t *testing.T) {
	needsTools(t)
	m := judgingtest.Get(t)
	for _, one := range []struct {
		kind          string
		data          []byte
		width, height int
	}{
		{"pdf", figurePDF(200, 100, redBoxAndWord), 400, 200},
		{"eps", []byte(figureEPS), 400, 200},
		{"pdf", figurePDF(14000, 700, "1 0 0 rg 0 0 14000 700 re f"), 2400, 120},
		{"eps", []byte(strings.Replace(figureEPS, "50 20 250 120", "0 0 20000 1000", 1)), 2400, 120},
	} {
		drawn, err := m.Judge.Draw(t.Context(), one.kind, put(t, one.data))
		if err != nil {
			t.Errorf("%s: %v", one.kind, err)
			continue
		}
		picture, err := png.Decode(bytes.NewReader(drawn))
		if err != nil {
			t.Fatalf("%s: %v", one.kind, err)
		}
		if size := picture.Bounds().Size(); abs(size.X-one.width) > 2 || abs(size.Y-one.height) > 2 {
			t.Errorf("%s: %v pixels, want %d × %d", one.kind, size, one.width, one.height)
		}
		if one.width == 400 {
			if light := whites(picture); light < 500 || light > 40_000 {
				t.Errorf("%s: %d white pixels: the word in it is not drawn", one.kind, light)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

// whites counts white pixels.
func whites(picture image.Image) (n int) {
	for y := range picture.Bounds().Max.Y {
		for x := range picture.Bounds().Max.X {
			if r, g, b, _ := picture.At(x, y).RGBA(); r > 0xf000 && g > 0xf000 && b > 0xf000 {
				n++
			}
		}
	}
	return n
}

func TestHostileFiguresAreRefusedAndTheRestOfTheMachineIsNotTouched(t *testing.T) {
	needsTools(t)
	m := judgingtest.Get(t)
	for name, one := range map[string]struct {
		kind, data, want string
	}{
		"endless PostScript":        {"eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n{} loop\n", "takes more than"},
		"PostScript that hoards":    {"eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n/a [] def { /a [ a 60000 string ] def } loop\n", ""},
		"PostScript of other files": {"eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(/etc/passwd) (r) file 200 string readstring pop print showpage\n", "gs ends with exit status"},
		"PostScript that runs":      {"eps", "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(%pipe%id) (r) file closefile showpage\n", "gs ends with exit status"},
		"no PDF":                    {"pdf", "MZ\x00\x01 this is no PDF", "pdfinfo ends with exit status"},
		"half a PDF":                {"pdf", string(figurePDF(200, 100, redBoxAndWord)[:60]), "pdfinfo ends with exit status"},
		"nothing":                   {"eps", "", "nothing can be drawn"},
		"another kind":              {"xps", "x", "not drawn of"},
	} {
		drawn, err := m.Judge.Draw(t.Context(), one.kind, put(t, []byte(one.data)))
		if err == nil || !blame.AtFault(err) || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %d bytes, %v, want a fault of the file with %q", name, len(drawn), err, one.want)
		}
	}
}

func TestDocumentsAreReadAsText(t *testing.T) {
	needsTools(t)
	m := judgingtest.Get(t)
	said, err := m.Judge.Text(t.Context(), put(t, figurePDF(400, 200, "BT /F 12 Tf 10 100 Td (Count the bridges of a graph.) Tj ET")))
	if err != nil || strings.TrimSpace(said) != "Count the bridges of a graph." {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := m.Judge.Text(t.Context(), put(t, []byte("no PDF"))); err == nil || !blame.AtFault(err) {
		t.Errorf("what is no PDF: %q, %v", said, err)
	}
}

func TestAMissingDrawingProgramIsNamedWithItsPackage(t *testing.T) {
	m := judgingtest.Get(t)
	j, err := m.Open(func(c *judging.Config) { c.Sandbox = toolless{c.Sandbox} })
	if err != nil {
		t.Fatal(err)
	}
	for kind, remedy := range map[string]string{"pdf": "apt-get install poppler-utils", "eps": "apt-get install ghostscript"} {
		_, err := j.Draw(t.Context(), kind, put(t, []byte(figureEPS)))
		missing, is := errors.AsType[*blame.UnavailableError](err)
		if !is || missing.Remedy != remedy {
			t.Errorf("%s: %v, want what to install: %s", kind, err, remedy)
		}
	}
}

// toolless is a sandbox of a machine without tools.
type toolless struct{ runner.Sandbox }

func (toolless) Tool(context.Context, string) (sandbox.Tool, error) {
	return sandbox.Tool{}, sandbox.ErrNoTool
}
