package problem

import (
	"path"
	"strings"

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
func (p *polygon) statements(e *element) {
	p.p.Statements = map[string]string{}
	pages := map[string]string{} // the file of each language that is HTML
	for _, s := range e.all("statement") {
		s.ignore("@charset", "@mathjax")
		language, kind, name := s.attr("language"), s.attr("type"), s.attr("path")
		s.unknown()
		tag := languageTag(language)
		switch kind {
		case "application/pdf":
			if p.has(name) {
				p.p.Documents = append(p.p.Documents, p.file(name))
			}
		case "text/html":
			pages[tag] = name
		case "application/x-tex":
			if text, ok := p.sections(path.Join("statement-sections", language)); ok {
				p.p.Statements[tag] = text
			} else if !p.has(name) {
				s.refuse("path", "is %q: it must be a file of the package", name)
			} else {
				p.p.Statements[tag] = p.rendered(name, func(text string) (string, error) {
					return p.renderer().PolygonTeX([]statement.Part{{File: name, Text: text}})
				})
			}
		default:
			s.warn("type", "is %q, which the page cannot show", kind)
		}
	}
	for tag, name := range pages {
		if p.p.Statements[tag] == "" && p.has(name) {
			p.p.Statements[tag] = p.rendered(name, func(text string) (string, error) { return p.renderer().PolygonHTML(name, text) })
		}
	}
	p.chooseStatement()
	p.readPictures()
	switch {
	case p.p.Statement != "":
	case len(p.p.Documents) > 0:
		e.warn("", "are PDF only: the page shows the file, and no text")
	default:
		e.warn("", "hold no text: the page will have no statement")
	}
}

// sections returns the statement whose sections are in a folder, if there are any.
func (p *polygon) sections(dir string) (string, bool) {
	var parts []statement.Part
	left := int64(maxStatement)
	for _, s := range sections {
		file := path.Join(dir, s.file)
		if !p.has(file) {
			continue
		}
		if left -= p.all[file]; left < 0 {
			p.refuse(file, "", "makes the statement longer than %d KiB%s", maxStatement>>10, statementRemedy)
			return "", true
		}
		body := p.textOf(file, maxStatement, statementRemedy)
		if strings.TrimSpace(body) != "" {
			parts = append(parts, statement.Part{File: file, Heading: s.heading, Text: statement.Text([]byte(body))})
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	text, err := p.renderer().PolygonTeX(parts)
	if err != nil {
		p.refuse(dir, "", "%v", err)
	}
	return text, true
}
