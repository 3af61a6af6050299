// Package statement turns the statement of a problem, in Markdown, TeX or the HTML and TeX of Polygon, into HTML that
// is safe to show: without scripts, without style attributes, and with nothing that is loaded from elsewhere.
//
// Whatever a statement is written in, it leaves through one place, package safe, which knows what elements, attributes,
// classes and addresses there are. Formulas become MathML by temml, which `make build` fetches; package macro expands
// what a statement defines in TeX. Nothing is left out without a warning that names it, except what is about paper and
// not about text.
//
// Its files:
//
//	statement.go   the renderer and what it gives
//	markdown.go    Markdown, and samples within it
//	mdbound.go     bounds on what Markdown would look at again and again
//	mdformula.go   formulas in Markdown
//	tex.go         TeX
//	texcommand.go  commands that are tables
//	texdo.go       commands that need more
//	texenv.go      environments
//	textable.go    tables
//	texaccent.go   accents
//	texchar.go     characters by number
//	texnote.go     footnotes
//	note.go        short texts of a site, in Markdown
//	texnumber.go   numbers of figures and tables
//	texwrite.go    writes paragraphs
//	polygon.go     Polygon's statements in parts
//	formula.go     formulas as MathML
//	engine.go      runs temml
//	picture.go     pictures
package statement

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// What a statement may be at most.
const (
	maxNames   = 20       // names that one warning lists
	maxPicture = 16 << 20 // bytes of the file of a picture
)

// Package is the problem package that statements belong to.
type Package interface {
	// Has reports whether it has a file.
	Has(name string) bool
	// Read returns at most limit bytes of a file.
	Read(name string, limit int64) ([]byte, error)
	// Warn tells the setter something about a file.
	Warn(file, reason string)
}

// Renderer renders the statements of one package.
type Renderer struct {
	pkg      Package
	math     *engine
	pictures map[string]*Picture // by path in the package; nil = it cannot be shown
}

// New returns a renderer for the statements of a package.
func New(pkg Package) *Renderer {
	return &Renderer{pkg: pkg, pictures: map[string]*Picture{}}
}

// page is one statement while it is rendered.
type page struct {
	*Renderer
	file   string // that it is in
	macros *macro.Macros
	said   []said // what is to be said of it, in the order in which it was met
	err    error  // that ends it
}

// said are things in a statement of which one warning is given.
type said struct {
	what  string // with one %s
	names []string
}

func (r *Renderer) page(file string) *page {
	return &page{Renderer: r, file: file, macros: macro.New()}
}

// note adds a name to a warning. What has one %s for the names.
func (p *page) note(what, name string) {
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	i := slices.IndexFunc(p.said, func(s said) bool { return s.what == what })
	if i < 0 {
		i = len(p.said)
		p.said = append(p.said, said{what: what})
	}
	if s := &p.said[i]; len(s.names) <= maxNames && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}

// clean returns HTML with nothing but what a statement may have.
func (p *page) clean(html string, from safe.Source) string {
	from.Note, from.Picture = p.note, p.picture
	html, err := safe.Clean(html, from)
	if err != nil {
		p.fail(err)
	}
	return html
}

// finish warns of what was noted, and returns the HTML, cleaned.
func (p *page) finish(html string, from safe.Source) (string, error) {
	if p.err == nil {
		html = p.clean(html, from)
	}
	for _, s := range p.said {
		names := s.names
		if len(names) > maxNames {
			names = append(slices.Clone(names[:maxNames]), "…")
		}
		p.pkg.Warn(p.file, fmt.Sprintf(s.what, strings.Join(names, " ")))
	}
	if p.err != nil {
		return "", p.err
	}
	return html, nil
}

// fail ends the rendering.
func (p *page) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// beside returns the path in the package of a file that the statement names.
func (p *page) beside(name string) string { return path.Join(path.Dir(p.file), name) }

// ErrNotBuilt says that this program was built without what formulas need.
var ErrNotBuilt = errors.New("holds formulas, and this program was built without temml, which renders them: run make build")

// Text makes a file text that every page and database takes: valid UTF-8 without NUL.
func Text(b []byte) string {
	s := strings.TrimPrefix(string(b), "\ufeff")
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	return strings.ReplaceAll(s, "\r\n", "\n")
}
