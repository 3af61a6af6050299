package statement

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"deepoj/host/problem/statement/safe"
)

var update = flag.Bool("update", false, "write what the sources in testdata become anew")

// pictures are the files of the package that the statements in testdata are in.
var pictures = map[string]string{
	"s/map.png":    "\x89PNG\r\n\x1a\n and so on",
	"s/photo.jpeg": "\xff\xd8\xff and so on",
	"s/plan.pdf":   "%PDF-1.5 and so on",
	"s/old.eps":    "%!PS-Adobe-3.0 EPSF-3.0 and so on",
	"s/tree.svg":   `<svg xmlns="http://www.w3.org/2000/svg"><circle r="3"/></svg>`,
	"s/words.doc":  "no picture",
	"s/part.tex":   "A \\emph{part}.\n",
	"s/loop.tex":   "Round \\input{loop.tex}",
	"s/code.py":    "print(1 < 2)\n",
}

// render renders a text as the source of a file.
func render(file, text string) (html string, said []string, err error) {
	return renderWith(nil, file, text)
}

// renderWith is render with an engine for formulas; nil is one of its own.
func renderWith(math *engine, file, text string) (html string, said []string, err error) {
	pkg := &kept{files: pictures}
	r := New(pkg)
	r.math = math
	switch {
	case strings.HasSuffix(file, ".md"):
		html, err = r.Markdown("s/"+file, text)
	case strings.HasSuffix(file, ".polygon"):
		html, err = r.PolygonTeX([]Part{{File: "s/" + file, Text: text}})
	case strings.HasSuffix(file, ".page"):
		html, err = r.PolygonHTML("s/"+file, text)
	default:
		html, err = r.TeX("s/"+file, text)
	}
	return html, pkg.said, err
}

// TestConstructs renders each source in testdata and compares the HTML, and what is
// said of it, with what stands behind it. Run with -update to write that anew, and then
// look at it.
func TestConstructs(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 4 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		var next []txtar.File
		for _, f := range a.Files {
			want[f.Name] = string(f.Data)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".html") || strings.HasSuffix(f.Name, ".said") {
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				html, said, err := render(f.Name, string(f.Data))
				if err != nil {
					t.Fatal(err)
				}
				if err := safe.Check(html); err != nil {
					t.Errorf("%v in\n%s", err, html)
				}
				words := strings.ReplaceAll(strings.Join(append(said, ""), "\n"), "s/"+f.Name+": ", "")
				next = append(next, f, txtar.File{Name: f.Name + ".html", Data: []byte(html)})
				if words != "" {
					next = append(next, txtar.File{Name: f.Name + ".said", Data: []byte(words)})
				}
				if *update {
					return
				}
				if wanted := want[f.Name+".html"]; strings.TrimSpace(html) != strings.TrimSpace(wanted) {
					t.Errorf("it becomes\n%s\nand should be\n%s", html, wanted)
				}
				if wanted := want[f.Name+".said"]; words != wanted {
					t.Errorf("what is said is\n%sand should be\n%s", words, wanted)
				}
			})
		}
		if *update {
			a.Files = next
			if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
