package statement

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/problem/statement/safe"
)

// kept is a package in memory, which keeps what is said of it.
type kept struct {
	files map[string]string
	said  []string
}

func (k *kept) Has(name string) bool { _, ok := k.files[name]; return ok }

func (k *kept) Read(name string, limit int64) ([]byte, error) {
	text, ok := k.files[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text[:min(int64(len(text)), limit)]), nil
}

func (k *kept) Warn(file, reason string) { k.said = append(k.said, file+": "+reason) }

// libraryMacros returns every command that is named in the library.
func libraryMacros(t *testing.T) []string {
	t.Helper()
	source, err := temml()
	if err != nil {
		t.Fatalf("run make build: %v", err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`["'\x60]\\\\([A-Za-z]+)\*?["'\x60]`).FindAllStringSubmatch(source, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// environmentsOfLibrary are what \begin takes in formulas.
var environmentsOfLibrary = strings.Fields(`array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix cases rcases dcases drcases aligned alignedat gathered split smallmatrix
	align align* gather gather* equation equation* multline multline* alignat alignat* subarray darray pmatrix* bmatrix* bordermatrix CD`)

// Whatever a formula of the library is made of, no attribute style is left of it, and
// everything that its style said has a class.
func TestNoFormulaKeepsAStyle(t *testing.T) {
	t.Parallel()
	macros := libraryMacros(t)
	if len(macros) < 1000 {
		t.Fatalf("only %d commands are known", len(macros))
	}
	var formulas []string
	for _, m := range macros {
		for _, form := range []string{`x \%s y`, `\%s{x}{y}{z}`, `\%s[x]{y}`, `\%s{1em} x`, `\%s{red}{x}`} {
			formulas = append(formulas, fmt.Sprintf(form, m))
		}
	}
	for _, e := range environmentsOfLibrary {
		for _, arg := range []string{"", "{c|c:c}", "{2}", "{||l r||}"} {
			for _, body := range []string{`a & b \\ c & d`, `\hline a & b \\[1em] \hline\hline c & d \\ \hdashline`, `a \tag{1} \\ b`, `a \\ b`} {
				formulas = append(formulas, `\begin{`+e+"}"+arg+body+`\end{`+e+"}")
			}
		}
	}
	formulas = append(formulas, `\colorbox{#abcdef}{x} \fcolorbox{red}{blue}{y} \color[rgb]{0.1,0.2,0.3} z`, `\textcolor{ForestGreen}{x} \raisebox{-1em}{y} \llap{x}\rlap{y}\clap{z} \mathllap{x}`, `\cancelto{x}{y} \boxed{z} \fbox{a} \reflectbox{R}`)
	var known int
	for from := 0; from < len(formulas); from += 500 {
		pkg := &kept{}
		r := New(pkg)
		for _, f := range formulas[from:min(from+500, len(formulas))] {
			p := r.page("f")
			raw := p.formula(f, strings.HasPrefix(f, "x")) // displayed or not
			html, err := p.finish(raw, safe.Source{})
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			if strings.Contains(raw, "<math") {
				known++
			}
			if strings.Contains(html, " style=") {
				t.Errorf("%s keeps a style: %s", f, html)
			}
			if err := safe.Check(html); err != nil {
				t.Errorf("%s: %v\n%s", f, err, html)
			}
		}
		for _, said := range pkg.said {
			if !strings.Contains(said, "as they are written") && !strings.Contains(said, "colours that the page does not know") {
				t.Errorf("a formula loses something: %s", said)
			}
		}
	}
	if known < len(formulas)/2 {
		t.Errorf("only %d of %d formulas are rendered", known, len(formulas))
	}
}
