package problem

import (
	"path"
	"regexp"
	"strings"
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

// statements turns the statements into HTML. They are taken from their sections
// where the package has these, else from the whole text.
func (p *polygon) statements(e *element) {
	p.p.Statements = map[string]string{}
	pdf, html := false, false
	for _, s := range e.all("statement") {
		s.ignore("@charset", "@mathjax")
		language := s.attr("language")
		kind := s.attr("type")
		name := s.attr("path")
		s.unknown()
		switch kind {
		case "application/pdf":
			pdf = true
			continue
		case "text/html":
			html = true
			continue
		case "application/x-tex":
		default:
			s.warn("type", "is %q, which the page cannot show", kind)
			continue
		}
		tag := languageTag(language)
		if text := p.sections(path.Join("statement-sections", language)); text != "" {
			p.p.Statements[tag] = text
			continue
		}
		if !p.has(name) {
			s.refuse("path", "is %q: it must be a file of the package", name)
			continue
		}
		p.p.Statements[tag] = p.texText(name, plainTeX(p.textOf(name, maxStatement, statementRemedy)))
	}
	p.chooseStatement()
	switch {
	case p.p.Statement != "":
	case html || pdf:
		e.warn("", "are pages of their own only, which are kept and cannot be shown: add a statement in TeX")
	default:
		e.warn("", "hold no text in TeX: the page will have no statement")
	}
}

// sections returns the statement whose sections are in a folder.
func (p *polygon) sections(dir string) string {
	var text strings.Builder
	left := int64(maxStatement)
	for _, s := range sections {
		file := path.Join(dir, s.file)
		if !p.has(file) {
			continue
		}
		if left -= p.all[file]; left < 0 {
			p.refuse(file, "", "makes the statement longer than %d KiB%s", maxStatement>>10, statementRemedy)
			return ""
		}
		body := p.textOf(file, maxStatement, statementRemedy)
		if strings.TrimSpace(body) == "" {
			continue
		}
		if s.heading != "" {
			text.WriteString("<h2>" + s.heading + "</h2>\n")
		}
		text.WriteString(p.texText(file, body))
	}
	return text.String()
}

// Of the macros of a whole statement, headings stay. The limits and samples are
// shown by the page.
var (
	texProblem = regexp.MustCompile(`\\begin\{problem\}(\{[^{}]*\})*|\\end\{problem\}|\\Examples?\b`)
	texExample = regexp.MustCompile(`(?s)\\begin\{example(wide)?\}.*?\\end\{example(wide)?\}`)
	texHeading = regexp.MustCompile(`\\(InputFile|OutputFile|Interaction|Scoring|Note)\b`)
)

var headingNames = map[string]string{"InputFile": "Input", "OutputFile": "Output", "Interaction": "Interaction", "Scoring": "Scoring", "Note": "Note"}

// plainTeX returns a whole statement of Polygon in the TeX that others write.
func plainTeX(text string) string {
	text = texExample.ReplaceAllString(uncomment(text), "")
	text = texProblem.ReplaceAllString(text, "")
	return texHeading.ReplaceAllStringFunc(text, func(s string) string { return `\section{` + headingNames[s[1:]] + "}" })
}
