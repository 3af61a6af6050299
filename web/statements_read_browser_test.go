package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
)

// paper is a PDF of one page with a few words.
func paper() string {
	var out bytes.Buffer
	var at []int
	object := func(body string) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	content := "BT /F 28 Tf 60 700 Td (Problem P: Paper) Tj 0 -40 Td /F 14 Tf (Count the folds of a sheet of paper.) Tj ET 60 500 200 100 re S"
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>")
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return out.String()
}

// stripes is a PNG of so many pixels.
func stripes(t *testing.T, width, height int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{uint8(x / 4), uint8(y), 160, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// statementScene fills the database with statements of every shape, and returns the
// pages that show them.
func (s *stage) statementScene(t *testing.T, option func(string, string, string) judge.PageFile) map[string]string {
	t.Helper()
	svg, wide, pdf := option(hostileSVG, ".svg", "image/svg+xml"), option(stripes(t, 1600, 300), ".png", "image/png"), option(paper(), ".pdf", "application/pdf")
	samples := []judge.Sample{{Name: "1", Input: "3\n1 2 3\n", Output: "6\n"}, {Name: "2", Input: strings.Repeat("1000000000 ", 30) + "\n", Output: "30000000000\n"}}
	text := `<p>%s</p><figure><img src="pictures/` + svg.Name + `" alt="a tree"><figcaption>A tree.</figcaption></figure><p><img src="pictures/` + wide.Name + `" alt="a field" width="1600" height="300"></p><table><thead><tr><th>n</th><th>ways</th></tr></thead><tbody><tr><td>1</td><td>1</td></tr></tbody></table>`
	trees := judge.Problem{Slug: "trees", Title: "Trees", Version: "sha256:" + strings.Repeat("1a", 32), Samples: samples, CPUMillis: 1000, MemoryMiB: 256}
	s.version(trees, true, judge.Rendering{Renderer: 2, Files: []judge.PageFile{svg, wide}, Pages: []judge.Page{
		{Language: "en", Title: "Trees", HTML: fmt.Sprintf(text, "Count the trees of the field.")}, {Language: "sv", Title: "Träd", HTML: fmt.Sprintf(text, "Räkna träden på fältet.")},
	}})
	folded := judge.Problem{Slug: "paper", Title: "Paper", Version: "sha256:" + strings.Repeat("1b", 32), CPUMillis: 1000, MemoryMiB: 256, Files: []judge.ProblemFile{{Name: "problem.pdf", Bytes: pdf.Bytes, Digest: pdf.Digest}}}
	s.version(folded, true, judge.Rendering{Renderer: 2, Files: []judge.PageFile{pdf}, Pages: []judge.Page{{Language: "en", Title: "Paper", Text: "Count the folds of a sheet of paper.", Document: pdf.Name}}})
	draft := trees
	draft.Version = "sha256:" + strings.Repeat("1c", 32)
	s.version(draft, false, judge.Rendering{
		Renderer: 2, Files: []judge.PageFile{svg, wide}, Pages: []judge.Page{{Language: "en", Title: "Trees, again", HTML: fmt.Sprintf(text, "A draft.")}},
		Warnings: []string{"statement/figure.eps: is a picture that is not shown: gs is not installed: apt-get install ghostscript, and render the problem again"},
	})
	space := s.space("final", func(v *judge.Space) { v.Title = "The final" })
	for _, slug := range []string{"trees", "paper"} {
		s.must(s.store.PutSpaceProblem(t.Context(), space.ID, slug, 0, nil, "prof"))
	}
	return map[string]string{
		"statement": "/problems/trees?lang=en", "statement-sv": "/problems/trees?lang=sv", "statement-pdf": "/problems/paper", "statement-print": "/spaces/final/print",
		"statement-preview": "/packages/trees/versions/" + draft.Version, "statement-package": "/packages/trees",
	}
}

// TestStatementsAreReadByEverybody looks at statements with pictures, in languages, as a
// PDF, before they are live and on paper, in one browser.
func TestStatementsAreReadByEverybody(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	s.user("root", "correct horse", judge.RoleAdmin)
	pages := s.statementScene(t, func(data, extension, kind string) judge.PageFile { return s.picture(blobs, data, extension, kind) })
	ctx, console := browser(t)
	s.signInAs(func(steps ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, steps...) }, "root", "/")
	s.must(chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`form[action="/logout"]`))))
	console.take()
	s.examineAll(ctx, t, console, looks, pages)
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		s.must(chromedp.Do(ctx, steps...))
	}
	ask := func(script string) string {
		t.Helper()
		said, err := chromedp.Run(ctx, chromedp.Evaluate[string](script))
		s.must(err)
		return said
	}

	do(chromedp.Navigate(s.url + pages["statement"]))
	const loaded = `Promise.all([...document.querySelectorAll(".prose img")].map((i) => i.decode().then(() => i.naturalWidth + "x" + i.naturalHeight, () => "broken"))).then((all) => all.join(" "))`
	said, err := chromedp.Run(ctx, chromedp.Evaluate[string](loaded, chromedp.EvalAwaitPromise))
	if s.must(err); said != "120x60 1600x300" {
		t.Errorf("the pictures are %s", said)
	}
	do(chromedp.Click(chromedp.CSS(`.tongues a[hreflang="sv"]`)), chromedp.WaitVisible(chromedp.CSS(`article[lang="sv"]`)))
	if title := ask(`document.querySelector("h1").textContent`); title != "Träd" {
		t.Errorf("the switch leads to %q", title)
	}
	address := ask(`document.querySelector(".prose img").src`)
	do(chromedp.Navigate(address))
	if title := ask(`document.title`); title == "owned" {
		t.Error("a picture that is opened by itself runs its script")
	}
	console.take() // that the script was stopped is said there

	do(chromedp.Navigate(s.url+"/problems/paper"), chromedp.WaitVisible(chromedp.CSS("object.paper")))
	if note := ask(`String(document.querySelector("object.paper").contentDocument === null || document.querySelector("object.paper .notice").offsetParent === null)`); note != "true" {
		t.Error("the browser shows what it says without a viewer")
	}
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %v", said)
	}

	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	s.must(err)
	do(chromedp.Navigate(s.url + pages["statement-print"]))
	if shown := ask(`[...document.querySelectorAll("header.top, .foot, .tongues, .sub, form")].filter((e) => e.offsetParent !== null).map((e) => e.className).join(" ")`); shown != "" {
		t.Errorf("on paper there is %s", shown)
	}
	if colours := ask(`getComputedStyle(document.body).backgroundColor + " " + getComputedStyle(document.body).color`); colours != "rgb(255, 255, 255) rgb(0, 0, 0)" {
		t.Errorf("the colours on paper are %s", colours)
	}
	s.must(picture(ctx, "statement-print-paper"))
	printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
	s.must(err)
	if n := bytes.Count(printed.Data, []byte("/Type /Page\n")) + bytes.Count(printed.Data, []byte("/Type /Page ")); n < 4 {
		t.Errorf("three problems and the cover are on %d sheets", n)
	}
	if dir := os.Getenv("DEEPOJ_ARTIFACTS"); dir != "" {
		s.must(os.WriteFile(dir+"/statement-print.pdf", printed.Data, 0o644))
	}
}
