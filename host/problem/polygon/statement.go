package polygon

import (
	"path"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
	"deepoj/host/problem/statement"
)

// sections are the files that a statement is written in, with their headings.
var sections = []struct{ file, heading string }{
	{"legend.tex", ""},
	{"input.tex", "Input"},
	{"output.tex", "Output"},
	{"interaction.tex", "Interaction"},
	{"scoring.tex", "Scoring"},
	{"notes.tex", "Note"},
}

// statements turns the statements into HTML: from their sections where the package has
// these, else from the whole text in TeX, else from the page that Polygon made.
func (p *reader) statements(e *element) {
	p.Package.Statements = map[string]string{}
	pages := map[string]string{} // the file of each language that is HTML
	for _, s := range e.all("statement") {
		s.ignore("@charset", "@mathjax")
		language, kind, name := s.attr("language"), s.attr("type"), s.attr("path")
		s.unknown()
		tag := problem.LanguageTag(language)
		switch kind {
		case "application/pdf":
			if p.Has(name) {
				p.Package.Documents = append(p.Package.Documents, p.File(name))
			}
		case "text/html":
			pages[tag] = name
		case "application/x-tex":
			if text, ok := p.sections(path.Join("statement-sections", language)); ok {
				p.Package.Statements[tag] = text
			} else if !p.Has(name) {
				s.refuse("path", "is %q: it must be a file of the package", name)
			} else {
				p.Package.Statements[tag] = p.Rendered(name, func(text string) (string, error) {
					return p.Renderer().PolygonTeX([]statement.Part{{File: name, Text: text}})
				})
			}
		default:
			s.warn("type", "is %q, which the page cannot show", kind)
		}
	}
	for tag, name := range pages {
		if p.Package.Statements[tag] == "" && p.Has(name) {
			p.Package.Statements[tag] = p.Rendered(name, func(text string) (string, error) { return p.Renderer().PolygonHTML(name, text) })
		}
	}
	p.ChooseStatement()
	p.ReadPictures()
	switch {
	case p.Package.Statement != "":
	case len(p.Package.Documents) > 0:
		e.warn("", "are PDF only: the page shows the file, and no text")
	default:
		e.warn("", "hold no text: the page will have no statement")
	}
}

// sections returns the statement whose sections are in a folder, if there are any.
func (p *reader) sections(dir string) (string, bool) {
	var parts []statement.Part
	left := int64(source.MaxStatement)
	for _, s := range sections {
		file := path.Join(dir, s.file)
		if !p.Has(file) {
			continue
		}
		if left -= p.Sizes[file]; left < 0 {
			p.Refuse(file, "", "makes the statement longer than %d KiB%s", source.MaxStatement>>10, source.StatementRemedy)
			return "", true
		}
		body := p.TextOf(file, source.MaxStatement, source.StatementRemedy)
		if strings.TrimSpace(body) != "" {
			parts = append(parts, statement.Part{File: file, Heading: s.heading, Text: statement.Text([]byte(body))})
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	text, err := p.Renderer().PolygonTeX(parts)
	if err != nil {
		p.Refuse(dir, "", "%v", err)
	}
	return text, true
}
