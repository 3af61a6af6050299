package statement

import (
	"html"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// Part is a file of a statement of Polygon that is kept in parts.
type Part struct{ File, Heading, Text string }

// PolygonTeX renders a statement of Polygon in TeX, with the macros of its olymp.sty.
// Limits and samples are left out, since the page shows them.
func (r *Renderer) PolygonTeX(parts []Part) (string, error) {
	var out strings.Builder
	defined, noted, counted := macro.New(), &notes{}, newNumbers()
	for i, part := range parts {
		p := r.page(part.File)
		p.macros = defined
		t := &tex{page: p, Scanner: macro.NewScanner(part.Text, part.File), notes: noted, numbers: counted, polygon: true}
		t.flow = true
		body := t.document()
		if i == len(parts)-1 {
			body += noted.html()
		}
		body, err := p.finish(counted.fill(p, body), safe.Source{})
		if err != nil {
			return "", err
		}
		if part.Heading != "" {
			out.WriteString("<h2>" + html.EscapeString(part.Heading) + "</h2>\n")
		}
		if out.WriteString(body); out.Len() > safe.MaxPage {
			return "", safe.ErrTooLong
		}
	}
	return out.String(), nil
}

// shownElsewhere are the classes of what a page of Polygon has and the page of the
// problem shows itself: title, limits, samples.
var shownElsewhere = safe.Names("header sample-tests sample-test time-limit memory-limit input-file output-file")

// PolygonHTML renders a statement of Polygon in HTML, with its formulas between three dollars.
func (r *Renderer) PolygonHTML(file, text string) (string, error) {
	p := r.page(file)
	return p.finish(text, safe.Source{
		Skip: func(_, class string) bool {
			for c := range strings.FieldsSeq(class) {
				if shownElsewhere[c] {
					return true
				}
			}
			return false
		},
		Rename: func(element, class string) string {
			if element == "div" && (class == "section-title" || class == "property-title") {
				return "h2"
			}
			return element
		},
		Text: func(text string) (string, error) { return p.dollars(text), p.err },
	})
}

// dollars writes text in which formulas stand between three dollars, or six.
func (p *page) dollars(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$$$")
		out.WriteString(html.EscapeString(before))
		if !ok {
			return out.String()
		}
		mark := "$$$"
		if strings.HasPrefix(rest, mark) {
			mark, rest = "$$$$$$", rest[3:]
		}
		body, after, ended := strings.Cut(rest, mark)
		if !ended {
			p.note("holds formulas that nothing ends: %s", short(body[:min(len(body), 30)]))
			out.WriteString(html.EscapeString(mark + rest))
			return out.String()
		}
		out.WriteString(p.clean(p.formula(body, len(mark) > 3), safe.Source{}))
		text = after
	}
}
